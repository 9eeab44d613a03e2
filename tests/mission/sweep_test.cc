#include "skein/mission/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ScenarioSource smoke(std::vector<std::string> settings) {
  return {.file = SKEIN_SOURCE_DIR "/scenarios/smoke.toml", .settings = std::move(settings)};
}

std::string refusal(const std::vector<std::string>& settings) {
  try {
    make_sweep(smoke(settings), 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Sweep, CommasInBracketsAndQuotesDoNotCount) {
  EXPECT_THAT(split_values("a.b=1,[2,3],'a,b'"), ElementsAre("1", "[2,3]", "'a,b'"));
  EXPECT_THAT(split_values("a.b={uniform = [1, 2]}"), SizeIs(1));
  EXPECT_THROW(split_values("a.b=[1,2"), InputError);
  EXPECT_THROW(split_values("a.b=1,1"), InputError);
}

TEST(Sweep, SettingsWithSeveralValuesSpanTheGrid) {
  const Sweep sweep = make_sweep(
      smoke({"run.sequences=1", "swarms.count=1,2", "planning.planner=beam,sequential"}), 3, "here");
  EXPECT_EQ(sweep.grid.num_points(), 12U);
  EXPECT_THAT(sweep.grid.cells[1], ElementsAre("1", "sequential"));
  EXPECT_EQ(sweep.place_of(5), "here/points/swarms.count=1,planning.planner=sequential,seed=3");
  const Scenario scenario = load_scenario(sweep.source_of(7));
  EXPECT_EQ(scenario.run.sequences, 1U);
  EXPECT_EQ(scenario.run.seed, 2U);
  EXPECT_EQ(scenario.planning.planner, "beam");
  EXPECT_EQ(make_sweep(smoke({}), 1).directory, "runs/smoke-sweep");
}

TEST(Sweep, RefusesWhatCannotBeSwept) {
  EXPECT_THAT(refusal({"run.seed=1,2"}), HasSubstr("--repeat"));
  EXPECT_THAT(refusal({"swarms.count=1,2", "swarms.count=3,4"}), HasSubstr("swept already"));
  EXPECT_THAT(refusal({"swarms.count=-1,-2"}), HasSubstr("swarms.count"));
  EXPECT_THAT(refusal({"swarms.count=-1,2"}), IsEmpty());
}

TEST(Sweep, PointsAreRunAndCollected) {
  const TemporaryDirectory directory;
  const Sweep sweep = make_sweep(
      smoke({"run.sequences=1", "swarms.count=1,-1", "swarms.types.worker.count=1"}), 1, directory.path());
  start_sweep(sweep, alone());
  EXPECT_EQ(collect_sweep(directory.path()).count(PointStatus::missing), 2U);
  double done = 0.0;
  run_points(sweep, 1, alone(), [&](double share) { done = share; });
  EXPECT_EQ(done, 1.0);
  const SweepTable table = collect_sweep(directory.path());
  EXPECT_EQ(table.points[0].status, PointStatus::finished);
  EXPECT_EQ(table.points[1].status, PointStatus::impossible);
  EXPECT_THAT(table.points[1].message, HasSubstr("swarms.count"));
  EXPECT_THAT(table.values(0, "energy_J"), SizeIs(1));
  EXPECT_EQ(table.num_finished(0), 1U);
  EXPECT_EQ(table.num_failed(1), 1U);
  EXPECT_EQ(table.json()["finished"], 1);
  write_table(table);
  EXPECT_THAT(read_file(directory.path() / "points.csv", 1 << 20), HasSubstr("swarms.count=-1"));
  // What has finished is not run again.
  const auto written = std::filesystem::last_write_time(sweep.place_of(0) / "summary.json");
  EXPECT_EQ(run_point(sweep, 0), PointStatus::finished);
  EXPECT_EQ(std::filesystem::last_write_time(sweep.place_of(0) / "summary.json"), written);
}

}  // namespace
}  // namespace skein
