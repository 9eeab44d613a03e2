#include "skein/planning/tables.h"

#include <gtest/gtest.h>

namespace skein {
namespace {

// A function that is linear in each of T_s, tau_L and tau_G comes out exactly between the grid's points.
TEST(SolvedTables, InterpolationIsExactForTrilinearFunctions) {
  const auto f = [](const Timing& t) {
    return 3.0 + t.duration * (1.0 + t.local_period) + 5.0 * t.global_period;
  };
  SolvedTables tables{
      .num_swarms = 2, .num_clusters = 3, .timings = timing_grid({180, 220, 260}, {1, 2}, {1, 2, 4})};
  for (const Timing& timing : tables.timings) {
    for (std::size_t i = 0; i < 6; ++i) {
      tables.objective.push_back(f(timing) + static_cast<double>(i));
      tables.training_energy_j.push_back(2.0 * f(timing));
    }
  }
  ASSERT_TRUE(faults_of(tables).empty());
  for (const Timing timing :
       {Timing{180, 1, 1}, Timing{200, 1.25, 3}, Timing{260, 2, 4}, Timing{233, 1.5, 1.5}}) {
    const auto entry = interpolated(tables, timing, 1, 2);
    ASSERT_TRUE(entry.has_value());
    EXPECT_NEAR(entry->objective, f(timing) + 5.0, 1e-9);
    EXPECT_NEAR(entry->training_energy_j, 2.0 * f(timing), 1e-9);
  }
  EXPECT_FALSE(interpolated(tables, {179, 1, 1}, 0, 0).has_value());
  EXPECT_FALSE(interpolated(tables, {180, 1, 5}, 0, 0).has_value());
}

TEST(SolvedTables, WithoutAFullGridNothingIsGuessed) {
  SolvedTables tables{.num_swarms = 1,
                      .num_clusters = 1,
                      .timings = {{180, 1, 1}, {260, 2, 1}},
                      .objective = {1, 2},
                      .training_energy_j = {1, 2}};
  EXPECT_TRUE(interpolated(tables, {180, 1, 1}, 0, 0).has_value());
  EXPECT_FALSE(interpolated(tables, {220, 1, 1}, 0, 0).has_value());
}

TEST(SolvedTables, FaultsAreNamed) {
  SolvedTables tables{.num_swarms = 1,
                      .num_clusters = 2,
                      .timings = {{0, 1, 1}},
                      .objective = {1},
                      .training_energy_j = {1, -2}};
  const auto faults = faults_of(tables);
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].key, "timings");
  EXPECT_EQ(faults[1].key, "objective");
  EXPECT_EQ(faults[2].key, "training_energy_j");
}

TEST(SolvedTables, TheClosedFormHasThePublishedSize) {
  const SolvedTables tables =
      closed_form_tables(timing_grid({180, 220, 260}, {1, 2}, {1, 2}), {4.0 / 3, 1.0, 0.8}, 8);
  EXPECT_TRUE(faults_of(tables).empty());
  for (const double objective : tables.objective) {
    EXPECT_GT(objective, 100.0);
    EXPECT_LT(objective, 400.0);
  }
  for (const double energy : tables.training_energy_j) {
    EXPECT_GT(energy, 40.0);
    EXPECT_LT(energy, 250.0);
  }
}

}  // namespace
}  // namespace skein
