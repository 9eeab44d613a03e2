// What the planner by the clock keeps in any world, and that it brings what it is for.

#include "skein/planning/horizon_planner.h"

#include <gtest/gtest.h>

#include "tests/planning/clock_world.h"

namespace skein {
namespace {

HorizonOptions priced(double price, ScheduleSearchKind search = ScheduleSearchKind::neighbourhood) {
  return {.objective = Objective::price, .horizon_h = 0.5, .energy_price = price, .search = search};
}

ClockWorldOptions random_options(RandomStream& stream) {
  ClockWorldOptions options{.size = {.swarms = 1 + stream.below(5),
                                     .clusters = 2 + stream.below(6),
                                     .stations = 1 + stream.below(3)}};
  if (stream.bernoulli(0.5)) {  // some flights only
    options.battery_j = stream.uniform(20000.0, 60000.0);
    options.threshold_j = options.battery_j * stream.uniform(0.0, 0.4);
  }
  options.possible = stream.bernoulli(0.3) ? stream.uniform(0.0, 0.8) : 1.0;
  options.takeoff_j = stream.bernoulli(0.5) ? 2750.0 : 0.0;
  options.landed_w = stream.bernoulli(0.5) ? 3.0 : 0.0;
  options.timings = 1 + stream.below(3);
  return options;
}

// Plans that missions can carry out, whatever the world; the same again from the same seed.
TEST(HorizonPlanner, KeepsThePromisesInAnyWorld) {
  std::size_t charges = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomStream stream(seed, "test.horizon");
    const auto e = clock_environment(random_options(stream), seed);
    const double mission_s = stream.uniform(600.0, 3000.0);
    const auto search = seed % 4 == 0 ? ScheduleSearchKind::beam : ScheduleSearchKind::neighbourhood;
    HorizonPlanner planner(e, priced(stream.bernoulli(0.2) ? 0.0 : stream.uniform(0.01, 0.3), search));
    const bool just_visited = stream.bernoulli(0.2);
    const bool one_is_lost = stream.bernoulli(0.2);
    std::vector<Plan> plans;
    for (int repeat = 0; repeat < 2; ++repeat) {
      ClockWorld world(e, seed, mission_s);
      if (just_visited) {
        for (ClusterForecast& f : world.now().forecasts) {
          f.accuracy = f.visited_accuracy;
        }
      }
      if (one_is_lost) {
        world.now().batteries[0] = Energy(lost_battery_j);
      }
      planner.begin(seed);
      std::size_t epoch = 0;
      for (; !world.is_over() && epoch < 400; ++epoch) {
        const Plan plan = planner.choose(world.now());
        ASSERT_EQ(plan.destinations.size(), e->num_swarms);
        ASSERT_EQ(plan.active.size(), e->num_swarms);
        EXPECT_GT(plan.until_s, 0.0);
        const std::vector<Alternative> weighed = planner.alternatives();
        ASSERT_FALSE(weighed.empty());
        EXPECT_EQ(weighed[0].destinations, plan.destinations);
        for (std::size_t i = 1; i < weighed.size(); ++i) {
          EXPECT_NE(weighed[i].destinations, plan.destinations);
          EXPECT_LE(weighed[i].value, weighed[i - 1].value);
        }
        if (repeat == 0) {
          plans.push_back(plan);
        } else {
          ASSERT_LT(epoch, plans.size());
          EXPECT_EQ(plan.destinations, plans[epoch].destinations);
          EXPECT_EQ(plan.departures_s, plans[epoch].departures_s);
          EXPECT_EQ(plan.until_s, plans[epoch].until_s);
        }
        world.carry_out(plan);
        ASSERT_TRUE(world.faults().empty()) << world.faults()[0] << " seed " << seed << " epoch " << epoch;
      }
      EXPECT_TRUE(world.is_over()) << seed << ": plans that take no time";
      EXPECT_GE(world.least_margin_j(), 0.0) << seed;
      charges += world.charges();
    }
  }
  EXPECT_GT(charges, 5U);
}

struct Flown {
  double accuracy = 0.0;
  double energy_kj = 0.0;
  double value = 0.0;  // accuracy-seconds less the price of energy
  double oldest_s = 0.0;
  std::size_t visits = 0;
};
Flown fly(const std::shared_ptr<const Environment>& e, const HorizonOptions& options, std::uint64_t seed,
          double hours = 2.0) {
  HorizonPlanner planner(e, options);
  planner.begin(seed);
  ClockWorld world(e, seed, hours * 3600.0);
  while (!world.is_over()) {
    world.carry_out(planner.choose(world.now()));
  }
  EXPECT_TRUE(world.faults().empty());
  return {.accuracy = world.mean_accuracy(),
          .energy_kj = world.now().spent_j / 1e3,
          .value = world.accuracy_seconds() - price_per_joule(options.energy_price) * world.now().spent_j,
          .oldest_s = world.oldest_s(),
          .visits = world.visits()};
}

// All swarms fly to a cluster each, over and over.
Flown fly_in_rounds(const std::shared_ptr<const Environment>& e, double price, std::uint64_t seed) {
  ClockWorld world(e, seed, 7200.0);
  for (std::size_t round = 0; !world.is_over(); ++round) {
    Plan plan{.timing = e->tables.timings[0]};
    for (std::size_t u = 0; u < e->num_swarms; ++u) {
      plan.destinations.push_back(static_cast<Site>((round * e->num_swarms + u) % e->num_clusters));
      plan.active.push_back(true);
    }
    plan.until_s = 300.0;
    world.carry_out(plan);
  }
  return {.value = world.accuracy_seconds() - price_per_joule(price) * world.now().spent_j};
}

TEST(HorizonPlanner, IsWorthMoreThanRounds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto e = clock_environment({.size = {4, 8, 2}, .battery_j = 1e6}, seed);
    EXPECT_GT(fly(e, priced(0.1), seed).value, fly_in_rounds(e, 0.1, seed).value) << seed;
  }
}

// Energy that costs more is spent less, and accuracy falls.
TEST(HorizonPlanner, GoesByThePriceOfEnergy) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto e = clock_environment({.size = {4, 8, 2}}, seed);
    const Flown cheap = fly(e, priced(0.02), seed);
    const Flown dear = fly(e, priced(0.5), seed);
    EXPECT_GT(cheap.energy_kj, 1.5 * dear.energy_kj) << seed;
    EXPECT_GT(cheap.accuracy, dear.accuracy) << seed;
  }
}

// What is wished for is reached, and the two wishes agree with each other.
TEST(HorizonPlanner, ReachesWhatIsWished) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto e = clock_environment({.size = {4, 8, 2}}, seed);
    const Flown wanted =
        fly(e, {.objective = Objective::wanted_accuracy, .wanted_accuracy_percent = 82.0}, seed);
    EXPECT_NEAR(wanted.accuracy, 0.82, 0.01) << seed;
    const Flown budget =
        fly(e, {.objective = Objective::energy_budget, .energy_budget_kj = wanted.energy_kj}, seed);
    EXPECT_NEAR(budget.energy_kj, wanted.energy_kj, 0.06 * wanted.energy_kj) << seed;
    EXPECT_GT(budget.accuracy, wanted.accuracy - 0.015) << seed;
  }
}

// Nobody is older than it may be, though energy is dear; what no plan could keep is known before.
TEST(HorizonPlanner, KeepsTheAgeLimit) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto e = clock_environment({.size = {3, 6, 2}}, seed);
    HorizonOptions options = priced(3.0);
    EXPECT_GT(fly(e, options, seed).oldest_s, 1900.0) << seed;
    options.most_age_h = 0.5;
    EXPECT_LE(fly(e, options, seed).oldest_s, 1.02 * 1800.0) << seed;
    EXPECT_LT(least_possible_age_s(*e), 1800.0);
  }
  // Two clusters 1000 m apart, one swarm at 10 m/s, 20 s of training: from one to the other takes 120 s.
  Environment e{.num_swarms = 1, .num_clusters = 2, .num_stations = 1};
  e.distance_m = {0.0, 1000.0, 2000.0, 1000.0, 0.0, 2000.0, 2000.0, 2000.0, 0.0};
  e.speed_mps = {10.0};
  e.tables.timings = {{64, 1, 1}};
  e.visits =
      std::make_shared<FixedVisits>(1, 2, std::vector<VisitCost>(2, {.possible = true, .duration_s = 20.0}));
  EXPECT_DOUBLE_EQ(least_possible_age_s(e), 120.0);
}

}  // namespace
}  // namespace skein
