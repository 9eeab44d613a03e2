#include "skein/mission/surrogate.h"

#include <limits>

#include "skein/mission/build.h"
#include "skein/mission/planning_setup.h"
#include "skein/planning/planner_evaluation.h"
#include "skein/planning/planners.h"

namespace skein {

Surrogate fly_surrogate(const Scenario& scenario) {
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  InputFaults faults;
  faults.add_all(data_faults(scenario, world));  // for the missions that follow
  faults.throw_if_any();
  const auto environment = std::make_shared<const Environment>(
      build_environment(scenario, world, MissingTables::solved, pool, alone(), [](double) {}));
  const Environment& e = *environment;
  Surrogate result;
  std::vector<double> sizes(e.num_swarms, 0.0);
  for (const Uav& uav : world.uavs) {
    ++result.uavs[uav.type];
    sizes[uav.swarm] += 1.0;
  }
  std::vector<Site> places;
  for (const Swarm& swarm : world.swarms) {
    places.push_back(static_cast<Site>(swarm.start_cluster));
  }
  const StateLayout at(e);
  std::vector<double> state(at.size());
  start_at(e, places, state);
  const std::string& own = scenario.planning.planner;
  const std::string name = training_of(own) == Training::none && !is_by_the_clock(own) ? own : "beam";
  const auto planner = planner_factory(name, environment, scenario.planning, {})();
  double objectives = 0.0;
  double gradients = 0.0;
  for (const EpochRecord& record : fly(e, *planner, state, expected_sequences(scenario), scenario.run.seed)) {
    const std::size_t timing = timing_index(e, record.plan.timing);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      const Site to = record.plan.destinations[u];
      result.energy_j += sizes[u] * e.travel(u, places[u], to);
      if (e.is_station(to)) {
        result.recharges += 1.0;
      } else {
        result.visits += 1.0;
        objectives += e.tables.objective_at(e.tables.index(timing, u, to));
        result.energy_j += sizes[u] * e.tables.training_j_at(e.tables.index(timing, u, to));
      }
      places[u] = to;
    }
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      if (const double age = record.state[at.age() + c]; age > 0.0) {
        gradients += e.gradient(age, record.state[at.drift() + c], record.state[at.drift_sum() + c],
                                record.state[at.gradient() + c]);
      }
    }
    result.below_threshold += record.outcome.below_threshold;
  }
  result.objective =
      result.visits > 0.0 ? objectives / result.visits : std::numeric_limits<double>::infinity();
  result.staleness = gradients / static_cast<double>(e.num_clusters * expected_sequences(scenario));
  return result;
}

}  // namespace skein
