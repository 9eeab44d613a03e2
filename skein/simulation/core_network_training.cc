// The core network's part of training: global rounds, with their signalling and faults.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "skein/base/expect.h"
#include "skein/base/interval.h"
#include "skein/base/random.h"
#include "skein/simulation/core_network.h"
#include "skein/simulation/round_signalling.h"
#include "skein/world/energy.h"
#include "skein/world/links.h"
#include "skein/world/timing.h"

namespace skein {
namespace {

// Why the core network does not take a swarm's model; empty: it does.
std::string objection_to(const Model& update, const Model& global) {
  double change = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < update.size(); ++i) {
    const double difference = static_cast<double>(update[i]) - static_cast<double>(global[i]);
    change += difference * difference;
    size += static_cast<double>(global[i]) * static_cast<double>(global[i]);
  }
  if (!std::isfinite(change)) {
    return "not finite";
  }
  // No training moves a model that far in a round.
  constexpr double largest = 10.0;
  const double limit = largest * (1.0 + std::sqrt(size));
  return std::sqrt(change) > limit
             ? fmt::format("{:.3g} away from the global model, more than {:.3g}", std::sqrt(change), limit)
             : "";
}

void damage(Model& model, const MissionFault& fault, RandomStream stream) {
  for (int i = 0; i < 8; ++i) {
    float& value = model[stream.below(model.size())];
    // The highest bit of the exponent: a small number becomes a huge one.
    value = fault.non_finite ? std::numeric_limits<float>::quiet_NaN()
                             : std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (1U << 30U));
  }
}

RoundTimes since(const RoundTimes& times, double begin) {
  return {.begin = times.begin - begin,
          .gathered = times.gathered - begin,
          .trained = times.trained - begin,
          .synchronised = times.synchronised - begin,
          .back = times.back - begin};
}

}  // namespace

void CoreNetwork::train(SequenceRecord& record, FractionListener progress) {
  Training training;
  double last_s = record.start_s;
  bool any = false;
  for (const SwarmRecord& swarm : record.swarms) {
    any = any || swarm.active;
    last_s = swarm.active ? std::max(last_s, swarm.arrival_s) : last_s;
    training.begins_s.push_back(swarm.arrival_s);
  }
  if (!any) {
    return;
  }
  if (setup_.start == StartChoice::together) {
    training.begins_s.assign(record.swarms.size(), last_s);
  }
  await_begin(training, record);
  const Timing& timing = record.plan.timing;
  const auto local_period = static_cast<std::size_t>(timing.local_period);
  const auto global_period = static_cast<std::size_t>(timing.global_period);
  const SequenceRounds rounds =
      sequence_rounds(static_cast<std::size_t>(std::llround(timing.duration)), local_period, global_period);
  record.global_rounds = rounds.global_aggregations;
  record.local_iterations = rounds.local_aggregations * local_period;
  training.num_local_rounds = static_cast<double>(rounds.local_aggregations);
  training.first_model = state_.global;
  training.objective_sums.resize(record.swarms.size());
  training.num_decided.resize(record.swarms.size());
  for (std::size_t round = 0; round < record.global_rounds; ++round) {
    run_round(round, training, record);
    progress(static_cast<double>(round + 1) / static_cast<double>(record.global_rounds + 1));
  }
  measure(training, record);
  hand_over(training, record);
}

void CoreNetwork::run_round(std::size_t round, Training& training, SequenceRecord& record) {
  now_.round = round;
  training.last = {};  // models of the round before are not kept beside those of this one
  training.now_s = std::numeric_limits<double>::infinity();
  for (std::size_t swarm = 0; swarm < record.swarms.size(); ++swarm) {
    training.now_s =
        record.swarms[swarm].active ? std::min(training.now_s, training.begins_s[swarm]) : training.now_s;
  }
  if (round > 0) {
    note_faults(training.now_s, record);
  }
  Round current = prepare(round, training, record);
  current.updates = setup_.fleet->run(current.tasks);
  signal(current, record);
  std::vector<double> done_s;
  for (std::size_t i = 0; i < current.tasks.size(); ++i) {
    done_s.push_back(current.offsets_s[i] + current.durations_s[i]);
  }
  const double lasts_s = setup_.aggregation->round_end(done_s);
  // The next round is for all together, or for each as soon as it can; after the last one, everybody is done.
  const bool is_last = round + 1 == record.global_rounds;
  const bool waits = setup_.start == StartChoice::together && !is_last;
  for (std::size_t i = 0; i < current.tasks.size(); ++i) {
    const double stays_s = waits ? lasts_s : current.durations_s[i];
    book_swarm(current, i, stays_s, training, record);
    add_objectives(current, i, training);
    training.begins_s[current.tasks[i].swarm] += stays_s;
  }
  state_.iterations += current.tasks.front().local_period * current.tasks.front().global_period;
  const std::shared_ptr<const Model> before = state_.global;
  merge(current, lasts_s, training.now_s + lasts_s, record);
  if (setup_.constants_moment == ConstantsMoment::aggregation) {
    measure_constants(current, *before, training.now_s + lasts_s, record);
  }
  training.last = std::move(current);
}

CoreNetwork::Round CoreNetwork::prepare(std::size_t round, const Training& training,
                                        SequenceRecord& record) const {
  const World& world = *setup_.world;
  std::vector<std::size_t> out;  // access points
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    if (setup_.faults.is(FaultKind::access_point, a, now_)) {
      out.push_back(a);
    }
  }
  Round prepared;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    if (!record.swarms[swarm].active) {
      continue;
    }
    const LeaderTask& task = prepared.tasks.emplace_back(task_of(swarm, round, record, out));
    const SwarmLinks& links =
        prepared.links.emplace_back(swarm_links(world, swarm, task.cluster, task.sequence, task.conditions));
    prepared.reachable.push_back(out.size() < world.access_points.size());
    prepared.offsets_s.push_back(training.begins_s[swarm] - training.now_s);
    record.swarms[swarm].access_point = links.access_point;
  }
  share_slowest_trip(prepared);
  return prepared;
}

LeaderTask CoreNetwork::task_of(std::size_t swarm, std::size_t round, const SequenceRecord& record,
                                const std::vector<std::size_t>& access_points_out) const {
  const World& world = *setup_.world;
  const FaultSchedule& faults = setup_.faults;
  LeaderTask task{.swarm = swarm,
                  .cluster = record.swarms[swarm].to,
                  .sequence = record.sequence,
                  .global_round = round,
                  .num_global_rounds = record.global_rounds,
                  .local_period = static_cast<std::size_t>(record.plan.timing.local_period),
                  .global_period = static_cast<std::size_t>(record.plan.timing.global_period),
                  .first_iteration = state_.iterations,
                  .model = model_of(swarm),
                  .members = faults.members(world, swarm, now_),
                  .conditions = {.rate_factor = faults.factor(FaultKind::link, swarm, now_),
                                 .access_points_out = access_points_out},
                  .has_constants = state_.constants[swarm] != nullptr,
                  .constants = state_.constants[swarm] ? *state_.constants[swarm] : BoundConstants{}};
  for (std::size_t id = world.swarms[swarm].leader; id < world.swarms[swarm].coordinators.end(); ++id) {
    task.batteries.push_back(state_.world.ledger.level(State::account_of_uav(id)).si());
  }
  task.conditions.way = way_of(task);
  const IndexRange& devices = world.clusters[task.cluster].devices;
  for (std::size_t i = 0; i < devices.count && !faults.all().empty(); ++i) {
    if (faults.is(FaultKind::device, devices.first + i, now_)) {
      task.silent_devices.push_back(i);
    }
  }
  return task;
}

// Where the leader goes to exchange models, by all who wait for it.
WayToCore CoreNetwork::way_of(const LeaderTask& task) const {
  if (setup_.world->way == WayChoice::fly) {
    return {};
  }
  const World& world = *setup_.world;
  const Swarm& swarm = world.swarms[task.swarm];
  std::vector<std::size_t> others;
  std::vector<double> batteries(world.uavs.size());
  for (std::size_t id = swarm.leader; id < swarm.coordinators.end(); ++id) {
    batteries[id] = task.batteries[id - swarm.leader];
    if (id != task.members.leader && !setup_.faults.has_crashed(world, id, now_)) {
      others.push_back(id);
    }
  }
  return setup_.problems->way({.swarm = task.swarm,
                               .cluster = task.cluster,
                               .sequence = task.sequence,
                               .rounds = {.global_aggregations = task.num_global_rounds - task.global_round},
                               .leader = task.members.leader,
                               .conditions = task.conditions},
                              batteries, std::move(others));
}

// All wait for whoever is away longest.
void CoreNetwork::share_slowest_trip(Round& round) const {
  double slowest = 0.0;
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    const LeaderTask& task = round.tasks[i];
    const Time trip = 2.0 * flight_time({.distance = round.links[i].access_point_distance,
                                         .speed = setup_.world->uavs[task.members.leader].cruise_speed});
    const Time models = model_time(setup_.problems->sizes().model, round.links[i], task.global_period);
    slowest = std::max(slowest, round.offsets_s[i] + (trip + models).si());
  }
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    round.tasks[i].slowest_trip_s = slowest - round.offsets_s[i];
  }
}

// The round's messages, and what they cost.
void CoreNetwork::signal(Round& round, SequenceRecord& record) {
  const LeaderTask& any = round.tasks.front();
  const auto r = static_cast<std::uint32_t>(any.global_round);
  const MessageSizes& sizes = setup_.problems->sizes();
  SequenceDescription description{.sequence = static_cast<std::uint32_t>(record.sequence),
                                  .model_bits = static_cast<std::uint64_t>(std::llround(sizes.model.si())),
                                  .local_period = static_cast<std::uint32_t>(any.local_period),
                                  .global_period = static_cast<std::uint32_t>(any.global_period),
                                  .num_rounds = static_cast<std::uint32_t>(record.global_rounds),
                                  .constants = constants_in_plans(round),
                                  .first_round = r,
                                  .end_round = r + 1,
                                  .network = {.seed = setup_.seed}};
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    // Of whoever cannot reach the core network: without signalling.
    const double duration_s = round.updates[i].duration;
    round.durations_s.push_back(duration_s);
    round.times.push_back({.trained = duration_s, .synchronised = duration_s, .back = duration_s});
    if (round.updates[i].trained && round.reachable[i]) {
      whose.push_back(i);
      description.swarms.push_back(describe_round(*setup_.world, round.tasks[i], round.updates[i],
                                                  round.links[i], sizes.point, setup_.waiting));
      description.swarms.back().ready_time = round.offsets_s[i];
      description.swarms.back().needs_model = r == 0 && record.swarms[round.tasks[i].swarm].gets_model;
    }
  }
  if (description.swarms.empty()) {
    return;
  }
  if (std::ranges::any_of(description.swarms, &SwarmDescription::needs_model)) {
    // Arrivals have the time that it takes: here all begin as if plans had come at once.
    for (SwarmDescription& swarm : description.swarms) {
      swarm.ready_time += 2.0 * model_delay().si();
    }
  }
  const SignallingReport report = simulate_signalling(description);
  for (std::size_t s = 0; s < whose.size(); ++s) {
    const RoundTimes& times = report.swarms[s].rounds.front();
    const bool is_last = description.end_round == description.num_rounds;
    round.durations_s[whose[s]] = (is_last ? report.swarms[s].end : times.back) - times.begin;
    round.times[whose[s]] = since(times, times.begin);
    supplies().book(signalling_energy(*setup_.world, round.tasks[whose[s]], report.records));
  }
  const KindTally total = report.total();
  record.signalling.messages += total.sent.messages;
  record.signalling.bits += total.sent.bits;
  record.signalling.given_up += report.records.given_up.size();
  record.signalling.refused +=
      std::accumulate(report.records.refusals.begin(), report.records.refusals.end(), std::uint64_t{0});
  expect(report.completed, "without lost messages, the protocol comes to its end");
}

void CoreNetwork::merge(Round& round, double lasts_s, double now_s, SequenceRecord& record) {
  const std::vector<SwarmUpdate> whole = whole_updates(round, lasts_s, now_s, record);
  if (!whole.empty()) {
    state_.global = std::make_shared<const Model>(setup_.aggregation->merged(*state_.global, whole, pool_));
    ++state_.merges;
  }
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    if (round.updates[i].trained && round.reachable[i]) {
      state_.own_models[round.tasks[i].swarm] = nullptr;
      state_.known_merges[round.tasks[i].swarm] = state_.merges;
    }
  }
}

// The swarms' models that reach the core network whole, and in time.
std::vector<SwarmUpdate> CoreNetwork::whole_updates(Round& round, double lasts_s, double now_s,
                                                    SequenceRecord& record) {
  std::vector<SwarmUpdate> whole;
  for (std::size_t i = 0; i < round.updates.size(); ++i) {
    if (!round.updates[i].trained) {
      continue;
    }
    const std::size_t swarm = round.tasks[i].swarm;
    Model& model = round.updates[i].swarm.model;
    const auto leave_out = [&](std::string what) { record.faults.push_back({now_s, std::move(what)}); };
    if (!round.reachable[i]) {
      ++record.unreachable_updates;
      leave_out(
          fmt::format("swarm {} finds no access point: its model stays out of the global one", swarm + 1));
      state_.own_models[swarm] = std::make_shared<const Model>(std::move(model));
      continue;
    }
    if (round.offsets_s[i] + round.durations_s[i] > lasts_s) {
      leave_out(fmt::format("swarm {} comes too late: its model stays out of the global one", swarm + 1));
      continue;
    }
    if (const MissionFault* fault = setup_.faults.find(FaultKind::update, swarm, now_)) {
      damage(model, *fault, RandomStream(setup_.seed, "damaged update", swarm, record.sequence, now_.round));
    }
    if (const std::string why = objection_to(model, *state_.global); !why.empty()) {
      ++record.rejected_updates;
      leave_out(fmt::format("the model of swarm {} is rejected: {}", swarm + 1, why));
      continue;
    }
    whole.push_back(std::move(round.updates[i].swarm));
  }
  return whole;
}

// Each swarm makes the model its own, and leaves it with its cluster.
void CoreNetwork::hand_over(Training& training, SequenceRecord& record) {
  Round& last = training.last;
  for (LeaderTask& task : last.tasks) {
    task.model = model_of(task.swarm);
    task.first_iteration = state_.iterations;
  }
  std::vector<std::size_t> clusters;
  std::vector<Model> models;
  {
    std::vector<Model> own = setup_.fleet->personalise(last.tasks);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const LeaderTask& task = last.tasks[i];
      if (!last.updates[i].trained) {
        continue;
      }
      supplies().book(personalisation_energy(*setup_.world, task, last.updates[i], last.links[i],
                                             setup_.problems->sizes().model));
      clusters.push_back(task.cluster);
      models.push_back(std::move(own[i]));
      record.clusters[task.cluster].visited = true;
      record.clusters[task.cluster].first_visit = !state_.clusters[task.cluster].was_visited();
      record.clusters[task.cluster].handed_over_s = record.swarms[task.swarm].finished_s;
    }
  }
  const std::vector<double> gradients = setup_.field->hand_over(clusters, std::move(models));
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    state_.clusters[clusters[i]].squared_gradient = gradients[i];
    state_.clusters[clusters[i]].visited_at = record.sequence + 1;
  }
  estimate_handed_models(clusters, record);
}

}  // namespace skein
