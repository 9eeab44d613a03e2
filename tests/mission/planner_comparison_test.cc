#include "skein/mission/planner_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/mission/planner_training.h"
#include "skein/mission/planning_setup.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

PlannerComparisonSetup small_setup() {
  ThreadPool pool(1);
  const Scenario scenario = parse_scenario(
      "[swarms]\ncount = 2\n[world.clusters]\ncount = 3\n[world.stations]\ncount = 1\n", "test.toml");
  return {.agent = {.environment = build_environment(scenario, {}, pool),
                    .planning = scenario.planning,
                    .seed = 1},
          .seeds = 2,
          .geometries = 2,
          .starts = 2,
          .epochs = 10};
}

TEST(PlannerComparison, EachPlannerFliesTheSameMissions) {
  const PlannerComparisonSetup setup = small_setup();
  ThreadPool pool(1);
  std::vector<PlannerResult> results;
  for (const char* name : {"myopic", "random"}) {
    results.push_back(fly_planner(name, setup, pool, alone(), [](double) {}));
    ASSERT_EQ(results.back().scores.size(), 2U);
    EXPECT_EQ(results.back().scores[0].size(), 2U);
  }
  const std::vector<PlannerStanding> list = standings(results, "random", 1);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_GT(list[0].reward.value, list[1].reward.value);
  EXPECT_EQ(list[1].improvement.value, 0.5);  // over itself
  EXPECT_EQ(std::ranges::count(planner_scores_csv(setup, results), '\n'), 1 + 2 * 2 * 2);
  const auto json = nlohmann::json::parse(planner_comparison_json("test", setup, "random", list));
  EXPECT_EQ(json["planners"][0]["planner"], "myopic");
  EXPECT_EQ(json["planners"][0]["reward_interquartile_mean"]["value"], list[0].reward.value);
  EXPECT_THROW(standings(results, "beam", 1), InputError);
}

TEST(PlannerComparison, AStoppedTrainingGoesOn) {
  const TemporaryDirectory directory;
  PlannerComparisonSetup setup = small_setup();
  setup.agent.directory = directory.path();
  setup.agent.planning.learner.steps = 40;
  ThreadPool pool(1);
  const PlannerTraining half = train_planner(setup.agent, 20, pool, alone(), [](double) {});
  EXPECT_FALSE(half.done);
  EXPECT_EQ(half.steps, 20U);
  EXPECT_FALSE(half.greedy);
  const PlannerTraining whole = train_planner(setup.agent, 0, pool, alone(), [](double) {});
  EXPECT_TRUE(whole.done);
  EXPECT_EQ(whole.steps, 40U);
  EXPECT_TRUE(whole.greedy);
}

}  // namespace
}  // namespace skein
