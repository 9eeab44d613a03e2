#include "skein/mission/planning_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "skein/base/input_fault.h"
#include "skein/mission/build.h"
#include "skein/mission/solved_tables.h"
#include "skein/planning/environment_file.h"
#include "skein/planning/environment_world.h"

namespace skein {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

Scenario small_scenario(const std::string& more) {
  return parse_scenario("[swarms]\ncount = 2\n[world.clusters]\ncount = 3\ndevices = 2\n" + more,
                        "test.toml");
}

std::filesystem::path reference_file() {
  return std::filesystem::path(SKEIN_SOURCE_DIR) / "tests/reference/planning_environment.json";
}

std::string refusal(const Scenario& scenario, const EnvironmentOptions& options) {
  ThreadPool pool(1);
  try {
    build_environment(scenario, options, pool);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PlanningSetup, TablesAreAClosedFormOrSolved) {
  const Scenario scenario =
      small_scenario("[planning]\ndurations = [20]\nlocal_periods = [2]\nglobal_periods = [1, 2]\n");
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  const auto none = [](double) {};
  const Environment closed =
      build_environment(scenario, world, MissingTables::closed_form, pool, alone(), none);
  const Environment solved = build_environment(scenario, world, MissingTables::solved, pool, alone(), none);
  EXPECT_EQ(closed.tables.objective, planning_environment(world, scenario.planning).tables.objective);
  EXPECT_EQ(solved.tables.objective, solve_tables(scenario, world, pool, alone(), none).objective);
  EXPECT_NE(closed.tables.objective, solved.tables.objective);
  EXPECT_EQ(closed.travel_j, solved.travel_j);
}

// Small ones, and those of planners that learn, are solved at once.
TEST(PlanningSetup, LargeTablesAreSolvedOnDemand) {
  std::string durations = "1";
  for (int i = 2; i <= 700; ++i) {
    durations += ", " + std::to_string(i);
  }
  const auto built = [&](const std::string& planning) {
    const Scenario scenario =
        small_scenario("[planning]\nlocal_periods = [1]\nglobal_periods = [1]\n" + planning);
    ThreadPool pool(1);
    const World world = build_world(scenario, pool);
    Environment e = build_environment(scenario, world, MissingTables::solved, pool, alone(), [](double) {});
    EXPECT_NE(e.visits, nullptr);
    return e.tables.source != nullptr;
  };
  const std::string large = "durations = [" + durations + "]\n";
  EXPECT_TRUE(built("planner = \"beam\"\n" + large));
  EXPECT_FALSE(built("planner = \"guided\"\n" + large));
  EXPECT_FALSE(built("planner = \"beam\"\ndurations = [4, 8]\n"));
}

TEST(PlanningSetup, ThresholdsAreTheWorldsOrGiven) {
  const Scenario scenario = small_scenario("");
  ThreadPool pool(1);
  const auto own = build_environment(scenario, {}, pool);
  EXPECT_EQ(own->threshold_j,
            planning_environment(build_world(scenario, pool), scenario.planning).threshold_j);
  EXPECT_THAT(build_environment(scenario, {.threshold_j = 5e3}, pool)->threshold_j, Each(5e3));
}

TEST(PlanningSetup, AFileHasTheNumbersAndTheScenarioWhatThePaperLeavesOpen) {
  ThreadPool pool(1);
  const auto environment =
      build_environment(small_scenario("[planning]\nrecharge_kj = 7\nbattery_mask = false\n"),
                        {.file = reference_file()}, pool);
  const Environment plain = load_environment(reference_file()).environment;
  EXPECT_EQ(environment->travel_j, plain.travel_j);
  EXPECT_EQ(environment->tables.objective, plain.tables.objective);
  EXPECT_EQ(environment->recharge_j, 7e3);
  EXPECT_FALSE(environment->battery_mask);
}

TEST(PlanningSetup, WhereNoPlanCouldWorkIsRefused) {
  EXPECT_THAT(refusal(small_scenario(""), {.threshold_j = 1e9}), HasSubstr("threshold"));
  EXPECT_THAT(refusal(small_scenario(""), {.file = reference_file(), .threshold_j = 1e9}),
              HasSubstr("planning_environment.json"));
}

TEST(PlanningSetup, AGeometryHasOtherPlacesAndNothingElse) {
  ThreadPool pool(1);
  const auto environment = build_environment(small_scenario(""), {}, pool);
  EXPECT_EQ(geometry_of(environment, 0), environment);
  const auto other = geometry_of(environment, 1);
  EXPECT_NE(other->distance_m, environment->distance_m);
  EXPECT_EQ(other->tables.objective, environment->tables.objective);
}

}  // namespace
}  // namespace skein
