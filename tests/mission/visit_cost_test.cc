// What visits are said to cost, beside what missions then book for them: of one swarm, with nobody to wait
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "skein/base/file.h"
#include "skein/mission/build.h"
#include "skein/mission/mission_run.h"
#include "skein/planning/environment_world.h"
#include "skein/planning/planners.h"
#include "skein/simulation/mission_files.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::filesystem::path& file) {
  std::istringstream text(read_file(file, std::size_t{1} << 26U));
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) {
      list.push_back(cell);
    }
    return list;
  };
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> names = cells(line);
  std::vector<Row> rows;
  while (std::getline(text, line)) {
    const std::vector<std::string> values = cells(line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      row[names[i]] = values[i];
    }
  }
  return rows;
}

double number(const Row& row, const std::string& name) { return std::stod(row.at(name)); }

// Of all UAVs of a swarm, with the take-offs of each sequence, from the start of the mission to the end of a
// sequence: without travel and what is spent on the ground.
std::map<std::pair<std::size_t, std::size_t>, double> spent_on_visits(const std::vector<Row>& energy) {
  std::map<std::pair<std::size_t, std::size_t>, double> spent;
  for (const Row& row : energy) {
    double& sum = spent[{std::stoul(row.at("sequence")), std::stoul(row.at("swarm"))}];
    for (const char* kind : {"hovering", "access_point_trips", "processing", "relay", "model_upload",
                             "model_broadcast", "signalling", "take_off"}) {
      sum += number(row, std::string(kind) + "_J");
    }
  }
  return spent;
}

struct Deviation {
  double predicted = 0.0;
  double measured = 0.0;
  double off = 0.0;  // sum of deviations of single visits
  std::size_t visits = 0;

  void add(double said, double is) {
    predicted += said;
    measured += is;
    off += std::abs(said - is) / is;
    ++visits;
  }
  [[nodiscard]] double mean() const { return off / static_cast<double>(visits); }
};

struct Deviations {
  Deviation duration, energy;
};

Deviations deviations(const std::vector<std::string>& settings) {
  std::vector<std::string> all{"swarms.count=1", "planning.planner=nearest_best", "run.sequences=10",
                               "data.arrivals_per_sequence=0", "world.clusters.count=5"};
  all.insert(all.end(), settings.begin(), settings.end());
  const Scenario scenario = load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = all});
  std::shared_ptr<const Environment> environment;
  const TemporaryDirectory directory;
  MissionRun(scenario, directory.path(),
             {.num_threads = 1,
              .planner =
                  [&](const std::shared_ptr<const Environment>& e) {
                    environment = e;
                    return planner_factory(scenario.planning.planner, e, scenario.planning, {})();
                  }})
      .run();
  const auto spent = spent_on_visits(rows_of(directory.path() / mission_file::energy));
  Deviations result;
  for (const Row& row : rows_of(directory.path() / mission_file::swarms)) {
    if (row.at("active") != "1") {
      continue;
    }
    const std::size_t sequence = std::stoul(row.at("sequence"));
    const std::size_t swarm = std::stoul(row.at("swarm"));
    const std::size_t cluster = std::stoul(row.at("to").substr(2)) - 1;
    const VisitCost cost = environment->visits->of(0, swarm - 1, cluster);
    EXPECT_TRUE(cost.possible);
    EXPECT_EQ(cost.battery_j,
              environment->tables.training_j_at(environment->tables.index(0, swarm - 1, cluster)));
    EXPECT_EQ(cost.accuracy_loss > 0.0, scenario.offloading.learning_term == LearningTerm::accuracy);
    const auto before = spent.find({sequence - 1, swarm});
    result.duration.add(cost.duration_s, number(row, "finished_s") - number(row, "arrival_s"));
    result.energy.add(cost.energy_j, spent.at({sequence, swarm}) -
                                         (before == spent.end() ? 0.0 : before->second) -
                                         environment->takeoff_j[swarm - 1]);
  }
  EXPECT_GE(result.duration.visits, 5U);
  return result;
}

void expect_right(const std::vector<std::string>& settings) {
  const Deviations found = deviations(settings);
  for (const auto& [what, deviation] : {std::pair{"duration", found.duration}, {"energy", found.energy}}) {
    SCOPED_TRACE(what);
    EXPECT_LT(deviation.mean(), 0.15) << deviation.predicted << " " << deviation.measured;
    EXPECT_NEAR(deviation.predicted / deviation.measured, 1.0, 0.1);
  }
}

std::vector<std::string> joined() {
  return {"world.access_points.way=decide",   "offloading.method=worker_selection",
          "offloading.time=priced",           "offloading.learning_term=accuracy",
          "offloading.learning_weight=0.983", "offloading.local_time_s=30",
          "offloading.model_kbit=2000",       "offloading.point_kbit=6",
          "learning.personal_steps=20",       "learning.personal_newest=15",
          "learning.personal_batch=32",       "swarms.types.worker.cycles_per_point=200000",
          "planning.waiting=cheaper",         "planning.start=arrival",
          "planning.durations=[64]",          "planning.local_periods=[64]",
          "planning.global_periods=[1]"};
}

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TEST(VisitCosts, AreWhatMissionsMeasureWhereTimeHasAPrice) { expect_right(joined()); }

// Who waits lands for it, several times; one hands over what has come in several rounds.
TEST(VisitCosts, AreWhatMissionsMeasureOfSeveralRounds) {
  expect_right(with(joined(), {"planning.local_periods=[8]", "planning.global_periods=[4]",
                               "swarms.types.worker.takeoff_kj=0.1"}));
  expect_right(with(joined(),
                    {"planning.local_periods=[8]", "planning.global_periods=[2]", "planning.waiting=hover"}));
}

// Hovering for the leader's flights is nearly all of it.
TEST(VisitCosts, AreWhatMissionsMeasureOfThePapersRounds) {
  expect_right({"planning.start=arrival", "planning.durations=[8]", "planning.local_periods=[2]",
                "planning.global_periods=[2]", "offloading.constants=given"});
}

// Of the swarm as a whole, from its UAVs.
TEST(PlanningEnvironment, KnowsWhatAPlannerOfTimeNeeds) {
  const Scenario scenario =
      load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
                    {.settings = {"swarms.types.worker.cruise_mps=8", "swarms.types.worker.takeoff_kj=2",
                                  "swarms.types.leader.takeoff_kj=3", "swarms.types.worker.landed_w=1.5",
                                  "world.stations.charge_w=400", "swarms.types.coordinator.battery_kj=300"}});
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  const Environment e = planning_environment(world, scenario.planning);
  ASSERT_EQ(e.metre_j.size(), 2U);
  const auto metre = [&](std::size_t id) {
    return world.uavs[id].propulsion.energy_per_metre(world.uavs[id].cruise_speed).si();
  };
  // A leader, two workers and a coordinator each.
  EXPECT_DOUBLE_EQ(e.metre_j[1], metre(4) + metre(5) + metre(6) + metre(7));
  EXPECT_DOUBLE_EQ(e.takeoff_j[1], 3000.0 + 2.0 * 2000.0);
  EXPECT_DOUBLE_EQ(e.landed_w[0], 3.0);
  EXPECT_DOUBLE_EQ(e.speed_mps[0], 8.0);
  EXPECT_DOUBLE_EQ(e.recharge_s[0], 300e3 / 400.0);
  EXPECT_EQ(e.visits, nullptr);
}

}  // namespace
}  // namespace skein
