// The planner's model of missions by the clock: by hand, and beside the other one that tests have.
#include "skein/planning/clock_model.h"

#include <gtest/gtest.h>

#include "skein/planning/horizon_planner.h"
#include "tests/planning/clock_world.h"

namespace skein {
namespace {

constexpr double untrained = 0.05;  // below it nothing falls in either model

TEST(ClockModel, FliesWhatTheOtherModelFlies) {
  std::size_t recharges = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    RandomStream stream(seed, "test.clock_model");
    ClockWorldOptions options{.size = {.swarms = 1 + stream.below(4),
                                       .clusters = 2 + stream.below(6),
                                       .stations = 1 + stream.below(2)},
                              .takeoff_j = 2000.0 * static_cast<double>(stream.below(2)),
                              .timings = 1 + stream.below(2)};
    if (seed % 2 == 0) {  // some flights only
      options.battery_j = stream.uniform(20000.0, 40000.0);
      options.threshold_j = 0.2 * options.battery_j;
    }
    const auto e = clock_environment(options, seed);
    constexpr double mission_s = 2500.0;
    HorizonPlanner planner(e, {.objective = Objective::price, .horizon_h = 0.4, .energy_price = 0.02});
    ClockWorld world(e, seed, mission_s);
    for (ClusterForecast& forecast : world.now().forecasts) {
      forecast.accuracy = untrained;
    }
    const ClockMission mission{.starts = world.now().positions,
                               .forecasts = world.now().forecasts,
                               .seconds = mission_s,
                               .seed = seed};
    planner.begin(seed);
    while (!world.is_over()) {
      world.carry_out(planner.choose(world.now()));
    }
    ASSERT_TRUE(world.faults().empty());
    const ClockFlight flight = fly_by_the_clock(*e, planner, mission);
    EXPECT_NEAR(flight.seconds, mission_s, 1e-6);
    EXPECT_NEAR(flight.accuracy_seconds, world.accuracy_seconds(), 1e-6 * world.accuracy_seconds());
    EXPECT_NEAR(flight.energy_j, world.now().spent_j, 1e-6 * world.now().spent_j);
    EXPECT_EQ(flight.visits, world.visits());
    EXPECT_EQ(flight.recharges, world.charges());
    EXPECT_GE(flight.least_margin_j, 0.0);
    EXPECT_GT(flight.visits, 0U);
    recharges += flight.recharges;
  }
  EXPECT_GT(recharges, 0U);
}

// Trains where it is at 5 s, then rests.
class OneVisit final : public Planner {
 public:
  void begin(std::uint64_t) override {}
  Plan choose(const Observation& o) override {
    const bool goes = o.sequence == 0;
    return {.destinations = {0},
            .active = {goes},
            .timing = {64.0, 1.0, 1.0},
            .departures_s = {goes ? 5.0 : 0.0},
            .until_s = goes ? 6.0 : 94.0};
  }
};

TEST(ClockModel, OneVisitByHand) {
  const auto e = clock_environment(
      {.size = {.swarms = 1, .clusters = 1, .stations = 1}, .takeoff_j = 1000.0, .landed_w = 2.0}, 1);
  e->visits = std::make_shared<FixedVisits>(
      1, 1,
      std::vector<VisitCost>{{.possible = true, .duration_s = 10.0, .energy_j = 500.0, .battery_j = 300.0}});
  OneVisit planner;
  const ClockFlight flight =
      fly_by_the_clock(*e, planner,
                       {.starts = {0},
                        .forecasts = {{.accuracy = 0.1, .visited_accuracy = 0.9, .loss_per_s = 0.001}},
                        .seconds = 1000.0,
                        .sequences = 2});
  // The first sequence lasts until the visit is over, at 15 s; then from 0.9 to 0.9 - 0.094.
  EXPECT_DOUBLE_EQ(flight.seconds, 15.0 + 94.0);
  EXPECT_NEAR(flight.accuracy_seconds, 15.0 * 0.1 + 94.0 * (0.9 - 0.047), 1e-9);
  // Two UAVs take off with 1 kJ each, and are landed with 2 W each for all but 10 s.
  EXPECT_NEAR(flight.energy_j, 2000.0 + 500.0 + 4.0 * 99.0, 1e-9);
  EXPECT_EQ(flight.visits, 1U);
  EXPECT_EQ(flight.recharges, 0U);
  // Of the one UAV that needs half of that.
  EXPECT_NEAR(flight.least_margin_j, 200000.0 - 1000.0 - 300.0 - 2.0 * 99.0 - 40000.0, 1e-6);
}

}  // namespace
}  // namespace skein
