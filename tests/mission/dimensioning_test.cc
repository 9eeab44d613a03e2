#include "skein/mission/dimensioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/mission/surrogate.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

ScenarioSource smoke() {
  return {.file = SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
          .settings = {"run.sequences=1", "swarms.count=1", "learning.iterations=4"}};
}

TEST(Dimensioning, UsualRangesAreOfAllWhoDoNotLead) {
  std::vector<std::string> names;
  for (const CountRange& range : usual_ranges(load_scenario(smoke()))) {
    names.push_back(range.name);
    EXPECT_LT(range.low, range.high);
  }
  EXPECT_THAT(names, ElementsAre("worker", "coordinator"));
}

TEST(Dimensioning, TheSurrogateCountsUavsVisitsAndEnergy) {
  const Surrogate surrogate = fly_surrogate(load_scenario(smoke()));
  EXPECT_EQ(surrogate.uavs.at("worker"), 2U);
  EXPECT_EQ(surrogate.visits + surrogate.recharges, 1.0);
  EXPECT_GT(surrogate.energy_j, 0.0);
}

ScenarioSource by_the_clock() {
  return {.file = SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
          .settings = {"run.sequences=0", "run.hours=0.3", "planning.planner='horizon'",
                       "planning.objective='price'", "planning.energy_price=0.02", "planning.horizon_h=0.2",
                       "planning.cycle_s=0", "planning.estimates.held_out=0.2", "learning.iterations=4"}};
}

TEST(Dimensioning, ByTheClockTheSurrogatePredictsAccuracy) {
  const Scenario scenario = load_scenario(by_the_clock());
  const ClusterForecast first = first_forecast(scenario);
  EXPECT_DOUBLE_EQ(first.accuracy, 0.1);
  EXPECT_DOUBLE_EQ(first.visited_accuracy, 0.7);
  EXPECT_DOUBLE_EQ(3600.0 * first.loss_per_s, 0.2);
  const Surrogate surrogate = fly_surrogate(scenario);
  EXPECT_NEAR(surrogate.hours, 0.3, 1e-9);
  EXPECT_GE(surrogate.visits, 3.0) << "every cluster";
  EXPECT_GT(surrogate.energy_j, 0.0);
  EXPECT_GT(surrogate.accuracy_percent, 10.0);
  EXPECT_LT(surrogate.accuracy_percent, 70.0);
  // What visits leave is believed.
  ClusterForecast better = first;
  better.visited_accuracy = 0.9;
  EXPECT_GT(fly_surrogate(scenario, better).accuracy_percent, surrogate.accuracy_percent + 10.0);
}

TEST(Dimensioning, ForecastsAreWhatMissionsHaveShown) {
  const TemporaryDirectory directory;
  const Scenario scenario = load_scenario(by_the_clock());
  write_file(directory.path() / "sequences.csv", "sequence,start_s\n0,0\n1,600\n2,1800\n");
  write_file(directory.path() / "clusters.csv",
             "sequence,cluster,accuracy_before_percent,accuracy_after_percent,estimated_after_percent\n"
             "0,C:1,10,80,79\n0,C:2,10,10,\n"
             "1,C:1,77,90,88\n1,C:2,10,70,71\n"
             "2,C:1,90,90,\n2,C:2,66,80,81\n");
  const std::vector<std::filesystem::path> runs{directory.path()};
  const ClusterForecast forecast = flown_forecast(scenario, runs);
  EXPECT_NEAR(forecast.visited_accuracy, (0.8 + 0.9 + 0.7 + 0.8) / 4.0, 1e-12);
  EXPECT_NEAR(forecast.loss_per_s, (0.03 + 0.04) / (600.0 + 1200.0), 1e-12);
  EXPECT_EQ(forecast.accuracy, first_forecast(scenario).accuracy);
  EXPECT_EQ(flown_forecast(scenario, {}).visited_accuracy, first_forecast(scenario).visited_accuracy);
  EXPECT_EQ(flown_forecast(scenario, {}).loss_per_s, first_forecast(scenario).loss_per_s);
}

TEST(Dimensioning, TheBestStaysWithinTheBudget) {
  const TemporaryDirectory directory;
  const DimensioningSetup setup{.source = smoke(),
                                .ranges = {{.name = "worker", .low = 1, .high = 3}},
                                .prices = {{"worker", 10.0}},
                                .budget = {.most_cost = 25.0},
                                .confirm = 1,
                                .repeat = 1,
                                .directory = directory.path(),
                                .num_threads = 1};
  const Dimensioning result = dimension(setup, [](std::string_view, double) {});
  // The scenario's own two workers, then one and three.
  ASSERT_THAT(result.compositions, SizeIs(3));
  EXPECT_THAT(result.compositions[0].values, ElementsAre("2"));
  EXPECT_EQ(result.compositions[0].learning_cost, 1.0);
  EXPECT_EQ(result.compositions[2].cost, 32.0);  // three workers, a leader and a coordinator
  EXPECT_TRUE(result.compositions[1].within);
  EXPECT_FALSE(result.compositions[2].within);
  EXPECT_EQ(result.compositions[2].missions, 0U);
  EXPECT_THAT(result.chosen, SizeIs(2));
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.compositions[*result.best].confirmed_within);
  write_dimensioning(result);
  EXPECT_EQ(read_file(directory.path() / "dimension.json", 1 << 20), dimensioning_json(result));
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "dimension.svg"));
}

}  // namespace
}  // namespace skein
