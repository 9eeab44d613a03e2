#include "skein/world/propulsion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "skein/base/expect.h"

namespace skein {
namespace {

Power cubic_power(const FixedWing& wing, Speed v) { return wing.cubic_drag * v * v * v; }

Power power_of(const FixedWing& wing, Speed v) {
  expect(v > Speed(0.0), "a fixed wing needs a speed > 0 to fly");
  return cubic_power(wing, v) + wing.induced_drag / v;
}

// With x = v^2 / (2 v0^2), sqrt(1 + x^2) - x is computed as 1 / (sqrt(1 + x^2) + x), which does not cancel at
// high speed.
Power power_of(const RotaryWing& rotor, Speed v) {
  const double tip_ratio = v / rotor.tip_speed;
  const double inflow_ratio = v / rotor.hover_induced_speed;
  const double x = 0.5 * inflow_ratio * inflow_ratio;
  const Power blade_profile = rotor.blade_profile_power * (1.0 + 3.0 * tip_ratio * tip_ratio);
  const Power induced = rotor.induced_power / std::sqrt(std::sqrt(1.0 + x * x) + x);
  const Power parasite = 0.5 * rotor.fuselage_drag_ratio * rotor.air_density * rotor.rotor_solidity *
                         rotor.disc_area * v * v * v;
  return blade_profile + induced + parasite;
}

Power power_of(const ConstantPower& constant, Speed v) {
  return v > Speed(0.0) ? constant.cruise : constant.hover;
}

Power hover_power_of(const FixedWing& wing) {
  const Speed v = wing.loiter_speed;
  if (wing.loiter_radius == Length(0.0)) {
    return power_of(wing, v);
  }
  expect(v > Speed(0.0) && wing.loiter_radius > Length(0.0), "loitering needs a speed and a radius > 0");
  const double turn = v * v / (standard_gravity * wing.loiter_radius);
  return cubic_power(wing, v) + wing.induced_drag / v * (1.0 + turn * turn);
}

Power hover_power_of(const RotaryWing& rotor) { return power_of(rotor, Speed(0.0)); }

Power hover_power_of(const ConstantPower& constant) { return constant.hover; }

// The least cost on [low, high]: the best of an even grid, refined between its two neighbours by golden
// section. Right for any cost with no second valley narrower than the grid, and never worse than its best
// point.
template <class Cost>
Speed cheapest_speed(const SpeedRange& range, const Cost& cost) {
  const double low = range.low.si();
  const double high = range.high.si();
  expect(std::isfinite(high) && low > 0.0 && low <= high, "a range of speeds needs 0 < low <= high");
  constexpr int num_steps = 256;
  const auto grid = [&](int i) { return i == num_steps ? high : low + (high - low) * i / num_steps; };
  int best = 0;
  for (int i = 1; i <= num_steps; ++i) {
    if (cost(grid(i)) < cost(grid(best))) {
      best = i;
    }
  }

  double left = grid(std::max(best - 1, 0));
  double right = grid(std::min(best + 1, num_steps));
  const double section = 1.0 / std::numbers::phi;
  double inner_left = right - section * (right - left);
  double inner_right = left + section * (right - left);
  for (int i = 0; i < 60; ++i) {
    if (cost(inner_left) <= cost(inner_right)) {
      right = inner_right;
      inner_right = inner_left;
      inner_left = right - section * (right - left);
    } else {
      left = inner_left;
      inner_left = inner_right;
      inner_right = left + section * (right - left);
    }
  }
  const double refined = 0.5 * (left + right);
  return Speed(cost(refined) < cost(grid(best)) ? refined : grid(best));
}

struct Draw {
  std::uint64_t seed;
  std::string_view key;
  std::size_t index;

  template <class Q>
  Q operator()(const Distribution<Q>& distribution, std::string_view value) const {
    RandomStream stream(seed, fmt::format("{}.{}", key, value), index);
    return distribution.sample(stream, index);
  }
};

FixedWing sample(const FixedWingOptions& options, const Draw& draw) {
  const double zero_lift_drag = draw(options.zero_lift_drag, "zero_lift_drag");
  const Area wing_area = draw(options.wing_area, "wing_area");
  const Force weight = draw(options.mass, "mass") * standard_gravity;
  const double efficiency = draw(options.oswald_efficiency, "oswald_efficiency");
  const double aspect_ratio = draw(options.aspect_ratio, "aspect_ratio");
  const Density air_density = draw(options.air_density, "air_density");
  return {.cubic_drag = 0.5 * air_density * zero_lift_drag * wing_area,
          .induced_drag = 2.0 * weight * weight /
                          (std::numbers::pi * efficiency * aspect_ratio * air_density * wing_area),
          .loiter_speed = draw(options.loiter_speed, "loiter_speed"),
          .loiter_radius = draw(options.loiter_radius, "loiter_radius")};
}

// The published formula has no consistent units: its number is taken as watts.
FixedWing sample(const PublishedFixedWingOptions& options, const Draw& draw) {
  constexpr double density = 1.225;
  constexpr double efficiency = 0.8;
  const double zero_lift_drag = draw(options.zero_lift_drag, "zero_lift_drag");
  const double wing_area = draw(options.wing_area, "wing_area").si();
  const double mass = draw(options.mass, "mass").si();
  const double induced_wing_area = draw(options.induced_wing_area, "induced_wing_area").si();
  return {.cubic_drag = CubicDrag(0.5 * density * zero_lift_drag * wing_area),
          .induced_drag =
              InducedDrag(2.0 * mass * mass /
                          (std::numbers::pi * efficiency * induced_wing_area * density * density * density)),
          .loiter_speed = draw(options.loiter_speed, "loiter_speed"),
          .loiter_radius = Length(0.0)};
}

RotaryWing sample(const RotaryWingOptions& options, const Draw& draw) {
  return {.blade_profile_power = draw(options.blade_profile_power, "blade_profile_power"),
          .induced_power = draw(options.induced_power, "induced_power"),
          .tip_speed = draw(options.tip_speed, "tip_speed"),
          .hover_induced_speed = draw(options.hover_induced_speed, "hover_induced_speed"),
          .fuselage_drag_ratio = draw(options.fuselage_drag_ratio, "fuselage_drag_ratio"),
          .rotor_solidity = draw(options.rotor_solidity, "rotor_solidity"),
          .disc_area = draw(options.disc_area, "disc_area"),
          .air_density = draw(options.air_density, "air_density")};
}

ConstantPower sample(const ConstantPowerOptions& options, const Draw& draw) {
  return {.hover = draw(options.hover, "hover"), .cruise = draw(options.cruise, "cruise")};
}

}  // namespace

Power Propulsion::power(Speed speed) const {
  expect(isfinite(speed) && speed >= Speed(0.0), "a speed must be finite and >= 0");
  return std::visit([&](const auto& kind) { return power_of(kind, speed); }, model);
}

Power Propulsion::hover_power() const {
  return std::visit([](const auto& kind) { return hover_power_of(kind); }, model);
}

EnergyPerLength Propulsion::energy_per_metre(Speed speed) const {
  expect(speed > Speed(0.0), "energy per metre needs a speed > 0");
  return power(speed) / speed;
}

Speed best_endurance_speed(const Propulsion& propulsion, const SpeedRange& range) {
  return cheapest_speed(range, [&](double v) { return propulsion.power(Speed(v)); });
}

Speed best_range_speed(const Propulsion& propulsion, const SpeedRange& range) {
  return cheapest_speed(range, [&](double v) { return propulsion.energy_per_metre(Speed(v)); });
}

Propulsion sample_propulsion(const PropulsionOptions& options, std::uint64_t seed, std::string_view key,
                             std::size_t index) {
  const Draw draw{.seed = seed, .key = key, .index = index};
  switch (options.kind) {
    case PropulsionKind::fixed_wing:
      return {sample(options.fixed_wing, draw)};
    case PropulsionKind::rotary_wing:
      return {sample(options.rotary_wing, draw)};
    case PropulsionKind::constant:
      return {sample(options.constant, draw)};
    case PropulsionKind::published_fixed_wing:
      return {sample(options.published_fixed_wing, draw)};
  }
  expect(false, "unknown kind of propulsion");
  return {};
}

}  // namespace skein
