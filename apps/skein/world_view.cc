#include "world_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/base/input_fault.h"
#include "skein/mission/build.h"
#include "skein/mission/world_files.h"
#include "skein/scenario/sizes.h"
#include "skein/world/energy.h"
#include "text_table.h"

namespace skein::app {
namespace {

constexpr std::size_t most_rows = 20;

std::string metres(Length length) { return fmt::format("{:.0f} m", length.si()); }

// "12.3 to 45.6", or "-" for none.
std::string rate_span(const std::vector<DataRate>& rates) {
  if (rates.empty()) {
    return "-";
  }
  const auto [low, high] = std::ranges::minmax(rates);
  return fmt::format("{:.1f} to {:.1f}", low.si() / 1e6, high.si() / 1e6);
}

std::string more_rows(std::size_t count) {
  return count > most_rows ? fmt::format("  ... and {} more; world.json has all\n", count - most_rows) : "";
}

}  // namespace

SampledWorld sample(const Scenario& scenario, const CommonOptions& options) {
  ThreadPool pool(options.threads);
  SampledWorld sampled;
  sampled.world = with_file_named(options, [&] { return build_world(scenario, pool); });
  sampled.links = first_links(sampled.world, pool);
  return sampled;
}

std::string site_tables(const World& world) {
  TextTable table({"<site", "<kind", "east (m)", "north (m)", "radius (m)", "devices", "nearest station",
                   "nearest access point"});
  for (std::size_t i = 0; i < std::min(world.num_sites(), most_rows); ++i) {
    const Position& p = world.site(i);
    const std::size_t station = world.nearest_station(p);
    const std::size_t access_point = world.nearest_access_point(p);
    const bool is_station = world.is_station(i);
    table.add({world.site_name(i), is_station ? "station" : "cluster", fmt::format("{:.0f}", p.x.si()),
               fmt::format("{:.0f}", p.y.si()),
               is_station ? "" : fmt::format("{:.0f}", world.clusters[i].radius.si()),
               is_station ? "" : fmt::format("{}", world.clusters[i].devices.count),
               is_station ? ""
                          : fmt::format("R:{}, {}", station + 1,
                                        metres(ground_distance(p, world.stations[station].position))),
               fmt::format("A:{}, {}", access_point + 1,
                           metres(ground_distance(p, world.access_points[access_point].position)))});
  }
  return table.text() + more_rows(world.num_sites());
}

std::string swarm_table(const SampledWorld& sampled) {
  TextTable table({"<swarm", "<above", "workers", "coordinators", "altitude (m)", "battery (kJ)",
                   "threshold (kJ)", "hover (W)"});
  const World& world = sampled.world;
  const auto span = [&](const Swarm& swarm, auto value) {
    double low = value(world.uavs[swarm.leader]);
    double high = low;
    for (std::size_t j = swarm.leader; j < swarm.coordinators.end(); ++j) {
      low = std::min(low, value(world.uavs[j]));
      high = std::max(high, value(world.uavs[j]));
    }
    return low == high ? fmt::format("{:.1f}", low) : fmt::format("{:.1f} to {:.1f}", low, high);
  };
  for (std::size_t u = 0; u < std::min(world.swarms.size(), most_rows); ++u) {
    const Swarm& swarm = world.swarms[u];
    table.add({fmt::format("{}", u + 1), world.site_name(swarm.start_cluster),
               fmt::format("{}", swarm.workers.count), fmt::format("{}", swarm.coordinators.count),
               span(swarm, [](const Uav& uav) { return uav.altitude.si(); }),
               span(swarm, [](const Uav& uav) { return uav.battery.si() / 1e3; }),
               span(swarm, [](const Uav& uav) { return uav.battery_threshold.si() / 1e3; }),
               span(swarm, [](const Uav& uav) { return uav.propulsion.hover_power().si(); })});
  }
  return table.text() + more_rows(world.swarms.size());
}

std::string link_table(const SampledWorld& sampled) {
  TextTable table({"<swarm", "device to UAV (Mbit/s)", "coordinator to worker", "worker to leader",
                   "leader to access point"});
  for (std::size_t u = 0; u < std::min(sampled.links.size(), most_rows); ++u) {
    const SwarmLinks& links = sampled.links[u];
    table.add({fmt::format("{}", u + 1), rate_span(links.device_to_uav.values),
               rate_span(links.coordinator_to_worker.values), rate_span(links.worker_to_leader),
               fmt::format("{:.1f}", links.leader_to_access_point.si() / 1e6)});
  }
  return table.text() + more_rows(sampled.links.size());
}

std::string energy_table(const SampledWorld& sampled, const Scenario& scenario) {
  TextTable table({"<swarm", "<nearest cluster", "flight there (kJ)", "<nearest station", "flight there (kJ)",
                   "round trip to access point (kJ)", "a minute above its cluster (kJ)",
                   "1000 data points sent (J)"});
  const World& world = sampled.world;
  const DataSize point = message_sizes(with_sizes(scenario).offloading, world.seed).point;
  for (std::size_t u = 0; u < std::min(world.swarms.size(), most_rows); ++u) {
    const Swarm& swarm = world.swarms[u];
    const SwarmLinks& links = sampled.links[u];
    const Position& here = world.clusters[swarm.start_cluster].centre;
    // The whole swarm's energy for a flight, or for a time in the air.
    const auto swarm_energy = [&](auto energy_of) {
      Energy sum;
      for (std::size_t j = swarm.leader; j < swarm.coordinators.end(); ++j) {
        sum += energy_of(world.uavs[j]);
      }
      return fmt::format("{:.2f}", sum.si() / 1e3);
    };
    const auto flight_to = [&](const Position& there) {
      return swarm_energy([&](const Uav& uav) {
        return travel_energy(uav.propulsion,
                             {.distance = ground_distance(here, there), .speed = uav.cruise_speed});
      });
    };
    std::size_t next = swarm.start_cluster;
    for (std::size_t c = 0; c < world.clusters.size(); ++c) {
      const bool nearer =
          next == swarm.start_cluster || ground_distance(here, world.clusters[c].centre) <
                                             ground_distance(here, world.clusters[next].centre);
      next = c != swarm.start_cluster && nearer ? c : next;
    }
    const std::size_t station = world.nearest_station(here);
    const Uav& leader = world.uavs[swarm.leader];
    const AccessPointTrips trip{.num_aggregations = 1,
                                .one_way = {links.access_point_distance, leader.cruise_speed}};
    const Device& device = world.devices[world.clusters[swarm.start_cluster].devices.first];
    const std::array shares{DataShare{1000.0, links.device_to_uav(0, 0)}};
    table.add({fmt::format("{}", u + 1),
               fmt::format("{}, {}", world.site_name(next),
                           metres(ground_distance(here, world.clusters[next].centre))),
               flight_to(world.clusters[next].centre),
               fmt::format("R:{}, {}", station + 1,
                           metres(ground_distance(here, world.stations[station].position))),
               flight_to(world.stations[station].position),
               fmt::format("{:.2f}", access_point_energy(leader.propulsion, trip).si() / 1e3),
               swarm_energy([](const Uav& uav) { return hovering_energy(uav.propulsion, 60_s); }),
               fmt::format("{:.2f}", data_transmission_energy({device.transmit_power, point, shares}).si())});
  }
  return table.text() + more_rows(world.swarms.size());
}

std::string terminal_map(const SampledWorld& sampled) {
  constexpr std::size_t columns = 72;
  constexpr std::size_t rows = 30;
  const World& world = sampled.world;
  std::vector<std::pair<Position, std::string>> marks;
  for (std::size_t i = 0; i < world.num_sites(); ++i) {
    marks.emplace_back(world.site(i), world.site_name(i));
  }
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    marks.emplace_back(world.access_points[a].position, fmt::format("A:{}", a + 1));
  }
  for (const SwarmLinks& links : sampled.links) {
    marks[links.cluster].second += fmt::format(" <swarm {}>", links.swarm + 1);
  }
  const auto [west, east] = std::ranges::minmax(marks, {}, [](const auto& mark) { return mark.first.x; });
  const auto [south, north] = std::ranges::minmax(marks, {}, [](const auto& mark) { return mark.first.y; });
  // Characters are about twice as high as they are wide.
  const double per_column = std::max({(east.first.x - west.first.x).si() / (columns - 14.0),
                                      (north.first.y - south.first.y).si() / (2.0 * (rows - 1.0)), 1e-3});
  std::vector<std::string> lines(rows, std::string(columns, ' '));
  for (const auto& [position, name] : marks) {
    const auto row = static_cast<std::size_t>((north.first.y - position.y).si() / (2.0 * per_column));
    const auto column = static_cast<std::size_t>((position.x - west.first.x).si() / per_column);
    for (std::size_t i = 0; i < name.size() && column + i < columns && row < rows; ++i) {
      lines[row][column + i] = name[i];
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += "  |" + line + "|\n";
  }
  const std::string edge = "  +" + std::string(columns, '-') + "+\n";
  return edge + text + edge +
         fmt::format(
             "  one character is {:.0f} m across; C: cluster, R: recharging station, A: access point\n",
             per_column);
}

}  // namespace skein::app
