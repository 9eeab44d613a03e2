// Training of the planner that learns: to its end or in parts, and how good it then is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/mission/agents.h"
#include "skein/planning/planner_evaluation.h"
#include "skein/scenario/scenario.h"

namespace skein {

struct PlannerTraining {
  bool done = false;
  std::size_t steps = 0;
  std::size_t updates = 0;
  double cpu_s = 0.0;  // of this call, in all processes
  std::vector<CurvePoint> curve;
  std::optional<MissionScore> greedy{};  // once it is done: 8 starts of 500 sequences
};

// From the setup's own directory's checkpoint, if there is one, up to step `until` (0: to the end). Writes
// what train_in does. Each process of the crew calls the same; the first has the result.
PlannerTraining train_planner(const AgentSetup& setup, std::size_t until, ThreadPool& pool, Crew& crew,
                              FractionListener progress);

// Writes scenario.toml and summary.json; the text of the latter.
std::string write_planner_training(const Scenario& scenario, const PlannerTraining& training,
                                   const std::filesystem::path& directory);

}  // namespace skein
