// Curves over local iterations: of our own runs, read back from their metrics, and of the published study.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skein {

struct Curve {
  std::vector<double> iterations;  // ascending
  std::vector<double> values;      // as many
};

// The first iteration at which a curve reaches `level`, between two of its points by a straight line; nothing
// if it never does.
std::optional<double> crossing(const Curve& curve, double level);
// Between two points by a straight line; the iteration must lie on the curve.
double value_at(const Curve& curve, double iteration);
// Of curves with the same iterations, at least one.
Curve mean_of(std::span<const Curve> curves);

// One column of a run's metrics.csv; rows where it is empty are left out. Throws InputError.
Curve read_curve(const std::filesystem::path& metrics, std::string_view column);

// The curves that the paper's authors published, in percent and nats.
class PublishedCurves {
 public:
  struct Name {
    std::string data;               // mnist, fmnist, cifar10, radioml
    std::string metric = "global";  // or personalised
    std::string algorithm;          // HN-PFL or H-FL
    std::size_t local_period = 1;   // tau_L
    std::size_t global_period = 1;  // tau_G
    std::string quantity = "acc";   // or loss
  };

  // Throws InputError.
  explicit PublishedCurves(const std::filesystem::path& file);
  // From iteration 0 on, for which the authors plot `start`, if there is one; nothing if they published none.
  [[nodiscard]] std::optional<Curve> find(const Name& name, std::optional<double> start = {}) const;

 private:
  std::map<std::string, std::vector<double>> curves_;
};

}  // namespace skein
