// What the parts of `skein plan` share.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "progress.h"
#include "ranks.h"
#include "skein/mission/agents.h"
#include "skein/mission/planning_setup.h"

namespace skein::app {

struct PlanOptions {
  CommonOptions common;
  std::string environment;               // a file; empty: of the scenario's world
  std::optional<double> threshold_kj{};  // overrides every swarm's
  std::string agent;                     // a file; empty: the scenario's, or trained where needed
};

// Adds SCENARIO, --environment and --threshold.
void add_environment_options(Command& command, PlanOptions& options);
void add_agent_option(Command& command, PlanOptions& options);

struct PlanSetup {
  Scenario scenario;
  std::shared_ptr<const Environment> environment;
};
// Throws InputError with the file's name or the scenario's.
PlanSetup plan_setup(const PlanOptions& options);

// What an agent is trained for; --agent comes before the scenario's.
AgentSetup agent_setup(const PlanOptions& options, const PlanSetup& setup,
                       const std::shared_ptr<const Environment>& environment, std::uint64_t seed,
                       const std::filesystem::path& directory);

// Each adds its command to `skein plan`.
void add_plan_train_command(Command& plan);
void add_plan_eval_command(Command& plan);
void add_plan_show_command(Command& plan);
void add_plan_tables_command(Command& plan);
void add_plan_bound_command(Command& plan);

}  // namespace skein::app
