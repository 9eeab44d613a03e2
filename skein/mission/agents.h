// Agents of planners that learn: trained where they are needed, and kept for whoever needs the same again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/planners.h"
#include "skein/planning/q_learning.h"

namespace skein {

// What an agent is trained for, and where it is kept.
struct AgentSetup {
  std::shared_ptr<const Environment> environment;
  PlanningOptions planning{};  // its `agent`, if there is one, is taken instead of one that is trained
  std::uint64_t seed = 0;
  std::filesystem::path directory{};  // agents of many trainings, each in a directory of its own below it
};

// Trains up to step `until` (0: to the end) from the checkpoint in the directory, if there is one. Writes
// checkpoint.bin, curve.csv and, at the end, agent.safetensors. Each process of the crew calls the same.
void train_in(QLearner& learner, const std::filesystem::path& directory, std::size_t until, ThreadPool& pool,
              Crew& crew, const std::function<void(double)>& progress);

// Where this agent is kept.
std::filesystem::path agent_directory(const AgentSetup& setup);

// What the planner needs: from the file given, from the directory if it was trained there before, or trained
// now. A flat agent is trained each time. Each process of the crew calls the same.
Agents agents_for(std::string_view planner, const AgentSetup& setup, ThreadPool& pool, Crew& crew,
                  const std::function<void(double)>& progress);

// The agent as it was after each of these steps of its training, ascending; kept in the directory likewise.
std::vector<std::shared_ptr<const Agent>> agents_along(const AgentSetup& setup,
                                                       const std::vector<std::size_t>& moments,
                                                       ThreadPool& pool, Crew& crew,
                                                       const std::function<void(double)>& progress);

}  // namespace skein
