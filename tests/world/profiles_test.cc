#include "skein/world/profiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace skein {
namespace {

double number(const Spread& spread) { return spread.numbers.front(); }

Propulsion propulsion_of(const UavType& type) { return sample_propulsion(type.propulsion, 1, "test", 0); }

UavType with(std::string_view aircraft, std::string_view computer) {
  UavType type{.name = "test", .aircraft = std::string(aircraft), .computer = std::string(computer)};
  apply_profiles(type);
  return type;
}

// The options' defaults and the rows say the same.
TEST(Profiles, ThePaperIsTheDefault) {
  const UavType fresh{.name = "fresh"};
  const UavType paper = with("paper", "paper");
  EXPECT_EQ(paper.battery.spread, fresh.battery.spread);
  EXPECT_EQ(paper.battery_threshold.spread, fresh.battery_threshold.spread);
  EXPECT_EQ(paper.takeoff.spread, fresh.takeoff.spread);
  EXPECT_EQ(paper.landed_power.spread, fresh.landed_power.spread);
  EXPECT_EQ(paper.cruise_speed.spread, fresh.cruise_speed.spread);
  EXPECT_EQ(paper.propulsion.kind, fresh.propulsion.kind);
  EXPECT_EQ(propulsion_of(paper).hover_power(), propulsion_of(fresh).hover_power());
  EXPECT_EQ(paper.least_clock.spread, fresh.least_clock.spread);
  EXPECT_EQ(paper.most_clock.spread, fresh.most_clock.spread);
  EXPECT_EQ(paper.capacitance.spread, fresh.capacitance.spread);
  EXPECT_EQ(paper.cycles_per_point.spread, fresh.cycles_per_point.spread);
  EXPECT_EQ(paper.operations_per_cycle, fresh.operations_per_cycle);
}

// As docs/profiles.md says, to the watt.
TEST(Profiles, PowerInHover) {
  EXPECT_NEAR(propulsion_of(with("paper", "paper")).hover_power().si(), 46.0, 0.5);
  EXPECT_NEAR(propulsion_of(with("quadrotor_2kg", "paper")).hover_power().si(), 168.5, 0.5);
  EXPECT_NEAR(propulsion_of(with("quadrotor_4kg", "paper")).hover_power().si(), 385.0, 0.5);
  EXPECT_NEAR(propulsion_of(with("quadrotor_5kg", "paper")).hover_power().si(), 541.0, 0.5);
}

// a g^3 / 2 at the fastest clock: 6.41 W under load less 2.1 W idle; 15 W less 5 W.
TEST(Profiles, ComputersTakeWhatWasMeasured) {
  const auto watts = [](const UavType& type) {
    return 0.5 * number(type.capacitance.spread) * std::pow(1e6 * number(type.most_clock.spread), 3);
  };
  EXPECT_NEAR(watts(with("paper", "raspberry_pi_4")), 6.41 - 2.1, 0.05);
  EXPECT_NEAR(watts(with("paper", "jetson_orin_nano")), 15.0 - 5.0, 0.05);
  EXPECT_EQ(with("quadrotor_2kg", "jetson_orin_nano").landed_power.spread, constant(10.0)) << "both of them";
}

// A battery lasts longer than its threshold is kept for, and everybody can get into the air with it.
TEST(Profiles, EveryRowCanFly) {
  for (const AircraftProfile& row : aircraft_profiles()) {
    SCOPED_TRACE(row.name);
    EXPECT_LT(row.threshold_kj, row.battery_kj);
    EXPECT_LT(10.0 * row.takeoff_kj, row.battery_kj);
    EXPECT_GT(propulsion_of(with(row.name, "paper")).power(Speed(row.cruise_mps)).si(), 0.0);
  }
}

}  // namespace
}  // namespace skein
