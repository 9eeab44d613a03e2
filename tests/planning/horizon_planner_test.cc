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

}  // namespace
}  // namespace skein
