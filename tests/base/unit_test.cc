#include "skein/base/unit.h"

#include <gtest/gtest.h>

#include "skein/base/random.h"

namespace skein {
namespace {

TEST(Unit, HandWorkedValues) {
  EXPECT_DOUBLE_EQ(unit::dbm.to_si(0).si(), 1e-3);
  EXPECT_DOUBLE_EQ(unit::dbm.to_si(20).si(), 0.1);
  EXPECT_DOUBLE_EQ(unit::dbm.to_si(30).si(), 1.0);
  EXPECT_DOUBLE_EQ(unit::dbm.to_si(-10).si(), 1e-4);
  EXPECT_NEAR(unit::dbm.to_si(23).si(), 0.19952623149688797, 1e-16);
  // Thermal noise at room temperature: 3.98e-21 W/Hz.
  EXPECT_NEAR(unit::dbm_per_hertz.to_si(-174).si() / 3.981071705534969e-21, 1.0, 1e-14);
  EXPECT_DOUBLE_EQ(unit::decibel.to_si(3), 1.9952623149688795);
  EXPECT_DOUBLE_EQ(unit::decibel.to_si(0), 1.0);
  EXPECT_EQ(unit::kilojoule.to_si(40), 40000_J);
  EXPECT_EQ(unit::megahertz.to_si(2), 2e6_Hz);
  EXPECT_EQ(unit::gigahertz.to_si(2), 2e9_Hz);
  EXPECT_EQ(unit::kilobit.to_si(80), 80000_bit);
  EXPECT_EQ(unit::megabit_per_second.to_si(32.9), 32.9e6_bit / 1_s);
  EXPECT_EQ(unit::metre.to_si(25), 25_m);
  EXPECT_EQ(unit::number.to_si(0.5), 0.5);

  EXPECT_DOUBLE_EQ(unit::dbm.from_si(0.1_W), 20.0);
  EXPECT_DOUBLE_EQ(unit::kilojoule.from_si(289.659_J), 0.289659);
  EXPECT_DOUBLE_EQ(unit::megabit_per_second.from_si(5e5_bit / 1_s), 0.5);
}

template <class Q>
void expect_round_trip(const Unit<Q>& unit, double low, double high) {
  RandomStream stream(1, "round trip");
  for (int i = 0; i < 1000; ++i) {
    const double number = stream.uniform(low, high);
    EXPECT_NEAR(unit.from_si(unit.to_si(number)), number, 1e-13 * (1.0 + std::abs(number))) << unit.name;
  }
}

TEST(Unit, RoundTrips) {
  expect_round_trip(unit::dbm, -120, 60);
  expect_round_trip(unit::dbm_per_hertz, -200, 0);
  expect_round_trip(unit::decibel, -200, 200);
  expect_round_trip(unit::kilojoule, -1e3, 1e6);
  expect_round_trip(unit::joule, -1e3, 1e6);
  expect_round_trip(unit::gigahertz, 0, 100);
  expect_round_trip(unit::megabit_per_second, 0, 1e4);
  expect_round_trip(unit::kilobit, 0, 1e6);
  expect_round_trip(unit::capacitance, 0, 1e-25);
}

TEST(Unit, NoPowerIsMinusInfinityDecibels) {
  EXPECT_EQ(unit::dbm.from_si(0_W), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace skein
