// Aircraft and computers by name: where the numbers of a UAV type come from. docs/profiles.md has their
// sources.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "skein/world/options.h"

namespace skein {

struct AircraftProfile {
  std::string_view name;
  std::string_view description;
  double battery_kj = 0.0;
  double threshold_kj = 0.0;  // 0.2 of a battery that is to last
  double takeoff_kj = 0.0;    // m g h / 0.5 for h = 28 m
  double landed_w = 0.0;      // autopilot, receiver and radio
  double cruise_mps = 10.0;
  PropulsionOptions (*propulsion)() = nullptr;
};

struct ComputerProfile {
  std::string_view name;
  std::string_view description;
  double least_clock_mhz = 0.0;
  double most_clock_mhz = 0.0;
  // What it takes beyond idling at its fastest clock g: a g^3 / 2, so this gives the capacitance a.
  double capacitance = 0.0;
  double cycles_per_point = 0.0;  // 0: by the network
  double operations_per_cycle = 4.0;
  double idle_w = 0.0;
};

std::span<const AircraftProfile> aircraft_profiles();
std::span<const ComputerProfile> computer_profiles();

// Give the type the numbers of both rows.
void apply_profiles(UavType& type);

}  // namespace skein
