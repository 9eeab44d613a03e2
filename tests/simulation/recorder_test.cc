#include "skein/simulation/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

namespace skein {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two clusters and a station; one swarm of a leader and a worker with 100 J each.
World small_world() {
  World world;
  world.clusters.resize(2);
  world.clusters[1].centre.x = Length(1000.0);
  world.stations.resize(1);
  world.access_points.resize(1);
  world.swarms.push_back({.leader = 0, .workers = {1, 1}, .coordinators = {2, 0}});
  for (const Role role : {Role::leader, Role::worker}) {
    world.uavs.push_back({.swarm = 0, .role = role, .battery = Energy(100.0)});
  }
  return world;
}

// 100 s above the first cluster, which gets its model after 60 s.
SequenceRecord visit(const World& world) {
  SequenceRecord record{.sequence = 0, .start_s = 0.0, .end_s = 100.0, .reward = 3.0, .data_bits = 8e6};
  record.swarms.push_back({.from = 1,
                           .to = 0,
                           .active = true,
                           .arrival_s = 10.0,
                           .finished_s = 60.0,
                           .distance_m = 1000.0,
                           .points_sent = 20,
                           .points_trained = 15});
  record.clusters.resize(2);
  record.clusters[0] = {
      .visited = true, .handed_over_s = 60.0, .age = 0.0, .accuracy_before = 0.1, .accuracy_after = 0.6};
  record.clusters[1] = {.age = 2.0, .accuracy_before = 0.2, .accuracy_after = 0.2};
  record.battery_j.assign(world.uavs.size(), 90.0);
  record.uavs.resize(world.uavs.size());
  return record;
}

class Recorder : public ::testing::Test {
 protected:
  void record(const SequenceRecord& r) {
    state_.clock.advance_to(Time(r.end_s));
    recorder_.record(r, state_);
  }

  World world_ = small_world();
  State state_ = initial_state(world_);
  MissionRecorder recorder_{world_};
};

// By hand: the first cluster has 0.1 for 60 s and 0.6 for 40 s, which is 0.3; the second 0.2. Then 100 s of
// 0.5 and 0.2: 0.4 and 0.2 over all of it.
TEST_F(Recorder, AveragesAccuracyOverTimeAndClusters) {
  record(visit(world_));
  EXPECT_NEAR(recorder_.headline(state_).mean_accuracy, 0.25, 1e-12);
  EXPECT_NEAR(recorder_.headline(state_).last_accuracy, 0.4, 1e-12);
  SequenceRecord later = visit(world_);
  later.sequence = 1;
  later.start_s = 100.0;
  later.end_s = 200.0;
  later.swarms[0] = {.from = 0, .to = 2, .arrival_s = 110.0, .finished_s = 200.0, .distance_m = 500.0};
  later.swarms[0].recharges = true;
  later.clusters[0] = {.age = 1.0, .accuracy_before = 0.5, .accuracy_after = 0.5};
  later.clusters[1].age = 3.0;
  record(later);
  const Headline h = recorder_.headline(state_);
  EXPECT_NEAR(h.mean_accuracy, 0.3, 1e-12);
  EXPECT_NEAR(h.worst_accuracy, 0.2, 1e-12);
  EXPECT_NEAR(h.last_accuracy, 0.35, 1e-12);
  EXPECT_NEAR(h.mean_age, (1.0 + 2.0) / 2.0, 1e-12);
  EXPECT_EQ(h.visits, 1U);
  EXPECT_EQ(h.idle_visits, 0U);
  EXPECT_EQ(h.recharges, 1U);
  EXPECT_EQ(h.distance_m, 1500.0);
  EXPECT_EQ(h.duration_s, 200.0);
  EXPECT_EQ(h.sequences, 2U);
}

TEST_F(Recorder, SaysWhatWasLost) {
  SequenceRecord r = visit(world_);
  r.clusters[0].visited = false;
  r.swarms[0].culprit = "no worker is left";
  r.swarms[0].least_margin_j = -2.0;
  r.faults.push_back({.time_s = 5.0, .what = "worker 1 of swarm 1 has crashed"});
  r.rejected_updates = 1;
  r.unreachable_updates = 2;
  record(r);
  const Headline h = recorder_.headline(state_);
  EXPECT_EQ(h.visits, 0U);
  EXPECT_EQ(h.idle_visits, 1U);
  EXPECT_EQ(h.faults, 1U);
  EXPECT_EQ(h.rejected_updates, 1U);
  EXPECT_EQ(h.unreachable_updates, 2U);
  const std::string events = recorder_.files().at("events.jsonl");
  EXPECT_THAT(events, HasSubstr(R"("event":"cannot train","swarm":1,"why":"no worker is left")"));
  EXPECT_THAT(events, HasSubstr(R"("event":"below threshold")"));
  EXPECT_THAT(events, HasSubstr("worker 1 of swarm 1 has crashed"));
  EXPECT_THAT(events, Not(HasSubstr("hands over")));
}

// Where it is lost a swarm stays, at a station too.
TEST_F(Recorder, ASwarmThatIsLostAtAStationIsNotRecharged) {
  SequenceRecord r = visit(world_);
  r.clusters[0].visited = false;
  r.swarms[0] = {.from = 2, .to = 2, .recharged_j = 5.0};
  r.swarms[0].recharges = true;
  record(r);
  EXPECT_EQ(recorder_.headline(state_).recharges, 1U);
  EXPECT_THAT(recorder_.files().at("events.jsonl"), HasSubstr(R"("event":"recharged")"));
  r.sequence = 1;
  r.swarms[0] = {.from = 2, .to = 2, .culprit = "nobody is left"};
  r.swarms[0].lost = true;
  MissionRecorder other(world_);
  other.record(r, state_);
  EXPECT_EQ(other.headline(state_).recharges, 0U);
  const std::string events = other.files().at("events.jsonl");
  EXPECT_THAT(events, HasSubstr(R"("event":"is no more","swarm":1)"));
  EXPECT_THAT(events, Not(HasSubstr("recharged")));
}

// By hand: of 100 J the leader spends 30, gets 20, and spends 5 and 2 more: 83 are left, with 37 spent.
TEST_F(Recorder, EnergyOfAUavAddsUp) {
  state_.ledger.book(State::account_of_uav(0), EnergyKind::hovering, Energy(30.0));
  state_.ledger.recharge(State::account_of_uav(0), Energy(20.0));
  state_.ledger.book(State::account_of_uav(0), EnergyKind::travel, Energy(5.0));
  state_.ledger.book(State::account_of_uav(0), EnergyKind::leakage, Energy(2.0));
  SequenceRecord r = visit(world_);
  r.battery_j = {83.0, 100.0};
  record(r);
  std::istringstream rows(recorder_.files().at("energy.csv"));
  std::string header, row;
  std::getline(rows, header);
  EXPECT_THAT(header, HasSubstr("sequence,uav,swarm,role,battery_J,recharged_J,"));
  for (const double recharged : {20.0, 0.0}) {
    std::getline(rows, row);
    std::istringstream cells(row);
    std::vector<double> numbers;
    for (std::string cell; std::getline(cells, cell, ',');) {
      numbers.push_back(cell == "leader" || cell == "worker" ? 0.0 : std::stod(cell));
    }
    ASSERT_GT(numbers.size(), 6U);
    EXPECT_EQ(numbers[5], recharged);
    const double spent = std::accumulate(numbers.begin() + 6, numbers.end(), 0.0);
    EXPECT_NEAR(numbers[4] + spent - numbers[5], 100.0, 1e-9) << row;
  }
}

TEST_F(Recorder, EveryLineOfEventsIsJsonAndEveryTableIsRectangular) {
  record(visit(world_));
  const std::map<std::string, std::string> files = recorder_.files();
  std::istringstream lines(files.at("events.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
  EXPECT_GE(count, 3U) << "leaves, arrives, hands over";
  EXPECT_TRUE(nlohmann::json::accept(files.at("trajectory.geojson")));
  for (const char* name : {"sequences.csv", "clusters.csv", "swarms.csv", "energy.csv"}) {
    std::istringstream rows(files.at(name));
    std::string header, row;
    std::getline(rows, header);
    while (std::getline(rows, row)) {
      EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(header, ',')) << name << ": " << row;
    }
  }
}

// Nothing stands beside a measured column that is no bound of it.
TEST_F(Recorder, NoBoundOfOtherThingsStandsBesideTheGradient) {
  record(visit(world_));
  const std::string table = recorder_.files().at("sequences.csv");
  EXPECT_THAT(table, HasSubstr(",squared_meta_gradient,"));
  EXPECT_THAT(table, Not(HasSubstr("bound")));
}

TEST_F(Recorder, ComesBackFromItsBytes) {
  record(visit(world_));
  MissionRecorder other(world_);
  other.restore(recorder_.save());
  SequenceRecord later = visit(world_);
  later.sequence = 1;
  later.start_s = 100.0;
  later.end_s = 150.0;
  later.clusters[0].handed_over_s = 120.0;
  State state = state_;
  state.clock.advance_to(Time(150.0));
  recorder_.record(later, state);
  other.record(later, state);
  EXPECT_EQ(recorder_.files(), other.files());
  EXPECT_EQ(recorder_.headline(state).mean_accuracy, other.headline(state).mean_accuracy);
  EXPECT_EQ(recorder_.save(), other.save());
}

}  // namespace
}  // namespace skein
