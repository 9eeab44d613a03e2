#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"
#include "skein/planning/schedule.h"

namespace skein {
namespace {

// Beside its threshold, for what is not as predicted, and for the electronics of a swarm that stays landed.
double reserve_j(const Environment& e, std::size_t swarm, double landed_j) {
  constexpr double share = 0.02;
  constexpr double most_share = 0.25;
  const double usable = e.capacity_j[swarm] - e.threshold_j[swarm];
  return std::min(share * usable + landed_j, most_share * usable);
}

ScheduleProblem::Swarm swarm_start(const Environment& e, const Observation& o, std::size_t u, double end_s) {
  const double share = neediest_share(e, u);
  ScheduleProblem::Swarm swarm{.lost = o.batteries[u].si() == lost_battery_j,
                               .site = o.positions[u],
                               .arrival_s = o.arrivals_s.empty() ? 0.0 : std::max(0.0, o.arrivals_s[u]),
                               .battery_j = o.batteries[u].si(),
                               .takeoff_j = e.takeoff_j[u] * share};
  swarm.least_j = e.threshold_j[u] + reserve_j(e, u, e.landed_w[u] * share * end_s);
  swarm.ready_s = swarm.arrival_s;
  if (swarm.lost) {
    return swarm;
  }
  // What is still to be flown may not be booked yet.
  swarm.battery_j -= swarm.arrival_s * e.speed_mps[u] * e.metre_j[u] * share;
  if (e.is_station(swarm.site)) {  // who is there leaves it full
    constexpr double full_share = 0.99;
    const double missing = std::max(0.0, 1.0 - swarm.battery_j / e.capacity_j[u]);
    const double charge_s = 1.0 - missing < full_share ? missing * e.recharge_s[u] : 0.0;
    swarm.charging = swarm.arrival_s + charge_s > 0.0;
    swarm.ready_s += charge_s;
    swarm.battery_j = e.capacity_j[u];
  } else {
    swarm.under_way = swarm.arrival_s > 0.0;
  }
  return swarm;
}

void add_visits(ScheduleProblem& problem, const VisitTable& table) {
  const Environment& e = *problem.environment;
  const std::size_t pairs = e.num_swarms * e.num_clusters;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      const std::size_t pair = u * e.num_clusters + c;
      const VisitTable::Visit& visit = table.visits[problem.timing * pairs + pair];
      problem.visits.push_back({.possible = visit.cost.possible,
                                .duration_s = visit.cost.duration_s,
                                .energy_j = visit.cost.energy_j,
                                .battery_j = table.most_battery_j[pair],
                                .accuracy = std::max(0.0, problem.clusters[c].visited - visit.behind)});
      double to_station = std::numeric_limits<double>::infinity();
      for (std::size_t r = e.num_clusters; r < e.num_sites(); ++r) {
        to_station = std::min(to_station, e.travel(u, c, r));
      }
      problem.to_station_j.push_back(to_station + problem.swarms[u].takeoff_j);
    }
  }
}

// Energy of the cheapest visit from a neighbour.
double least_visit_j(const ScheduleProblem& problem, std::size_t cluster) {
  const Environment& e = *problem.environment;
  double metres = std::numeric_limits<double>::infinity();
  for (std::size_t other = 0; other < e.num_clusters; ++other) {
    metres = other != cluster ? std::min(metres, e.distance(other, cluster)) : metres;
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const ScheduleProblem::Visit& visit = problem.visit(u, cluster);
    if (visit.possible && !problem.swarms[u].lost) {
      const double way = e.num_clusters > 1 ? e.metre_j[u] * metres : 0.0;
      least = std::min(least, way + e.takeoff_j[u] + visit.energy_j);
    }
  }
  return least;
}

}  // namespace

double neediest_share(const Environment& e, std::size_t swarm) {
  for (std::size_t to = 1; to < e.num_sites(); ++to) {
    const double all = e.metre_j[swarm] * e.distance(0, to);
    if (all > 0.0) {
      return std::min(1.0, e.travel(swarm, 0, to) / all);
    }
  }
  return 1.0;
}

VisitTable visit_table(const Environment& e) {
  expect(e.visits != nullptr, "an environment that knows what visits take");
  const std::size_t pairs = e.num_swarms * e.num_clusters;
  VisitTable table;
  table.most_battery_j.assign(pairs, 0.0);
  std::vector<double> least_loss(pairs, std::numeric_limits<double>::infinity());
  for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const VisitCost cost = e.visits->of(t, pair / e.num_clusters, pair % e.num_clusters);
      table.visits.push_back({.cost = cost});
      if (cost.possible) {
        least_loss[pair] = std::min(least_loss[pair], cost.accuracy_loss);
        table.most_battery_j[pair] = std::max(table.most_battery_j[pair], cost.battery_j);
      }
    }
  }
  for (std::size_t i = 0; i < table.visits.size(); ++i) {
    VisitTable::Visit& visit = table.visits[i];
    visit.behind = visit.cost.possible ? (visit.cost.accuracy_loss - least_loss[i % pairs]) / 100.0 : 0.0;
  }
  return table;
}

void set_price(ScheduleProblem& problem, double price) {
  problem.price = price;
  for (std::size_t c = 0; c < problem.clusters.size(); ++c) {
    ScheduleProblem::Cluster& cluster = problem.clusters[c];
    const double energy = least_visit_j(problem, c);
    const bool comes = std::isfinite(energy);
    cluster.visit_worth = comes ? price * energy : 0.0;
    cluster.cycle_s = comes && cluster.now.loss_per_s > 0.0
                          ? std::sqrt(2.0 * cluster.visit_worth / cluster.now.loss_per_s)
                          : 0.0;
  }
}

ScheduleProblem schedule_problem(std::shared_ptr<const Environment> environment,
                                 const Observation& observation, std::span<const double> ages_s,
                                 const VisitTable& table, std::size_t timing, const ScheduleSpan& span) {
  const Environment& e = *environment;
  expect(e.visits != nullptr && e.metre_j.size() == e.num_swarms && e.speed_mps.size() == e.num_swarms &&
             e.takeoff_j.size() == e.num_swarms && e.landed_w.size() == e.num_swarms &&
             e.recharge_s.size() == e.num_swarms,
         "an environment that does not know what visits take");
  expect(observation.forecasts.size() == e.num_clusters && ages_s.size() == e.num_clusters &&
             observation.positions.size() == e.num_swarms,
         "an observation with a forecast of each cluster");
  ScheduleProblem problem{.timing = timing, .end_s = span.end_s, .after_s = span.after_s};
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    problem.swarms.push_back(swarm_start(e, observation, u, span.end_s));
  }
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    const ClusterForecast& f = observation.forecasts[c];
    problem.clusters.push_back(
        {.now = {.accuracy = f.accuracy,
                 .loss_per_s = std::max(0.0, f.loss_per_s),
                 .floor = std::min(f.accuracy, least_accuracy_share * f.visited_accuracy)},
         .visited = f.visited_accuracy,
         .age_s = ages_s[c]});
  }
  problem.environment = std::move(environment);
  add_visits(problem, table);
  return problem;
}

}  // namespace skein
