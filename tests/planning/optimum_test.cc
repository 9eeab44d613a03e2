#include "skein/planning/optimum.h"

#include <gtest/gtest.h>

#include "skein/planning/beam.h"
#include "skein/planning/heuristics.h"
#include "skein/planning/planner_evaluation.h"
#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

std::shared_ptr<Environment> small_world(std::uint64_t seed, std::size_t swarms) {
  auto e = random_environment({.swarms = swarms, .clusters = 3, .stations = 1}, seed);
  e->reward.age_cap = 4.0;
  e->threshold_j.assign(swarms, 30000.0);
  return e;
}

// One swarm, one cluster, one station, staying free of charge: training there for ever is best, until the
// battery is empty; with training that costs nothing, for ever. By hand: V = 1000 / (0.2 * 100) = 50.
TEST(Optimum, ByHand) {
  Environment e{.num_swarms = 1,
                .num_clusters = 1,
                .num_stations = 1,
                .travel_j = {0.0, 1000.0, 1000.0, 0.0},
                .distance_m = {0.0, 100.0, 100.0, 0.0},
                .capacity_j = {5000.0},
                .threshold_j = {500.0},
                .tables = {.num_swarms = 1,
                           .num_clusters = 1,
                           .timings = {{100, 1, 1}},
                           .objective = {100},
                           .training_energy_j = {0}},
                .reward = {.scale = 1000.0, .age_cap = 5.0},
                .drift = {.start = {3}, .end = {3}}};
  ASSERT_TRUE(faults_of(e).empty());
  ThreadPool pool(1);
  const auto bounds = optimum_bounds(e, {.battery_levels = 9, .tolerance = 0.01}, pool);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->upper, 50.0, 0.02);
  EXPECT_NEAR(bounds->lower, 50.0, 0.02);
}

// What any planner gets is below the upper bound, and a wide beam is not far from the lower one.
TEST(Optimum, NoPlannerIsAboveTheBound) {
  ThreadPool pool(0);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto e = small_world(seed, 1);
    const auto bounds = optimum_bounds(*e, {.battery_levels = 60}, pool);
    ASSERT_TRUE(bounds.has_value());
    EXPECT_LE(bounds->lower, bounds->upper + 1e-6);
    const MissionOptions missions{.starts = 4, .epochs = 400, .seed = seed};
    const auto beam = mean_of(evaluate(
        *e,
        [&] {
          return std::make_unique<BeamPlanner>(e, BeamOptions{.width = 32, .horizon = 16, .replan = 4});
        },
        missions, pool));
    const auto myopic = mean_of(evaluate(
        *e, [&] { return std::make_unique<MyopicPlanner>(e); }, missions, pool));
    // Missions start with full batteries, which is worth less than 1 % over 400 sequences.
    EXPECT_LE(beam.reward, bounds->upper * 1.01) << seed;
    EXPECT_LE(myopic.reward, bounds->upper * 1.01) << seed;
    EXPECT_GE(beam.reward, bounds->lower * 0.97) << seed;
  }
}

// Finer batteries bring the bounds together.
TEST(Optimum, FinerGridsGiveTighterBounds) {
  ThreadPool pool(0);
  const auto e = small_world(2, 1);
  const auto coarse = optimum_bounds(*e, {.battery_levels = 10, .tolerance = 0.1}, pool);
  const auto fine = optimum_bounds(*e, {.battery_levels = 160, .tolerance = 0.1}, pool);
  ASSERT_TRUE(coarse && fine);
  EXPECT_LT(fine->upper - fine->lower, coarse->upper - coarse->lower);
  EXPECT_LE(fine->upper, coarse->upper + 0.2);
  EXPECT_GE(fine->lower, coarse->lower - 0.2);
}

TEST(Optimum, WorldsThatAreTooLargeHaveNone) {
  ThreadPool pool(1);
  EXPECT_FALSE(optimum_bounds(*reference_environment(), {}, pool).has_value());
  auto moving = small_world(1, 1);
  moving->drift.sequences = 10;
  EXPECT_FALSE(optimum_bounds(*moving, {}, pool).has_value());
}

}  // namespace
}  // namespace skein
