#include "skein/world/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "skein/base/expect.h"
#include "skein/base/input_fault.h"
#include "skein/world/geodesy.h"
#include "skein/world/placement.h"

namespace skein {
namespace {

InputFault fault(std::string key, std::string value, std::string message) {
  return {.file = "", .key = std::move(key), .value = std::move(value), .message = std::move(message)};
}

// Draws an entity's value of a key. Each key has a stream per entity, so keys do not disturb each other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}

  template <class Q>
  Q operator()(const Distribution<Q>& distribution, std::string_view key, std::size_t entity) const {
    RandomStream stream(seed_, key, entity);
    return distribution.sample(stream, entity);
  }

 private:
  std::uint64_t seed_;
};

template <class Q>
void check_list(const Distribution<Q>& distribution, const std::string& key, std::size_t count,
                std::string_view entity, InputFaults& faults) {
  if (const auto size = distribution.list_size(); size && *size != count) {
    faults.add(fault(key, distribution.spread.to_toml(),
                     fmt::format("has {} values; a list needs one per {}, {} in all", *size, entity, count)));
  }
}

std::vector<Position> given_positions(const SiteOptions& sites, const LatLon& origin) {
  std::vector<Position> positions;
  for (const auto& [x, y] : sites.positions_m) {
    positions.push_back({Length(x), Length(y), Length(0.0)});
  }
  for (const LatLon& point : sites.positions_deg) {
    positions.push_back(from_lat_lon(point, origin));
  }
  return positions;
}

std::vector<Position> place(std::size_t count, const WorldOptions& options, std::span<const Position> given,
                            std::string_view purpose, std::uint64_t seed, InputFaults& faults) {
  RandomStream stream(seed, purpose);
  const DistanceRange range{Length(options.distance_m[0]), Length(options.distance_m[1])};
  std::vector<Position> placed = place_sites(count, range, given, stream);
  if (placed.size() < count) {
    faults.add(
        fault("world.distance_m", fmt::format("[{}, {}]", options.distance_m[0], options.distance_m[1]),
              fmt::format("{} {} cannot be placed with all pairwise distances in this range: {} fit; raise "
                          "the second number, lower the first, or place fewer",
                          count, purpose, placed.size())));
    placed.clear();
  }
  return placed;
}

struct Sites {
  std::vector<Position> clusters;
  std::vector<Position> stations;
  std::vector<Position> access_points;
};

// Clusters and stations share the ground: they keep their distances from each other. Access points keep them
// among themselves.
Sites place_all(const WorldOptions& options, std::uint64_t seed, InputFaults& faults) {
  const SiteOptions& clusters = options.clusters.sites;
  const SiteOptions& stations = options.stations.sites;
  Sites sites{.clusters = given_positions(clusters, options.origin_deg),
              .stations = given_positions(stations, options.origin_deg),
              .access_points = given_positions(options.access_points.sites, options.origin_deg)};
  if (!clusters.given() && !stations.given()) {
    const std::vector<Position> both =
        place(clusters.count + stations.count, options, {}, "clusters and stations", seed, faults);
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(both.empty() ? 0 : clusters.count);
    sites.clusters.assign(both.begin(), middle);
    sites.stations.assign(middle, both.end());
  } else if (!clusters.given()) {
    sites.clusters = place(clusters.count, options, sites.stations, "clusters", seed, faults);
  } else if (!stations.given()) {
    sites.stations = place(stations.count, options, sites.clusters, "stations", seed, faults);
  }
  if (!options.access_points.sites.given()) {
    sites.access_points =
        place(options.access_points.sites.count, options, {}, "access points", seed, faults);
  }
  return sites;
}

void sample_clusters(const WorldOptions& options, const std::vector<Position>& centres, ThreadPool& pool,
                     World& world, InputFaults& faults) {
  const Draw draw(world.seed);
  check_list(options.clusters.devices, "world.clusters.devices", centres.size(), "cluster", faults);
  check_list(options.clusters.radius, "world.clusters.radius_m", centres.size(), "cluster", faults);
  faults.throw_if_any();

  std::size_t first = 0;
  for (std::size_t c = 0; c < centres.size(); ++c) {
    const auto count = static_cast<std::size_t>(draw(options.clusters.devices, "world.clusters.devices", c));
    world.clusters.push_back({.centre = centres[c],
                              .radius = draw(options.clusters.radius, "world.clusters.radius_m", c),
                              .devices = {first, count}});
    first += count;
  }
  check_list(options.devices.transmit_power, "world.devices.power_dbm", first, "device", faults);
  check_list(options.devices.height, "world.devices.height_m", first, "device", faults);
  faults.throw_if_any();

  world.devices.resize(first);
  pool.parallel_for(world.clusters.size(), [&](std::size_t c) {
    const Cluster& cluster = world.clusters[c];
    for (std::size_t i = cluster.devices.first; i < cluster.devices.end(); ++i) {
      RandomStream stream(world.seed, "device position", i);
      Device& device = world.devices[i];
      device.cluster = c;
      device.position = uniform_in_disc(cluster.centre, cluster.radius, stream);
      device.position.z = draw(options.devices.height, "world.devices.height_m", i);
      device.transmit_power = draw(options.devices.transmit_power, "world.devices.power_dbm", i);
    }
  });
}

void sample_stations(const WorldOptions& options, const Sites& sites, World& world, InputFaults& faults) {
  const Draw draw(world.seed);
  check_list(options.stations.charge_power, "world.stations.charge_w", sites.stations.size(), "station",
             faults);
  check_list(options.stations.swap_time, "world.stations.swap_s", sites.stations.size(), "station", faults);
  check_list(options.access_points.height, "world.access_points.height_m", sites.access_points.size(),
             "access point", faults);
  faults.throw_if_any();
  for (std::size_t r = 0; r < sites.stations.size(); ++r) {
    world.stations.push_back(
        {.position = sites.stations[r],
         .charger = {.power = draw(options.stations.charge_power, "world.stations.charge_w", r),
                     .swap_time = draw(options.stations.swap_time, "world.stations.swap_s", r)}});
  }
  for (std::size_t a = 0; a < sites.access_points.size(); ++a) {
    Position position = sites.access_points[a];
    position.z = draw(options.access_points.height, "world.access_points.height_m", a);
    world.access_points.push_back({.position = position});
  }
}

std::string type_key(const UavType& type, std::string_view key) {
  return fmt::format("swarms.types.{}.{}", type.name, key);
}

// One UAV, the `index`-th of its type in the world.
Uav sample_uav(const UavType& type, std::size_t swarm, std::size_t index, std::uint64_t seed) {
  const Draw draw(seed);
  const auto value = [&](const auto& distribution, std::string_view key) {
    return draw(distribution, type_key(type, key), index);
  };
  return {.swarm = swarm,
          .role = type.role,
          .type = type.name,
          .altitude = value(type.altitude, "altitude_m"),
          .transmit_power = value(type.transmit_power, "power_dbm"),
          .battery = value(type.battery, "battery_kj"),
          .battery_threshold = value(type.battery_threshold, "threshold_kj"),
          .buffer = static_cast<std::size_t>(value(type.buffer, "buffer_points")),
          .cruise_speed = value(type.cruise_speed, "cruise_mps"),
          .capacitance = value(type.capacitance, "capacitance"),
          .cycles_per_point = value(type.cycles_per_point, "cycles_per_point"),
          .least_clock = value(type.least_clock, "least_clock_mhz"),
          .most_clock = value(type.most_clock, "most_clock_mhz"),
          .takeoff = value(type.takeoff, "takeoff_kj"),
          .landed_power = value(type.landed_power, "landed_w"),
          .propulsion = sample_propulsion(type.propulsion, seed, type_key(type, "propulsion"), index)};
}

void check_uav(const UavType& type, const Uav& uav, InputFaults& faults) {
  if (uav.battery_threshold >= uav.battery) {
    faults.add(fault(type_key(type, "threshold_kj"), fmt::format("{:g}", uav.battery_threshold.si() / 1e3),
                     fmt::format("must be below battery_kj, {:g} here: the swarm could never leave a station",
                                 uav.battery.si() / 1e3)));
  }
  if (uav.least_clock > uav.most_clock) {
    faults.add(fault(type_key(type, "least_clock_mhz"), fmt::format("{:g}", uav.least_clock.si() / 1e6),
                     fmt::format("must be at most most_clock_mhz, {:g} here", uav.most_clock.si() / 1e6)));
  }
}

// How many UAVs of each type each swarm has, and which of its type the swarm's first is.
struct TypeCounts {
  std::vector<std::size_t> count;
  std::vector<std::size_t> first;
  std::size_t total = 0;
};

std::vector<TypeCounts> sample_counts(const SwarmOptions& options, std::uint64_t seed, InputFaults& faults) {
  const Draw draw(seed);
  std::vector<TypeCounts> counts;
  for (const UavType& type : options.types) {
    check_list(type.count, type_key(type, "count"), options.count, "swarm", faults);
  }
  faults.throw_if_any();
  for (const UavType& type : options.types) {
    TypeCounts& entry = counts.emplace_back();
    for (std::size_t u = 0; u < options.count; ++u) {
      entry.count.push_back(static_cast<std::size_t>(draw(type.count, type_key(type, "count"), u)));
      entry.first.push_back(entry.total);
      entry.total += entry.count.back();
    }
  }
  for (std::size_t u = 0; u < options.count; ++u) {
    std::size_t leaders = 0;
    std::size_t workers = 0;
    for (std::size_t t = 0; t < options.types.size(); ++t) {
      leaders += options.types[t].role == Role::leader ? counts[t].count[u] : 0;
      workers += options.types[t].role == Role::worker ? counts[t].count[u] : 0;
    }
    if (leaders != 1) {
      faults.add(fault("swarms.types", "",
                       fmt::format("give swarm {} {} leaders; a swarm has exactly one", u + 1, leaders)));
    }
    if (workers == 0) {
      faults.add(fault("swarms.types", "",
                       fmt::format("give swarm {} no worker; a swarm needs at least one", u + 1)));
    }
  }
  faults.throw_if_any();
  return counts;
}

void check_type_lists(const UavType& type, std::size_t total, InputFaults& faults) {
  const auto check = [&](const auto& distribution, std::string_view key) {
    check_list(distribution, type_key(type, key), total, "UAV of the type", faults);
  };
  check(type.altitude, "altitude_m");
  check(type.transmit_power, "power_dbm");
  check(type.battery, "battery_kj");
  check(type.battery_threshold, "threshold_kj");
  check(type.buffer, "buffer_points");
  check(type.cruise_speed, "cruise_mps");
  check(type.capacitance, "capacitance");
  check(type.cycles_per_point, "cycles_per_point");
  check(type.least_clock, "least_clock_mhz");
  check(type.most_clock, "most_clock_mhz");
  check(type.takeoff, "takeoff_kj");
  check(type.landed_power, "landed_w");
  const FixedWingOptions& fixed = type.propulsion.fixed_wing;
  check(fixed.zero_lift_drag, "fixed_wing.zero_lift_drag");
  check(fixed.wing_area, "fixed_wing.wing_area_m2");
  check(fixed.mass, "fixed_wing.mass_kg");
  check(fixed.oswald_efficiency, "fixed_wing.oswald_efficiency");
  check(fixed.aspect_ratio, "fixed_wing.aspect_ratio");
  check(fixed.air_density, "fixed_wing.air_density_kgpm3");
  check(fixed.loiter_speed, "fixed_wing.loiter_mps");
  check(fixed.loiter_radius, "fixed_wing.loiter_radius_m");
  const RotaryWingOptions& rotary = type.propulsion.rotary_wing;
  check(rotary.blade_profile_power, "rotary_wing.blade_profile_w");
  check(rotary.induced_power, "rotary_wing.induced_w");
  check(rotary.tip_speed, "rotary_wing.tip_mps");
  check(rotary.hover_induced_speed, "rotary_wing.hover_induced_mps");
  check(rotary.fuselage_drag_ratio, "rotary_wing.fuselage_drag_ratio");
  check(rotary.rotor_solidity, "rotary_wing.rotor_solidity");
  check(rotary.disc_area, "rotary_wing.disc_area_m2");
  check(rotary.air_density, "rotary_wing.air_density_kgpm3");
  check(type.propulsion.constant.hover, "constant.hover_w");
  check(type.propulsion.constant.cruise, "constant.cruise_w");
  const PublishedFixedWingOptions& published = type.propulsion.published_fixed_wing;
  check(published.zero_lift_drag, "published_fixed_wing.zero_lift_drag");
  check(published.wing_area, "published_fixed_wing.wing_area_m2");
  check(published.mass, "published_fixed_wing.mass_kg");
  check(published.induced_wing_area, "published_fixed_wing.induced_wing_area_m2");
  check(published.loiter_speed, "published_fixed_wing.loiter_mps");
}

void sample_swarms(const SwarmOptions& options, ThreadPool& pool, World& world, InputFaults& faults) {
  const std::vector<TypeCounts> counts = sample_counts(options, world.seed, faults);
  for (std::size_t t = 0; t < options.types.size(); ++t) {
    check_type_lists(options.types[t], counts[t].total, faults);
  }
  faults.throw_if_any();

  RandomStream start(world.seed, "start");
  const std::vector<std::size_t> start_clusters = start.choose(world.clusters.size(), options.count);
  std::size_t next = 0;
  for (std::size_t u = 0; u < options.count; ++u) {
    Swarm& swarm = world.swarms.emplace_back();
    swarm.start_cluster = start_clusters[u];
    swarm.leader = next;
    swarm.workers.first = next + 1;
    for (std::size_t t = 0; t < options.types.size(); ++t) {
      swarm.workers.count += options.types[t].role == Role::worker ? counts[t].count[u] : 0;
      swarm.coordinators.count += options.types[t].role == Role::coordinator ? counts[t].count[u] : 0;
    }
    swarm.coordinators.first = swarm.workers.end();
    next = swarm.coordinators.end();
  }

  world.uavs.resize(next);
  pool.parallel_for(options.count, [&](std::size_t u) {
    std::size_t place = world.swarms[u].leader;
    for (const Role role : {Role::leader, Role::worker, Role::coordinator}) {
      for (std::size_t t = 0; t < options.types.size(); ++t) {
        for (std::size_t k = 0; options.types[t].role == role && k < counts[t].count[u]; ++k) {
          world.uavs[place++] = sample_uav(options.types[t], u, counts[t].first[u] + k, world.seed);
        }
      }
    }
  });
  for (const UavType& type : options.types) {
    const auto of_type = [&](const Uav& uav) { return uav.type == type.name; };
    for (const Uav& uav : world.uavs) {
      if (of_type(uav)) {
        const std::size_t before = faults.list().size();
        check_uav(type, uav, faults);
        if (faults.list().size() > before) {
          break;  // one UAV's faults tell enough of its type
        }
      }
    }
  }
  faults.throw_if_any();
}

void check_hover_points(const World& world, InputFaults& faults) {
  if (world.hover != HoverLayout::given) {
    return;
  }
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    const std::size_t count = world.swarms[u].workers.count + world.swarms[u].coordinators.count;
    if (count > world.hover_offsets.size()) {
      faults.add(
          fault("world.hover_points_m", fmt::format("{} points", world.hover_offsets.size()),
                fmt::format("are too few for the {} workers and coordinators of swarm {}", count, u + 1)));
      return;
    }
  }
}

template <class Entity>
std::size_t nearest(const std::vector<Entity>& entities, const Position& from) {
  expect(!entities.empty(), "nearest of none");
  return static_cast<std::size_t>(
      std::ranges::min_element(entities, {},
                               [&](const Entity& e) { return ground_distance(e.position, from); }) -
      entities.begin());
}

}  // namespace

std::size_t World::nearest_access_point(const Position& from) const { return nearest(access_points, from); }

std::size_t World::nearest_station(const Position& from) const { return nearest(stations, from); }

std::string World::site_name(std::size_t index) const {
  return is_station(index) ? fmt::format("R:{}", index - clusters.size() + 1)
                           : fmt::format("C:{}", index + 1);
}

World sample_world(const WorldOptions& options, const SwarmOptions& swarms, const RadioOptions& radio,
                   std::uint64_t seed, ThreadPool& pool) {
  World world;
  world.seed = seed;
  world.origin_deg = options.origin_deg;
  world.hover = options.hover;
  world.way = options.access_points.way;
  world.time_price = Power(options.access_points.time_price_w);
  for (const auto& [east, north] : options.hover_points_m) {
    world.hover_offsets.push_back({Length(east), Length(north), Length(0.0)});
  }
  InputFaults faults;
  const Sites sites = place_all(options, seed, faults);
  if (swarms.count > options.clusters.sites.count) {
    faults.add(fault("swarms.count", fmt::format("{}", swarms.count),
                     fmt::format("must be at most world.clusters.count, {}: no two swarms share a cluster",
                                 options.clusters.sites.count)));
  }
  faults.throw_if_any();
  world.radio = sample_radio(radio, seed);
  sample_clusters(options, sites.clusters, pool, world, faults);
  sample_stations(options, sites, world, faults);
  sample_swarms(swarms, pool, world, faults);
  check_hover_points(world, faults);
  faults.throw_if_any();
  return world;
}

}  // namespace skein
