#include "skein/mission/offloading_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using nlohmann::json;
using ::testing::SizeIs;

// So short that batteries last.
Scenario smoke(const std::string& setting = "learning.iterations=4") {
  return load_scenario(std::filesystem::path(SKEIN_SOURCE_DIR) / "scenarios/smoke.toml",
                       {.settings = {setting}});
}

TEST(OffloadingStudy, EverySwarmHasADecision) {
  const TemporaryDirectory directory;
  const Scenario scenario = smoke();
  ThreadPool pool(1);
  const std::vector<OffloadingProblem> problems = first_problems(scenario, pool);
  ASSERT_THAT(problems, SizeIs(2));
  const std::vector<TimedOffload> results =
      solve_problems(problems, "newton", scenario.offloading.battery, pool);
  const OffloadMeans means = means_of(results);
  EXPECT_EQ(means.solved, 2U);
  EXPECT_DOUBLE_EQ(means.objective, 0.5 * (results[0].result.evaluations[0].objective +
                                           results[1].result.evaluations[0].objective));
  write_decisions(scenario, problems, results, directory.path());
  const json written = json::parse(read_file(directory.path() / "decision.json", 1 << 24));
  ASSERT_THAT(written, SizeIs(2));
  EXPECT_EQ(written[1]["objective"], results[1].result.objective());
  EXPECT_EQ(written[1]["rounds"].size(), results[1].result.decisions.size());
}

TEST(OffloadingStudy, EveryWeightHasItsMeans) {
  ThreadPool pool(1);
  const std::vector<double> weights{0.01, 0.5};
  const std::vector<WeightRow> rows = sweep_weights(smoke(), weights, pool, [](double) {});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].means.solved, 2U);
  EXPECT_LT(rows[0].means.objective, rows[1].means.objective);
  EXPECT_EQ(json::parse(weights_json(rows))[1]["processed_points"], rows[1].means.processed);
}

TEST(OffloadingStudy, OnlyWhoLeavesWorkersOutIsBetterThanTheOptimizer) {
  ThreadPool pool(1);
  const std::vector<MethodRow> rows = compare_methods(smoke(), pool);
  for (const MethodRow& row : rows) {
    ASSERT_TRUE(row.means.has_numbers()) << row.name;
    EXPECT_EQ(row.means.objective >= rows.front().means.objective, row.name != "worker_selection")
        << row.name;
  }
  EXPECT_EQ(json::parse(methods_json(rows))[0]["method"], "newton");
}

TEST(OffloadingStudy, WithoutADecisionThereAreReasonsAndNoNumbers) {
  ThreadPool pool(1);
  const std::vector<MethodRow> rows = compare_methods(smoke("learning.iterations=40"), pool);
  EXPECT_FALSE(rows.front().means.has_numbers());
  ASSERT_FALSE(rows.front().reasons.empty());
  EXPECT_TRUE(json::parse(methods_json(rows))[0]["objective"].is_null());
}

}  // namespace
}  // namespace skein
