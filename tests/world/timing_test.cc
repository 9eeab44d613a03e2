#include "skein/world/timing.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "skein/base/expect.h"
#include "skein/world/links.h"

namespace skein {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

DataRate megabits(double number) { return DataRate(number * 1e6); }

// 500 datapoints of 80 kbit over 40 Mbit/s take 1 s.
TEST(Timing, transfer_by_hand) {
  EXPECT_EQ(transfer_time(DataSize(500 * 8e4), megabits(40)), 1_s);
  const std::vector<DataShare> shares{{500, megabits(40)}, {250, megabits(10)}, {0, DataRate(0)}};
  EXPECT_EQ(serial_transfer_time(DataSize(8e4), shares), 3_s);
}

TEST(Timing, sending_something_needs_a_rate_and_sending_nothing_does_not) {
  EXPECT_EQ(transfer_time(0_bit, DataRate(0)), 0_s);
  EXPECT_THROW(transfer_time(1_bit, DataRate(0)), ProgrammingError);
  EXPECT_THROW(transfer_time(1_bit, DataRate(nan)), ProgrammingError);
  EXPECT_THROW(transfer_time(DataSize(nan), megabits(1)), ProgrammingError);
  EXPECT_THROW(transfer_time(DataSize(-1), megabits(1)), ProgrammingError);
}

// 2 updates of half of 1,000 datapoints at 10,000 cycles each: 10^7 cycles, 0.01 s at 1 GHz.
TEST(Timing, processing_by_hand) {
  ProcessingLoad load{.local_period = 2,
                      .cycles_per_datapoint = 1e4,
                      .sampled_ratio = 0.5,
                      .num_datapoints = 1000,
                      .frequency = Frequency(1e9)};
  EXPECT_DOUBLE_EQ(processing_time(load).si(), 0.01);
  load.frequency = Frequency(0);
  EXPECT_THROW(processing_time(load), ProgrammingError);
  load.num_datapoints = 0;
  EXPECT_EQ(processing_time(load), 0_s);
  load.num_datapoints = nan;
  EXPECT_THROW(processing_time(load), ProgrammingError);
}

TEST(Timing, flights_by_hand) {
  EXPECT_EQ(flight_time({.distance = 1500_m, .speed = 15_mps}), 100_s);
  EXPECT_EQ(flight_time({.distance = 0_m, .speed = 0_mps}), 0_s);
  EXPECT_THROW(flight_time({.distance = 1_m, .speed = 0_mps}), ProgrammingError);
  EXPECT_EQ(access_point_time({.num_aggregations = 3, .one_way = {.distance = 300_m, .speed = 15_mps}}),
            120_s);
  EXPECT_EQ(access_point_time({.num_aggregations = 0, .one_way = {.distance = 300_m, .speed = 15_mps}}), 0_s);
}

TEST(Timing, a_broadcast_takes_as_long_as_its_slowest_link) {
  const std::vector<DataRate> rates{megabits(10), megabits(2), megabits(5)};
  EXPECT_EQ(broadcast_time(DataSize(1e6), rates), 0.5_s);
  EXPECT_EQ(broadcast_time(DataSize(1e6), {}), 0_s);
}

TEST(Timing, a_round_waits_for_the_slowest_worker) {
  const std::vector<WorkerTimes> workers{{1_s, 2_s, 0.25_s}, {0.5_s, 3_s, 0.5_s}};
  EXPECT_EQ(local_round_time(workers, 0.5_s), 4.5_s);
  EXPECT_EQ(local_round_time({}, 0.5_s), 0.5_s);
}

TEST(Clock, never_goes_back) {
  Clock clock;
  EXPECT_EQ(clock.now(), 0_s);
  clock.advance(2.5_s);
  clock.advance(0_s);
  clock.advance_to(4_s);
  clock.advance_to(4_s);
  EXPECT_EQ(clock.now(), 4_s);
  EXPECT_THROW(clock.advance(Time(-1)), ProgrammingError);
  EXPECT_THROW(clock.advance(Time(nan)), ProgrammingError);
  EXPECT_THROW(clock.advance_to(3.9_s), ProgrammingError);
  EXPECT_EQ(clock.now(), 4_s);
  EXPECT_EQ(Clock(7_s).now(), 7_s);
}

// 10 Mbit: uploads take 1 and 2 s, the broadcast 5 s, the access point 0.5 s each way; the devices are 4 and
// 10 s from their nearest UAV.
TEST(Timing, models_by_hand) {
  SwarmLinks links;
  links.worker_to_leader = {megabits(10), megabits(5)};
  links.leader_to_worker = {megabits(2), megabits(20)};
  links.leader_to_access_point = megabits(20);
  links.device_to_uav = Table<DataRate>(2, 2);
  links.device_to_uav.values = {megabits(1), megabits(2.5), megabits(1), megabits(0.5)};
  EXPECT_EQ(model_time(DataSize(1e7), links, 3), 22_s);
  EXPECT_EQ(hand_over_time(DataSize(1e7), links), 21_s);
}

}  // namespace
}  // namespace skein
