// The trainings of the fair study: each with its settings, kept once it is done, and what its models are
// worth.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/skein/reproduce/reproduce.h"
#include "skein/data/dataset.h"
#include "skein/scenario/scenario.h"

namespace skein::app {

class FairStudy {
 public:
  using Settings = std::vector<std::string>;

  // Sizes of the one gradient step that makes a model a swarm's own; 0 leaves it as it is.
  static constexpr std::array<double, 6> adaptation_steps{0.0, 0.003, 0.01, 0.03, 0.1, 0.3};

  enum class Aim { global, own, drifted };
  static constexpr std::array<Aim, 3> aims{Aim::global, Aim::own, Aim::drifted};

  // What a trained model is worth, in percent.
  struct Worth {
    double global = 0.0;          // on the whole test set
    std::vector<double> own;      // on each swarm's mix of labels, after a step of each size
    std::vector<double> drifted;  // the same for swarms whose labels have changed

    [[nodiscard]] double value(Aim aim, std::size_t step) const {
      return aim == Aim::global ? global : (aim == Aim::own ? own : drifted)[step];
    }
  };

  FairStudy(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs);

  // Nothing if training diverged.
  std::optional<Worth> measure(const Settings& settings, std::size_t seed);

  // For each aim: the settings, and the size of the step, that do best on the tuning seed and samples held
  // out for it.
  struct Choice {
    Settings settings;
    std::size_t step = 0;
    double value = -1.0;

    [[nodiscard]] bool found() const { return value >= 0.0; }  // some step sizes did not diverge
  };
  std::array<Choice, aims.size()> tune(const Settings& common, std::span<const Settings> points);

  [[nodiscard]] std::size_t seeds() const;
  [[nodiscard]] std::size_t classes() const;

 private:
  std::shared_ptr<const DataSplit> tuning_data(const Scenario& scenario);
  nlohmann::json train(const Scenario& scenario, const std::shared_ptr<const DataSplit>& data);

  const ReproduceOptions& options_;
  KeptRuns& runs_;
  std::filesystem::path file_;
  std::shared_ptr<const DataSplit> tuning_data_;  // once there is something to tune
};

}  // namespace skein::app
