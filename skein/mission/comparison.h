// Finished missions side by side.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "skein/mission/headline_numbers.h"

namespace skein {

struct ComparedRun {
  std::string name;  // of the directory; the shortest that tells it from the others
  std::filesystem::path directory;
  std::vector<std::pair<std::string, double>> numbers{};  // of its summary, in its order
  std::map<std::string, std::string> keys{};              // of the resolved scenario
  std::vector<std::array<double, 2>> accuracy{};  // mean over clusters, in percent, from these seconds on

  // Not a number where it has none of this name.
  [[nodiscard]] double number(const std::string& name) const;
};

class Comparison {
 public:
  // Differences are from the first one. Throws InputError with all that is wrong in any of them.
  explicit Comparison(const std::vector<std::string>& directories);

  [[nodiscard]] const std::vector<ComparedRun>& runs() const { return runs_; }
  // Headline numbers, and energies by kind below them: in joules where all are small.
  [[nodiscard]] std::vector<HeadlineNumber> rows() const;
  // Keys that are not the same everywhere, with each run's value.
  [[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> differing_keys() const;
  // Accuracy over time, and energy by kind.
  [[nodiscard]] std::string svg() const;
  // Everything, for programs; `picture` is where the picture is.
  [[nodiscard]] nlohmann::ordered_json json(const std::filesystem::path& picture) const;

 private:
  std::vector<ComparedRun> runs_;
};

}  // namespace skein
