// The schedule model by hand, and its search between an exhaustive optimum of small worlds and the bound.

#include "skein/planning/schedule.h"

#include <gtest/gtest.h>

#include "skein/planning/schedule_bound.h"
#include "skein/planning/schedule_search.h"
#include "tests/planning/clock_world.h"

namespace skein {
namespace {

using Problem = std::shared_ptr<const ScheduleProblem>;

Problem make_problem(const std::shared_ptr<const Environment>& e, const ClockWorld& world, double end_s,
                     double price) {
  const std::vector<double> ages(e->num_clusters, 0.0);
  ScheduleProblem problem = schedule_problem(e, world.now(), ages, visit_table(*e), 0,
                                             {.end_s = end_s, .after_s = world.now().left_s - end_s});
  set_price(problem, price);
  return std::make_shared<const ScheduleProblem>(std::move(problem));
}

Schedule searched(const Problem& problem, std::size_t iterations, std::uint64_t seed = 1) {
  Schedule schedule(problem);
  fill_greedily(schedule);
  RandomStream stream(seed, "test.search");
  improve(schedule, iterations, stream);
  return schedule;
}

// Accuracy falls by 0.01 a second from 0.9 to 0.45 in 45 s: 30.375; then it stays: 10 s of 0.45.
TEST(Forecast, FallsInALineToItsFloor) {
  const AccuracyPath path = path_of_visit(0.9, 0.01);
  EXPECT_NEAR(path.integral(45.0), 30.375, 1e-12);
  EXPECT_NEAR(path.integral(55.0), 34.875, 1e-12);
  EXPECT_NEAR(path.integral(10.0), 8.5, 1e-12);
  EXPECT_DOUBLE_EQ(path.after(10.0), 0.8);
  EXPECT_DOUBLE_EQ(path.after(100.0), 0.45);
}

// Schedules change in parts; their value is that of a fresh one with the same routes.
TEST(Schedule, ChangesInPartsAddUp) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto e = clock_environment(
        {.size = {3, 6, 2}, .battery_j = 40000.0, .threshold_j = 10000.0, .takeoff_j = 500.0}, seed);
    const ClockWorld world(e, seed, 5000.0);
    const Problem problem = make_problem(e, world, 2500.0, 0.002);
    const Schedule schedule = searched(problem, 50, seed);
    double energy_j = 0.0;
    double worth = 0.0;
    for (std::size_t c = 0; c < 6; ++c) {
      std::vector<std::pair<double, double>> visits;  // when, and what it leaves
      for (std::size_t u = 0; u < 3; ++u) {
        for (const Stop& stop : schedule.route(u).stops) {
          if (stop.cluster == c) {
            visits.emplace_back(stop.finish_s, problem->visit(u, c).accuracy);
          }
        }
      }
      std::ranges::sort(visits);
      AccuracyPath path = problem->clusters[c].now;
      double since = 0.0;
      for (const auto& [time_s, accuracy] : visits) {
        worth += path.integral(time_s - since);
        path = path_of_visit(accuracy, path.loss_per_s);
        since = time_s;
      }
      worth += path.integral(2500.0 - since);
      worth -= problem->lost_afterwards(c, problem->clusters[c].visited - path.after(2500.0 - since));
    }
    for (std::size_t u = 0; u < 3; ++u) {
      Site here = problem->swarms[u].site;
      double finish_s = 0.0;
      for (const Stop& stop : schedule.route(u).stops) {
        const bool charged = stop.station != no_site;
        energy_j += e->takeoff_j[u] * (charged ? 2.0 : 1.0) + problem->visit(u, stop.cluster).energy_j;
        energy_j += e->metre_j[u] *
                    (charged ? e->distance(here, stop.station) + e->distance(stop.station, stop.cluster)
                             : e->distance(here, stop.cluster));
        EXPECT_GE(stop.start_s, finish_s + e->distance(here, stop.cluster) / 10.0 - 1e-6);
        finish_s = stop.finish_s;
        here = stop.cluster;
      }
      EXPECT_LE(finish_s, 2500.0 + 1e-6);
    }
    EXPECT_NEAR(schedule.energy_j(), energy_j, 1e-6 * energy_j);
    EXPECT_NEAR(schedule.value(), worth - 0.002 * energy_j, 1e-6 * worth);
  }
}

constexpr std::size_t most_tours = 3000;

// All that one swarm can do on a grid of moments, or too much of it.
struct Tour {
  std::vector<std::pair<double, Site>> visits;
  double energy_j = 0.0;
};
void all_tours(const ScheduleProblem& p, std::size_t u, Site here, double now_s, double grid_s,
               const Tour& before, std::vector<Tour>& tours) {
  const Environment& e = *p.environment;
  tours.push_back(before);
  for (double start_s = now_s; start_s < p.end_s && tours.size() <= most_tours; start_s += grid_s) {
    for (Site c = 0; c < e.num_clusters; ++c) {
      if (c == here && start_s == now_s && !before.visits.empty()) {
        continue;  // again at once
      }
      const double done_s = start_s + p.flight_s(u, here, c) + p.visit(u, c).duration_s;
      if (done_s <= p.end_s) {
        Tour tour = before;
        tour.visits.emplace_back(done_s, c);
        tour.energy_j += e.metre_j[u] * e.distance(here, c) + e.takeoff_j[u] + p.visit(u, c).energy_j;
        all_tours(p, u, c, done_s, grid_s, tour, tours);
      }
    }
  }
}

double value_of(const ScheduleProblem& p, const Tour& a, const Tour& b) {
  double value = -p.price * (a.energy_j + b.energy_j);
  for (Site c = 0; c < p.clusters.size(); ++c) {
    std::vector<std::pair<double, double>> visits;
    std::size_t u = 0;
    for (const Tour* tour : {&a, &b}) {
      for (const auto& [done_s, site] : tour->visits) {
        if (site == c) {
          visits.emplace_back(done_s, p.visit(u, c).accuracy);
        }
      }
      u += p.swarms.size() > 1 ? 1 : 0;
    }
    std::ranges::sort(visits);
    AccuracyPath path = p.clusters[c].now;
    double since = 0.0;
    for (const auto& [done_s, accuracy] : visits) {
      value += path.integral(done_s - since);
      path = path_of_visit(accuracy, path.loss_per_s);
      since = done_s;
    }
    value += path.integral(p.end_s - since);
    value -= p.lost_afterwards(c, p.clusters[c].visited - path.after(p.end_s - since));
  }
  return value;
}

// Of what visits can bring at all, the search brings nearly all that the best schedule on the grid does, and
// the bound is above both.
TEST(ScheduleSearch, IsBetweenTheOptimumAndTheBound) {
  double gaps = 0.0;
  std::size_t worlds = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    RandomStream stream(seed, "test.small");
    const std::size_t swarms = 1 + stream.below(2);
    const auto e =
        clock_environment({.size = {swarms, 3, 1}, .takeoff_j = stream.uniform(0.0, 1000.0)}, seed);
    ClockWorld world(e, seed, stream.bernoulli(0.5) ? 1e4 : 360.0);
    for (ClusterForecast& f : world.now().forecasts) {
      f.loss_per_s *= 10.0;  // so that a cluster is worth several visits
      f.accuracy = stream.uniform(0.1, 0.9);
    }
    const Problem problem = make_problem(e, world, 360.0, stream.uniform(0.0005, 0.004));
    std::vector<Tour> first;
    all_tours(*problem, 0, problem->swarms[0].site, 0.0, 60.0, {}, first);
    std::vector<Tour> second(1);
    if (swarms > 1) {
      second.clear();
      all_tours(*problem, 1, problem->swarms[1].site, 0.0, 60.0, {}, second);
    }
    double exact = -std::numeric_limits<double>::infinity();
    if (std::max(first.size(), second.size()) > most_tours) {
      continue;
    }
    for (const Tour& a : first) {
      for (const Tour& b : second) {
        exact = std::max(exact, value_of(*problem, a, b));
      }
    }
    const double nothing = Schedule(problem).value();
    const double found = searched(problem, 200).value();
    const double bound = schedule_bound(problem, 2.0).value;
    EXPECT_GE(found - nothing, 0.95 * (exact - nothing) - 0.5) << seed;
    EXPECT_GE(bound, exact - 1e-6) << seed;
    EXPECT_GE(bound, found - 1e-6) << seed;
    gaps += (bound - found) / std::max(1e-9, bound - nothing);
    ++worlds;
    const double beam = search_by_beam(problem, 16).value();
    EXPECT_LE(beam, bound + 1e-6) << seed;
  }
  EXPECT_GE(worlds, 20U);
  RecordProperty("mean_gap_percent", std::to_string(100.0 * gaps / static_cast<double>(worlds)));
}

// The bound is one in any world: with swarms under way, at stations, take-offs, and what is taken on the
// ground.
TEST(ScheduleBound, IsAboveWhatIsFoundInAnyWorld) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    RandomStream stream(seed, "test.bound");
    const auto e = clock_environment({.size = {1 + stream.below(4), 2 + stream.below(6), 2},
                                      .possible = stream.bernoulli(0.3) ? 0.6 : 1.0,
                                      .takeoff_j = stream.uniform(0.0, 3000.0),
                                      .landed_w = stream.uniform(0.0, 5.0)},
                                     seed);
    ClockWorld world(e, seed, stream.uniform(1000.0, 9000.0));
    if (stream.bernoulli(0.5)) {
      world.now().arrivals_s[0] = stream.uniform(1.0, 200.0);
    }
    if (stream.bernoulli(0.3)) {
      world.now().positions[0] = static_cast<Site>(e->num_clusters);
      world.now().batteries[0] = Energy(100000.0);
    }
    const Problem problem = make_problem(e, world, 1000.0, stream.uniform(0.0, 0.01));
    EXPECT_GE(schedule_bound(problem, 5.0).value, searched(problem, 100, seed).value() - 1e-6) << seed;
  }
}

}  // namespace
}  // namespace skein
