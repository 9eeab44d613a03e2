// The core network's books of a global round: what each swarm has spent, and where its time went.

#include <algorithm>

#include "skein/simulation/core_network.h"
#include "skein/simulation/round_signalling.h"
#include "skein/world/energy.h"
#include "skein/world/timing.h"

namespace skein {

// Until a swarm begins, whoever is there already waits: on the ground, or by choice.
void CoreNetwork::await_begin(const Training& training, SequenceRecord& record) {
  Airborne airborne = this->airborne(record);
  for (std::size_t swarm = 0; swarm < record.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    if (!own.active) {
      continue;
    }
    for (const std::size_t id : supplies().flying(swarm)) {
      const UavTimes& times = record.uavs[id];
      const Time wait(training.begins_s[swarm] - record.start_s - times.flying_s - times.landed_s);
      if (setup_.waiting == WaitChoice::hover || !times.aloft || airborne.lands(id, wait)) {
        airborne.land(id, wait);
      } else {
        own.hovering.waiting_j += airborne.hover(id, wait).si();
      }
    }
  }
}

// What a swarm has spent in the round, in which it stays so long, and its record.
void CoreNetwork::book_swarm(const Round& round, std::size_t i, double stays_s, const Training& training,
                             SequenceRecord& record) {
  const LeaderUpdate& update = round.updates[i];
  const std::size_t swarm = round.tasks[i].swarm;
  const double begin_s = training.begins_s[swarm];
  const bool reaches_core = update.trained && round.reachable[i];
  const double away_s = reaches_core ? round_trip(round, i).si() : 0.0;
  SwarmRecord& own = record.swarms[swarm];
  supplies().book(update.energy);
  if (reaches_core) {
    record.model_bits += 2.0 * setup_.problems->sizes().model.si();
    send_to_core(round, i);
  }
  book_times(round, i, stays_s, record);
  own.finished_s = begin_s + stays_s;
  own.points_sent += update.points_sent;
  own.points_trained += update.points_trained;
  own.culprit = update.culprit;
  if (!update.rounds.empty()) {
    own.rounds.push_back({.start_s = begin_s,
                          .training_s = round.durations_s[i] - away_s,
                          .trip_s = away_s,
                          .way_m = reaches_core ? round.links[i].access_point_distance.si() : 0.0,
                          .transmit_s = reaches_core ? 2.0 * transfer_to_core(round, i).si() : 0.0,
                          .local_rounds = update.rounds.size(),
                          .decision = update.rounds.front()});
  }
  record.data_bits += update.data_bits;
  record.model_bits += update.model_bits;
}

// Energy adds up; the learning part is of a mean.
void CoreNetwork::add_objectives(const Round& round, std::size_t i, Training& training) const {
  const std::size_t swarm = round.tasks[i].swarm;
  const double learning_weight = setup_.problems->setting().offloading.learning_weight;
  for (const OffloadSummary& summary : round.updates[i].rounds) {
    ++training.num_decided[swarm];
    training.objective_sums[swarm] += (1.0 - learning_weight) * summary.energy +
                                      learning_weight * summary.planned_learning / training.num_local_rounds;
  }
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

void CoreNetwork::book_times(const Round& round, std::size_t i, double stays_s, SequenceRecord& record) {
  const LeaderTask& task = round.tasks[i];
  for (const std::size_t id : supplies().flying(task.swarm)) {
    if (!round.updates[i].trained) {  // who cannot train waits, landed
      airborne(record).land(id, Time(stays_s));
    } else if (id == task.members.leader) {
      book_leader(round, i, stays_s, record);
    } else {
      book_member(round, i, id, stays_s, record);
    }
  }
}

// What the round is made of, for those who stay so long.
CoreNetwork::RoundParts CoreNetwork::parts_of(const Round& round, std::size_t i, double stays_s) const {
  const RoundTimes& times = round.times[i];
  RoundParts parts{.training_s = times.trained, .hand_over_s = round.durations_s[i] - times.back};
  if (round.reachable[i]) {
    parts.flight_s = round_trip(round, i).si();
    parts.exchange_s = 2.0 * transfer_to_core(round, i).si();
  }
  parts.waits_s =
      std::max(0.0, stays_s - parts.training_s - parts.flight_s - parts.exchange_s - parts.hand_over_s);
  return parts;
}

// It is in the air while its swarm works and while models go up and down; for others it may wait landed.
void CoreNetwork::book_leader(const Round& round, std::size_t i, double stays_s, SequenceRecord& record) {
  const std::size_t id = round.tasks[i].members.leader;
  const Uav& leader = setup_.world->uavs[id];
  const RoundParts parts = parts_of(round, i, stays_s);
  const double works_s = parts.training_s + parts.hand_over_s;
  HoveringRecord& hovering = record.swarms[round.tasks[i].swarm].hovering;
  Airborne airborne = this->airborne(record);
  const AccessPointTrips trip{
      .num_aggregations = 1,
      .one_way = {.distance = round.links[i].access_point_distance, .speed = leader.cruise_speed}};
  const Energy trip_energy = access_point_energy(leader.propulsion, trip);
  airborne.fly(id, EnergyKind::access_point_trips, trip_energy, Time(parts.flight_s));
  const bool lands = airborne.lands(id, Time(parts.waits_s));
  const double hovers_s = lands ? parts.training_s + parts.exchange_s : stays_s - parts.flight_s;
  if (!(hovers_s > 0.0)) {
    return;
  }
  const double watts = airborne.hover(id, Time(hovers_s)).si() / hovers_s;
  hovering.leader_away_j += watts * parts.exchange_s;
  if (!lands) {
    hovering.training_j += watts * works_s;
    hovering.waiting_j += watts * parts.waits_s;
    return;
  }
  airborne.land(id, Time(parts.waits_s));
  hovering.training_j += watts * parts.training_s + airborne.hover(id, Time(parts.hand_over_s)).si();
}

// It works, waits while the leader is away and for other swarms, and hands over. Who has nothing to do in the
// round only waits.
void CoreNetwork::book_member(const Round& round, std::size_t i, std::size_t id, double stays_s,
                              SequenceRecord& record) {
  const LeaderTask& task = round.tasks[i];
  HoveringRecord& hovering = record.swarms[task.swarm].hovering;
  Airborne airborne = this->airborne(record);
  if (setup_.waiting == WaitChoice::cheaper && is_idle(*setup_.world, task, round.updates[i], id)) {
    const bool is_needed_again = task.global_round + 1 < task.num_global_rounds;
    const bool stays_aloft = record.uavs[id].aloft && is_needed_again && !airborne.lands(id, Time(stays_s));
    if (stays_aloft) {
      hovering.waiting_j += airborne.hover(id, Time(stays_s)).si();
    } else {
      airborne.land(id, Time(stays_s));
    }
    return;
  }
  const RoundParts parts = parts_of(round, i, stays_s);
  const double away_s = parts.flight_s + parts.exchange_s;
  const bool lands = airborne.lands(id, Time(away_s + parts.waits_s));
  const double hovers_s = lands ? parts.training_s : stays_s;
  if (!(hovers_s > 0.0)) {
    return;
  }
  const double watts = airborne.hover(id, Time(hovers_s)).si() / hovers_s;
  hovering.training_j += watts * parts.training_s;
  if (lands) {
    airborne.land(id, Time(away_s + parts.waits_s));
    hovering.training_j += airborne.hover(id, Time(parts.hand_over_s)).si();
    return;
  }
  hovering.training_j += watts * parts.hand_over_s;
  hovering.leader_away_j += watts * away_s;
  hovering.waiting_j += watts * parts.waits_s;
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
