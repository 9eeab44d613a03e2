#include "skein/simulation/round_signalling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "skein/base/random.h"
#include "skein/mission/build.h"
#include "skein/scenario/scenario.h"
#include "tests/simulation/sampled_world.h"

namespace skein {
namespace {

constexpr double point_bits = 1000.0;

// Swarm 2 above cluster 1 with faults, and a round in which everybody who is there does something.
struct Example {
  World world;
  LeaderTask task;
  LeaderUpdate update;
  SwarmLinks links;

  Example(std::uint64_t seed, const std::vector<std::string>& faults) : world(sampled_world(seed)) {
    const FaultSchedule schedule(draw_faults({.list = faults}, world, 1));
    task = {.swarm = 1,
            .cluster = 0,
            .local_period = 2,
            .global_period = 2,
            .members = schedule.members(world, 1, {}),
            .conditions = {.rate_factor = schedule.factor(FaultKind::link, 1, {})}};
    const IndexRange& devices = world.clusters[0].devices;
    for (std::size_t i = 0; i < devices.count; ++i) {
      if (schedule.is(FaultKind::device, devices.first + i, {})) {
        task.silent_devices.push_back(i);
      }
    }
    links = swarm_links(world, 1, 0, 0, task.conditions);
    RandomStream random(seed, "flows");
    update.trained = true;
    update.personal_iterations.assign(3, 1.0);
    for (int round = 0; round < 2; ++round) {
      OffloadSummary& summary = update.rounds.emplace_back();
      summary.device_flow.assign(devices.count * 5, 0.0);
      summary.relay_flow.assign(2 * 3, 0.0);
      summary.processing_s.assign(3, 0.0);
      for (const std::size_t j : task.members.workers) {
        summary.processing_s[j] = random.uniform(0.1, 1.0);
        for (std::size_t i = 0; i < devices.count; ++i) {
          if (std::ranges::find(task.silent_devices, i) == task.silent_devices.end()) {
            summary.device_flow[i * 5 + j] = static_cast<double>(random.below(20));
          }
        }
      }
      for (const std::size_t h : task.members.coordinators) {
        summary.device_flow[3 + h] = task.silent_devices.empty() ? 30.0 : 0.0;
        summary.relay_flow[h * 3 + task.members.workers.front()] = summary.device_flow[3 + h];
      }
    }
  }

  [[nodiscard]] SignallingReport signalled() const {
    SequenceDescription sequence{
        .model_bits = 1'000'000, .local_period = 2, .global_period = 2, .num_rounds = 1};
    sequence.swarms.push_back(
        describe_round(world, task, update, links, DataSize(point_bits), WaitChoice::hover));
    return simulate_signalling(sequence);
  }
};

class RoundSignalling : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RoundSignalling, CarriesWhatWasSentInAllLocalRounds) {
  for (const std::vector<std::string>& faults : std::vector<std::vector<std::string>>{
           {}, {"0 worker 2.1"}, {"0 leader 2"}, {"0 coordinator 2.2", "0 worker 2.3", "0 device 1.2"}}) {
    const Example example(GetParam(), faults);
    const SignallingReport report = example.signalled();
    ASSERT_TRUE(report.completed);
    double sent = 0.0;
    double relayed = 0.0;
    for (const OffloadSummary& round : example.update.rounds) {
      sent += std::accumulate(round.device_flow.begin(), round.device_flow.end(), 0.0);
      relayed += std::accumulate(round.relay_flow.begin(), round.relay_flow.end(), 0.0);
    }
    double bits = 0.0;
    for (const DataTransfer& transfer : report.swarms[0].transfers) {
      bits += static_cast<double>(transfer.bits);
    }
    EXPECT_EQ(bits, point_bits * (sent + relayed));
    // Each local round's data comes before it: a worker never holds more than is trained on in one.
    const auto received = [&](std::uint32_t local_round) {
      double sum = 0.0;
      for (const DataTransfer& transfer : report.swarms[0].transfers) {
        sum += transfer.local_round == local_round ? static_cast<double>(transfer.bits) : 0.0;
      }
      return sum / point_bits;
    };
    for (std::uint32_t l = 0; l < 2; ++l) {
      const OffloadSummary& round = example.update.rounds[l];
      EXPECT_EQ(received(l), std::accumulate(round.device_flow.begin(), round.device_flow.end(), 0.0) +
                                 std::accumulate(round.relay_flow.begin(), round.relay_flow.end(), 0.0));
    }
    const std::size_t devices = example.world.clusters[0].devices.count;
    EXPECT_EQ(report.swarms[0].devices_with_model.size(), devices - example.task.silent_devices.size());
    // No shorter than the leader's flight and the slowest worker's computing.
    const SwarmDescription d = describe_round(example.world, example.task, example.update, example.links,
                                              DataSize(point_bits), WaitChoice::hover);
    EXPECT_EQ(d.num_workers, example.task.members.workers.size());
    EXPECT_GE(report.swarms[0].end,
              2.0 * d.access_point_flight_time + 2.0 * *std::ranges::max_element(d.compute_time));
  }
}

// With another leader, and without a worker, energies go to the UAVs that really spoke.
TEST_P(RoundSignalling, EnergyIsThatOfWhoeverSpoke) {
  const Example example(GetParam(), {"0 leader 2", "0 worker 2.1"});
  const Swarm& swarm = example.world.swarms[1];
  EXPECT_EQ(example.task.members.leader, swarm.workers.first + 2);
  const SignallingReport report = example.signalled();
  std::map<std::size_t, double> uavs;
  for (const EnergyUse& use : signalling_energy(example.world, example.task, report.records)) {
    EXPECT_EQ(use.kind, EnergyKind::signalling);
    EXPECT_GT(use.joules, 0.0);
    if (!use.is_device) {
      uavs[use.index] += use.joules;
    }
  }
  EXPECT_EQ(uavs.size(), 4U) << "the new leader, a worker, two coordinators";
  EXPECT_FALSE(uavs.contains(swarm.leader));
  EXPECT_FALSE(uavs.contains(swarm.workers.first));
  EXPECT_NEAR(uavs.at(example.task.members.leader),
              example.world.uavs[example.task.members.leader].transmit_power.si() *
                  report.records.parties.at(leader_party(1)).signalling_time,
              1e-15);
}

// Twenty iterations where one took a quarter of the two that each local round had.
TEST_P(RoundSignalling, MakingModelsTheSwarmsOwnIsPaidForByItsSteps) {
  Example example(GetParam(), {});
  OffloadSummary& last = example.update.rounds.back();
  last.processed = {40.0, 0.0, 30.0};
  last.clock = {1e9, 1e9, 2e9};
  const auto describe = [&] {
    return describe_round(example.world, example.task, example.update, example.links, DataSize(point_bits),
                          WaitChoice::hover);
  };
  const auto processing = [&] {
    std::map<std::size_t, double> joules;
    for (const EnergyUse& use :
         personalisation_energy(example.world, example.task, example.update, example.links, DataSize(1e6))) {
      if (use.kind == EnergyKind::processing) {
        joules[use.index] = use.joules;
      }
    }
    return joules;
  };
  const SwarmDescription one = describe();
  const std::map<std::size_t, double> one_step = processing();
  EXPECT_EQ(one_step.size(), 2U) << "who has not trained has nothing to do";
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_DOUBLE_EQ(one.personalise_time[j], one.compute_time[j] / 2.0);
  }
  const std::size_t first = example.world.swarms[1].workers.first;
  const Uav& uav = example.world.uavs[first];
  // a_j c_j / 2 points g^2
  EXPECT_NEAR(one_step.at(first), uav.capacitance.si() / 2.0 * uav.cycles_per_point * 40.0 * 1e18,
              1e-12 * one_step.at(first));
  example.update.personal_iterations = {20.0, 20.0, 5.0};
  const SwarmDescription many = describe();
  EXPECT_DOUBLE_EQ(many.personalise_time[0], 20.0 * one.personalise_time[0]);
  EXPECT_DOUBLE_EQ(many.personalise_time[2], 5.0 * one.personalise_time[2]);
  EXPECT_DOUBLE_EQ(processing().at(first), 20.0 * one_step.at(first));
  EXPECT_DOUBLE_EQ(processing().at(first + 2), 5.0 * one_step.at(first + 2));
}

TEST_P(RoundSignalling, ADegradedLinkTakesLonger) {
  const double whole = Example(GetParam(), {}).signalled().duration;
  const double degraded = Example(GetParam(), {"0 link 2 0.1"}).signalled().duration;
  EXPECT_GT(degraded, whole);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundSignalling, ::testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace skein
