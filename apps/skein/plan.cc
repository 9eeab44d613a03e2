#include "plan.h"

#include <fmt/format.h>

#include "skein/base/digest.h"
#include "skein/mission/agreement.h"
#include "skein/mission/planning_setup.h"
#include "skein/nn/kernels.h"
#include "skein/planning/checkpoint.h"
#include "skein/planning/environment_file.h"
#include "tools.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct ReplayOptions {
  CommonOptions common;
  std::string file;
};

void replay_command(const ReplayOptions& options) {
  const EnvironmentFile file = load_environment(options.file);
  if (file.trace.empty()) {
    throw InputError(InputFault{
        .file = options.file, .key = "trace", .message = "is missing or empty: nothing to replay"});
  }
  const Replay result = replay(file);
  if (options.common.json()) {
    fmt::print("{}", replay_json(result));
  } else if (options.common.talks()) {
    fmt::print(
        "{} epochs replayed; largest deviation {:.2e} in epoch {} (allowed {:.0e}, of a number or of 1 where "
        "it is "
        "smaller)\n  reward {:.2e}, learning objective {:.2e}, batteries {:.2e} ({:.2e} J), ages "
        "{:.2e}\n{}\n",
        result.epochs, result.deviation, result.worst_epoch, Replay::most_deviation, result.reward,
        result.learning_objective, result.battery, result.battery_j, result.age,
        result.fits() ? "The trace comes out." : "The trace does not come out.");
  }
  if (!result.fits()) {
    leave_with(Exit::answer_is_no);
  }
}

}  // namespace

void add_environment_options(Command& command, PlanOptions& options) {
  add_scenario(command, options.common);
  command
      .add_option("--environment", options.environment,
                  "Plan for this JSON environment instead of the scenario's world; its trace does not count")
      ->type_name("FILE");
  command.add_option("--threshold", options.threshold_kj, "Battery threshold of all swarms, in kJ")
      ->type_name("KJ")
      ->check(within(0.0, 1e6));
}

void add_agent_option(Command& command, PlanOptions& options) {
  command
      .add_option("--agent", options.agent,
                  "What `skein plan train` wrote; without one, planners that learn are trained first")
      ->type_name("FILE");
}

PlanSetup plan_setup(const PlanOptions& options) {
  PlanSetup setup{.scenario = load(options.common)};
  EnvironmentOptions source{.file = options.environment};
  if (options.threshold_kj) {
    source.threshold_j = *options.threshold_kj * 1e3;
  }
  setup.environment = with_file_named(options.common, [&] {
    ThreadPool pool(options.common.threads);
    return build_environment(setup.scenario, source, pool);
  });
  if (crew().size() > 1) {
    refuse_differences(
        crew(), {{"scenario", sha256(resolved_scenario(setup.scenario))},
                 {"environment",
                  sha256(fingerprint(*setup.environment, setup.scenario.planning, setup.scenario.run.seed))},
                 {"processor", nn::kernels<float>().name}});
  }
  return setup;
}

AgentSetup agent_setup(const PlanOptions& options, const PlanSetup& setup,
                       const std::shared_ptr<const Environment>& environment, std::uint64_t seed,
                       const fs::path& directory) {
  AgentSetup agent{
      .environment = environment, .planning = setup.scenario.planning, .seed = seed, .directory = directory};
  if (!options.agent.empty()) {
    agent.planning.agent = options.agent;
  }
  return agent;
}

void add_plan_command(Command& program) {
  Command* command =
      program.add_subcommand("plan", "Where swarms fly, when they recharge, how long they train");
  command->require_subcommand(1);
  add_plan_train_command(*command);
  add_plan_eval_command(*command);
  add_plan_show_command(*command);
  add_plan_tables_command(*command);
  add_plan_bound_command(*command);
  auto options = std::make_shared<ReplayOptions>();
  Command* replay = command->add_subcommand(
      "replay", "Carry out the plans of an environment's trace; exit code 1 if other numbers come out");
  replay->add_option("FILE", options->file, "A JSON environment with a trace")->required();
  add_output_options(*replay, options->common, "skein plan replay tests/reference/planning_environment.json");
  replay->callback([options] { replay_command(*options); });
}

}  // namespace skein::app
