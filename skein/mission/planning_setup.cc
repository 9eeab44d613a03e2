#include "skein/mission/planning_setup.h"

#include <fmt/format.h>

#include "skein/base/random.h"
#include "skein/base/with_file_named.h"
#include "skein/mission/build.h"
#include "skein/mission/solved_tables.h"
#include "skein/planning/choices.h"
#include "skein/planning/environment_file.h"
#include "skein/planning/environment_world.h"
#include "skein/planning/planners.h"

namespace skein {
namespace {

// The file has the numbers; the scenario has what the paper leaves open.
Environment environment_of_file(const std::filesystem::path& file, const Scenario& scenario) {
  Environment e = load_environment(file).environment;
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
                                                         e.num_clusters, file.string())});
    }
    e.drift.sequences = planning.drift.sequences;
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      RandomStream stream(scenario.run.seed, "planning.drift.end", c);
      e.drift.end[c] = planning.drift.end.sample(stream, c);
    }
  }
  return e;
}

void refuse_impossible(const Environment& environment) {
  InputFaults faults;
  faults.add_all(faults_of(environment));
  faults.throw_if_any();
}

}  // namespace

Environment build_environment(const Scenario& scenario, const World& world, MissingTables missing,
                              ThreadPool& pool, Crew& crew, FractionListener progress) {
  Environment environment = planning_environment(world, scenario.planning);
  if (missing == MissingTables::solved) {
    const auto visits = std::make_shared<SolvedVisits>(scenario, world, environment.tables.timings, pool);
    if (scenario.planning.tables.empty()) {
      // Who learns looks at everything.
      const bool on_demand = environment.tables.size() > most_eager_entries &&
                             training_of(scenario.planning.planner) == Training::none;
      environment.tables =
          on_demand ? tables_on_demand(visits, crew, progress) : visits->solve_all(crew, progress);
    }
    environment.visits = visits;
  }
  return environment;
}

void solve_first_choices(const Environment& environment, const World& world) {
  if (!environment.tables.source) {
    return;
  }
  const StateLayout at(environment);
  std::vector<Site> starts;
  for (const Swarm& swarm : world.swarms) {
    starts.push_back(static_cast<Site>(swarm.start_cluster));
  }
  std::vector<double> state(at.size());
  start_at(environment, starts, state);
  for (std::size_t c = 0; c < environment.num_clusters; ++c) {
    state[at.age() + c] = environment.start_age;
    state[at.drift_sum() + c] = environment.start_age * state[at.drift() + c];
  }
  Choices choices;
  ChoiceFinder(environment).find(state, choices);
}

std::shared_ptr<const Environment> build_environment(const Scenario& scenario,
                                                     const EnvironmentOptions& options, ThreadPool& pool) {
  Environment environment = options.file.empty()
                                ? build_environment(scenario, build_world(scenario, pool),
                                                    MissingTables::closed_form, pool, alone(), [](double) {})
                                : environment_of_file(options.file, scenario);
  if (options.threshold_j) {
    environment.threshold_j.assign(environment.num_swarms, *options.threshold_j);
  }
  with_file_named(options.file.string(), [&] { refuse_impossible(environment); });
  return std::make_shared<const Environment>(std::move(environment));
}

std::shared_ptr<const Environment> geometry_of(const std::shared_ptr<const Environment>& environment,
                                               std::size_t geometry) {
  if (geometry == 0) {
    return environment;
  }
  Environment other = with_geometry(*environment, geometry);
  with_file_named(fmt::format("geometry {}", geometry), [&] { refuse_impossible(other); });
  return std::make_shared<const Environment>(std::move(other));
}

}  // namespace skein
