#include "skein/mission/planner_training.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/base/stopwatch.h"
#include "skein/planning/planners.h"
#include "skein/planning/q_learning.h"

namespace skein {

PlannerTraining train_planner(const AgentSetup& setup, std::size_t until, ThreadPool& pool, Crew& crew,
                              FractionListener progress) {
  QLearner learner(setup.environment, setup.planning, setup.seed);
  const Stopwatch watch;
  train_in(learner, setup.directory, until, pool, crew, progress);
  PlannerTraining result{.done = learner.done(),
                         .steps = learner.num_steps(),
                         .updates = learner.num_updates(),
                         .cpu_s = sum_over(crew, watch.processor_seconds()),
                         .curve = learner.curve()};
  if (learner.done() && crew.is_first()) {
    const auto agent = std::make_shared<const Agent>(learner.agent());
    result.greedy =
        mean_of(evaluate(*setup.environment,
                         planner_factory("learned", setup.environment, setup.planning, {.recurrent = agent}),
                         {.starts = 8, .epochs = 500, .seed = setup.seed + 1000}, pool));
  }
  return result;
}

std::string write_planner_training(const Scenario& scenario, const PlannerTraining& training,
                                   const std::filesystem::path& directory) {
  nlohmann::ordered_json summary{
      {"run", scenario.run.name},        {"seed", scenario.run.seed},
      {"directory", directory.string()}, {"done", training.done},
      {"steps", training.steps},         {"environments", scenario.planning.learner.environments},
      {"updates", training.updates},     {"cpu_s", training.cpu_s}};
  if (training.greedy) {
    summary["greedy"] = {{"reward", training.greedy->reward},
                         {"learning_objective", training.greedy->learning_objective},
                         {"battery_J", training.greedy->battery_j},
                         {"violations_per_epoch", training.greedy->violations},
                         {"recharges_per_swarm_and_epoch", training.greedy->recharges}};
  }
  std::string text = summary.dump(1) + "\n";
  write_file(directory / "scenario.toml", resolved_scenario(scenario));
  write_file(directory / "summary.json", text);
  return text;
}

}  // namespace skein
