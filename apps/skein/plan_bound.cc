#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plan.h"
#include "skein/planning/optimum.h"
#include "text_table.h"

namespace skein::app {
namespace {

using nlohmann::ordered_json;

struct PlanBoundOptions {
  PlanOptions plan;
  std::vector<std::string> planners{"beam", "myopic"};
  std::size_t levels = 15;
};

void plan_bound(const PlanBoundOptions& options) {
  const CommonOptions& common = options.plan.common;
  const PlanSetup setup = plan_setup(options.plan);
  ThreadPool pool(common.threads);
  const OptimumOptions limits{.battery_levels = options.levels};
  const auto bounds = optimum_bounds(*setup.environment, limits, pool);
  if (!bounds) {
    throw InputError(InputFault{
        .key = "--levels",
        .value = fmt::format("{}", options.levels),
        .message =
            fmt::format("no bound for this world: it needs a constant drift, capped ages and at most {} "
                        "states of positions, ages and battery levels",
                        limits.most_states)});
  }
  const AgentSetup agent = agent_setup(options.plan, setup, setup.environment, setup.scenario.run.seed,
                                       output_directory(common, setup.scenario));
  TextTable table({"<planner", "mean reward", "of the upper bound (%)"});
  ordered_json list = ordered_json::array();
  for (const std::string& name : options.planners) {
    const Agents agents = agents_for(name, agent, pool, alone(), [](double) {});
    const double reward =
        mean_of(evaluate(*setup.environment,
                         planner_factory(name, setup.environment, setup.scenario.planning, agents),
                         {.starts = 4, .epochs = 1000, .seed = setup.scenario.run.seed}, pool))
            .reward;
    table.add({name, fmt::format("{:.1f}", reward), fmt::format("{:.1f}", 100.0 * reward / bounds->upper)});
    list.push_back({{"planner", name}, {"reward", reward}, {"of_upper", reward / bounds->upper}});
  }
  if (common.json()) {
    fmt::print("{}\n", ordered_json{{"lower", bounds->lower},
                                    {"upper", bounds->upper},
                                    {"states", bounds->states},
                                    {"sweeps", bounds->sweeps},
                                    {"planners", list}}
                           .dump(1));
  } else if (common.talks()) {
    fmt::print(
        "The best mean reward that keeps all thresholds is between {:.1f} and {:.1f} ({} states, {} "
        "sweeps)\n\n{}",
        bounds->lower, bounds->upper, bounds->states, bounds->sweeps, table.text());
  }
}

}  // namespace

void add_plan_bound_command(Command& plan) {
  auto options = std::make_shared<PlanBoundOptions>();
  Command* command =
      plan.add_subcommand("bound", "The best mean reward that any planner can have in a small world");
  add_environment_options(*command, options->plan);
  add_agent_option(*command, options->plan);
  std::vector<std::string> known;
  for (const std::string_view name : planner_names()) {
    known.emplace_back(name);
  }
  command->add_option("--planner", options->planners, "Planners to compare with it, separated by commas")
      ->delimiter(',')
      ->type_name("A,B,...")
      ->check(one_of(known))
      ->capture_default_str();
  command->add_option("--levels", options->levels, "Levels of a battery between threshold and full")
      ->type_name("N")
      ->check(within(2, 1000))
      ->capture_default_str();
  add_common_options(*command, options->plan.common,
                     "skein plan bound --set swarms.count=2 --set world.clusters.count=3 --set "
                     "world.stations.count=1 --set planning.age_cap=6");
  command->callback([options] { plan_bound(*options); });
}

}  // namespace skein::app
