// The world: everything that never changes in a run. Sampled from options and seed; a plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/base/thread_pool.h"
#include "skein/world/channel.h"
#include "skein/world/options.h"
#include "skein/world/position.h"
#include "skein/world/propulsion.h"
#include "skein/world/recharging.h"

namespace skein {

// A run of consecutive entries of one of World's lists.
struct IndexRange {
  std::size_t first = 0;
  std::size_t count = 0;

  [[nodiscard]] std::size_t end() const { return first + count; }
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

struct Device {
  std::size_t cluster = 0;
  Position position{};
  Power transmit_power{};
};

struct Cluster {
  Position centre{};
  Length radius{};
  IndexRange devices{};
};

struct AccessPoint {
  Position position{};
};

struct Station {
  Position position{};
  Charger charger{};
};

struct Uav {
  std::size_t swarm = 0;
  Role role = Role::worker;
  std::string type;
  Length altitude{};
  Power transmit_power{};
  Energy battery{};
  Energy battery_threshold{};
  std::size_t buffer = 0;  // data points
  Speed cruise_speed{};
  Capacitance capacitance{};
  double cycles_per_point = 0.0;
  Frequency least_clock{};
  Frequency most_clock{};
  Energy takeoff{};      // for getting into the air
  Power landed_power{};  // on the ground
  Propulsion propulsion{};
};

struct Swarm {
  std::size_t leader = 0;
  IndexRange workers{};
  IndexRange coordinators{};
  std::size_t start_cluster = 0;  // where it is for the first training sequence
};

// Sites, where swarms fly to, are the clusters followed by the stations.
struct World {
  std::uint64_t seed = 0;
  std::array<double, 2> origin_deg{};
  Radio radio{};
  HoverLayout hover = HoverLayout::devices;
  std::vector<Position> hover_offsets;  // from a cluster's centre, for HoverLayout::given
  std::vector<Cluster> clusters;
  std::vector<Device> devices;  // cluster by cluster
  std::vector<Station> stations;
  std::vector<AccessPoint> access_points;
  WayChoice way = WayChoice::fly;
  Power time_price{};  // of a round, where leaders decide how far they fly
  std::vector<Swarm> swarms;
  std::vector<Uav> uavs;  // swarm by swarm: leader, workers, coordinators

  [[nodiscard]] std::size_t num_sites() const { return clusters.size() + stations.size(); }
  [[nodiscard]] const Position& site(std::size_t index) const {
    return index < clusters.size() ? clusters[index].centre : stations[index - clusters.size()].position;
  }
  [[nodiscard]] bool is_station(std::size_t site_index) const { return site_index >= clusters.size(); }
  [[nodiscard]] std::size_t nearest_access_point(const Position& from) const;
  [[nodiscard]] std::size_t nearest_station(const Position& from) const;

  // "C:1", "R:2", as the paper names clusters and recharging stations.
  [[nodiscard]] std::string site_name(std::size_t index) const;
};

// Where a swarm's UAVs hover above a cluster: in the order of World::uavs, the leader first, at its centre.
std::vector<Position> hover_points(const World& world, std::size_t swarm, std::size_t cluster);

// Every entity draws from streams of its own, so the result does not depend on the pool. Throws InputError,
// with the scenario's keys, where the options cannot be met.
World sample_world(const WorldOptions& options, const SwarmOptions& swarms, const RadioOptions& radio,
                   std::uint64_t seed, ThreadPool& pool);

}  // namespace skein
