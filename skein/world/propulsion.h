// Power that a UAV needs to stay in the air and to move (section IV-A of the paper names it psi and takes it
// from the literature on fixed and rotary wings).
//
// Scope and limits. Steady level flight in still air at constant mass and density. Accelerating, climbing and
// landing cost nothing of their own; neither does the electronics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "skein/base/distribution.h"
#include "skein/base/names.h"
#include "skein/base/quantity.h"

namespace skein {

inline constexpr Acceleration standard_gravity{9.80665};

using CubicDrag = Quantity<-1, 1, 0, 0>;    // c1 in c1 v^3: W / (m/s)^3
using InducedDrag = Quantity<3, 1, -4, 0>;  // c2 in c2 / v: W m/s

// Straight flight: P(v) = c1 v^3 + c2 / v, v > 0. A fixed wing cannot hover; it loiters, on a circle of
// radius r, where the wing carries more than the weight: P(v) = c1 v^3 + c2 / v (1 + (v^2 / (g r))^2).
struct FixedWing {
  CubicDrag cubic_drag;
  InducedDrag induced_drag;
  Speed loiter_speed;
  Length loiter_radius;  // 0: as if straight on
};

// P(v) = P0 (1 + 3 v^2 / U^2) + Pi (sqrt(1 + v^4 / (4 v0^4)) - v^2 / (2 v0^2))^(1/2) + d0 rho s A v^3 / 2,
// v >= 0: blade profile, induced and parasite power (Zeng, Xu and Zhang, 2019).
struct RotaryWing {
  Power blade_profile_power;         // P0, in hover
  Power induced_power;               // Pi, in hover
  Speed tip_speed;                   // U
  Speed hover_induced_speed;         // v0
  double fuselage_drag_ratio = 0.0;  // d0
  double rotor_solidity = 0.0;       // s
  Area disc_area;                    // A
  Density air_density;               // rho
};

struct ConstantPower {
  Power hover;
  Power cruise;  // at any speed above 0
};

struct Propulsion {
  std::variant<FixedWing, RotaryWing, ConstantPower> model;

  // Straight level flight.
  [[nodiscard]] Power power(Speed speed) const;
  // Staying over one place: psi^F in the paper.
  [[nodiscard]] Power hover_power() const;
  // power / speed: psi^M in the paper. Speed > 0.
  [[nodiscard]] EnergyPerLength energy_per_metre(Speed speed) const;
};

struct SpeedRange {
  Speed low;  // > 0
  Speed high;
};

// The speed in the range with the least power: longest in the air.
Speed best_endurance_speed(const Propulsion& propulsion, const SpeedRange& range);
// The speed in the range with the least energy per metre: farthest on a battery.
Speed best_range_speed(const Propulsion& propulsion, const SpeedRange& range);

// c1 = rho CD0 S / 2 and c2 = 2 W^2 / (pi e0 AR rho S) with the weight W = m g. Defaults: a 5 kg aircraft.
struct FixedWingOptions {
  Distribution<double> zero_lift_drag{constant(0.03), unit::number, positive};  // CD0
  Distribution<Area> wing_area{constant(0.6), unit::square_metre, positive};    // S
  Distribution<Mass> mass{constant(5), unit::kilogram, positive};
  Distribution<double> oswald_efficiency{constant(0.8), unit::number, positive_ratio};  // e0
  Distribution<double> aspect_ratio{constant(8), unit::number, positive};
  Distribution<Density> air_density{constant(1.225), unit::kilogram_per_cubic_metre, positive};
  Distribution<Speed> loiter_speed{constant(12), unit::metre_per_second, positive};
  Distribution<Length> loiter_radius{constant(0), unit::metre, non_negative};
};

// As in the published code, to compare with its numbers: c1 = 1.225 CD0 S / 2 and c2 = 2 m^2 / (pi 0.8 S'
// 1.225^3). Its weight lacks gravity, there is no aspect ratio, the density is cubed, and the wing area S' of
// the second term is drawn apart from S. For a wing of aspect ratio 8 its induced power is some 18 times too
// small. Defaults: its workers (and leaders). Its coordinators: CD0 in [0.0161, 0.0269], both areas in
// [0.5, 1.75], mass in [0.1, 5.05].
struct PublishedFixedWingOptions {
  Distribution<double> zero_lift_drag{uniform(0.0269, 0.0378), unit::number, positive};
  Distribution<Area> wing_area{uniform(1.75, 3), unit::square_metre, positive};
  Distribution<Mass> mass{uniform(5.05, 10), unit::kilogram, positive};
  Distribution<Area> induced_wing_area{uniform(1.75, 3), unit::square_metre, positive};  // S'
  Distribution<Speed> loiter_speed{constant(5), unit::metre_per_second, positive};
};

// Defaults: the reference aircraft of Zeng, Xu and Zhang (20 N, one rotor of 0.4 m).
struct RotaryWingOptions {
  Distribution<Power> blade_profile_power{constant(79.86), unit::watt, positive};
  Distribution<Power> induced_power{constant(88.63), unit::watt, positive};
  Distribution<Speed> tip_speed{constant(120), unit::metre_per_second, positive};
  Distribution<Speed> hover_induced_speed{constant(4.03), unit::metre_per_second, positive};
  Distribution<double> fuselage_drag_ratio{constant(0.6), unit::number, non_negative};
  Distribution<double> rotor_solidity{constant(0.05), unit::number, positive_ratio};
  Distribution<Area> disc_area{constant(0.503), unit::square_metre, positive};
  Distribution<Density> air_density{constant(1.225), unit::kilogram_per_cubic_metre, positive};
};

struct ConstantPowerOptions {
  Distribution<Power> hover{constant(170), unit::watt, non_negative};
  Distribution<Power> cruise{constant(160), unit::watt, non_negative};
};

enum class PropulsionKind { fixed_wing, rotary_wing, constant, published_fixed_wing };
constexpr auto names_of(PropulsionKind) {
  return names_for<PropulsionKind>("fixed_wing", "rotary_wing", "constant", "published_fixed_wing");
}

// Only the part of the chosen kind counts.
struct PropulsionOptions {
  PropulsionKind kind = PropulsionKind::rotary_wing;
  FixedWingOptions fixed_wing;
  RotaryWingOptions rotary_wing;
  ConstantPowerOptions constant;
  PublishedFixedWingOptions published_fixed_wing;
};

// One UAV's: every value is drawn from the stream (seed, "<key>.<value>", index), so that making one of them
// a distribution leaves the others as they were. `key` tells types of UAV apart; `index` counts within the
// type and is the place in lists of one value per UAV.
Propulsion sample_propulsion(const PropulsionOptions& options, std::uint64_t seed, std::string_view key,
                             std::size_t index);

}  // namespace skein
