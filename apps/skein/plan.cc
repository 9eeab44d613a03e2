#include "plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "skein/base/digest.h"
#include "skein/base/directory_lock.h"
#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/mission/build.h"
#include "skein/nn/kernels.h"
#include "skein/planning/checkpoint.h"
#include "skein/planning/environment_file.h"
#include "skein/planning/environment_world.h"
#include "tools.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr double most_deviation = 1e-6;
constexpr std::size_t checkpoint_period = 500;  // steps

struct ReplayOptions {
  CommonOptions common;
  std::string file;
};

// The file has the numbers; the scenario has what the paper leaves open.
Environment environment_of_file(const PlanOptions& options, const Scenario& scenario) {
  Environment e = load_environment(options.environment).environment;
  const PlanningOptions& planning = scenario.planning;
  e.battery_mask = planning.battery_mask;
  e.recharge_j = planning.recharge_kj * 1e3;
  e.reward.zero_on_violation = planning.reward.zero_on_violation;
  e.reward.gradient = planning.reward.gradient;
  e.reward.visited_gradient = planning.reward.visited_gradient;
  if (planning.drift.sequences > 0) {
    if (planning.drift.end.list_size().value_or(e.num_clusters) != e.num_clusters) {
      throw InputError(InputFault{.key = "planning.drift.end",
                                  .value = planning.drift.end.spread.to_toml(),
                                  .message = fmt::format("needs one value for each of the {} clusters of {}",
                                                         e.num_clusters, options.environment)});
    }
    e.drift.sequences = planning.drift.sequences;
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      RandomStream stream(scenario.run.seed, "planning.drift.end", c);
      e.drift.end[c] = planning.drift.end.sample(stream, c);
    }
  }
  return e;
}

void refuse_impossible(const Environment& environment, const std::string& file) {
  std::vector<InputFault> faults = faults_of(environment);
  for (InputFault& fault : faults) {
    fault.file = file;
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
}

// What the first process sees; others may look a moment too late.
bool is_there(Crew& crew, const fs::path& file) {
  return !said_by_first(crew, crew.is_first() && fs::exists(file) ? "yes" : "").empty();
}

std::string curve_csv(const Environment& e, const std::vector<CurvePoint>& curve) {
  std::string text = "iteration,reward,learning_objective,battery_J,violations_per_epoch,exploration,loss";
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    text += fmt::format(",visits_{}", e.site_name(site));
  }
  text += '\n';
  for (const CurvePoint& p : curve) {
    text += fmt::format("{},{},{},{},{},{},{}", p.step, p.reward, p.learning_objective, p.battery_j,
                        p.violations, p.exploration, p.loss);
    for (const double visits : p.visits) {
      text += fmt::format(",{}", visits);
    }
    text += '\n';
  }
  return text;
}

void replay_command(const ReplayOptions& options) {
  const EnvironmentFile file = load_environment(options.file);
  if (file.trace.empty()) {
    throw InputError(InputFault{
        .file = options.file, .key = "trace", .message = "is missing or empty: nothing to replay"});
  }
  const Replay result = replay(file);
  const bool fits = result.deviation <= most_deviation;
  if (options.common.json()) {
    fmt::print("{}\n", ordered_json{{"fits", fits},
                                    {"epochs", result.epochs},
                                    {"deviation", result.deviation},
                                    {"worst_epoch", result.worst_epoch},
                                    {"reward", result.reward},
                                    {"learning_objective", result.learning_objective},
                                    {"battery", result.battery},
                                    {"battery_J", result.battery_j},
                                    {"age", result.age},
                                    {"epochs_with_other_violations", result.below_threshold},
                                    {"allowed", most_deviation}}
                           .dump(1));
  } else if (options.common.talks()) {
    fmt::print(
        "{} epochs replayed; largest deviation {:.2e} in epoch {} (allowed {:.0e}, of a number or of 1 where "
        "it is "
        "smaller)\n  reward {:.2e}, learning objective {:.2e}, batteries {:.2e} ({:.2e} J), ages "
        "{:.2e}\n{}\n",
        result.epochs, result.deviation, result.worst_epoch, most_deviation, result.reward,
        result.learning_objective, result.battery, result.battery_j, result.age,
        fits ? "The trace comes out." : "The trace does not come out.");
  }
  if (!fits) {
    throw CLI::RuntimeError(static_cast<int>(Exit::answer_is_no));
  }
}

}  // namespace

void add_environment_options(CLI::App& command, PlanOptions& options) {
  add_scenario(command, options.common);
  command
      .add_option("--environment", options.environment,
                  "Plan for this JSON environment instead of the scenario's world; its trace does not count")
      ->type_name("FILE");
  command.add_option("--threshold", options.threshold_kj, "Battery threshold of all swarms, in kJ")
      ->type_name("KJ")
      ->check(CLI::Range(0.0, 1e6));
}

void add_agent_option(CLI::App& command, PlanOptions& options) {
  command
      .add_option("--agent", options.agent,
                  "What `skein plan train` wrote; without one, planners that learn are trained first")
      ->type_name("FILE");
}

PlanSetup plan_setup(const PlanOptions& options) {
  PlanSetup setup{.scenario = load(options.common)};
  Environment environment;
  if (!options.environment.empty()) {
    environment = environment_of_file(options, setup.scenario);
  } else {
    environment = with_file_named(options.common, [&] {
      ThreadPool pool(options.common.threads);
      return planning_environment(build_world(setup.scenario, pool), setup.scenario.planning);
    });
  }
  if (options.threshold_kj) {
    environment.threshold_j.assign(environment.num_swarms, *options.threshold_kj * 1e3);
  }
  refuse_impossible(environment,
                    options.environment.empty() ? scenario_name(options.common) : options.environment);
  setup.environment = std::make_shared<const Environment>(std::move(environment));
  if (crew().size() > 1) {
    refuse_differences(
        crew(), {{"scenario", sha256(resolved_scenario(setup.scenario))},
                 {"environment",
                  sha256(fingerprint(*setup.environment, setup.scenario.planning, setup.scenario.run.seed))},
                 {"processor", nn::kernels<float>().name}});
  }
  return setup;
}

std::shared_ptr<const Environment> geometry_of(const std::shared_ptr<const Environment>& environment,
                                               std::size_t geometry) {
  if (geometry == 0) {
    return environment;
  }
  Environment other = with_geometry(*environment, geometry);
  refuse_impossible(other, fmt::format("geometry {}", geometry));
  return std::make_shared<const Environment>(std::move(other));
}

void train_in(QLearner& learner, const fs::path& directory, std::size_t until, ThreadPool& pool, Crew& crew,
              const std::function<void(double)>& progress) {
  const fs::path checkpoint = directory / "checkpoint.bin";
  if (is_there(crew, checkpoint)) {
    learner.restore(checkpoint);
  }
  while (!learner.done() && (until == 0 || learner.num_steps() < until)) {
    learner.step(pool, crew);
    if (crew.is_first() && learner.num_steps() % checkpoint_period == 0) {
      learner.save(checkpoint);
    }
    progress(learner.progress());
  }
  if (!crew.is_first()) {
    return;
  }
  learner.save(checkpoint);
  write_file(directory / "curve.csv", curve_csv(learner.environment(), learner.curve()));
  if (learner.done()) {
    save_agent(directory / "agent.safetensors", learner.agent());
  }
}

fs::path agent_directory(const PlanSetup& setup, const Environment& environment, std::uint64_t seed,
                         const fs::path& directory) {
  // An agent of another training has another name.
  return directory / "agents" / short_name(fingerprint(environment, setup.scenario.planning, seed));
}

Agents agents_for(const std::string& planner, const PlanOptions& options, const PlanSetup& setup,
                  const std::shared_ptr<const Environment>& environment, std::uint64_t seed,
                  const fs::path& directory, ThreadPool& pool, Crew& crew,
                  const std::function<void(double)>& progress) {
  const PlanningOptions& planning = setup.scenario.planning;
  const Training training = training_of(planner);
  if (training == Training::none) {
    return {};
  }
  if (training == Training::flat) {
    if (num_flat_plans(*environment) == 0) {
      throw InputError(InputFault{
          .key = "--planner",
          .value = planner,
          .message = fmt::format("has an output per joint plan; there are more than {}", most_flat_plans)});
    }
    return {.flat =
                train_flat_agent(environment, planning.discount, planning.learner.flat_steps, seed, progress)
                    .agent};
  }
  const std::string given = options.agent.empty() ? planning.agent.string() : options.agent;
  if (!given.empty()) {
    return {.recurrent = std::make_shared<const Agent>(load_agent(given, *environment))};
  }
  const fs::path place = agent_directory(setup, *environment, seed, directory);
  std::optional<DirectoryLock> lock;  // several missions may need the same agent: one trains it
  if (crew.is_first()) {
    fs::create_directories(place);
    lock.emplace(place);
  }
  if (!is_there(crew, place / "agent.safetensors")) {
    QLearner learner(environment, planning, seed);
    train_in(learner, place, 0, pool, crew, progress);
    if (crew.is_first()) {
      fs::remove(place / "checkpoint.bin");
    }
    said_by_first(crew, "");  // the agent is there
  }
  return {.recurrent = std::make_shared<const Agent>(load_agent(place / "agent.safetensors", *environment))};
}

std::vector<std::shared_ptr<const Agent>> agents_along(const PlanSetup& setup, std::uint64_t seed,
                                                       const fs::path& directory,
                                                       const std::vector<std::size_t>& moments,
                                                       ThreadPool& pool, Crew& crew,
                                                       const std::function<void(double)>& progress) {
  const Environment& e = *setup.environment;
  const fs::path place = agent_directory(setup, e, seed, directory);
  std::optional<DirectoryLock> lock;
  if (crew.is_first()) {
    fs::create_directories(place);
    lock.emplace(place);
  }
  const auto file_of = [&](std::size_t moment) {
    return place / fmt::format("agent-{}.safetensors", moment);
  };
  std::vector<std::shared_ptr<const Agent>> agents;
  for (const std::size_t moment : moments) {
    if (!is_there(crew, file_of(moment))) {
      QLearner learner(setup.environment, setup.scenario.planning, seed);
      train_in(learner, place, moment, pool, crew, progress);
      expect(learner.num_steps() == moment, "moments of the training, ascending");
      if (crew.is_first()) {
        save_agent(file_of(moment), learner.agent());
      }
      said_by_first(crew, "");  // the agent is there
    }
    agents.push_back(std::make_shared<const Agent>(load_agent(file_of(moment), e)));
  }
  return agents;
}

void add_plan_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("plan", "Where swarms fly, when they recharge, how long they train");
  command->require_subcommand(1);
  add_plan_train_command(*command);
  add_plan_eval_command(*command);
  add_plan_show_command(*command);
  add_plan_tables_command(*command);
  add_plan_bound_command(*command);
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* replay = command->add_subcommand(
      "replay", "Carry out the plans of an environment's trace; exit code 1 if other numbers come out");
  replay->add_option("FILE", options->file, "A JSON environment with a trace")->required();
  add_output_options(*replay, options->common, "skein plan replay tests/reference/planning_environment.json");
  replay->callback([options] { replay_command(*options); });
}

}  // namespace skein::app
