#include "skein/planning/environment_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "skein/base/expect.h"
#include "skein/planning/environment_file.h"
#include "skein/world/energy.h"
#include "skein/world/placement.h"
#include "skein/world/recharging.h"

namespace skein {
namespace {

std::span<const Uav> uavs_of(const World& world, const Swarm& swarm) {
  return {&world.uavs[swarm.leader], swarm.coordinators.end() - swarm.leader};
}

double joules_per_metre(const Uav& uav) { return uav.propulsion.energy_per_metre(uav.cruise_speed).si(); }

// Of the swarm's UAV that needs most.
double most_joules_per_metre(const World& world, const Swarm& swarm) {
  double most = 0.0;
  for (const Uav& uav : uavs_of(world, swarm)) {
    most = std::max(most, joules_per_metre(uav));
  }
  return most;
}

// What a planner of time needs.
void add_times(const World& world, Environment& e) {
  for (const Swarm& swarm : world.swarms) {
    double metre_j = 0.0;
    double takeoff_j = 0.0;
    double landed_w = 0.0;
    double speed_mps = world.uavs[swarm.leader].cruise_speed.si();
    double recharge_s = 0.0;
    for (const Uav& uav : uavs_of(world, swarm)) {
      metre_j += joules_per_metre(uav);
      takeoff_j += uav.takeoff.si();
      landed_w += uav.landed_power.si();
      speed_mps = std::min(speed_mps, uav.cruise_speed.si());
      for (const Station& station : world.stations) {
        recharge_s = std::max(recharge_s, recharge_time(station.charger, uav.battery).si());
      }
    }
    e.metre_j.push_back(metre_j);
    e.takeoff_j.push_back(takeoff_j);
    e.landed_w.push_back(landed_w);
    e.speed_mps.push_back(speed_mps);
    e.recharge_s.push_back(recharge_s);
  }
}

std::string scenario_key(const std::string& key) {
  return key == "threshold_j"  ? "swarms.types.threshold_kj"
         : key == "distance_m" ? "world.distance_m"
         : key == "sites"      ? "world"
         : key == "drift"      ? "planning.drift"
                               : "planning.tables";
}

}  // namespace

Environment planning_environment(const World& world, const PlanningOptions& options) {
  Environment e{.num_swarms = world.swarms.size(),
                .num_clusters = world.clusters.size(),
                .num_stations = world.stations.size(),
                .recharge_j = options.recharge_kj * 1e3,
                .battery_mask = options.battery_mask,
                .reward = options.reward};
  const std::size_t sites = world.num_sites();
  for (std::size_t from = 0; from < sites; ++from) {
    e.places_m.push_back({world.site(from).x.si(), world.site(from).y.si()});
    for (std::size_t to = 0; to < sites; ++to) {
      e.distance_m.push_back(from == to ? options.stay_distance_m
                                        : ground_distance(world.site(from), world.site(to)).si());
    }
  }
  std::vector<double> loads;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const double cost = most_joules_per_metre(world, world.swarms[u]);
    for (const double distance : e.distance_m) {
      e.travel_j.push_back(distance * cost);
    }
    double capacity = world.uavs[world.swarms[u].leader].battery.si();
    double threshold = 0.0;
    for (const Uav& uav : uavs_of(world, world.swarms[u])) {
      capacity = std::min(capacity, uav.battery.si());
      threshold = std::max(threshold, uav.battery_threshold.si());
    }
    e.capacity_j.push_back(capacity);
    e.threshold_j.push_back(threshold);
    // More workers share the work: relative to the paper's mean of 4.
    loads.push_back(4.0 / static_cast<double>(std::max<std::size_t>(1, world.swarms[u].workers.count)));
  }
  add_times(world, e);
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    RandomStream start(world.seed, "planning.drift.start", c);
    RandomStream end(world.seed, "planning.drift.end", c);
    e.drift.start.push_back(options.drift.start.sample(start, c));
    e.drift.end.push_back(options.drift.sequences > 0 ? options.drift.end.sample(end, c)
                                                      : e.drift.start.back());
  }
  e.drift.sequences = options.drift.sequences;
  e.tables =
      options.tables.empty()
          ? closed_form_tables(timing_grid(options.durations, options.local_periods, options.global_periods),
                               loads, e.num_clusters)
          : load_tables(options.tables);
  std::vector<InputFault> faults = faults_of(e);
  for (InputFault& fault : faults) {
    if (fault.key == "threshold_j") {
      fault.value = fmt::format("{:g}", std::stod(fault.value) / 1e3);  // the scenario's key is in kJ
    }
    fault.key = scenario_key(fault.key);
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
  return e;
}

Environment with_geometry(const Environment& environment, std::size_t geometry) {
  if (geometry == 0) {
    return environment;
  }
  const std::size_t sites = environment.num_sites();
  Environment e = environment;
  // What a metre costs each swarm, from the flight between the first two sites.
  std::vector<double> joules_per_metre;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    joules_per_metre.push_back(e.travel(u, 0, 1) / e.distance(0, 1));
  }
  RandomStream stream(geometry, "planning.geometry");
  const std::vector<Position> places = place_sites(sites, DistanceRange{}, {}, stream);
  if (places.size() < sites) {
    throw InputError(
        InputFault{.key = "--geometries",
                   .message = fmt::format("{} sites do not fit with distances in [500, 2000] m", sites)});
  }
  e.places_m.clear();
  for (std::size_t from = 0; from < sites; ++from) {
    e.places_m.push_back({places[from].x.si(), places[from].y.si()});
    for (std::size_t to = 0; to < sites; ++to) {
      if (from == to) {
        continue;  // staying costs what it did
      }
      const double distance = ground_distance(places[from], places[to]).si();
      e.distance_m[from * sites + to] = distance;
      for (std::size_t u = 0; u < e.num_swarms; ++u) {
        e.travel_j[(u * sites + from) * sites + to] = distance * joules_per_metre[u];
      }
    }
  }
  return e;
}

}  // namespace skein
