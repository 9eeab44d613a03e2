#include "skein/mission/training_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "skein/data/data_source.h"
#include "skein/learning/trainer.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

Scenario short_training(const std::vector<std::string>& more = {}) {
  LoadOptions options{.settings = {"learning.iterations=4"}};
  options.settings.insert(options.settings.end(), more.begin(), more.end());
  return load_scenario(std::filesystem::path(SKEIN_SOURCE_DIR) / "scenarios/smoke.toml", options);
}

json summary_in(const std::filesystem::path& directory) {
  return json::parse(read_file(directory / "summary.json", 1 << 20));
}

TEST(TrainingRun, LeavesTheScenarioMetricsModelsAndASummary) {
  const TemporaryDirectory directory;
  const Scenario scenario = short_training();
  ThreadPool pool(1);
  auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
  double last_progress = 0.0;
  const TrainingOutcome outcome =
      train_into(scenario, data, directory.path(), pool, [&](double share) { last_progress = share; });
  EXPECT_EQ(last_progress, 1.0);
  for (const char* name : {"scenario.toml", "metrics.csv", "models/global.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(directory.path() / name)) << name;
  }
  EXPECT_EQ(outcome.records.back().iteration, 4U);
  const json summary = summary_in(directory.path());
  EXPECT_EQ(summary, json::parse(training_summary(scenario, outcome, directory.path())));
  EXPECT_EQ(summary["swarms"], outcome.num_swarms);
  EXPECT_EQ(summary["last"]["iteration"], 4);
}

TEST(TrainingRun, SeedsAreTrainedInTurn) {
  const TemporaryDirectory directory;
  const Scenario scenario = short_training();
  ThreadPool pool(1);
  const RepeatedTraining training = train_repeatedly(scenario, 2, directory.path(), pool, [](double) {});
  EXPECT_THAT(training.seeds, ElementsAre(1, 2));
  EXPECT_EQ(training.num_diverged(), 0U);
  const TrainingNumber& accuracy = training_numbers().front();
  const auto interval = training.over_seeds(accuracy);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->mean,
                   50.0 * (training.last[0].global.accuracy + training.last[1].global.accuracy));
  const json summary = summary_in(directory.path());
  EXPECT_EQ(summary["over_seeds"][std::string(accuracy.name)]["mean"], interval->mean);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "seed_2/summary.json"));
}

TEST(TrainingRun, ASummaryTellsOfDivergence) {
  const TemporaryDirectory directory;
  const Scenario scenario = short_training(
      {"learning.algorithm=h_fl", "learning.step=10", "learning.iterations=40",
       "learning.network.preset=layers",
       "learning.network.layers=[\"linear 100\", \"linear 100\", \"linear 100\", \"linear 10\"]"});
  ThreadPool pool(1);
  EXPECT_THROW(train_repeatedly(scenario, 2, directory.path(), pool, [](double) {}), Divergence);
  EXPECT_TRUE(summary_in(directory.path() / "seed_1").contains("diverged"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "summary.json"));
}

}  // namespace
}  // namespace skein
