#include "skein/mission/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/offloading/swarm_problem.h"

namespace skein {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

// Two swarms over two clusters of two devices each.
Scenario small_scenario(const std::string& more) {
  return parse_scenario("[swarms]\ncount = 2\n[world.clusters]\ncount = 2\ndevices = 2\n" + more,
                        "test.toml");
}

auto fault(const std::string& key, const std::string& value, const std::string& message) {
  return AllOf(Field(&InputFault::key, key), Field(&InputFault::value, value),
               Field(&InputFault::message, HasSubstr(message)));
}

std::vector<InputFault> faults_of_world(const Scenario& scenario) {
  ThreadPool pool(1);
  try {
    build_world(scenario, pool);
  } catch (const InputError& error) {
    return error.faults();
  }
  return {};
}

// Leaders decide for the sizes that are sent, whatever swarm and sequence.
TEST(Build, PointsAndModelsHaveOneSize) {
  const Scenario scenario =
      small_scenario("[offloading]\npoint_kbit = {uniform = [40, 120]}\nmodel_kbit = {uniform = [10, 20]}\n");
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  const double bits = message_sizes(scenario.offloading, world.seed).point.si();
  EXPECT_GT(bits, 40e3);
  const SwarmProblems problems(problem_setting(scenario), world);
  for (std::size_t swarm = 0; swarm < 2; ++swarm) {
    OffloadingSite site = offloading_site(scenario.learning, swarm, 1);
    for (site.sequence = 0; site.sequence < 3; ++site.sequence) {
      const OffloadingProblem problem =
          problems.problem(site, initial_device_data(scenario, world, 1), full_batteries(world));
      EXPECT_EQ(problem.rounds.front().point_bits, bits);
    }
  }
}

// A budget leaves room for the longest local limit of all swarms, and for models.
TEST(Build, BudgetsLeaveRoomForTheSlowestSwarmAndForModels) {
  ThreadPool pool(1);
  const auto budget = [&](const std::string& more) {
    const Scenario scenario = small_scenario("[offloading]\n" + more);
    const World world = build_world(scenario, pool);
    return SwarmProblems(problem_setting(scenario), world)
        .problem(offloading_site(scenario.learning, 0, 1), initial_device_data(scenario, world, 1),
                 full_batteries(world))
        .rounds.front()
        .energy_budget.front();
  };
  const double alike = budget("local_time_s = [5, 5]\n");
  EXPECT_LT(budget("local_time_s = [5, 9]\n"), alike);
  EXPECT_EQ(budget("local_time_s = [5, 4]\n"), alike);
  EXPECT_LT(budget("local_time_s = [5, 5]\nmodel_kbit = 50000\n"), alike);
}

TEST(Build, AListHasOneValuePerDeviceOrSwarm) {
  const Scenario right = small_scenario(
      "[data]\npoints_per_device = [5, 6, 7, 8]\nbuffer_points = [9, 9, 9, 9]\n"
      "arrivals_per_sequence = [1, 2, 3, 4]\n"
      "[offloading]\npoint_kbit = [80]\nmodel_kbit = [10]\nlocal_time_s = [5, 6]\n");
  EXPECT_THAT(faults_of_world(right), ElementsAre());
  ThreadPool pool(1);
  EXPECT_THAT(data_faults(right, build_world(right, pool)), ElementsAre());
}

TEST(Build, EveryListOfTheWrongLengthIsNamedAtOnce) {
  const Scenario wrong = small_scenario(
      "[data]\npoints_per_device = [5, 6]\nbuffer_points = [9, 9]\narrivals_per_sequence = [1, 2, 3, 4, 5]\n"
      "label_sets = [[0], [1], [2]]\n"
      "[offloading]\npoint_kbit = [80, 80]\nmodel_kbit = [10, 10, 10]\nlocal_time_s = [5]\n");
  const auto points =
      fault("data.points_per_device", "[5, 6]", "has 2 values; a list needs one per device, 4");
  const auto buffer = fault("data.buffer_points", "[9, 9]", "one per device, 4 in all");
  const auto arrivals = fault("data.arrivals_per_sequence", "[1, 2, 3, 4, 5]", "has 5 values");
  const auto point =
      fault("offloading.point_kbit", "[80, 80]", "has 2 values; a list needs one per mission, 1");
  const auto model = fault("offloading.model_kbit", "[10, 10, 10]", "one per mission, 1 in all");
  const auto limit = fault("offloading.local_time_s", "[5]", "one per swarm, 2 in all");
  EXPECT_THAT(faults_of_world(wrong), ElementsAre(points, buffer, arrivals, point, model, limit));
  // Whoever gives data to devices is told of the partition's faults with them.
  ThreadPool pool(1);
  const World world = build_world(small_scenario(""), pool);
  EXPECT_THAT(data_faults(wrong, world), ElementsAre(fault("data.label_sets", "", "3 sets for 2 groups"),
                                                     points, buffer, arrivals, point, model, limit));
}

// 2 hours are 720 sequences of the least length, or 12 cycles of ten minutes.
TEST(Build, SequencesOfAMissionByTheClock) {
  const auto with = [](const char* keys) { return small_scenario(keys); };
  EXPECT_EQ(most_sequences(with("").run), 20U);
  EXPECT_EQ(expected_sequences(with("")), 20U);
  EXPECT_EQ(most_sequences(with("[run]\nsequences = 0\nhours = 2\n").run), 720U);
  EXPECT_EQ(most_sequences(with("[run]\nsequences = 5\nhours = 2\n").run), 5U);
  EXPECT_EQ(expected_sequences(with("[run]\nsequences = 0\nhours = 2\n[planning]\ncycle_s = 600\n")), 12U);
  EXPECT_EQ(expected_sequences(with("[run]\nsequences = 5\nhours = 2\n[planning]\ncycle_s = 600\n")), 5U);
}

// Leaders decide for the sizes that are sent also where these follow from network and data.
TEST(Build, SizesOfNetworkAndDataAreWhatIsSent) {
  const Scenario scenario = small_scenario(
      "[offloading]\npoint_kbit = 0\nmodel_kbit = 0\n[swarms.types.worker]\ncycles_per_point = 0\n"
      "[learning.network]\npreset = \"mnist_cnn_stride2\"\n");
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  const SwarmProblems problems(problem_setting(scenario), world);
  EXPECT_EQ(problems.sizes().model.si(), 4833088.0);
  EXPECT_EQ(problems.sizes().point.si(), 6280.0);
  EXPECT_EQ(world.uavs[world.swarms[0].workers.first].cycles_per_point, 735456.0);
}

}  // namespace
}  // namespace skein
