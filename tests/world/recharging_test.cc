#include "skein/world/recharging.h"

#include <gtest/gtest.h>

#include <limits>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

TEST(Recharging, charging_by_hand) {
  const Charger charger{.power = 200_W, .swap_time = 0_s};
  EXPECT_EQ(recharge_time(charger, 30000_J), 150_s);
  EXPECT_EQ(recharge_time(charger, 0_J), 0_s);
  EXPECT_EQ(recharged_energy(charger, 30000_J, 50_s), 10000_J);
  EXPECT_EQ(recharged_energy(charger, 30000_J, 151_s), 30000_J);
}

TEST(Recharging, a_swap_is_all_or_nothing) {
  const Charger charger{.power = 0_W, .swap_time = 120_s};
  EXPECT_EQ(recharge_time(charger, 30000_J), 120_s);
  EXPECT_EQ(recharge_time(charger, 1_J), 120_s);
  EXPECT_EQ(recharge_time(charger, 0_J), 0_s);
  EXPECT_EQ(recharged_energy(charger, 30000_J, 119_s), 0_J);
  EXPECT_EQ(recharged_energy(charger, 30000_J, 120_s), 30000_J);
}

// Whatever the rounding of missing / power: after that time the battery is full.
TEST(Recharging, after_its_time_a_battery_is_full) {
  RandomStream stream(31, "chargers");
  for (int trial = 0; trial < 2000; ++trial) {
    const Charger charger{.power = Power(stream.uniform(1, 3000)), .swap_time = 0_s};
    const Energy missing(stream.uniform(0, 1e6));
    EXPECT_EQ(recharged_energy(charger, missing, recharge_time(charger, missing)), missing);
  }
}

TEST(Recharging, refuses_what_makes_no_sense) {
  const Charger charger{.power = 200_W, .swap_time = 0_s};
  EXPECT_THROW(recharge_time(charger, Energy(-1)), ProgrammingError);
  EXPECT_THROW(recharge_time(charger, Energy(std::numeric_limits<double>::infinity())), ProgrammingError);
  EXPECT_THROW(recharge_time({.power = 0_W, .swap_time = 0_s}, 1_J), ProgrammingError);
  EXPECT_THROW(recharged_energy(charger, 1_J, Time(-1)), ProgrammingError);
}

}  // namespace
}  // namespace skein
