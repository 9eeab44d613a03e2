// Data rates of every link of a swarm above a cluster, during one training sequence: R(s).
#pragma once

#include <cstddef>
#include <vector>

#include "skein/world/way_to_core.h"
#include "skein/world/world.h"

namespace skein {

// A table of values, row by row.
template <class T>
struct Table {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<T> values{};

  Table() = default;
  Table(std::size_t num_rows, std::size_t num_columns)
      : rows(num_rows), columns(num_columns), values(num_rows * num_columns) {}

  T& operator()(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  const T& operator()(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

struct SwarmLinks {
  std::size_t swarm = 0;
  std::size_t cluster = 0;
  std::size_t access_point = 0;            // with which the leader exchanges models
  Length access_point_distance{};          // flown one way towards it by the leader, horizontally
  Table<DataRate> device_to_uav;           // devices x (workers, then coordinators)
  Table<DataRate> coordinator_to_worker;   // coordinators x workers
  std::vector<DataRate> worker_to_leader;  // model upload
  std::vector<DataRate> leader_to_worker;  // model broadcast
  DataRate leader_to_access_point{};       // with the leader hovering at the end of that flight
};

// Where a leader goes to exchange models with the core network.
struct WayToCore {
  static constexpr std::size_t undecided = static_cast<std::size_t>(-1);

  std::size_t access_point = undecided;
  Length flown{};

  [[nodiscard]] bool is_decided() const { return access_point != undecided; }
};

// What a fault does to them, and what was decided.
struct LinkConditions {
  double rate_factor = 1.0;                      // of every rate
  std::vector<std::size_t> access_points_out{};  // the leader flies to another; with all out, to the nearest
  WayToCore way{};                               // undecided: all the way to the nearest
};

SwarmLinks swarm_links(const World& world, std::size_t swarm, std::size_t cluster, std::size_t sequence,
                       const LinkConditions& conditions = {});

// As a UAV that waits by the scenario's choice.
Waiter waiting_of(const Uav& uav, WaitChoice choice);

// Who decides on a way, and for what.
struct WaySetting {
  DataSize model{};
  std::size_t leader = 0;             // of the world's UAVs; its power, speed and battery count
  std::vector<std::size_t> others{};  // of the world's UAVs, who wait meanwhile
  WaitChoice waiting = WaitChoice::hover;
  Energy most{};  // that the leader's battery has for it
};
// The best one to any access point that works, or to the nearest where none does. Undecided where the world's
// leaders always fly.
WayToCore way_to_core(const World& world, std::size_t swarm, std::size_t cluster, std::size_t sequence,
                      const LinkConditions& conditions, const WaySetting& setting);

// What models take in a global round beside flight and training: in each local aggregation the slowest upload
// and the broadcast; at the access point, up and down.
Time model_time(DataSize model_size, const SwarmLinks& links, std::size_t local_aggregations);
// What it takes at most to hand a swarm's own model over: the workers' uploads, the broadcast, and all
// devices one after another, each from the UAV with the best link.
Time hand_over_time(DataSize model_size, const SwarmLinks& links);

}  // namespace skein
