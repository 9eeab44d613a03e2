#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "skein/base/expect.h"
#include "skein/world/world.h"

namespace skein {
namespace {

constexpr int lloyd_rounds = 20;

Position on_ring(const Cluster& cluster, std::size_t index, std::size_t count) {
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(index) / static_cast<double>(count);
  return {cluster.centre.x + 0.5 * cluster.radius * std::cos(angle),
          cluster.centre.y + 0.5 * cluster.radius * std::sin(angle), Length(0.0)};
}

std::size_t nearest(const std::vector<Position>& points, const Position& to) {
  return static_cast<std::size_t>(
      std::ranges::min_element(points, {}, [&](const Position& p) { return ground_distance(p, to); }) -
      points.begin());
}

// Centres of `count` groups of the cluster's devices, count <= devices: first at the device farthest from the
// middle, then at those farthest from the centres so far; then Lloyd's rounds of assigning devices and moving
// centres to their means.
std::vector<Position> group_centres(const World& world, const Cluster& cluster, std::size_t count) {
  const auto devices = std::span(world.devices).subspan(cluster.devices.first, cluster.devices.count);
  std::vector<Length> gap;  // of each device to the nearest centre
  for (const Device& device : devices) {
    gap.push_back(ground_distance(device.position, cluster.centre));
  }
  std::vector<Position> centres;
  while (centres.size() < count) {
    const auto farthest = static_cast<std::size_t>(std::ranges::max_element(gap) - gap.begin());
    const Position centre = devices[farthest].position;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Length to_centre = ground_distance(devices[i].position, centre);
      gap[i] = centres.empty() ? to_centre : std::min(gap[i], to_centre);
    }
    centres.push_back(centre);
  }

  for (int round = 0; round < lloyd_rounds; ++round) {
    std::vector<Position> sums(count);
    std::vector<std::size_t> members(count, 0);
    for (const Device& device : devices) {
      const std::size_t group = nearest(centres, device.position);
      sums[group].x += device.position.x;
      sums[group].y += device.position.y;
      ++members[group];
    }
    bool moved = false;
    for (std::size_t group = 0; group < count; ++group) {
      if (members[group] > 0) {
        const auto n = static_cast<double>(members[group]);
        const Position mean{sums[group].x / n, sums[group].y / n, Length(0.0)};
        moved = moved || ground_distance(mean, centres[group]) > Length(0.0);
        centres[group] = mean;
      }
    }
    if (!moved) {
      break;
    }
  }
  return centres;
}

}  // namespace

std::vector<Position> hover_points(const World& world, std::size_t swarm_index, std::size_t cluster_index) {
  const Swarm& swarm = world.swarms[swarm_index];
  const Cluster& cluster = world.clusters[cluster_index];
  const std::size_t count = swarm.workers.count + swarm.coordinators.count;
  std::vector<Position> points{cluster.centre};
  if (world.hover == HoverLayout::given) {
    expect(count <= world.hover_offsets.size(), "a swarm has more UAVs than there are points given");
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back({cluster.centre.x + world.hover_offsets[i].x,
                        cluster.centre.y + world.hover_offsets[i].y, Length(0.0)});
    }
  } else if (world.hover == HoverLayout::devices && count <= cluster.devices.count) {
    const std::vector<Position> centres = group_centres(world, cluster, count);
    points.insert(points.end(), centres.begin(), centres.end());
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back(on_ring(cluster, i, count));
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].z = world.uavs[swarm.leader + i].altitude;
  }
  return points;
}

}  // namespace skein
