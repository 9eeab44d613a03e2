#include "skein/mission/surrogate.h"

#include <algorithm>
#include <limits>

#include "skein/base/csv.h"
#include "skein/data/data_source.h"
#include "skein/mission/build.h"
#include "skein/mission/planning_setup.h"
#include "skein/planning/clock_model.h"
#include "skein/planning/planner_evaluation.h"
#include "skein/planning/planners.h"

namespace skein {

namespace {

void fly_clock(const Scenario& scenario, const Environment& e, Planner& planner,
               const std::vector<Site>& places, const ClusterForecast& forecast, Surrogate& result) {
  ClockMission mission{.starts = places,
                       .forecasts = std::vector<ClusterForecast>(e.num_clusters, forecast),
                       .seed = scenario.run.seed};
  if (scenario.run.hours > 0.0) {
    mission.seconds = 3600.0 * scenario.run.hours;
    mission.sequences = scenario.run.sequences;
  } else {
    mission.sequences = expected_sequences(scenario);
  }
  const ClockFlight flight = fly_by_the_clock(e, planner, mission);
  result.hours = flight.seconds / 3600.0;
  result.accuracy_percent =
      100.0 * flight.accuracy_seconds / (static_cast<double>(e.num_clusters) * flight.seconds);
  result.energy_j = flight.energy_j;
  result.visits = static_cast<double>(flight.visits);
  result.recharges = static_cast<double>(flight.recharges);
  result.below_threshold = flight.least_margin_j < 0.0 ? 1 : 0;
  if (flight.visits == 0) {
    result.objective = std::numeric_limits<double>::infinity();
  }
}

void fly_sequences(const Scenario& scenario, const Environment& e, Planner& planner, std::vector<Site> places,
                   const std::vector<double>& sizes, Surrogate& result) {
  const StateLayout at(e);
  std::vector<double> state(at.size());
  start_at(e, places, state);
  double objectives = 0.0;
  double gradients = 0.0;
  for (const EpochRecord& record : fly(e, planner, state, expected_sequences(scenario), scenario.run.seed)) {
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
}

}  // namespace

ClusterForecast first_forecast(const Scenario& scenario) {
  const EstimateOptions& estimates = scenario.planning.estimates;
  return {.accuracy = 1.0 / static_cast<double>(num_classes(scenario.data.source)),
          .visited_accuracy = estimates.first_accuracy_percent / 100.0,
          .loss_per_s = estimates.loss_per_hour / 100.0 / 3600.0};
}

// Data stays still during a training sequence, so that losses are between the beginnings of two.
ClusterForecast flown_forecast(const Scenario& scenario, std::span<const std::filesystem::path> runs) {
  struct Visit {
    double start_s, percent;
  };
  double percents = 0.0;
  double visits = 0.0;
  double lost = 0.0;
  double elapsed_s = 0.0;
  for (const std::filesystem::path& run : runs) {
    const CsvFile sequences(run / "sequences.csv");
    std::map<std::string, double> starts_s;
    for (std::size_t row = 0; row < sequences.num_rows(); ++row) {
      starts_s[sequences.text(row, "sequence")] = sequences.number(row, "start_s");
    }
    const CsvFile clusters(run / "clusters.csv");
    std::map<std::string, Visit> last;
    for (std::size_t row = 0; row < clusters.num_rows(); ++row) {
      if (clusters.text(row, "estimated_after_percent").empty()) {
        continue;  // it was left no model
      }
      const std::string& cluster = clusters.text(row, "cluster");
      const double start_s = starts_s[clusters.text(row, "sequence")];
      if (const auto before = last.find(cluster); before != last.end()) {
        lost += before->second.percent - clusters.number(row, "accuracy_before_percent");
        elapsed_s += start_s - before->second.start_s;
      }
      last[cluster] = {start_s, clusters.number(row, "accuracy_after_percent")};
      percents += last[cluster].percent;
      visits += 1.0;
    }
  }
  ClusterForecast forecast = first_forecast(scenario);
  if (visits > 0.0) {
    forecast.visited_accuracy = percents / visits / 100.0;
  }
  if (elapsed_s > 0.0) {
    forecast.loss_per_s = std::max(0.0, lost / elapsed_s / 100.0);
  }
  return forecast;
}

Surrogate fly_surrogate(const Scenario& scenario, const ClusterForecast& forecast) {
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  InputFaults faults;
  faults.add_all(data_faults(scenario, world));  // for the missions that follow
  faults.throw_if_any();
  const auto environment = std::make_shared<const Environment>(
      build_environment(scenario, world, MissingTables::solved, pool, alone(), [](double) {}));
  Surrogate result;
  std::vector<double> sizes(environment->num_swarms, 0.0);
  for (const Uav& uav : world.uavs) {
    ++result.uavs[uav.type];
    sizes[uav.swarm] += 1.0;
  }
  std::vector<Site> places;
  for (const Swarm& swarm : world.swarms) {
    places.push_back(static_cast<Site>(swarm.start_cluster));
  }
  const std::string& own = scenario.planning.planner;
  const std::string name = training_of(own) == Training::none ? own : "beam";
  const auto planner = planner_factory(name, environment, scenario.planning, {})();
  if (is_by_the_clock(own)) {
    fly_clock(scenario, *environment, *planner, places, forecast, result);
  } else {
    fly_sequences(scenario, *environment, *planner, places, sizes, result);
  }
  return result;
}

}  // namespace skein
