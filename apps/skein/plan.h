// What the parts of `skein plan` share.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "progress.h"
#include "ranks.h"
#include "skein/planning/environment.h"
#include "skein/planning/planners.h"
#include "skein/planning/q_learning.h"

namespace skein::app {

struct PlanOptions {
  CommonOptions common;
  std::string environment;               // a file; empty: of the scenario's world
  std::optional<double> threshold_kj{};  // overrides every swarm's
  std::string agent;                     // a file; empty: the scenario's, or trained where needed
};

// Adds SCENARIO, --environment and --threshold.
void add_environment_options(CLI::App& command, PlanOptions& options);
void add_agent_option(CLI::App& command, PlanOptions& options);

struct PlanSetup {
  Scenario scenario;
  std::shared_ptr<const Environment> environment;
};
// Throws InputError with the file's name or the scenario's.
PlanSetup plan_setup(const PlanOptions& options);

// The same environment with other sites; throws InputError where it would be impossible.
std::shared_ptr<const Environment> geometry_of(const std::shared_ptr<const Environment>& environment,
                                               std::size_t geometry);

// Trains up to step `until` (0: to the end) from the checkpoint in the directory, if there is one. Writes
// checkpoint.bin, curve.csv and, at the end, agent.safetensors. Each process of the crew calls the same.
void train_in(QLearner& learner, const std::filesystem::path& directory, std::size_t until, ThreadPool& pool,
              Crew& crew, const std::function<void(double)>& progress);

// Where the agent for this environment and seed is kept.
std::filesystem::path agent_directory(const PlanSetup& setup, const Environment& environment,
                                      std::uint64_t seed, const std::filesystem::path& directory);

// What the planner needs for this environment and seed: from the file given, from `directory` if it was
// trained there before, or trained now. A flat agent is trained each time. Each process of the crew calls the
// same.
Agents agents_for(const std::string& planner, const PlanOptions& options, const PlanSetup& setup,
                  const std::shared_ptr<const Environment>& environment, std::uint64_t seed,
                  const std::filesystem::path& directory, ThreadPool& pool, Crew& crew,
                  const std::function<void(double)>& progress);

// The agent as it was after each of these steps of its training, ascending; kept in the directory likewise.
std::vector<std::shared_ptr<const Agent>> agents_along(const PlanSetup& setup, std::uint64_t seed,
                                                       const std::filesystem::path& directory,
                                                       const std::vector<std::size_t>& moments,
                                                       ThreadPool& pool, Crew& crew,
                                                       const std::function<void(double)>& progress);

// Each adds its command to `skein plan`.
void add_plan_train_command(CLI::App& plan);
void add_plan_eval_command(CLI::App& plan);
void add_plan_show_command(CLI::App& plan);
void add_plan_tables_command(CLI::App& plan);
void add_plan_bound_command(CLI::App& plan);

}  // namespace skein::app
