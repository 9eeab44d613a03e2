#include "skein/world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "skein/base/input_fault.h"
#include "skein/world/geodesy.h"
#include "skein/world/links.h"
#include "skein/world/map_svg.h"
#include "skein/world/state.h"
#include "skein/world/world_json.h"

namespace skein {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

World sampled(const WorldOptions& world, const SwarmOptions& swarms, std::uint64_t seed,
              std::size_t threads = 1) {
  ThreadPool pool(threads);
  return sample_world(world, swarms, {}, seed, pool);
}

World sampled(std::uint64_t seed, std::size_t threads = 1) { return sampled({}, {}, seed, threads); }

std::vector<SwarmLinks> first_links(const World& world) {
  std::vector<SwarmLinks> links;
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    links.push_back(swarm_links(world, u, world.swarms[u].start_cluster, 0));
  }
  return links;
}

std::vector<InputFault> faults_of_world(const WorldOptions& world, const SwarmOptions& swarms = {}) {
  try {
    sampled(world, swarms, 1);
  } catch (const InputError& error) {
    return error.faults();
  }
  return {};
}

// What holds for every world.
void expect_consistent(const World& world) {
  std::size_t device = 0;
  for (std::size_t c = 0; c < world.clusters.size(); ++c) {
    const Cluster& cluster = world.clusters[c];
    EXPECT_EQ(cluster.devices.first, device);
    device = cluster.devices.end();
    for (std::size_t i = cluster.devices.first; i < cluster.devices.end(); ++i) {
      EXPECT_EQ(world.devices[i].cluster, c);
      EXPECT_LE(ground_distance(world.devices[i].position, cluster.centre), cluster.radius);
    }
  }
  EXPECT_EQ(device, world.devices.size());

  std::size_t uav = 0;
  std::set<std::size_t> starts;
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    const Swarm& swarm = world.swarms[u];
    EXPECT_EQ(swarm.leader, uav);
    EXPECT_EQ(swarm.workers.first, uav + 1);
    EXPECT_EQ(swarm.coordinators.first, swarm.workers.end());
    EXPECT_GE(swarm.workers.count, 1U);
    for (std::size_t j = swarm.leader; j < swarm.coordinators.end(); ++j) {
      EXPECT_EQ(world.uavs[j].swarm, u);
      EXPECT_EQ(world.uavs[j].role, j == swarm.leader         ? Role::leader
                                    : j < swarm.workers.end() ? Role::worker
                                                              : Role::coordinator);
    }
    uav = swarm.coordinators.end();
    EXPECT_TRUE(starts.insert(swarm.start_cluster).second) << "two swarms share a cluster";
  }
  EXPECT_EQ(uav, world.uavs.size());
}

TEST(World, IsConsistentForManySeeds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const World world = sampled(seed);
    expect_consistent(world);
    EXPECT_EQ(world.clusters.size(), 8U);
    for (const Cluster& cluster : world.clusters) {
      EXPECT_GE(cluster.devices.count, 8U);
      EXPECT_LE(cluster.devices.count, 10U);
    }
    for (std::size_t a = 0; a < world.num_sites(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        EXPECT_GE(ground_distance(world.site(a), world.site(b)), 500_m);
        EXPECT_LE(ground_distance(world.site(a), world.site(b)), 2000_m);
      }
    }
  }
}

TEST(World, DoesNotDependOnThreads) {
  const World one = sampled(5, 1);
  const World four = sampled(5, 4);
  EXPECT_EQ(world_json(one, first_links(one)), world_json(four, first_links(four)));
  EXPECT_NE(world_json(one, {}), world_json(sampled(6), {}));
}

TEST(World, AKeyDoesNotDisturbTheOthers) {
  WorldOptions options;
  options.devices.transmit_power.spread = constant(24);
  const World plain = sampled(3);
  const World changed = sampled(options, {}, 3);
  EXPECT_EQ(plain.devices.size(), changed.devices.size());
  for (std::size_t i = 0; i < plain.devices.size(); ++i) {
    EXPECT_EQ(plain.devices[i].position, changed.devices[i].position);
  }
}

TEST(World, TakesGivenPositionsAndLists) {
  WorldOptions options;
  options.clusters.sites = {.count = 3, .positions_m = {{0, 0}, {600, 0}, {0, 600}}};
  options.clusters.devices.spread = list({2, 3, 4});
  options.stations.sites = {.count = 1, .positions_deg = {{40.43, -86.92}}};
  SwarmOptions swarms;
  swarms.count = 2;
  swarms.types[1].count.spread = list({1, 2});
  swarms.types[1].altitude.spread = list({26, 27, 28});
  swarms.types[2].count.spread = constant(0);
  const World world = sampled(options, swarms, 1);
  expect_consistent(world);
  EXPECT_EQ(world.clusters[1].centre.x, 600_m);
  EXPECT_EQ(world.clusters[2].devices.count, 4U);
  EXPECT_NEAR(world.stations[0].position.y.si(), 0.0063 * 111034.0, 1.0);
  EXPECT_EQ(world.swarms[0].workers.count, 1U);
  EXPECT_EQ(world.swarms[1].workers.count, 2U);
  EXPECT_EQ(world.uavs[1].altitude, 26_m);
  EXPECT_EQ(world.uavs[world.swarms[1].workers.first + 1].altitude, 28_m);
}

TEST(World, PlacedStationsKeepTheirDistanceFromGivenClusters) {
  WorldOptions options;
  options.clusters.sites = {.count = 3, .positions_m = {{0, 0}, {600, 0}, {0, 600}}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const World world = sampled(options, {}, seed);
    for (const Station& station : world.stations) {
      for (const Cluster& cluster : world.clusters) {
        EXPECT_GE(ground_distance(station.position, cluster.centre), 500_m);
        EXPECT_LE(ground_distance(station.position, cluster.centre), 2000_m);
      }
    }
  }
}

TEST(World, MixesTypesOfOneRole) {
  SwarmOptions swarms;
  UavType heavy{.name = "heavy", .role = Role::worker};
  heavy.battery.spread = constant(100);
  swarms.types.push_back(heavy);
  const World world = sampled({}, swarms, 1);
  expect_consistent(world);
  for (const Swarm& swarm : world.swarms) {
    EXPECT_EQ(world.uavs[swarm.workers.end() - 1].type, "heavy");
    EXPECT_EQ(world.uavs[swarm.workers.end() - 1].battery, 100000_J);
  }
}

TEST(World, SaysWhatCannotBeDone) {
  const auto expect_fault = [](const std::vector<InputFault>& faults, const std::string& key,
                               const std::string& message) {
    EXPECT_THAT(faults, Contains(::testing::AllOf(Field(&InputFault::key, key),
                                                  Field(&InputFault::message, HasSubstr(message)))));
  };
  WorldOptions crowded;
  crowded.clusters.sites.count = 40;
  expect_fault(faults_of_world(crowded), "world.distance_m", "19 fit");
  WorldOptions short_list;
  short_list.clusters.devices.spread = list({1, 2});
  expect_fault(faults_of_world(short_list), "world.clusters.devices", "one per cluster, 8 in all");
  SwarmOptions too_many;
  too_many.count = 9;
  expect_fault(faults_of_world({}, too_many), "swarms.count", "no two swarms share a cluster");
  SwarmOptions two_leaders;
  two_leaders.types[0].count.spread = constant(2);
  expect_fault(faults_of_world({}, two_leaders), "swarms.types", "exactly one");
  SwarmOptions no_worker;
  no_worker.types[1].count.spread = list({1, 0, 1});
  expect_fault(faults_of_world({}, no_worker), "swarms.types", "swarm 2 no worker");
  SwarmOptions threshold;
  threshold.types[1].battery_threshold.spread = constant(50);
  expect_fault(faults_of_world({}, threshold), "swarms.types.worker.threshold_kj", "never leave a station");
  SwarmOptions uneven;
  uneven.types[1].propulsion.fixed_wing.mass.spread = list({1, 2});
  expect_fault(faults_of_world({}, uneven), "swarms.types.worker.fixed_wing.mass_kg",
               "one per UAV of the type");
}

TEST(World, FindsTheNearest) {
  const World world = sampled(2);
  for (const Cluster& cluster : world.clusters) {
    const std::size_t station = world.nearest_station(cluster.centre);
    const std::size_t access_point = world.nearest_access_point(cluster.centre);
    for (const Station& other : world.stations) {
      EXPECT_LE(ground_distance(world.stations[station].position, cluster.centre),
                ground_distance(other.position, cluster.centre));
    }
    for (const AccessPoint& other : world.access_points) {
      EXPECT_LE(ground_distance(world.access_points[access_point].position, cluster.centre),
                ground_distance(other.position, cluster.centre));
    }
  }
}

TEST(HoverPoints, AreInsideTheClusterAndApart) {
  for (const HoverLayout layout : {HoverLayout::devices, HoverLayout::ring}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      World world = sampled(seed);
      world.hover = layout;
      for (std::size_t c = 0; c < world.clusters.size(); ++c) {
        const std::vector<Position> points = hover_points(world, 0, c);
        ASSERT_EQ(points.size(), 1 + world.swarms[0].workers.count + world.swarms[0].coordinators.count);
        EXPECT_EQ(points[0].x, world.clusters[c].centre.x);
        for (std::size_t i = 0; i < points.size(); ++i) {
          EXPECT_EQ(points[i].z, world.uavs[world.swarms[0].leader + i].altitude);
          EXPECT_LE(ground_distance(points[i], world.clusters[c].centre), world.clusters[c].radius);
          for (std::size_t k = 1; k < i; ++k) {
            EXPECT_GT(ground_distance(points[i], points[k]), 0_m);
          }
        }
      }
    }
  }
}

TEST(HoverPoints, MayBeGiven) {
  WorldOptions options;
  options.hover = HoverLayout::given;
  for (int i = 0; i < 7; ++i) {
    options.hover_points_m.push_back({10.0 * i, -5.0});
  }
  const World world = sampled(options, {}, 1);
  const std::vector<Position> points = hover_points(world, 0, 2);
  EXPECT_EQ(points[3].x, world.clusters[2].centre.x + 20_m);
  EXPECT_EQ(points[3].y, world.clusters[2].centre.y - 5_m);
  options.hover_points_m.resize(2);
  EXPECT_THAT(faults_of_world(options), Contains(Field(&InputFault::key, "world.hover_points_m")));
}

TEST(HoverPoints, AboveDevicesShortenTheLinks) {
  Length near;
  Length ring;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world = sampled(seed);
    for (const HoverLayout layout : {HoverLayout::devices, HoverLayout::ring}) {
      world.hover = layout;
      const std::vector<Position> points = hover_points(world, 0, 0);
      for (std::size_t i = 0; i < world.clusters[0].devices.count; ++i) {
        Length best = 1e9_m;
        for (std::size_t j = 1; j < points.size(); ++j) {
          best = std::min(best, ground_distance(points[j], world.devices[i].position));
        }
        (layout == HoverLayout::devices ? near : ring) += best;
      }
    }
  }
  EXPECT_LT(near, 0.7 * ring);
}

TEST(Links, AgreeWithTheChannel) {
  const World world = sampled(4);
  const SwarmLinks links = swarm_links(world, 1, 3, 0);
  const Swarm& swarm = world.swarms[1];
  const Cluster& cluster = world.clusters[3];
  const std::vector<Position> points = hover_points(world, 1, 3);
  ASSERT_EQ(links.device_to_uav.rows, cluster.devices.count);
  ASSERT_EQ(links.device_to_uav.columns, swarm.workers.count + swarm.coordinators.count);
  const Device& device = world.devices[cluster.devices.first + 2];
  EXPECT_EQ(links.device_to_uav(2, 1),
            data_rate(world.radio, device.transmit_power,
                      air_to_ground_loss(world.radio, device.position, points[2])));
  EXPECT_EQ(links.coordinator_to_worker(0, 0),
            data_rate(world.radio, world.uavs[swarm.coordinators.first].transmit_power,
                      air_to_air_loss(world.radio, distance(points[1 + swarm.workers.count], points[1]))));
  EXPECT_EQ(links.worker_to_leader.size(), swarm.workers.count);
  EXPECT_EQ(links.worker_to_leader[0], links.leader_to_worker[0]) << "equal powers";
  EXPECT_EQ(links.access_point, world.nearest_access_point(cluster.centre));
}

TEST(Links, VaryFromSequenceToSequenceOnlyWithShadowing) {
  ThreadPool pool(1);
  const World still = sampled(1);
  EXPECT_EQ(swarm_links(still, 0, 0, 0).device_to_uav.values,
            swarm_links(still, 0, 0, 9).device_to_uav.values);
  RadioOptions radio;
  radio.shadowing_deviation.spread = constant(4);
  const World shadowed = sample_world({}, {}, radio, 1, pool);
  const SwarmLinks first = swarm_links(shadowed, 0, 0, 0);
  EXPECT_NE(first.device_to_uav.values, swarm_links(shadowed, 0, 0, 1).device_to_uav.values);
  EXPECT_EQ(first.device_to_uav.values, swarm_links(shadowed, 0, 0, 0).device_to_uav.values);
  EXPECT_EQ(first.worker_to_leader, first.leader_to_worker) << "shadowing is the same both ways";
}

TEST(Geodesy, GoesThereAndBack) {
  const LatLon origin{40.4237, -86.9212};
  for (const auto& [x, y] : {std::pair{0.0, 0.0}, {1234.5, -987.6}, {-5000.0, 4000.0}}) {
    const Position back = from_lat_lon(to_lat_lon({Length(x), Length(y), Length(0)}, origin), origin);
    EXPECT_NEAR(back.x.si(), x, 1e-6);
    EXPECT_NEAR(back.y.si(), y, 1e-6);
  }
  // A degree of latitude at the equator and near the pole, and of longitude at the equator (WGS 84).
  EXPECT_NEAR(from_lat_lon({1, 0}, {0, 0}).y.si(), 110574.3, 0.1);
  EXPECT_NEAR(from_lat_lon({81, 0}, {80, 0}).y.si(), 111659.9, 0.5);
  EXPECT_NEAR(from_lat_lon({0, 1}, {0, 0}).x.si(), 111319.5, 0.1);
  // Across the date line.
  EXPECT_NEAR(from_lat_lon({0, -179.9}, {0, 179.9}).x.si(), 0.2 * 111319.5, 0.1);
}

TEST(State, StartsFullAboveTheFirstClusters) {
  const World world = sampled(1);
  const State state = initial_state(world);
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    EXPECT_EQ(state.swarm_sites[u], world.swarms[u].start_cluster);
  }
  for (std::size_t j = 0; j < world.uavs.size(); ++j) {
    EXPECT_EQ(state.ledger.accounts()[State::account_of_uav(j)].level(),
              to_nanojoules(world.uavs[j].battery));
  }
  EXPECT_TRUE(state.ledger.accounts()[State::account_of_device(world, 0)].on_mains);
}

TEST(Map, HasEverySite) {
  const World world = sampled(1);
  const std::string svg = world_svg(world, first_links(world));
  for (std::size_t i = 0; i < world.num_sites(); ++i) {
    EXPECT_THAT(svg, HasSubstr(">" + world.site_name(i)));
  }
  EXPECT_THAT(svg, HasSubstr("swarm 3"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace skein
