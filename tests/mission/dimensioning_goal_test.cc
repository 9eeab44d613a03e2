#include "skein/mission/dimensioning_goal.h"

#include <gtest/gtest.h>

namespace skein {
namespace {

DimensioningGoal goal_of(Objective objective) {
  Scenario scenario;
  scenario.planning.planner = objective == Objective::reward ? "beam" : "horizon";
  scenario.planning.horizon = {.objective = objective,
                               .energy_price = 0.1,
                               .wanted_accuracy_percent = 85.0,
                               .energy_budget_kj = 300.0};
  scenario.world.clusters.sites.count = 8;
  return DimensioningGoal(scenario);
}

TEST(DimensioningGoal, APriceIsInPointsOfTheMean) {
  // 240 kJ at 0.1 points of a cluster over an hour each, which are 24 points over 8 clusters and 3 hours.
  EXPECT_DOUBLE_EQ(goal_of(Objective::price).rank({88.0, 240e3, 3.0}).worth, 88.0 - 1.0);
  EXPECT_DOUBLE_EQ(goal_of(Objective::price).rank({88.0, 240e3, 6.0}).worth, 88.0 - 0.5);
  EXPECT_TRUE(goal_of(Objective::price).has_price());
}

TEST(DimensioningGoal, OfThoseThatReachItTheLeastEnergyIsBest) {
  const DimensioningGoal goal = goal_of(Objective::wanted_accuracy);
  EXPECT_GT(goal.rank({84.6, 100e3, 3.0}), goal.rank({90.0, 101e3, 3.0}));
  EXPECT_GT(goal.rank({90.0, 900e3, 3.0}), goal.rank({84.0, 10e3, 3.0}));
  EXPECT_GT(goal.rank({84.0, 900e3, 3.0}), goal.rank({83.0, 10e3, 3.0}));
  EXPECT_FALSE(goal.rank({84.0, 900e3, 3.0}).reaches);
  EXPECT_GT(goal.rank({0.0, 900e3, 3.0}), no_rank);
}

TEST(DimensioningGoal, WithinABudgetOfEnergyTheMostAccuracyIsBest) {
  const DimensioningGoal goal = goal_of(Objective::energy_budget);
  EXPECT_GT(goal.rank({88.0, 305e3, 3.0}), goal.rank({87.0, 100e3, 3.0}));
  EXPECT_GT(goal.rank({50.0, 300e3, 3.0}), goal.rank({90.0, 310e3, 3.0}));
  EXPECT_GT(goal.rank({50.0, 310e3, 3.0}), goal.rank({90.0, 320e3, 3.0}));
  EXPECT_FALSE(goal.rank({90.0, 310e3, 3.0}).reaches);
  EXPECT_GT(goal.rank({50.0, 310e3, 3.0}), no_rank);
}

TEST(DimensioningGoal, ThePapersPlannersGoByAccuracy) {
  const DimensioningGoal goal = goal_of(Objective::reward);
  EXPECT_FALSE(goal.by_the_clock());
  EXPECT_FALSE(goal.has_price());
  EXPECT_GT(goal.rank({60.1, 900e3, 0.0}), goal.rank({60.0, 1.0, 0.0}));
}

}  // namespace
}  // namespace skein
