#include "skein/world/world_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "skein/world/geodesy.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

constexpr int indent = 1;
constexpr int circle_corners = 48;

Json point(const Position& p) { return {p.x.si(), p.y.si(), p.z.si()}; }

Json rates(const std::vector<DataRate>& values) {
  Json list = Json::array();
  for (const DataRate rate : values) {
    list.push_back(rate.si());
  }
  return list;
}

Json rates(const Table<DataRate>& table) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < table.rows; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < table.columns; ++j) {
      row.push_back(table(i, j).si());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json radio_json(const Radio& radio) {
  return {{"carrier_hz", radio.carrier.si()},
          {"bandwidth_hz", radio.bandwidth.si()},
          {"noise_w_per_hz", radio.noise_density.si()},
          {"path_loss_exponent", radio.path_loss_exponent},
          {"los_excess", radio.los_excess},
          {"nlos_excess", radio.nlos_excess},
          {"los_psi", radio.los_psi},
          {"los_beta", radio.los_beta},
          {"shadowing_deviation_ln", radio.shadowing_deviation}};
}

Json uav_json(const Uav& uav) {
  return {{"swarm", uav.swarm},
          {"role", name_of(uav.role)},
          {"type", uav.type},
          {"altitude_m", uav.altitude.si()},
          {"transmit_power_w", uav.transmit_power.si()},
          {"battery_j", uav.battery.si()},
          {"battery_threshold_j", uav.battery_threshold.si()},
          {"buffer_points", uav.buffer},
          {"cruise_mps", uav.cruise_speed.si()},
          {"capacitance_j_per_cycle_hz2", uav.capacitance.si()},
          {"cycles_per_point", uav.cycles_per_point},
          {"least_clock_hz", uav.least_clock.si()},
          {"most_clock_hz", uav.most_clock.si()},
          {"takeoff_j", uav.takeoff.si()},
          {"landed_w", uav.landed_power.si()},
          {"hover_w", uav.propulsion.hover_power().si()},
          {"cruise_w", uav.propulsion.power(uav.cruise_speed).si()}};
}

Json links_json(const SwarmLinks& links) {
  return {{"swarm", links.swarm},
          {"cluster", links.cluster},
          {"access_point", links.access_point},
          {"access_point_distance_m", links.access_point_distance.si()},
          {"device_to_uav_bps", rates(links.device_to_uav)},
          {"coordinator_to_worker_bps", rates(links.coordinator_to_worker)},
          {"worker_to_leader_bps", rates(links.worker_to_leader)},
          {"leader_to_worker_bps", rates(links.leader_to_worker)},
          {"leader_to_access_point_bps", links.leader_to_access_point.si()}};
}

// [longitude, latitude, height], rounded to about a centimetre.
Json coordinates(const World& world, const Position& p) {
  const auto [latitude, longitude] = to_lat_lon(p, world.origin_deg);
  const auto rounded = [](double degrees) { return std::round(degrees * 1e7) / 1e7; };
  return {rounded(longitude), rounded(latitude), p.z.si()};
}

Json feature(Json geometry, Json properties) {
  return {{"type", "Feature"}, {"geometry", std::move(geometry)}, {"properties", std::move(properties)}};
}

Json point_feature(const World& world, const Position& p, Json properties) {
  return feature({{"type", "Point"}, {"coordinates", coordinates(world, p)}}, std::move(properties));
}

Json disc_feature(const World& world, const Cluster& cluster, Json properties) {
  Json ring = Json::array();
  for (int i = 0; i <= circle_corners; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i % circle_corners) / circle_corners;
    ring.push_back(coordinates(world, {cluster.centre.x + cluster.radius * std::cos(angle),
                                       cluster.centre.y + cluster.radius * std::sin(angle), Length(0.0)}));
  }
  return feature({{"type", "Polygon"}, {"coordinates", Json::array({std::move(ring)})}},
                 std::move(properties));
}

}  // namespace

std::string world_json(const World& world, const std::vector<SwarmLinks>& links) {
  Json json{{"seed", world.seed}, {"origin_deg", world.origin_deg}, {"radio", radio_json(world.radio)}};
  json["clusters"] = Json::array();
  for (std::size_t c = 0; c < world.clusters.size(); ++c) {
    const Cluster& cluster = world.clusters[c];
    json["clusters"].push_back({{"name", world.site_name(c)},
                                {"centre_m", point(cluster.centre)},
                                {"radius_m", cluster.radius.si()},
                                {"first_device", cluster.devices.first},
                                {"num_devices", cluster.devices.count}});
  }
  json["stations"] = Json::array();
  for (std::size_t r = 0; r < world.stations.size(); ++r) {
    const Station& station = world.stations[r];
    json["stations"].push_back({{"name", world.site_name(world.clusters.size() + r)},
                                {"position_m", point(station.position)},
                                {"charge_w", station.charger.power.si()},
                                {"swap_s", station.charger.swap_time.si()}});
  }
  json["access_points"] = Json::array();
  for (const AccessPoint& access_point : world.access_points) {
    json["access_points"].push_back({{"position_m", point(access_point.position)}});
  }
  json["devices"] = Json::array();
  for (const Device& device : world.devices) {
    json["devices"].push_back({{"cluster", device.cluster},
                               {"position_m", point(device.position)},
                               {"transmit_power_w", device.transmit_power.si()}});
  }
  json["swarms"] = Json::array();
  for (const Swarm& swarm : world.swarms) {
    json["swarms"].push_back({{"leader", swarm.leader},
                              {"first_worker", swarm.workers.first},
                              {"num_workers", swarm.workers.count},
                              {"first_coordinator", swarm.coordinators.first},
                              {"num_coordinators", swarm.coordinators.count},
                              {"start_cluster", swarm.start_cluster}});
  }
  json["uavs"] = Json::array();
  for (const Uav& uav : world.uavs) {
    json["uavs"].push_back(uav_json(uav));
  }
  json["links"] = Json::array();
  for (const SwarmLinks& link : links) {
    json["links"].push_back(links_json(link));
  }
  return json.dump(indent) + '\n';
}

std::string world_geojson(const World& world, const std::vector<SwarmLinks>& links) {
  Json features = Json::array();
  for (std::size_t c = 0; c < world.clusters.size(); ++c) {
    features.push_back(disc_feature(world, world.clusters[c],
                                    {{"kind", "cluster"},
                                     {"name", world.site_name(c)},
                                     {"radius_m", world.clusters[c].radius.si()},
                                     {"devices", world.clusters[c].devices.count}}));
  }
  for (std::size_t r = 0; r < world.stations.size(); ++r) {
    features.push_back(
        point_feature(world, world.stations[r].position,
                      {{"kind", "station"}, {"name", world.site_name(world.clusters.size() + r)}}));
  }
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    features.push_back(point_feature(world, world.access_points[a].position,
                                     {{"kind", "access_point"}, {"name", fmt::format("A:{}", a + 1)}}));
  }
  for (const Device& device : world.devices) {
    features.push_back(point_feature(world, device.position,
                                     {{"kind", "device"}, {"cluster", world.site_name(device.cluster)}}));
  }
  for (const SwarmLinks& link : links) {
    const std::vector<Position> points = hover_points(world, link.swarm, link.cluster);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Uav& uav = world.uavs[world.swarms[link.swarm].leader + i];
      features.push_back(point_feature(
          world, points[i],
          {{"kind", "uav"}, {"role", name_of(uav.role)}, {"type", uav.type}, {"swarm", link.swarm + 1}}));
    }
  }
  return Json{{"type", "FeatureCollection"}, {"features", std::move(features)}}.dump(indent) + '\n';
}

}  // namespace skein
