// One mission from its scenario to its run directory:
//
//   MissionRun mission(load_scenario("scenarios/smoke.toml"), "runs/smoke");
//   mission.run();
//   const double accuracy = mission.headline().mean_accuracy;
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "skein/base/crew.h"
#include "skein/learning/trainer.h"
#include "skein/mission/progress.h"
#include "skein/planning/environment.h"
#include "skein/planning/planner.h"
#include "skein/scenario/scenario.h"
#include "skein/simulation/recorder.h"
#include "skein/world/world.h"

namespace skein {

struct MissionRunOptions {
  std::size_t num_threads = 0;            // 0: all cores. Results do not depend on it
  Crew& crew = alone();                   // processes that share the mission; each of them makes the same run
  std::filesystem::path agents = "runs";  // below it, agents of planners that learn are kept
  ProgressListener progress{};
  // Makes the planner; without it, it is the scenario's.
  std::function<std::unique_ptr<Planner>(const std::shared_ptr<const Environment>&)> planner{};
};

class MissionRun {
 public:
  // Checks everything; writes nothing but agents. Throws InputError, under the scenario's keys.
  MissionRun(Scenario scenario, std::filesystem::path directory, MissionRunOptions options = {});
  ~MissionRun();
  MissionRun(const MissionRun&) = delete;
  MissionRun& operator=(const MissionRun&) = delete;
  MissionRun(MissionRun&&) = delete;
  MissionRun& operator=(MissionRun&&) = delete;

  // From the start to the end; what the directory has of a mission before is replaced. Throws InputError and
  // Divergence.
  void run();
  // From the directory's last checkpoint to the same end.
  void resume();

  [[nodiscard]] const Scenario& scenario() const;
  [[nodiscard]] const World& world() const;

  // What has come out, at the crew's first process.
  [[nodiscard]] Headline headline() const;
  [[nodiscard]] const Model& global_model() const;
  [[nodiscard]] Model cluster_model(std::size_t cluster) const;

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace skein
