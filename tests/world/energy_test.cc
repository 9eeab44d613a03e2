#include "skein/world/energy.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "skein/base/expect.h"

namespace skein {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

DataRate megabits(double number) { return DataRate(number * 1e6); }

Propulsion hundred_watts() { return {ConstantPower{.hover = 100_W, .cruise = 80_W}}; }

// tau_L = 2, a = 2e-28, c = 1e4, alpha = 0.5, D = 1000, g = 2 GHz: 2e7/2 cycles 1e-28 4e18 = 4e-3 J.
TEST(Energy, processing_by_hand) {
  const ProcessingLoad load{.local_period = 2,
                            .cycles_per_datapoint = 1e4,
                            .sampled_ratio = 0.5,
                            .num_datapoints = 1000,
                            .frequency = Frequency(2e9)};
  EXPECT_DOUBLE_EQ(processing_energy(load, Capacitance(2e-28)).si(), 4e-3);
  EXPECT_THROW(processing_energy(load, Capacitance(nan)), ProgrammingError);
}

// Twice the frequency: half the time, four times the energy.
TEST(Energy, processing_trades_time_for_energy) {
  ProcessingLoad load{.local_period = 3,
                      .cycles_per_datapoint = 1e4,
                      .sampled_ratio = 0.25,
                      .num_datapoints = 800,
                      .frequency = Frequency(5e8)};
  const Energy energy = processing_energy(load, Capacitance(2e-28));
  const Time time = processing_time(load);
  load.frequency *= 2.0;
  EXPECT_DOUBLE_EQ(processing_energy(load, Capacitance(2e-28)) / energy, 4.0);
  EXPECT_DOUBLE_EQ(time / processing_time(load), 2.0);
}

// 0.25 W for 1 s to one UAV and for 2 s to another.
TEST(Energy, data_transmission_by_hand) {
  const std::vector<DataShare> shares{{500, megabits(40)}, {250, megabits(10)}};
  EXPECT_DOUBLE_EQ(
      data_transmission_energy({.power = 0.25_W, .datapoint_size = DataSize(8e4), .shares = shares}).si(),
      0.75);
  EXPECT_THROW(
      data_transmission_energy({.power = Power(-1), .datapoint_size = DataSize(8e4), .shares = shares}),
      ProgrammingError);
}

// 4 aggregations of 1 Mbit at 0.1 W over 2 Mbit/s: 4 0.1 0.5 J.
TEST(Energy, models_by_hand) {
  const ModelTransmission models{.num_aggregations = 4, .model_size = DataSize(1e6), .power = 0.1_W};
  EXPECT_DOUBLE_EQ(model_upload_energy(models, megabits(2)).si(), 0.2);
  const std::vector<DataRate> rates{megabits(10), megabits(2), megabits(5)};
  EXPECT_DOUBLE_EQ(model_broadcast_energy(models, rates).si(), 0.2);
  EXPECT_EQ(model_broadcast_energy(models, {}), 0_J);
  EXPECT_THROW(model_upload_energy(models, DataRate(0)), ProgrammingError);
}

TEST(Energy, flight_by_hand) {
  EXPECT_DOUBLE_EQ(hovering_energy(hundred_watts(), 60_s).si(), 6000.0);
  const Flight flight{.distance = 300_m, .speed = 15_mps};
  EXPECT_DOUBLE_EQ(travel_energy(hundred_watts(), flight).si(), 1600.0);
  EXPECT_DOUBLE_EQ(access_point_energy(hundred_watts(), {.num_aggregations = 3, .one_way = flight}).si(),
                   9600.0);
  EXPECT_THROW(hovering_energy(hundred_watts(), Time(nan)), ProgrammingError);
}

// A fixed wing that goes nowhere needs no speed.
TEST(Energy, no_distance_costs_nothing) {
  const Propulsion wing{FixedWing{CubicDrag(1e-3), InducedDrag(2000), 20_mps, 0_m}};
  EXPECT_EQ(travel_energy(wing, {.distance = 0_m, .speed = 0_mps}), 0_J);
}

TEST(Energy, travel_is_energy_per_metre_times_distance) {
  const Propulsion rotor = sample_propulsion({}, 1, "uav", 0);
  for (const double speed : {0.5, 5.0, 10.0, 18.3, 40.0}) {
    const Energy energy = travel_energy(rotor, {.distance = 1234_m, .speed = Speed(speed)});
    EXPECT_DOUBLE_EQ(energy.si(), (rotor.energy_per_metre(Speed(speed)) * 1234_m).si());
  }
}

}  // namespace
}  // namespace skein
