#include "skein/world/gathering.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

// A share that takes `seconds` when a datapoint has one bit.
DataShare lasting(double seconds) { return {.num_datapoints = seconds, .rate = DataRate(1.0)}; }

// Two coordinators ready at 2 and 1 s, workers busy with devices until 3 and 0 s. Coordinator 1 can serve
// worker 1 first, at 1 s; coordinator 0 then has to wait for worker 1 until 5 s, so it serves worker 0 at 3
// s.
//   worker 0: devices 0-3, coordinator 0 3-7, coordinator 1 7-8
//   worker 1: coordinator 1 1-5, coordinator 0 7-9
TEST(Gathering, schedule_by_hand) {
  const Gathering gathering{.datapoint_size = 1_bit,
                            .to_coordinator = {{lasting(1.5), lasting(0.5)}, {lasting(1)}},
                            .to_worker = {{lasting(3)}, {}},
                            .relay = {{lasting(4), lasting(2)}, {lasting(1), lasting(4)}}};
  const GatheringSchedule schedule = schedule_gathering(gathering);
  EXPECT_EQ(schedule.times.coordinators, (std::vector{2_s, 1_s}));
  EXPECT_EQ(schedule.times.workers, (std::vector{8_s, 9_s}));
  ASSERT_EQ(schedule.relays.size(), 4U);
  EXPECT_EQ(schedule.relays[0].coordinator, 1U);
  EXPECT_EQ(schedule.relays[0].worker, 1U);
  EXPECT_EQ(schedule.relays[0].start, 1_s);
  EXPECT_EQ(schedule.relays[1].start, 3_s);

  const GatheringTimes paper = paper_gathering_times(gathering);
  EXPECT_EQ(paper.coordinators, (std::vector{2_s, 1_s}));
  EXPECT_EQ(paper.workers, (std::vector{8_s, 6_s}));
}

// The paper's formula lets the worker have at 2 s what leaves the coordinator at 10 s at the earliest.
TEST(Gathering, a_coordinator_cannot_forward_what_it_has_not_received) {
  const Gathering gathering{
      .datapoint_size = 1_bit, .to_coordinator = {{lasting(10)}}, .to_worker = {{}}, .relay = {{lasting(2)}}};
  EXPECT_EQ(paper_gathering_times(gathering).workers[0], 2_s);
  EXPECT_EQ(schedule_gathering(gathering).times.workers[0], 12_s);
}

TEST(Gathering, nothing_to_relay_takes_no_time_and_no_place) {
  const Gathering gathering{.datapoint_size = 1_bit,
                            .to_coordinator = {{lasting(10)}},
                            .to_worker = {{lasting(1)}, {}},
                            .relay = {{lasting(0), DataShare{}}}};
  const GatheringSchedule schedule = schedule_gathering(gathering);
  EXPECT_TRUE(schedule.relays.empty());
  EXPECT_EQ(schedule.times.workers, (std::vector{1_s, 0_s}));
  EXPECT_TRUE(schedule_gathering({}).times.workers.empty());
}

TEST(Gathering, a_table_of_the_wrong_size_is_refused) {
  const Gathering missing_row{
      .datapoint_size = 1_bit, .to_coordinator = {{}}, .to_worker = {{}}, .relay = {}};
  EXPECT_THROW(schedule_gathering(missing_row), ProgrammingError);
  const Gathering missing_column{
      .datapoint_size = 1_bit, .to_coordinator = {{}}, .to_worker = {{}}, .relay = {{}}};
  EXPECT_THROW(paper_gathering_times(missing_column), ProgrammingError);
}

Gathering random_gathering(std::uint64_t seed) {
  RandomStream stream(seed, "gathering");
  const auto share = [&](double idle_probability) {
    return DataShare{.num_datapoints = stream.bernoulli(idle_probability) ? 0.0 : stream.uniform(1, 500),
                     .rate = DataRate(stream.uniform(1e6, 5e7))};
  };
  const std::size_t num_devices = stream.below(20);
  const std::size_t num_coordinators = stream.below(6);
  const std::size_t num_workers = 1 + stream.below(8);
  const auto table = [&](std::size_t rows, std::size_t columns) {
    std::vector<std::vector<DataShare>> values(rows);
    for (auto& row : values) {
      for (std::size_t column = 0; column < columns; ++column) {
        row.push_back(share(0.3));
      }
    }
    return values;
  };
  return {.datapoint_size = DataSize(8e4),
          .to_coordinator = table(num_coordinators, num_devices),
          .to_worker = table(num_workers, num_devices),
          .relay = table(num_coordinators, num_workers)};
}

bool overlap(const RelayTransfer& a, const RelayTransfer& b) { return a.start < b.end && b.start < a.end; }

// Sums of the same numbers in another order differ in their last bits.
constexpr double rounding = 1e-12;

TEST(Gathering, schedules_keep_the_rules_and_are_never_ahead_of_the_paper) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Gathering gathering = random_gathering(seed);
    const GatheringSchedule schedule = schedule_gathering(gathering);
    const GatheringTimes paper = paper_gathering_times(gathering);
    ASSERT_EQ(schedule.times.coordinators, paper.coordinators);
    for (std::size_t j = 0; j < paper.workers.size(); ++j) {
      ASSERT_GE(schedule.times.workers[j].si(), paper.workers[j].si() * (1 - rounding)) << "seed " << seed;
    }

    std::size_t num_relays = 0;
    std::vector<Time> sending(gathering.relay.size());
    std::vector<Time> receiving(gathering.to_worker.size());
    Time ready;
    for (std::size_t h = 0; h < gathering.relay.size(); ++h) {
      ready = std::max(ready, paper.coordinators[h]);
      for (std::size_t j = 0; j < gathering.to_worker.size(); ++j) {
        const DataShare& share = gathering.relay[h][j];
        const Time duration = transfer_time(share.num_datapoints * gathering.datapoint_size, share.rate);
        num_relays += duration > 0_s ? 1 : 0;
        sending[h] += duration;
        receiving[j] += duration;
      }
    }
    ASSERT_EQ(schedule.relays.size(), num_relays);
    for (std::size_t a = 0; a < schedule.relays.size(); ++a) {
      const RelayTransfer& transfer = schedule.relays[a];
      const DataShare& share = gathering.relay[transfer.coordinator][transfer.worker];
      const Time direct =
          serial_transfer_time(gathering.datapoint_size, gathering.to_worker[transfer.worker]);
      ready = std::max(ready, direct);
      ASSERT_GE(transfer.start, paper.coordinators[transfer.coordinator]);
      ASSERT_GE(transfer.start, direct);
      ASSERT_LE(transfer.end, schedule.times.workers[transfer.worker]);
      ASSERT_EQ(transfer.end,
                transfer.start + transfer_time(share.num_datapoints * gathering.datapoint_size, share.rate));
      for (std::size_t b = 0; b < a; ++b) {
        const RelayTransfer& other = schedule.relays[b];
        ASSERT_LE(other.start, transfer.start);
        if (other.coordinator == transfer.coordinator || other.worker == transfer.worker) {
          ASSERT_FALSE(overlap(transfer, other)) << "seed " << seed;
        }
      }
    }
    if (num_relays > 0) {
      const Time last = std::ranges::max(schedule.relays, {}, &RelayTransfer::end).end;
      const Time bound = ready + std::ranges::max(sending) + std::ranges::max(receiving);
      ASSERT_LE(last.si(), bound.si() * (1 + rounding)) << "seed " << seed;
    }
  }
}

// Without coordinators, or with instant ones, there is nothing to wait for.
TEST(Gathering, one_worker_with_ready_coordinators_is_as_fast_as_the_paper) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Gathering gathering = random_gathering(seed);
    gathering.to_worker.resize(1);
    for (auto& row : gathering.relay) {
      row.resize(1);
    }
    for (auto& shares : gathering.to_coordinator) {
      shares.clear();
    }
    ASSERT_NEAR(schedule_gathering(gathering).times.workers[0].si(),
                paper_gathering_times(gathering).workers[0].si(), 1e-9);
  }
}

}  // namespace
}  // namespace skein
