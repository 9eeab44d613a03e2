#include "skein/world/profiles.h"

#include <algorithm>
#include <array>

#include "skein/base/expect.h"

namespace skein {
namespace {

PropulsionOptions fixed_wing() { return {.kind = PropulsionKind::fixed_wing}; }

// Zeng, Xu and Zhang's reference aircraft.
PropulsionOptions rotary_wing() { return {.kind = PropulsionKind::rotary_wing}; }

// By momentum theory: induced power is 1.1 times the ideal T^(3/2) / (2 rho A)^(1/2), blades take what is
// left of the power in hover. Only the product of drag ratio, solidity and disc area counts, the aircraft's
// flat plate in m^2.
PropulsionOptions four_rotors(double blades_w, double induced_w, double induced_mps, double disc_area_m2,
                              double flat_plate_m2) {
  PropulsionOptions options{.kind = PropulsionKind::rotary_wing};
  RotaryWingOptions& rotary = options.rotary_wing;
  rotary.blade_profile_power.spread = constant(blades_w);
  rotary.induced_power.spread = constant(induced_w);
  rotary.hover_induced_speed.spread = constant(induced_mps);
  rotary.disc_area.spread = constant(disc_area_m2);
  rotary.rotor_solidity.spread = constant(0.1);
  rotary.fuselage_drag_ratio.spread = constant(flat_plate_m2 / (0.1 * disc_area_m2));
  return options;
}

// 5 kg on rotors of 15 inches: ideal 325 W, 541 W at a figure of merit of 0.6.
PropulsionOptions quadrotor_5kg() { return four_rotors(184.0, 357.0, 6.62, 0.456, 0.03); }

// 3.77 kg on rotors of 16 inches: ideal 199 W, 385 W as its battery lasts.
PropulsionOptions quadrotor_4kg() { return four_rotors(166.0, 219.0, 5.39, 0.519, 0.025); }

constexpr std::array aircraft{
    AircraftProfile{.name = "paper",
                    .description = "fixed wing, 5 kg, 46 W loitering",
                    .battery_kj = 48.6,
                    .threshold_kj = 16.88,
                    .propulsion = fixed_wing},
    AircraftProfile{.name = "quadrotor_2kg",
                    .description = "rotary wing, 2 kg, 168 W hovering, a large battery",
                    .battery_kj = 950.0,
                    .threshold_kj = 190.0,
                    .takeoff_kj = 1.1,
                    .landed_w = 5.0,
                    .propulsion = rotary_wing},
    AircraftProfile{.name = "quadrotor_4kg",
                    .description = "four rotors, 3.8 kg, 385 W hovering, 41 min",
                    .battery_kj = 950.0,
                    .threshold_kj = 190.0,
                    .takeoff_kj = 2.07,
                    .landed_w = 5.0,
                    .propulsion = quadrotor_4kg},
    AircraftProfile{.name = "quadrotor_5kg",
                    .description = "four rotors, 5 kg, 541 W hovering, 35 min",
                    .battery_kj = 1140.0,
                    .threshold_kj = 228.0,
                    .takeoff_kj = 2.75,
                    .landed_w = 5.0,
                    .propulsion = quadrotor_5kg},
};

constexpr std::array computers{
    ComputerProfile{.name = "paper",
                    .description = "10 to 2300 MHz, 10,000 cycles a point, 1.2 W at its fastest",
                    .least_clock_mhz = 10.0,
                    .most_clock_mhz = 2300.0,
                    .capacitance = 2e-28,
                    .cycles_per_point = 1e4},
    ComputerProfile{.name = "raspberry_pi_4",
                    .description = "four cores, 8 GFLOP/s at 1.5 GHz, 4.3 W beyond 2.1 W when idle",
                    .least_clock_mhz = 600.0,
                    .most_clock_mhz = 1500.0,
                    .capacitance = 2.55e-27,
                    .operations_per_cycle = 5.3,
                    .idle_w = 2.1},
    ComputerProfile{.name = "jetson_orin_nano",
                    .description = "graphics processor, 128 GFLOP/s at 625 MHz, 10 W beyond 5 W when idle",
                    .least_clock_mhz = 306.0,
                    .most_clock_mhz = 625.0,
                    .capacitance = 8.2e-26,
                    .operations_per_cycle = 205.0,
                    .idle_w = 5.0},
};

template <class Row>
const Row& row_of(std::span<const Row> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  expect(found != rows.end(), "a profile that is not in its table");
  return *found;
}

}  // namespace

std::span<const AircraftProfile> aircraft_profiles() { return aircraft; }
std::span<const ComputerProfile> computer_profiles() { return computers; }

void apply_profiles(UavType& type) {
  const AircraftProfile& body = row_of(aircraft_profiles(), type.aircraft);
  const ComputerProfile& computer = row_of(computer_profiles(), type.computer);
  type.battery.spread = constant(body.battery_kj);
  type.battery_threshold.spread = constant(body.threshold_kj);
  type.takeoff.spread = constant(body.takeoff_kj);
  type.landed_power.spread = constant(body.landed_w + computer.idle_w);
  type.cruise_speed.spread = constant(body.cruise_mps);
  type.propulsion = body.propulsion();
  type.least_clock.spread = constant(computer.least_clock_mhz);
  type.most_clock.spread = constant(computer.most_clock_mhz);
  type.capacitance.spread = constant(computer.capacitance);
  type.cycles_per_point.spread = constant(computer.cycles_per_point);
  type.operations_per_cycle = computer.operations_per_cycle;
}

}  // namespace skein
