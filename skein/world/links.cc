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

// A swarm's leader above its cluster, and an access point.
struct LeaderLink {
  std::size_t swarm = 0;
  std::size_t access_point = 0;
  Position above{};
};

// With so much of the way left to above the access point: exactly there if nothing is.
DataRate leader_rate(const World& world, const Channel& channel, const LeaderLink& link, Length left) {
  const std::size_t id = world.swarms[link.swarm].leader;
  const Position& access_point = world.access_points[link.access_point].position;
  const Length whole = ground_distance(link.above, access_point);
  const double share = left > Length(0.0) ? left / whole : 0.0;
  const Position place{access_point.x + share * (link.above.x - access_point.x),
                       access_point.y + share * (link.above.y - access_point.y), world.uavs[id].altitude};
  return channel.air_to_ground({world.devices.size() + id, place, world.uavs[id].transmit_power},
                               {world.devices.size() + world.uavs.size() + link.access_point, access_point});
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
  links.access_point = conditions.way.is_decided() ? conditions.way.access_point
                       : conditions.access_points_out.empty()
                           ? world.nearest_access_point(points[0])
                           : nearest_working_access_point(world, points[0], conditions.access_points_out);
  const Length whole_way = ground_distance(points[0], world.access_points[links.access_point].position);
  links.access_point_distance = conditions.way.is_decided() ? conditions.way.flown : whole_way;

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
  links.leader_to_access_point = leader_rate(
      world, channel, {.swarm = swarm_index, .access_point = links.access_point, .above = points[0]},
      whole_way - links.access_point_distance);
  return links;
}

WayToCore way_to_core(const World& world, std::size_t swarm, std::size_t cluster, std::size_t sequence,
                      const LinkConditions& conditions, const WaySetting& setting) {
  if (world.way == WayChoice::fly) {
    return {};
  }
  const Position above = hover_points(world, swarm, cluster)[0];
  const Channel channel(world, sequence, conditions.rate_factor);
  const Uav& leader = world.uavs[setting.leader];
  WayProblem problem{.speed = leader.cruise_speed,
                     .cruise = leader.propulsion.power(leader.cruise_speed),
                     .hover = leader.propulsion.hover_power(),
                     .transmit = leader.transmit_power,
                     .model = setting.model,
                     .time_price = world.time_price,
                     .most = setting.most};
  for (const std::size_t id : setting.others) {
    problem.others.push_back(waiting_of(world.uavs[id], setting.waiting));
  }
  const auto best_to = [&](std::size_t access_point) {
    problem.distance = ground_distance(above, world.access_points[access_point].position);
    return best_way(problem, [&](Length left) {
      return leader_rate(world, channel, {.swarm = swarm, .access_point = access_point, .above = above},
                         left);
    });
  };
  WayToCore best{.access_point = nearest_working_access_point(world, above, conditions.access_points_out)};
  Way way = best_to(best.access_point);
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    if (a == best.access_point ||
        std::ranges::find(conditions.access_points_out, a) != conditions.access_points_out.end()) {
      continue;
    }
    const Way other = best_to(a);
    if (is_better(other, way, setting.most)) {
      best.access_point = a;
      way = other;
    }
  }
  best.flown = way.flown;
  return best;
}

Waiter waiting_of(const Uav& uav, WaitChoice choice) {
  return {.hover = uav.propulsion.hover_power(),
          .landed = uav.landed_power,
          .takeoff = uav.takeoff,
          .may_land = choice == WaitChoice::cheaper};
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
