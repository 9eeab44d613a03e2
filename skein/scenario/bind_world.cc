#include "skein/scenario/bind_world.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "skein/world/profiles.h"

namespace skein {
namespace {

constexpr Range count_range{.low = 1, .high = 100000, .whole = true};

void bind_sites(Fields& f, SiteOptions& o, std::string_view what) {
  f.pairs("positions_m", o.positions_m, {.low = -1e6, .high = 1e6},
          "given positions: metres east and north of the origin");
  f.pairs("positions_deg", o.positions_deg, {.low = -180, .high = 180},
          "or latitude and longitude in degrees");
  if (o.given()) {
    o.count = std::max(o.positions_m.size(), o.positions_deg.size());
  }
  f.whole("count", o.count, count_range, what);
}

void bind_propulsion(Fields& f, PropulsionOptions& o) {
  f.choice("propulsion", o.kind, "what keeps it in the air: one of the sections below it");
  FixedWingOptions& fixed = o.fixed_wing;
  f.section(
      "fixed_wing", "",
      [&] {
        f.number("zero_lift_drag", fixed.zero_lift_drag, "drag coefficient at zero lift C_D0");
        f.number("wing_area_m2", fixed.wing_area, "wing area S");
        f.number("mass_kg", fixed.mass, "mass of the aircraft");
        f.number("oswald_efficiency", fixed.oswald_efficiency, "Oswald's span efficiency e_0");
        f.number("aspect_ratio", fixed.aspect_ratio, "span squared over wing area");
        f.number("air_density_kgpm3", fixed.air_density, "density of air");
        f.number("loiter_mps", fixed.loiter_speed, "speed while it stays over a place");
        f.number("loiter_radius_m", fixed.loiter_radius,
                 "radius of the circle it loiters on; 0: straight flight's power");
      },
      o.kind == PropulsionKind::fixed_wing);
  RotaryWingOptions& rotary = o.rotary_wing;
  f.section(
      "rotary_wing", "",
      [&] {
        f.number("blade_profile_w", rotary.blade_profile_power, "blade profile power in hover P_0");
        f.number("induced_w", rotary.induced_power, "induced power in hover P_i");
        f.number("tip_mps", rotary.tip_speed, "tip speed of the rotor");
        f.number("hover_induced_mps", rotary.hover_induced_speed, "mean induced speed in hover v_0");
        f.number("fuselage_drag_ratio", rotary.fuselage_drag_ratio, "fuselage drag ratio d_0");
        f.number("rotor_solidity", rotary.rotor_solidity, "rotor solidity s");
        f.number("disc_area_m2", rotary.disc_area, "rotor disc area A");
        f.number("air_density_kgpm3", rotary.air_density, "density of air");
      },
      o.kind == PropulsionKind::rotary_wing);
  f.section(
      "constant", "",
      [&] {
        f.number("hover_w", o.constant.hover, "power over one place");
        f.number("cruise_w", o.constant.cruise, "power at any speed");
      },
      o.kind == PropulsionKind::constant);
  PublishedFixedWingOptions& published = o.published_fixed_wing;
  f.section(
      "published_fixed_wing", "",
      [&] {
        f.number("zero_lift_drag", published.zero_lift_drag, "drag coefficient at zero lift C_D0");
        f.number("wing_area_m2", published.wing_area, "wing area of the drag term");
        f.number("mass_kg", published.mass, "taken for the weight: the published code leaves out gravity");
        f.number("induced_wing_area_m2", published.induced_wing_area,
                 "wing area of the induced term, drawn apart");
        f.number("loiter_mps", published.loiter_speed, "speed while it stays over a place");
      },
      o.kind == PropulsionKind::published_fixed_wing);
}

// Whether others were chosen. Their numbers are then what keys that are not given stay at.
bool bind_profiles(Fields& f, std::string& aircraft, std::string& computer) {
  const std::array before{aircraft, computer};
  f.name("aircraft", aircraft, names_in(aircraft_profiles()),
         "what battery, threshold, take-off, power on the ground, speed and propulsion are, where not given");
  f.name("computer", computer, names_in(computer_profiles()),
         "what clocks, capacitance, cycles and idle power on the ground are, where not given");
  return before != std::array{aircraft, computer};
}

void bind_uav_type(Fields& f, UavType& o) {
  f.choice("role", o.role, "what it does in its swarm");
  if (bind_profiles(f, o.aircraft, o.computer)) {
    apply_profiles(o);
  }
  f.number("count", o.count, "UAVs of this type in a swarm; a list has one number per swarm");
  f.number("altitude_m", o.altitude, "height above ground");
  f.number("power_dbm", o.transmit_power, "transmit power P_j");
  f.number("battery_kj", o.battery, "capacity of the battery");
  f.number("threshold_kj", o.battery_threshold, "at this level the whole swarm must recharge");
  f.number("buffer_points", o.buffer, "data points it can hold B_j^D");
  f.number("cruise_mps", o.cruise_speed, "speed between sites and to the access point");
  f.number("capacitance", o.capacitance, "effective capacitance of the chip a_j, in J / (cycle Hz^2)");
  f.number("cycles_per_point", o.cycles_per_point,
           "CPU cycles for a data point c_j; 0: what a gradient of the network takes, by flop_per_cycle");
  f.real("flop_per_cycle", o.operations_per_cycle, positive,
         "floating-point operations of a cycle, for cycles_per_point = 0");
  f.number("least_clock_mhz", o.least_clock, "slowest CPU clock g^min");
  f.number("most_clock_mhz", o.most_clock, "fastest CPU clock g^max");
  f.number("takeoff_kj", o.takeoff, "energy for getting into the air once; the paper has none");
  f.number("landed_w", o.landed_power, "power on the ground, for the electronics; the paper has none");
  bind_propulsion(f, o.propulsion);
}

}  // namespace

void bind_world(Fields& f, WorldOptions& o) {
  f.tuple("origin_deg", o.origin_deg, {.low = -180, .high = 180},
          "latitude and longitude of the map's origin");
  f.tuple("distance_m", o.distance_m, {.low = 1, .high = 1e6},
          "least and most distance between any two sites");
  f.choice("hover", o.hover, "where UAVs hover: above groups of devices, on a ring, or at given points");
  f.pairs("hover_points_m", o.hover_points_m, {.low = -1e5, .high = 1e5},
          "for given: metres east and north of the cluster's centre, workers first");
  f.section("clusters", "Clusters of devices.", [&] {
    bind_sites(f, o.clusters.sites, "clusters (C)");
    f.number("radius_m", o.clusters.radius, "devices are scattered this far around the centre");
    f.number("devices", o.clusters.devices, "devices of a cluster; a list has one number per cluster");
  });
  f.section("devices", "The devices.", [&] {
    f.number("power_dbm", o.devices.transmit_power, "transmit power P_i");
    f.number("height_m", o.devices.height, "above ground");
  });
  f.section("stations", "Recharging stations.", [&] {
    bind_sites(f, o.stations.sites, "recharging stations (R)");
    f.number("charge_w", o.stations.charge_power, "charging power for each UAV");
    f.number("swap_s", o.stations.swap_time, "swap batteries in this time instead of charging; 0: charge");
  });
  f.section("access_points", "Access points, where leaders reach the core network.", [&] {
    bind_sites(f, o.access_points.sites, "access points (A)");
    f.number("height_m", o.access_points.height, "of the antenna above ground");
    f.choice("way", o.access_points.way,
             "leaders fly to one with every model, or decide how far towards one by energy and time");
    f.real("time_price_w", o.access_points.time_price_w, {.low = 0, .high = 1e6},
           "for decide: joules that a second of a global round is worth beside energy");
  });
}

void bind_swarms(Fields& f, SwarmOptions& o) {
  f.whole("count", o.count, count_range, "UAV swarms (U), at most as many as clusters");
  const bool chosen = bind_profiles(f, o.aircraft, o.computer);
  std::vector<std::string> names;
  for (UavType& type : o.types) {
    names.push_back(type.name);
    if (chosen) {
      type.aircraft = o.aircraft;
      type.computer = o.computer;
      apply_profiles(type);
    }
  }
  f.named_sections("types", "Types of UAV; add your own under any name. Each UAV draws its own numbers.",
                   names, [&](const std::string& name) {
                     auto found = std::ranges::find(o.types, name, &UavType::name);
                     if (found == o.types.end()) {
                       found = o.types.insert(
                           found, UavType{.name = name, .aircraft = o.aircraft, .computer = o.computer});
                       apply_profiles(*found);
                     }
                     bind_uav_type(f, *found);
                   });
}

void bind_radio(Fields& f, RadioOptions& o) {
  f.number("carrier_ghz", o.carrier, "carrier frequency f");
  f.number("bandwidth_mhz", o.bandwidth, "bandwidth of a link B");
  f.number("noise_dbmphz", o.noise_density, "noise spectral density N_0 in dBm/Hz");
  f.number("path_loss_exponent", o.path_loss_exponent, "path loss exponent alpha^PL");
  f.number("los_excess_db", o.los_excess, "loss on top of free space in line of sight");
  f.number("nlos_excess_db", o.nlos_excess, "and without line of sight");
  f.number("los_psi", o.los_psi, "line-of-sight probability: psi (environment)");
  f.number("los_beta", o.los_beta, "line-of-sight probability: beta per degree (environment)");
  f.number("shadowing_db", o.shadowing_deviation,
           "deviation of each link's loss from sequence to sequence, R(s)");
}

}  // namespace skein
