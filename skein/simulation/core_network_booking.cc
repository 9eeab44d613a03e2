// The core network's books of a global round: what each swarm has spent, and where its time went.

#include <algorithm>

#include "skein/simulation/core_network.h"
#include "skein/world/energy.h"
#include "skein/world/timing.h"

namespace skein {

// What a swarm has spent in the round, and its record. The round ends for all at once; whoever is done with
// the last one lands.
void CoreNetwork::book_swarm(const Round& round, std::size_t i, double lasts_s, bool is_last,
                             Training& training, SequenceRecord& record) {
  const World& world = *setup_.world;
  const LeaderUpdate& update = round.updates[i];
  const std::size_t swarm = round.tasks[i].swarm;
  const std::size_t leader = round.tasks[i].members.leader;
  const double own_s = round.durations_s[i];
  const double stays_s = is_last ? own_s : lasts_s;
  Supplies supplies = this->supplies();
  supplies.book(update.energy);
  double away_s = 0.0;
  const bool reaches_core = update.trained && round.reachable[i];
  if (reaches_core) {
    const AccessPointTrips trip{.num_aggregations = 1,
                                .one_way = {.distance = round.links[i].access_point_distance,
                                            .speed = world.uavs[leader].cruise_speed}};
    supplies.spend(leader, EnergyKind::access_point_trips,
                   access_point_energy(world.uavs[leader].propulsion, trip));
    away_s = round_trip(round, i).si();
    record.model_bits += 2.0 * setup_.problems->sizes().model.si();
    send_to_core(round, i);
  }
  SwarmRecord& own = record.swarms[swarm];
  if (update.trained) {  // who cannot train waits, landed
    book_hovering(round, i, stays_s, record);
  }
  own.finished_s = training.now_s + stays_s;
  own.points_sent += update.points_sent;
  own.points_trained += update.points_trained;
  own.culprit = update.culprit;
  // Energy adds up; the bound is of a mean.
  const double learning_weight = setup_.problems->setting().offloading.learning_weight;
  for (const OffloadSummary& summary : update.rounds) {
    ++training.num_decided[swarm];
    training.objective_sums[swarm] += (1.0 - learning_weight) * summary.energy +
                                      learning_weight * summary.planned_learning / training.num_local_rounds;
    training.bound_sum += summary.gradient_bound;
    ++training.num_bounds;
  }
  if (!update.rounds.empty()) {
    own.rounds.push_back({.start_s = training.now_s,
                          .training_s = own_s - away_s,
                          .trip_s = away_s,
                          .way_m = reaches_core ? round.links[i].access_point_distance.si() : 0.0,
                          .transmit_s = reaches_core ? 2.0 * transfer_to_core(round, i).si() : 0.0,
                          .local_rounds = update.rounds.size(),
                          .decision = update.rounds.front()});
  }
  record.data_bits += update.data_bits;
  record.model_bits += update.model_bits;
}

// The leader's model to its access point, where it did not fly all the way by the paper's rule.
void CoreNetwork::send_to_core(const Round& round, std::size_t i) {
  const LeaderTask& task = round.tasks[i];
  if (task.conditions.way.is_decided()) {
    const std::size_t leader = task.members.leader;
    supplies().spend(leader, EnergyKind::model_upload,
                     setup_.world->uavs[leader].transmit_power * transfer_to_core(round, i));
  }
}

// Of a swarm that trains and stays so long: all hover, but for the leader under way.
void CoreNetwork::book_hovering(const Round& round, std::size_t i, double stays_s, SequenceRecord& record) {
  const LeaderTask& task = round.tasks[i];
  const RoundTimes& times = round.times[i];
  SwarmRecord& own = record.swarms[task.swarm];
  const bool reaches_core = round.reachable[i];
  const double flight_s = reaches_core ? round_trip(round, i).si() : 0.0;
  const double exchange_s = reaches_core ? 2.0 * transfer_to_core(round, i).si() : 0.0;
  Supplies supplies = this->supplies();
  for (const std::size_t id : supplies.flying(task.swarm)) {
    const bool is_away = id == task.members.leader;
    const double aloft_s = stays_s - (is_away ? flight_s : 0.0);
    if (!(aloft_s > 0.0)) {
      continue;
    }
    const Energy energy = supplies.spend(id, EnergyKind::hovering,
                                         hovering_energy(setup_.world->uavs[id].propulsion, Time(aloft_s)));
    const double training_s = round.durations_s[i] - (times.back - times.trained);
    const double leader_away_s = exchange_s + (is_away ? 0.0 : flight_s);
    const double watts = energy.si() / aloft_s;
    own.hovering.training_j += watts * training_s;
    own.hovering.leader_away_j += watts * leader_away_s;
    own.hovering.waiting_j += watts * std::max(0.0, aloft_s - training_s - leader_away_s);
  }
}

Time CoreNetwork::transfer_to_core(const Round& round, std::size_t i) const {
  return transfer_time(setup_.problems->sizes().model, round.links[i].leader_to_access_point);
}

Time CoreNetwork::round_trip(const Round& round, std::size_t i) const {
  return access_point_time(
      {.num_aggregations = 1,
       .one_way = {.distance = round.links[i].access_point_distance,
                   .speed = setup_.world->uavs[round.tasks[i].members.leader].cruise_speed}});
}

}  // namespace skein
