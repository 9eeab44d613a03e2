// One mission from its scenario to its run directory: what `run`, `resume` and whatever runs many missions
// share.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command.h"
#include "progress.h"
#include "ranks.h"
#include "skein/mission/prepare_mission.h"
#include "skein/simulation/mission_ranks.h"
#include "skein/simulation/recorder.h"

namespace skein::app {

// Of summary.json.
nlohmann::ordered_json summary_of(const Scenario& scenario, const Headline& headline);

class MissionRun {
 public:
  // Checks everything; writes nothing. What the options refer to must outlive the mission. Each process of
  // the crew calls the same; all results are the first one's.
  MissionRun(const CommonOptions& options, Scenario scenario, std::filesystem::path directory, Crew& crew);

  // To its end, from the start or from the directory's last checkpoint. Throws InputError and Divergence.
  void run(bool resume);

  // At the first process.
  [[nodiscard]] Headline headline() const { return recorder_.headline(core_->state()); }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

 private:
  [[nodiscard]] std::shared_ptr<const DataSplit> shared_data() const;
  void fly(bool resume);
  // Where the swarms are, their batteries and the accuracy, for the line of progress.
  [[nodiscard]] std::string situation() const;
  void save_model(const std::filesystem::path& file, const Model& model) const;
  std::unique_ptr<Planner> make_planner();

  const CommonOptions& options_;
  Scenario scenario_;
  std::string resolved_;
  std::filesystem::path directory_;
  Crew& crew_;
  ThreadPool pool_;
  Progress progress_;
  std::shared_ptr<const DataSplit> data_;
  PreparedMission prepared_;
  MissionRanks ranks_;
  std::unique_ptr<Planner> planner_;
  std::optional<CoreNetwork> core_;
  MissionRecorder recorder_;
};

}  // namespace skein::app
