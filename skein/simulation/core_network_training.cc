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

std::vector<double> numbers_of(const BoundConstants& c) {
  return {c.gradient_bound,
          c.gradient_lipschitz,
          c.meta_lipschitz,
          c.gradient_variance,
          c.hessian_variance,
          c.swarm_gradient_variability,
          c.swarm_hessian_variability,
          c.network_gradient_variability,
          c.network_hessian_variability};
}

}  // namespace

CoreNetwork::Round CoreNetwork::prepare_round(const SequenceRecord& record, const Plan& plan,
                                              std::size_t round) const {
  const World& world = *setup_.world;
  const FaultSchedule& faults = setup_.faults;
  Round prepared;
  std::vector<std::size_t> out;
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    if (faults.is(FaultKind::access_point, a, now_)) {
      out.push_back(a);
    }
  }
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    if (!record.swarms[swarm].active) {
      continue;
    }
    LeaderTask task{
        .swarm = swarm,
        .cluster = record.swarms[swarm].to,
        .sequence = state_.sequence,
        .global_round = round,
        .num_global_rounds = record.global_rounds,
        .local_period = static_cast<std::size_t>(plan.timing.local_period),
        .global_period = static_cast<std::size_t>(plan.timing.global_period),
        .first_iteration = iterations_,
        .model = global_,
        .members = faults.members(world, swarm, now_),
        .conditions = {.rate_factor = faults.factor(FaultKind::link, swarm, now_), .access_points_out = out}};
    for (std::size_t id = world.swarms[swarm].leader; id < world.swarms[swarm].coordinators.end(); ++id) {
      task.batteries.push_back(state_.ledger.level(State::account_of_uav(id)).si());
    }
    const IndexRange& devices = world.clusters[task.cluster].devices;
    for (std::size_t i = 0; i < devices.count && !faults.all().empty(); ++i) {
      if (faults.is(FaultKind::device, devices.first + i, now_)) {
        task.silent_devices.push_back(i);
      }
    }
    prepared.links.push_back(swarm_links(world, swarm, task.cluster, task.sequence, task.conditions));
    prepared.reachable.push_back(out.size() < world.access_points.size());
    prepared.tasks.push_back(std::move(task));
  }
  double slowest = 0.0;
  for (std::size_t i = 0; i < prepared.tasks.size(); ++i) {
    const LeaderTask& task = prepared.tasks[i];
    const Time trip = 2.0 * flight_time({.distance = prepared.links[i].access_point_distance,
                                         .speed = world.uavs[task.members.leader].cruise_speed});
    slowest =
        std::max(slowest, (trip + model_time(setup_.model_size, prepared.links[i], task.global_period)).si());
  }
  for (LeaderTask& task : prepared.tasks) {
    task.slowest_trip_s = slowest;
    task.has_constants = constants_ != nullptr;
    task.constants = constants_ != nullptr ? *constants_ : BoundConstants{};
  }
  return prepared;
}

std::vector<double> CoreNetwork::signal(const Round& round, const std::vector<LeaderUpdate>& updates,
                                        SequenceRecord& record) {
  const auto r = static_cast<std::uint32_t>(round.tasks.front().global_round);
  SequenceDescription description{
      .sequence = static_cast<std::uint32_t>(state_.sequence),
      .model_bits = static_cast<std::uint64_t>(std::llround(setup_.model_size.si())),
      .local_period = static_cast<std::uint32_t>(round.tasks.front().local_period),
      .global_period = static_cast<std::uint32_t>(round.tasks.front().global_period),
      .num_rounds = static_cast<std::uint32_t>(record.global_rounds),
      .constants = constants_ ? numbers_of(*constants_) : std::vector<double>{},
      .first_round = r,
      .end_round = r + 1,
      .network = {.seed = setup_.seed}};
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    if (updates[i].trained && round.reachable[i]) {
      whose.push_back(i);
      description.swarms.push_back(
          describe_round(*setup_.world, round.tasks[i], updates[i], round.links[i], setup_.point_size));
    }
  }
  std::vector<double> durations(round.tasks.size(), 0.0);
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    durations[i] = updates[i].duration;  // of whoever cannot reach the core network: without signalling
  }
  if (description.swarms.empty()) {
    return durations;
  }
  const SignallingReport report = simulate_signalling(description);
  for (std::size_t s = 0; s < whose.size(); ++s) {
    const RoundTimes& times = report.swarms[s].rounds.front();
    const bool is_last = description.end_round == description.num_rounds;
    durations[whose[s]] = (is_last ? report.swarms[s].end : times.back) - times.begin;
    book(signalling_energy(*setup_.world, round.tasks[whose[s]], report.records));
  }
  const KindTally total = report.total();
  record.signalling.messages += total.sent.messages;
  record.signalling.bits += total.sent.bits;
  record.signalling.given_up += report.records.given_up.size();
  record.signalling.refused +=
      std::accumulate(report.records.refusals.begin(), report.records.refusals.end(), std::uint64_t{0});
  expect(report.completed, "without lost messages, the protocol comes to its end");
  return durations;
}

std::vector<SwarmUpdate> CoreNetwork::collect_updates(const Round& round, std::vector<LeaderUpdate>& updates,
                                                      double now, SequenceRecord& record) {
  std::vector<SwarmUpdate> whole;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (!updates[i].trained) {
      continue;
    }
    const std::size_t swarm = round.tasks[i].swarm;
    if (!round.reachable[i]) {
      ++record.unreachable_updates;
      record.faults.push_back({now, fmt::format("swarm {} finds no access point: its model stays out of the "
                                                "global one",
                                                swarm + 1)});
      continue;
    }
    if (const MissionFault* fault = setup_.faults.find(FaultKind::update, swarm, now_)) {
      damage(updates[i].swarm.model, *fault,
             RandomStream(setup_.seed, "damaged update", swarm, state_.sequence, now_.round));
    }
    if (const std::string why = objection_to(updates[i].swarm.model, *global_); !why.empty()) {
      ++record.rejected_updates;
      record.faults.push_back({now, fmt::format("the model of swarm {} is rejected: {}", swarm + 1, why)});
      continue;
    }
    whole.push_back(std::move(updates[i].swarm));
  }
  return whole;
}

void CoreNetwork::train(const Plan& plan, SequenceRecord& record, const Progress& progress) {
  const World& world = *setup_.world;
  double begin = record.start_s;
  bool any = false;
  for (const SwarmRecord& swarm : record.swarms) {
    any = any || swarm.active;
    begin = swarm.active ? std::max(begin, swarm.arrival_s) : begin;
  }
  if (!any) {
    return;
  }
  const auto local_period = static_cast<std::size_t>(plan.timing.local_period);
  const auto global_period = static_cast<std::size_t>(plan.timing.global_period);
  record.global_rounds = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(plan.timing.duration)) / (local_period * global_period));
  Round current;
  std::vector<LeaderUpdate> updates;
  const std::shared_ptr<const Model> first_model = global_;
  double now = begin;
  const auto num_rounds = static_cast<double>(record.global_rounds * global_period);
  std::vector<double> objective_sums(world.swarms.size(), 0.0);
  std::vector<std::size_t> num_decided(world.swarms.size(), 0);  // of the swarm's local rounds
  double bound_sum = 0.0;
  std::size_t num_bounds = 0;
  for (std::size_t round = 0; round < record.global_rounds; ++round) {
    now_.round = round;
    if (round > 0) {
      note_faults(now, record);
    }
    current = prepare_round(record, plan, round);
    const std::vector<LeaderTask>& tasks = current.tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      record.swarms[tasks[i].swarm].access_point = current.links[i].access_point;
    }
    updates = setup_.fleet->run(tasks);
    // The slowest swarm, its leader's trip included, ends the round for all; whoever is done with the last
    // one lands.
    const bool is_last = round + 1 == record.global_rounds;
    const std::vector<double> durations = signal(current, updates, record);
    const double duration = *std::ranges::max_element(durations);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::size_t swarm = tasks[i].swarm;
      const std::size_t leader = tasks[i].members.leader;
      book(updates[i].energy);
      double away = 0.0;
      if (updates[i].trained && current.reachable[i]) {
        const AccessPointTrips trip{.num_aggregations = 1,
                                    .one_way = {.distance = current.links[i].access_point_distance,
                                                .speed = world.uavs[leader].cruise_speed}};
        spend(leader, EnergyKind::access_point_trips,
              access_point_energy(world.uavs[leader].propulsion, trip));
        away = access_point_time(trip).si();
        record.model_bits += 2.0 * setup_.model_size.si();
      }
      for (const std::size_t id : flying(swarm)) {
        const double aloft = (is_last ? durations[i] : duration) - (id == leader ? away : 0.0);
        if (updates[i].trained && aloft > 0.0) {  // who cannot train waits, landed
          spend(id, EnergyKind::hovering, hovering_energy(world.uavs[id].propulsion, Time(aloft)));
        }
      }
      SwarmRecord& own = record.swarms[swarm];
      own.finished_s = now + (is_last ? durations[i] : duration);
      own.points_sent += updates[i].points_sent;
      own.points_trained += updates[i].points_trained;
      own.culprit = updates[i].culprit;
      // Energy adds up; the bound is of a mean.
      for (const OffloadSummary& summary : updates[i].rounds) {
        ++num_decided[swarm];
        objective_sums[swarm] += (1.0 - setup_.learning_weight) * summary.energy +
                                 setup_.learning_weight * summary.planned_learning / num_rounds;
        bound_sum += summary.gradient_bound;
        ++num_bounds;
      }
      if (!updates[i].rounds.empty()) {
        own.rounds.push_back({.start_s = now,
                              .training_s = durations[i] - away,
                              .trip_s = away,
                              .local_rounds = updates[i].rounds.size(),
                              .decision = updates[i].rounds.front()});
      }
      record.data_bits += updates[i].data_bits;
      record.model_bits += updates[i].model_bits;
    }
    now += duration;
    iterations_ += local_period * global_period;
    if (const std::vector<SwarmUpdate> whole = collect_updates(current, updates, now, record);
        !whole.empty()) {
      global_ = std::make_shared<const Model>(merge(whole, MergeWeights::equal, pool_));
    }
    progress(static_cast<double>(round + 1) / static_cast<double>(record.global_rounds + 1));
  }
  std::vector<LeaderTask>& tasks = current.tasks;
  record.local_iterations = record.global_rounds * local_period * global_period;
  for (LeaderTask& task : tasks) {
    task.model = global_;
    task.first_iteration = iterations_;
  }
  std::vector<std::size_t> trained_at;
  std::vector<double> handed_over_s;
  std::vector<ClusterModel> of_global;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    of_global.push_back({tasks[i].cluster, global_.get()});
    if (updates[i].trained) {
      trained_at.push_back(tasks[i].cluster);
      handed_over_s.push_back(record.swarms[tasks[i].swarm].finished_s);
    }
  }
  if (setup_.measures_constants && global_ != first_model && !trained_at.empty()) {
    constants_ = std::make_shared<const BoundConstants>(
        setup_.field->measure_constants(trained_at, *first_model, *global_));
    record.constants = constants_;
  }
  const std::vector<double> global_gradients = setup_.field->squared_meta_gradients(of_global);
  double gradient_sum = 0.0;
  std::vector<double> objectives;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    SwarmRecord& swarm = record.swarms[tasks[i].swarm];
    gradient_sum += global_gradients[i];
    // As in the planner's tables, a round that cannot be trained costs more than any decision.
    const double missing = 1.0 - static_cast<double>(num_decided[tasks[i].swarm]) / num_rounds;
    swarm.objective = objective_sums[tasks[i].swarm] + setup_.objective_constant(plan.timing) +
                      missing * setup_.untrained_objective;
    if (missing == 0.0) {
      objectives.push_back(swarm.objective);
    }
  }
  record.mean_objective = objectives.empty() ? 0.0 : mean_interval(objectives).mean;
  record.squared_meta_gradient = gradient_sum / static_cast<double>(tasks.size());
  std::vector<Model> handed;
  {
    std::vector<Model> own_models = setup_.fleet->personalise(tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (updates[i].trained) {
        book(personalisation_energy(world, tasks[i], updates[i], current.links[i], setup_.model_size));
        handed.push_back(std::move(own_models[i]));
      }
    }
  }
  const std::vector<double> left_gradients = setup_.field->hand_over(trained_at, std::move(handed));
  for (std::size_t i = 0; i < trained_at.size(); ++i) {
    ClusterState& cluster = clusters_[trained_at[i]];
    cluster.squared_gradient = left_gradients[i];
    cluster.visited_at = state_.sequence + 1;
    record.clusters[trained_at[i]].visited = true;
    record.clusters[trained_at[i]].handed_over_s = handed_over_s[i];
  }
  record.gradient_bound = num_bounds > 0 ? bound_sum / static_cast<double>(num_bounds) : 0.0;
}

}  // namespace skein
