#include "skein/learning/training_costs.h"

#include <algorithm>

#include "skein/base/expect.h"
#include "skein/world/energy.h"

namespace skein {

TrainingCosts::TrainingCosts(const World& world, DataSize model_size)
    : world_(world), model_size_(model_size) {
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    links_.push_back(swarm_links(world, u, world.swarms[u].start_cluster, 0));
  }
  for (std::size_t j = 0; j < world.uavs.size(); ++j) {
    ledger_.add_mains();
  }
}

AccessPointTrips TrainingCosts::trips(std::size_t swarm, const Round& round) const {
  return {.num_aggregations = round.visits_access_point ? 1 : 0,
          .one_way = {.distance = links_[swarm].access_point_distance,
                      .speed = world_.uavs[world_.swarms[swarm].leader].cruise_speed}};
}

Time TrainingCosts::book_local_rounds(const SwarmUpdate& update, const Round& round) {
  const Swarm& swarm = world_.swarms.at(update.swarm);
  const SwarmLinks& links = links_[update.swarm];
  expect(update.workers.size() == swarm.workers.count, "an update has the workers of the world's swarm");
  const auto num_rounds = static_cast<double>(round.num_local_aggregations);
  const auto models_from = [&](const Uav& sender) {
    return ModelTransmission{.num_aggregations = static_cast<int>(round.num_local_aggregations),
                             .model_size = model_size_,
                             .power = sender.transmit_power};
  };

  std::vector<WorkerTimes> times;
  for (std::size_t w = 0; w < swarm.workers.count; ++w) {
    const std::size_t id = swarm.workers.first + w;
    const Uav& uav = world_.uavs[id];
    const double points_per_round = update.workers[w].points_processed / num_rounds;
    const ProcessingLoad load{.local_period = static_cast<int>(round.local_period),
                              .cycles_per_datapoint = uav.cycles_per_point,
                              .sampled_ratio = 1.0,
                              .num_datapoints = points_per_round / static_cast<double>(round.local_period),
                              .frequency = uav.least_clock};
    ledger_.book(id, EnergyKind::processing, num_rounds * processing_energy(load, uav.capacitance));
    ledger_.book(id, EnergyKind::model_upload,
                 model_upload_energy(models_from(uav), links.worker_to_leader[w]));
    times.push_back({.gathering = Time(0.0),
                     .processing = processing_time(load),
                     .upload = transfer_time(model_size_, links.worker_to_leader[w])});
  }
  ledger_.book(swarm.leader, EnergyKind::model_broadcast,
               model_broadcast_energy(models_from(world_.uavs[swarm.leader]), links.leader_to_worker));
  return num_rounds * local_round_time(times, broadcast_time(model_size_, links.leader_to_worker));
}

void TrainingCosts::book(std::span<const SwarmUpdate> updates, const Round& round) {
  Time duration;
  for (const SwarmUpdate& update : updates) {
    duration =
        std::max(duration, book_local_rounds(update, round) + access_point_time(trips(update.swarm, round)));
  }
  for (const SwarmUpdate& update : updates) {
    const Swarm& swarm = world_.swarms[update.swarm];
    const AccessPointTrips leader_trips = trips(update.swarm, round);
    ledger_.book(swarm.leader, EnergyKind::access_point_trips,
                 access_point_energy(world_.uavs[swarm.leader].propulsion, leader_trips));
    for (std::size_t id = swarm.leader; id < swarm.coordinators.end(); ++id) {
      const Time away = id == swarm.leader ? access_point_time(leader_trips) : Time(0.0);
      ledger_.book(id, EnergyKind::hovering, hovering_energy(world_.uavs[id].propulsion, duration - away));
    }
  }
  clock_.advance(duration);
}

}  // namespace skein
