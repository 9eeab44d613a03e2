#include "skein/world/links.h"

#include <algorithm>
#include <limits>

#include "skein/world/timing.h"

namespace skein {
namespace {

// One end of a link. Node numbers are unique in a world: devices, then UAVs, then access points.
struct Node {
  std::size_t number;
  Position position;
  Power transmit_power{};
};

class Channel {
 public:
  Channel(const World& world, std::size_t sequence, double factor)
      : world_(&world), sequence_(sequence), factor_(factor) {}

  [[nodiscard]] DataRate air_to_air(const Node& from, const Node& to) const {
    return rate(from, to, air_to_air_loss(world_->radio, distance(from.position, to.position)));
  }
  [[nodiscard]] DataRate air_to_ground(const Node& from, const Node& to) const {
    return rate(from, to, air_to_ground_loss(world_->radio, from.position, to.position));
  }

 private:
  [[nodiscard]] DataRate rate(const Node& from, const Node& to, double loss) const {
    const double variation = shadowing(world_->radio, world_->seed,
                                       {.sequence = sequence_, .node = from.number, .other_node = to.number});
    return factor_ * data_rate(world_->radio, from.transmit_power, loss * variation);
  }

  const World* world_;
  std::size_t sequence_;
  double factor_;
};

std::size_t nearest_working_access_point(const World& world, const Position& from,
                                         const std::vector<std::size_t>& out) {
  std::size_t best = world.nearest_access_point(from);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    const double there = ground_distance(from, world.access_points[a].position).si();
    if (there < least && std::ranges::find(out, a) == out.end()) {
      best = a;
      least = there;
    }
  }
  return best;
}

}  // namespace

SwarmLinks swarm_links(const World& world, std::size_t swarm_index, std::size_t cluster_index,
                       std::size_t sequence, const LinkConditions& conditions) {
  const Swarm& swarm = world.swarms[swarm_index];
  const Cluster& cluster = world.clusters[cluster_index];
  const std::vector<Position> points = hover_points(world, swarm_index, cluster_index);
  const Channel channel(world, sequence, conditions.rate_factor);
  const auto device = [&](std::size_t index) {
    return Node{index, world.devices[index].position, world.devices[index].transmit_power};
  };
  const auto uav = [&](std::size_t index) {
    return Node{world.devices.size() + index, points[index - swarm.leader], world.uavs[index].transmit_power};
  };

  SwarmLinks links;
  links.swarm = swarm_index;
  links.cluster = cluster_index;
  links.access_point = conditions.access_points_out.empty()
                           ? world.nearest_access_point(points[0])
                           : nearest_working_access_point(world, points[0], conditions.access_points_out);
  const Position& access_point = world.access_points[links.access_point].position;
  links.access_point_distance = ground_distance(points[0], access_point);

  links.device_to_uav =
      Table<DataRate>(cluster.devices.count, swarm.workers.count + swarm.coordinators.count);
  for (std::size_t i = 0; i < links.device_to_uav.rows; ++i) {
    for (std::size_t j = 0; j < links.device_to_uav.columns; ++j) {
      links.device_to_uav(i, j) =
          channel.air_to_ground(device(cluster.devices.first + i), uav(swarm.workers.first + j));
    }
  }
  links.coordinator_to_worker = Table<DataRate>(swarm.coordinators.count, swarm.workers.count);
  for (std::size_t h = 0; h < swarm.coordinators.count; ++h) {
    for (std::size_t j = 0; j < swarm.workers.count; ++j) {
      links.coordinator_to_worker(h, j) =
          channel.air_to_air(uav(swarm.coordinators.first + h), uav(swarm.workers.first + j));
    }
  }
  for (std::size_t j = 0; j < swarm.workers.count; ++j) {
    links.worker_to_leader.push_back(channel.air_to_air(uav(swarm.workers.first + j), uav(swarm.leader)));
    links.leader_to_worker.push_back(channel.air_to_air(uav(swarm.leader), uav(swarm.workers.first + j)));
  }
  const Node leader_above{uav(swarm.leader).number,
                          {access_point.x, access_point.y, world.uavs[swarm.leader].altitude},
                          world.uavs[swarm.leader].transmit_power};
  links.leader_to_access_point = channel.air_to_ground(
      leader_above, {world.devices.size() + world.uavs.size() + links.access_point, access_point});
  return links;
}

namespace {

Time exchange_time(DataSize model_size, const SwarmLinks& links) {
  Time upload{};
  for (const DataRate rate : links.worker_to_leader) {
    upload = std::max(upload, transfer_time(model_size, rate));
  }
  return upload + broadcast_time(model_size, links.leader_to_worker);
}

}  // namespace

Time model_time(DataSize model_size, const SwarmLinks& links, std::size_t local_aggregations) {
  return static_cast<double>(local_aggregations) * exchange_time(model_size, links) +
         2.0 * transfer_time(model_size, links.leader_to_access_point);
}

Time hand_over_time(DataSize model_size, const SwarmLinks& links) {
  Time devices{};
  const Table<DataRate>& rates = links.device_to_uav;
  for (std::size_t i = 0; i < rates.rows; ++i) {
    DataRate best{};
    for (std::size_t u = 0; u < rates.columns; ++u) {
      best = std::max(best, rates(i, u));
    }
    devices += transfer_time(model_size, best);
  }
  return exchange_time(model_size, links) + devices;
}

}  // namespace skein
