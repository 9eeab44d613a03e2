#include "skein/world/propulsion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein {
namespace {

Propulsion sampled(PropulsionKind kind, std::uint64_t seed = 1) {
  PropulsionOptions options;
  options.kind = kind;
  return sample_propulsion(options, seed, "uav", 0);
}

// The fixed wing of Zeng and Zhang (2017): c1 = 9.26e-4, c2 = 2250.
Propulsion literature_wing() {
  return {FixedWing{.cubic_drag = CubicDrag(9.26e-4),
                    .induced_drag = InducedDrag(2250),
                    .loiter_speed = 30_mps,
                    .loiter_radius = 0_m}};
}

constexpr SpeedRange all_speeds{.low = 1_mps, .high = 60_mps};

// 9.26e-4 27000 + 2250 / 30 = 25.002 + 75 = 100.002 W.
TEST(FixedWing, power_by_hand) {
  EXPECT_NEAR(literature_wing().power(30_mps).si(), 100.002, 1e-9);
  EXPECT_NEAR(literature_wing().energy_per_metre(30_mps).si(), 3.3334, 1e-9);
}

// Least power at (c2 / (3 c1))^(1/4), least energy per metre at (c2 / c1)^(1/4), where it is 2 sqrt(c1 c2).
TEST(FixedWing, best_speeds_agree_with_the_closed_forms) {
  RandomStream stream(21, "wings");
  for (int trial = 0; trial < 300; ++trial) {
    const double c1 = stream.uniform(5e-4, 5e-2);
    const double c2 = stream.uniform(50, 3000);
    const Propulsion wing{FixedWing{CubicDrag(c1), InducedDrag(c2), 20_mps, 0_m}};
    const double endurance = std::sqrt(std::sqrt(c2 / (3.0 * c1)));
    const double range = std::sqrt(std::sqrt(c2 / c1));
    const SpeedRange speeds{.low = 0.5_mps, .high = 100_mps};
    EXPECT_NEAR(best_endurance_speed(wing, speeds).si() / endurance, 1.0, 1e-6);
    EXPECT_NEAR(best_range_speed(wing, speeds).si() / range, 1.0, 1e-6);
    EXPECT_NEAR(wing.energy_per_metre(best_range_speed(wing, speeds)).si() / (2.0 * std::sqrt(c1 * c2)), 1.0,
                1e-12);
  }
}

// Defaults by hand: c1 = 1.225 0.03 0.6 / 2 = 0.011025; W = 49.03325 N; c2 = 2 W^2 / (pi 0.8 8 1.225 0.6) =
// 4808.52 / 14.7781 = 325.383; at 12 m/s 19.051 + 27.115 = 46.17 W.
TEST(FixedWing, default_aircraft_by_hand) {
  const Propulsion wing = sampled(PropulsionKind::fixed_wing);
  EXPECT_NEAR(wing.hover_power().si(), 46.17, 0.01);
}

// 20 m/s on 50 m: a = 8 m/s^2 = 0.8158 g, so the induced 112.5 W grow by 1 + 0.6655.
TEST(FixedWing, a_tighter_circle_costs_more) {
  FixedWing wing = std::get<FixedWing>(literature_wing().model);
  wing.loiter_speed = 20_mps;
  const Power straight = Propulsion{wing}.hover_power();
  wing.loiter_radius = 50_m;
  const Power tight = Propulsion{wing}.hover_power();
  wing.loiter_radius = 500_m;
  const Power wide = Propulsion{wing}.hover_power();
  EXPECT_NEAR((tight - straight).si(), 112.5 * 0.66548, 1e-3);
  EXPECT_GT(tight, wide);
  EXPECT_GT(wide, straight);
  wing.loiter_radius = Length(1e12);
  EXPECT_EQ(Propulsion{wing}.hover_power(), straight);
}

TEST(FixedWing, cannot_stand_still) {
  EXPECT_THROW((void)literature_wing().power(0_mps), ProgrammingError);
  EXPECT_THROW((void)literature_wing().energy_per_metre(0_mps), ProgrammingError);
}

// Published: workers 6.2 to 10.9 W among ten; the formula's own extremes are 4.78 and 16.62 W, its mean 8.07
// W.
TEST(PublishedFixedWing, gives_the_published_powers) {
  PropulsionOptions options;
  options.kind = PropulsionKind::published_fixed_wing;
  double sum = 0.0;
  double least = 100.0;
  double most = 0.0;
  constexpr std::uint64_t count = 4000;
  for (std::uint64_t id = 0; id < count; ++id) {
    const double watts = sample_propulsion(options, 1, "uav", id).hover_power().si();
    sum += watts;
    least = std::min(least, watts);
    most = std::max(most, watts);
  }
  EXPECT_NEAR(sum / count, 8.07, 0.1);
  EXPECT_GT(least, 4.34);
  EXPECT_LT(least, 6.2);
  EXPECT_LT(most, 13.63);
  EXPECT_GT(most, 10.9);
}

// CD0 = 0.03, S = 2, m = 8, S' = 2.5 at 5 m/s: c1 = 0.03675, c1 125 = 4.59375; c2 = 128 / (pi
// 0.8 2.5 1.838266) = 11.08203; c2 / 5 = 2.216406.
TEST(PublishedFixedWing, one_case_by_hand) {
  PropulsionOptions options;
  options.kind = PropulsionKind::published_fixed_wing;
  options.published_fixed_wing.zero_lift_drag.spread = constant(0.03);
  options.published_fixed_wing.wing_area.spread = constant(2);
  options.published_fixed_wing.mass.spread = constant(8);
  options.published_fixed_wing.induced_wing_area.spread = constant(2.5);
  EXPECT_NEAR(sample_propulsion(options, 1, "uav", 0).hover_power().si(), 6.81016, 1e-4);
}

// In hover only blade profile and induced power: 79.86 + 88.63 W. The authors' curve has its least power near
// 10.2 m/s and its least energy per metre near 18.3 m/s.
TEST(RotaryWing, reference_aircraft) {
  const Propulsion rotor = sampled(PropulsionKind::rotary_wing);
  EXPECT_NEAR(rotor.hover_power().si(), 168.49, 1e-9);
  EXPECT_NEAR(best_endurance_speed(rotor, all_speeds).si(), 10.2, 0.1);
  EXPECT_NEAR(best_range_speed(rotor, all_speeds).si(), 18.3, 0.1);
}

// At 10 m/s: 79.86 (1 + 300/14400) = 81.5238; x = 50/16.2409 = 3.07865; sqrt(1 + x^2) - x = 0.158327, its
// root 0.397904, times 88.63 = 35.2662; 0.5 0.6 1.225 0.05 0.503 1000 = 9.2426. Sum 126.033 W.
TEST(RotaryWing, power_at_ten_metres_per_second_by_hand) {
  EXPECT_NEAR(sampled(PropulsionKind::rotary_wing).power(10_mps).si(), 126.033, 2e-3);
}

// No speed of a fine grid is better than the one found, for rotors of many sizes.
TEST(RotaryWing, best_speeds_beat_a_fine_grid) {
  PropulsionOptions options;
  options.kind = PropulsionKind::rotary_wing;
  options.rotary_wing.blade_profile_power.spread = uniform(10, 500);
  options.rotary_wing.induced_power.spread = uniform(10, 500);
  options.rotary_wing.tip_speed.spread = uniform(80, 250);
  options.rotary_wing.hover_induced_speed.spread = uniform(2, 12);
  options.rotary_wing.fuselage_drag_ratio.spread = uniform(0.2, 1);
  options.rotary_wing.disc_area.spread = uniform(0.05, 3);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Propulsion rotor = sample_propulsion(options, seed, "uav", 3);
    const Power least = rotor.power(best_endurance_speed(rotor, all_speeds));
    const EnergyPerLength least_per_metre = rotor.energy_per_metre(best_range_speed(rotor, all_speeds));
    for (int i = 0; i <= 5900; ++i) {
      const Speed v(1.0 + 0.01 * i);
      ASSERT_LE(least.si(), rotor.power(v).si() * (1 + 1e-12));
      ASSERT_LE(least_per_metre.si(), rotor.energy_per_metre(v).si() * (1 + 1e-12));
    }
  }
}

TEST(ConstantPower, has_two_levels) {
  const Propulsion constant{ConstantPower{.hover = 120_W, .cruise = 90_W}};
  EXPECT_EQ(constant.hover_power(), 120_W);
  EXPECT_EQ(constant.power(0_mps), 120_W);
  EXPECT_EQ(constant.power(7_mps), 90_W);
  EXPECT_EQ(best_range_speed(constant, all_speeds), 60_mps);
}

TEST(Propulsion, best_speeds_at_the_ends_of_the_range_are_found) {
  const Propulsion wing = literature_wing();
  EXPECT_EQ(best_range_speed(wing, {.low = 45_mps, .high = 60_mps}), 45_mps);
  EXPECT_EQ(best_range_speed(wing, {.low = 5_mps, .high = 20_mps}), 20_mps);
  EXPECT_EQ(best_range_speed(wing, {.low = 25_mps, .high = 25_mps}), 25_mps);
  EXPECT_THROW(best_range_speed(wing, {.low = 0_mps, .high = 25_mps}), ProgrammingError);
  EXPECT_THROW(best_range_speed(wing, {.low = 30_mps, .high = 25_mps}), ProgrammingError);
}

TEST(Propulsion, refuses_nan) {
  const Speed nan(std::numeric_limits<double>::quiet_NaN());
  for (const PropulsionKind kind : {PropulsionKind::fixed_wing, PropulsionKind::rotary_wing,
                                    PropulsionKind::constant, PropulsionKind::published_fixed_wing}) {
    EXPECT_THROW((void)sampled(kind).power(nan), ProgrammingError);
  }
}

TEST(Propulsion, each_uav_draws_its_own_and_lists_go_by_index) {
  PropulsionOptions options;
  options.kind = PropulsionKind::fixed_wing;
  options.fixed_wing.mass.spread = uniform(2, 9);
  EXPECT_EQ(sample_propulsion(options, 1, "uav", 5).hover_power(),
            sample_propulsion(options, 1, "uav", 5).hover_power());
  EXPECT_NE(sample_propulsion(options, 1, "uav", 5).hover_power(),
            sample_propulsion(options, 1, "uav", 6).hover_power());
  EXPECT_NE(sample_propulsion(options, 1, "uav", 5).hover_power(),
            sample_propulsion(options, 1, "other", 5).hover_power());
  options.fixed_wing.mass.spread = list({2, 4});
  const auto induced = [&](std::size_t index) {
    return std::get<FixedWing>(sample_propulsion(options, 1, "uav", index).model).induced_drag;
  };
  EXPECT_NEAR(induced(1) / induced(0), 4.0, 1e-12);
}

}  // namespace
}  // namespace skein
