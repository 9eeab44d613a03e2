#include "skein/planning/trajectory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/planning/planners.h"
#include "tests/planning/reference_environment.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

TEST(Trajectory, ARowAndAnObjectForEachEpoch) {
  const std::shared_ptr<const Environment> e = random_environment({.swarms = 2, .clusters = 4}, 1);
  std::vector<double> start(StateLayout(*e).size());
  RandomStream stream(1, "test.trajectory");
  start_anywhere(*e, stream, start);
  const PlanningOptions options;
  const auto planner = planner_factory("myopic", e, options, {})();
  const std::vector<EpochRecord> records = fly(*e, *planner, start, 5, 1);
  const std::string csv = trajectory_csv(*e, records);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 6);
  EXPECT_TRUE(csv.starts_with("epoch,site_1,battery_1_J,site_2,battery_2_J,duration,"));
  const auto json = nlohmann::json::parse(trajectory_json("myopic", *e, records));
  EXPECT_EQ(json["planner"], "myopic");
  EXPECT_EQ(json["reward"], score(*e, records).reward);
  ASSERT_EQ(json["epochs"].size(), 5U);
  EXPECT_EQ(json["epochs"][4]["swarms"][1]["site"], e->site_name(records[4].plan.destinations[1]));
}

TEST(Trajectory, TablesReadBackAsTheyWereWritten) {
  const SolvedTables tables = random_environment({}, 2)->tables;
  const TemporaryDirectory directory;
  write_file(directory.path() / "tables.json", tables_json(tables));
  const SolvedTables read = load_tables(directory.path() / "tables.json");
  EXPECT_EQ(read.objective, tables.objective);
  EXPECT_EQ(read.training_energy_j, tables.training_energy_j);
  EXPECT_EQ(read.timings.size(), tables.timings.size());
}

TEST(Trajectory, TheReferenceTraceFits) {
  const Replay replayed = replay(reference_file());
  EXPECT_TRUE(replayed.fits());
  EXPECT_EQ(nlohmann::json::parse(replay_json(replayed))["fits"], true);
}

}  // namespace
}  // namespace skein
