// What a scenario says about the world: places, devices and UAV types. Numbers may be distributions.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/names.h"
#include "skein/world/propulsion.h"

namespace skein {

inline constexpr Range whole_number{.low = 0, .whole = true};
inline constexpr Range whole_positive{.low = 1, .whole = true};

// Positions of sites: given, in metres east and north of the origin or as latitude and longitude in degrees,
// or placed at random where both lists are empty.
struct SiteOptions {
  std::size_t count = 0;
  std::vector<std::array<double, 2>> positions_m{};
  std::vector<std::array<double, 2>> positions_deg{};

  [[nodiscard]] bool given() const { return !positions_m.empty() || !positions_deg.empty(); }
};

struct ClusterOptions {
  SiteOptions sites{.count = 8};
  Distribution<Length> radius{constant(70), unit::metre, positive};
  Distribution<double> devices{uniform(8, 10), unit::number, whole_positive};
};

struct DeviceOptions {
  Distribution<Power> transmit_power{uniform(23, 25), unit::dbm, Range{.low = -60, .high = 60}};
  Distribution<Length> height{constant(0), unit::metre, Range{.low = 0, .high = 1000}};
};

// How far leaders fly to exchange models with the core network.
enum class WayChoice {
  fly,     // to the nearest access point, as in the paper
  decide,  // as far towards one as pays: see way_to_core.h
};
constexpr auto names_of(WayChoice) { return names_for<WayChoice>("fly", "decide"); }

struct AccessPointOptions {
  SiteOptions sites{.count = 2};
  Distribution<Length> height{constant(10), unit::metre, Range{.low = 0, .high = 1000}};
  WayChoice way = WayChoice::fly;
  double time_price_w = 0.0;  // J that a second of a round is worth, beside energy
};

struct StationOptions {
  SiteOptions sites{.count = 2};
  Distribution<Power> charge_power{constant(500), unit::watt, positive};
  Distribution<Time> swap_time{constant(0), unit::second, non_negative};
};

// Where workers and coordinators hover above their cluster.
enum class HoverLayout {
  devices,  // at the centres of groups of devices (Lloyd's algorithm), so that links are short
  ring,     // evenly on a circle of half the cluster's radius
  given,    // at hover_points_m, workers first
};
constexpr auto names_of(HoverLayout) { return names_for<HoverLayout>("devices", "ring", "given"); }

struct WorldOptions {
  std::array<double, 2> origin_deg{40.4237, -86.9212};
  std::array<double, 2> distance_m{500, 2000};
  HoverLayout hover = HoverLayout::devices;
  std::vector<std::array<double, 2>> hover_points_m{};  // east and north of the cluster's centre
  ClusterOptions clusters{};
  DeviceOptions devices{};
  AccessPointOptions access_points{};
  StationOptions stations{};
};

// What UAVs do that wait in the middle of a training sequence.
enum class WaitChoice {
  hover,    // as in the paper; before training begins and when all is done they are on the ground
  cheaper,  // hover or land, whichever takes less energy
};
constexpr auto names_of(WaitChoice) { return names_for<WaitChoice>("hover", "cheaper"); }

enum class Role { leader, worker, coordinator };
constexpr auto names_of(Role) { return names_for<Role>("leader", "worker", "coordinator"); }

// One type of UAV. Every swarm has `count` of them, each with its own sampled numbers.
struct UavType {
  std::string name;
  Role role = Role::worker;
  // What the numbers of the body and of the processor below come from: rows of skein/world/profiles.h.
  std::string aircraft = "paper";
  std::string computer = "paper";
  Distribution<double> count{constant(1), unit::number, whole_number};
  Distribution<Length> altitude{uniform(25, 30), unit::metre, Range{.low = 1, .high = 10000}};
  Distribution<Power> transmit_power{constant(20), unit::dbm, Range{.low = -60, .high = 60}};
  Distribution<Energy> battery{constant(48.6), unit::kilojoule, positive};
  Distribution<Energy> battery_threshold{constant(16.88), unit::kilojoule, non_negative};
  Distribution<double> buffer{constant(10000), unit::number, whole_number};
  Distribution<Speed> cruise_speed{constant(10), unit::metre_per_second, positive};
  // The processor, of a worker: energy a c g^2 / 2 per data point at clock g.
  Distribution<Capacitance> capacitance{constant(2e-28), unit::capacitance, positive};
  Distribution<double> cycles_per_point{constant(1e4), unit::number, non_negative};  // 0: by the next
  double operations_per_cycle = 4.0;
  Distribution<Frequency> least_clock{constant(10), unit::megahertz, positive};
  Distribution<Frequency> most_clock{constant(2300), unit::megahertz, positive};
  // Beside flying: for getting into the air each time, and each second on the ground. The paper has neither.
  Distribution<Energy> takeoff{constant(0), unit::kilojoule, non_negative};
  Distribution<Power> landed_power{constant(0), unit::watt, non_negative};
  PropulsionOptions propulsion{.kind = PropulsionKind::fixed_wing};
};

struct SwarmOptions {
  std::size_t count = 3;
  // Of all types that do not have their own.
  std::string aircraft = "paper";
  std::string computer = "paper";
  std::vector<UavType> types{
      UavType{.name = "leader", .role = Role::leader},
      UavType{.name = "worker", .role = Role::worker, .count = {uniform(3, 5), unit::number, whole_number}},
      UavType{.name = "coordinator",
              .role = Role::coordinator,
              .count = {uniform(1, 2), unit::number, whole_number}},
  };
};

}  // namespace skein
