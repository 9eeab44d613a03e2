#include "skein/learning/training_costs.h"

#include <gtest/gtest.h>

#include "skein/base/expect.h"
#include "skein/world/links.h"

namespace skein {
namespace {

// Two swarms: a leader, two workers and a coordinator each, with round numbers.
World small_world() {
  UavType leader{.name = "leader", .role = Role::leader};
  UavType worker{.name = "worker", .role = Role::worker, .count = {constant(2), unit::number, whole_number}};
  UavType coordinator{.name = "coordinator", .role = Role::coordinator};
  SwarmOptions swarms{.count = 2, .types = {leader, worker, coordinator}};
  for (UavType& type : swarms.types) {
    type.cruise_speed.spread = constant(10);
    type.propulsion.kind = PropulsionKind::constant;  // 170 W above a place, 160 W in flight
  }
  ThreadPool pool(1);
  return sample_world({}, swarms, {}, 1, pool);
}

SwarmUpdate update(std::size_t swarm, double first, double second) {
  return {.swarm = swarm, .workers = {{.points_processed = first}, {.points_processed = second}}};
}

TEST(TrainingCosts, ByHand) {
  const World world = small_world();
  const DataSize model_size(1e6);
  TrainingCosts costs(world, model_size);
  EXPECT_EQ(costs.elapsed().si(), 0.0);
  EXPECT_EQ(costs.total().si(), 0.0);

  // Two local rounds of three iterations: 1,200 points of a worker are 200 an iteration and 600 a round.
  // 600 points at 1e4 cycles and 10 MHz take 0.6 s.
  const std::vector<SwarmUpdate> updates{update(0, 1200, 600), update(1, 600, 2400)};
  const TrainingCosts::Round round{.local_period = 3, .num_local_aggregations = 2};
  costs.book(updates, round);

  // All points: 1,200 + 600 + 600 + 2,400 at a c g^2 / 2 = 2e-28 * 1e4 * 1e14 / 2 = 1e-10 J each.
  EXPECT_NEAR(costs.spent_on(EnergyKind::processing).si(), 4800 * 1e-10, 2e-9);

  double upload = 0.0;
  double broadcast = 0.0;
  double trips = 0.0;
  double duration = 0.0;
  double away = 0.0;
  const double compute[2][2] = {{0.6, 0.3}, {0.3, 1.2}};
  for (std::size_t u = 0; u < 2; ++u) {
    const SwarmLinks links = swarm_links(world, u, world.swarms[u].start_cluster, 0);
    const double power = 0.1;  // 20 dBm
    double slowest = 0.0;
    double broadcast_time = 0.0;
    for (std::size_t w = 0; w < 2; ++w) {
      const double upload_time = 1e6 / links.worker_to_leader[w].si();
      upload += 2 * power * upload_time;
      slowest = std::max(slowest, compute[u][w] + upload_time);
      broadcast_time = std::max(broadcast_time, 1e6 / links.leader_to_worker[w].si());
    }
    broadcast += 2 * power * broadcast_time;
    const double trip = 2.0 * links.access_point_distance.si() / 10.0;
    trips += 160.0 * trip;
    away += trip;
    duration = std::max(duration, 2 * (slowest + broadcast_time) + trip);
  }
  EXPECT_NEAR(costs.elapsed().si(), duration, 1e-9);
  EXPECT_NEAR(costs.spent_on(EnergyKind::model_upload).si(), upload, 1e-8);
  EXPECT_NEAR(costs.spent_on(EnergyKind::model_broadcast).si(), broadcast, 1e-8);
  EXPECT_NEAR(costs.spent_on(EnergyKind::access_point_trips).si(), trips, 1e-6);
  EXPECT_NEAR(costs.spent_on(EnergyKind::hovering).si(), 170.0 * (8 * duration - away), 1e-6);
  for (const EnergyKind kind : {EnergyKind::data_transmission, EnergyKind::relay, EnergyKind::travel}) {
    EXPECT_EQ(costs.spent_on(kind).si(), 0.0);
  }

  const double once = costs.total().si();
  costs.book(updates, round);
  EXPECT_NEAR(costs.total().si(), 2 * once, 1e-6);
  EXPECT_NEAR(costs.elapsed().si(), 2 * duration, 1e-9);
}

TEST(TrainingCosts, WithoutAccessPointNobodyFlies) {
  const World world = small_world();
  TrainingCosts costs(world, DataSize(1e4));
  costs.book(std::vector<SwarmUpdate>{update(0, 100, 100), update(1, 100, 100)},
             {.visits_access_point = false});
  EXPECT_EQ(costs.spent_on(EnergyKind::access_point_trips).si(), 0.0);
  EXPECT_NEAR(costs.spent_on(EnergyKind::hovering).si(), 8 * 170.0 * costs.elapsed().si(), 1e-6);
  EXPECT_LT(costs.elapsed().si(), 0.2);
  EXPECT_GT(costs.elapsed().si(), 0.1);  // 100 points at 1 ms
}

TEST(TrainingCosts, RefusesAnotherNumberOfWorkers) {
  const World world = small_world();
  TrainingCosts costs(world, DataSize(1e4));
  EXPECT_THROW(costs.book(std::vector<SwarmUpdate>{{.swarm = 0, .workers = {{}}}}, {}), ProgrammingError);
}

}  // namespace
}  // namespace skein
