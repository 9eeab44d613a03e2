#include "skein/simulation/core_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/simulation/round_signalling.h"
#include "skein/world/energy.h"
#include "skein/world/links.h"
#include "skein/world/recharging.h"
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

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

CoreNetwork::CoreNetwork(MissionSetup setup, ThreadPool& pool)
    : setup_(std::move(setup)),
      pool_(pool),
      state_(initial_state(*setup_.world)),
      global_(std::make_shared<const Model>(setup_.initial)),
      clusters_(setup_.world->clusters.size()),
      timing_(setup_.first_timing) {
  expect(setup_.initial_drifts.size() == clusters_.size(), "every cluster has a drift to begin with");
  setup_.planner->begin(setup_.seed);
}

std::vector<std::size_t> CoreNetwork::flying(std::size_t swarm) const {
  const Swarm& members = setup_.world->swarms[swarm];
  std::vector<std::size_t> ids;
  for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
    if (!setup_.faults.has_crashed(*setup_.world, id, now_)) {
      ids.push_back(id);
    }
  }
  return ids;
}

bool CoreNetwork::is_lost(std::size_t swarm) const {
  return !setup_.faults.members(*setup_.world, swarm, now_).can_train();
}

// A swarm of which nobody is left never lacks anything.
double CoreNetwork::least_battery(std::size_t swarm) const {
  double least = setup_.world->uavs[setup_.world->swarms[swarm].leader].battery.si();
  for (const std::size_t id : flying(swarm)) {
    least = std::min(least, state_.ledger.level(State::account_of_uav(id)).si());
  }
  return least;
}

double CoreNetwork::least_margin(std::size_t swarm) const {
  const Uav& leader = setup_.world->uavs[setup_.world->swarms[swarm].leader];
  double least = (leader.battery - leader.battery_threshold).si();
  for (const std::size_t id : flying(swarm)) {
    const double level = state_.ledger.level(State::account_of_uav(id)).si();
    least = std::min(least, level - setup_.world->uavs[id].battery_threshold.si());
  }
  return least;
}

// Measured drifts are squared norms of gradients; planners know drift in the reward's scale. Measured ones
// keep their proportions, with the mean of what was assumed at the start.
double CoreNetwork::gradient_scale() const {
  std::vector<double> measured;
  for (const ClusterState& cluster : clusters_) {
    if (cluster.drift >= 0.0) {
      measured.push_back(cluster.drift);
    }
  }
  const double mean_measured = measured.empty() ? 0.0 : mean_of(measured);
  return mean_measured > 0.0 ? mean_of(setup_.initial_drifts) / mean_measured : 0.0;
}

std::vector<double> CoreNetwork::planning_drifts() const {
  const double scale = gradient_scale();
  std::vector<double> drifts = setup_.initial_drifts;
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    if (clusters_[c].drift >= 0.0 && scale > 0.0) {
      drifts[c] = clusters_[c].drift * scale;
    }
  }
  return drifts;
}

double CoreNetwork::planned_age(std::size_t cluster) const {
  const ClusterState& c = clusters_[cluster];
  return c.visited_at == 0 ? std::max(c.age, setup_.age_cap) : c.age;
}

Observation CoreNetwork::observe() const {
  Observation o;
  o.sequence = state_.sequence;
  o.drifts = planning_drifts();
  for (std::size_t swarm = 0; swarm < setup_.world->swarms.size(); ++swarm) {
    const std::size_t site = state_.swarm_sites[swarm];
    o.active.push_back(!setup_.world->is_station(site));
    o.positions.push_back(static_cast<Site>(site));
    o.batteries.emplace_back(is_lost(swarm) ? lost_battery_j : least_battery(swarm));
  }
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    o.ages.push_back(planned_age(c));
    o.gradients.push_back(clusters_[c].squared_gradient * gradient_scale());
    o.drift_sums.push_back(planned_age(c) * o.drifts[c]);
  }
  o.timing = timing_;
  return o;
}

void CoreNetwork::spend(std::size_t uav, EnergyKind kind, Energy energy) {
  const Ledger::Id account = State::account_of_uav(uav);
  state_.ledger.book(account, kind, energy);
  const double factor = setup_.faults.factor(FaultKind::battery, uav, now_);
  if (factor > 1.0) {
    state_.ledger.book(account, EnergyKind::leakage, (factor - 1.0) * energy);
  }
}

void CoreNetwork::book(const std::vector<EnergyUse>& uses) {
  for (const EnergyUse& use : uses) {
    if (use.is_device) {
      state_.ledger.book(State::account_of_device(*setup_.world, use.index), use.kind, Energy(use.joules));
    } else {
      spend(use.index, use.kind, Energy(use.joules));
    }
  }
}

void CoreNetwork::fly(const Plan& plan, SequenceRecord& record) {
  const World& world = *setup_.world;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    own.from = state_.swarm_sites[swarm];
    own.to = plan.destinations[swarm];
    own.active = !world.is_station(own.to);
    const Length distance = ground_distance(world.site(own.from), world.site(own.to));
    own.distance_m = distance.si();
    double longest = 0.0;
    if (is_lost(swarm)) {  // nothing moves
      own.to = own.from;
      own.active = false;
      own.distance_m = 0.0;
      own.arrival_s = own.finished_s = record.start_s;
      own.culprit = flying(swarm).empty() ? "nobody is left" : "nobody is left to lead or to train";
      continue;
    }
    for (const std::size_t id : flying(swarm)) {
      const Uav& uav = world.uavs[id];
      const Flight flight{.distance = distance, .speed = uav.cruise_speed};
      const Energy energy = travel_energy(uav.propulsion, flight);
      own.travel_j += energy.si();
      own.dearest_flight_j = std::max(own.dearest_flight_j, energy.si());
      spend(id, EnergyKind::travel, energy);
      longest = std::max(longest, flight_time(flight).si());
    }
    own.arrival_s = record.start_s + longest;
    own.finished_s = own.arrival_s;
    state_.swarm_sites[swarm] = own.to;
  }
}

void CoreNetwork::recharge(SequenceRecord& record) {
  const World& world = *setup_.world;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    if (own.active || !world.is_station(own.to) || !own.culprit.empty()) {
      continue;
    }
    const Charger& charger = world.stations[own.to - world.clusters.size()].charger;
    double longest = 0.0;
    for (const std::size_t id : flying(swarm)) {
      const Ledger::Id account = State::account_of_uav(id);
      longest = std::max(longest, recharge_time(charger, state_.ledger.missing(account)).si());
      own.recharged_j += to_energy(state_.ledger.recharge_fully(account)).si();
    }
    own.finished_s = own.arrival_s + longest;
  }
}

// On arrival at a cluster: how far the gradient of the model that was left there has moved.
void CoreNetwork::measure_arrivals(const SequenceRecord& record) {
  std::vector<std::size_t> arrived;
  for (const SwarmRecord& swarm : record.swarms) {
    if (swarm.active && clusters_[swarm.to].visited_at > 0) {
      arrived.push_back(swarm.to);
    }
  }
  const std::vector<double> changes = setup_.field->squared_gradient_changes(arrived);
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    ClusterState& cluster = clusters_[arrived[i]];
    const auto elapsed = static_cast<double>(state_.sequence + 1 - cluster.visited_at);
    if (elapsed > 0.0) {
      cluster.drift = changes[i] / (elapsed * elapsed);
    }
  }
}

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

void CoreNetwork::note_faults(double now, SequenceRecord& record) const {
  for (const MissionFault& fault : setup_.faults.all()) {
    if (fault.sequence == now_.sequence && fault.round == now_.round) {
      record.faults.push_back({now, to_string(fault, *setup_.world)});
    }
  }
}

void CoreNetwork::note_late_faults(SequenceRecord& record) const {
  for (const MissionFault& fault : setup_.faults.all()) {
    if (fault.sequence == now_.sequence && fault.round > now_.round) {
      record.faults.push_back(
          {record.end_s, to_string(fault, *setup_.world) + ", after the last global round of its sequence"});
    }
  }
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
  record.mean_objective = objectives.empty() ? 0.0 : mean_of(objectives);
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

SequenceRecord CoreNetwork::step(const Progress& progress) {
  expect(!done(), "the mission is over");
  const World& world = *setup_.world;
  SequenceRecord record;
  record.sequence = state_.sequence;
  record.start_s = state_.clock.now().si();
  record.swarms.resize(world.swarms.size());
  record.clusters.resize(clusters_.size());
  std::vector<ClusterModel> models;
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    models.push_back({c, clusters_[c].visited_at > 0 ? nullptr : &setup_.initial});
  }
  const std::vector<ModelScore> before = setup_.field->scores(models);
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    record.clusters[c].accuracy_before = record.clusters[c].accuracy_after = before[c].accuracy;
    record.clusters[c].loss_before = record.clusters[c].loss_after = before[c].loss;
    record.clusters[c].mix = setup_.field->mix(c);
  }
  const NanojouleSum shortfall = state_.ledger.total_shortfall();
  now_ = {.sequence = state_.sequence, .round = 0};
  note_faults(record.start_s, record);

  seen_.push_back(observe());
  record.plan = setup_.planner->choose(seen_.back());
  record.alternatives = setup_.planner->alternatives();
  const Plan& plan = record.plan;
  expect(plan.destinations.size() == world.swarms.size(), "a plan has a destination for every swarm");
  fly(plan, record);
  measure_arrivals(record);
  recharge(record);
  train(plan, record, progress);

  SequenceCosts costs;
  const std::vector<double> drifts = planning_drifts();
  record.end_s = record.start_s;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    record.end_s = std::max(record.end_s, own.finished_s);
    costs.travel_j += own.dearest_flight_j;
    costs.objective_sum += own.active ? own.objective : 0.0;
    costs.recharging += world.is_station(own.to) && own.culprit.empty() ? 1 : 0;
  }
  note_late_faults(record);
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    own.least_battery_j = least_battery(swarm);
    own.least_margin_j = least_margin(swarm);
    record.below_threshold += own.least_margin_j < 0.0 ? 1 : 0;
  }
  costs.below_threshold = record.below_threshold;
  models.clear();
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    if (record.clusters[c].visited) {
      models.push_back({c});
    }
  }
  const std::vector<ModelScore> after = setup_.field->scores(models);
  for (std::size_t i = 0; i < models.size(); ++i) {
    record.clusters[models[i].cluster].accuracy_after = after[i].accuracy;
    record.clusters[models[i].cluster].loss_after = after[i].loss;
  }
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    ClusterState& cluster = clusters_[c];
    ClusterRecord& own = record.clusters[c];
    cluster.age = own.visited ? 0.0 : cluster.age + 1.0;
    if (!own.visited) {
      const double age = planned_age(c);
      costs.gradient_sum +=
          setup_.gradient(age, drifts[c], age * drifts[c], cluster.squared_gradient * gradient_scale());
    }
    own.age = cluster.age;
    own.drift = cluster.drift;
    own.squared_gradient = cluster.squared_gradient;
  }
  record.reward = setup_.reward(costs);
  record.shortfall_j = to_energy(state_.ledger.total_shortfall() - shortfall).si();
  for (std::size_t id = 0; id < world.uavs.size(); ++id) {
    record.battery_j.push_back(state_.ledger.level(State::account_of_uav(id)).si());
  }
  timing_ = plan.timing;
  state_.clock.advance_to(Time(record.end_s));
  ++state_.sequence;
  setup_.field->advance();
  progress(1.0);
  return record;
}

Model CoreNetwork::cluster_model(std::size_t cluster) const {
  return clusters_[cluster].visited_at > 0 ? setup_.field->handed(cluster).model : setup_.initial;
}

void CoreNetwork::save(ByteWriter& bytes) const {
  bytes.put<std::uint64_t>(state_.sequence);
  bytes.put(state_.clock.now().si());
  bytes.put_list(state_.swarm_sites);
  bytes.put_list(state_.ledger.accounts());
  bytes.put(timing_);
  bytes.put<std::uint64_t>(iterations_);
  bytes.put_list(*global_);
  bytes.put_list(constants_ ? std::vector<BoundConstants>{*constants_} : std::vector<BoundConstants>{});
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    const ClusterState& cluster = clusters_[c];
    bytes.put(cluster.age);
    bytes.put(cluster.drift);
    bytes.put(cluster.squared_gradient);
    bytes.put(cluster.visited_at);
    if (cluster.visited_at > 0) {
      const HandedModel handed = setup_.field->handed(c);
      bytes.put_list(handed.model);
      bytes.put_list(handed.gradient);
    }
  }
  bytes.put<std::uint64_t>(seen_.size());
  for (const Observation& o : seen_) {
    bytes.put<std::uint64_t>(o.sequence);
    std::vector<std::uint8_t> active(o.active.begin(), o.active.end());
    bytes.put_list(active);
    bytes.put_list(o.positions);
    bytes.put_list(o.batteries);
    bytes.put_list(o.drifts);
    bytes.put_list(o.ages);
    bytes.put_list(o.gradients);
    bytes.put_list(o.drift_sums);
    bytes.put(o.timing);
  }
  bytes.put_text(setup_.field->save());
}

void CoreNetwork::restore(ByteCursor& bytes) {
  state_.sequence = bytes.get<std::uint64_t>();
  state_.clock = Clock(Time(bytes.get<double>()));
  state_.swarm_sites = bytes.get_list<std::vector<std::size_t>>();
  state_.ledger = Ledger(bytes.get_list<std::vector<Account>>());
  timing_ = bytes.get<Timing>();
  iterations_ = bytes.get<std::uint64_t>();
  global_ = std::make_shared<const Model>(bytes.get_list<Model>());
  const auto constants = bytes.get_list<std::vector<BoundConstants>>();
  constants_ = constants.empty() ? nullptr : std::make_shared<const BoundConstants>(constants.front());
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    ClusterState& cluster = clusters_[c];
    cluster.age = bytes.get<double>();
    cluster.drift = bytes.get<double>();
    cluster.squared_gradient = bytes.get<double>();
    cluster.visited_at = bytes.get<std::uint64_t>();
    if (cluster.visited_at > 0) {
      HandedModel handed{.model = bytes.get_list<Model>()};
      handed.gradient = bytes.get_list<std::vector<float>>();
      setup_.field->restore(c, std::move(handed));
    }
  }
  seen_.clear();
  setup_.planner->begin(setup_.seed);
  const auto count = bytes.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    Observation& o = seen_.emplace_back();
    o.sequence = bytes.get<std::uint64_t>();
    const auto active = bytes.get_list<std::vector<std::uint8_t>>();
    o.active.assign(active.begin(), active.end());
    o.positions = bytes.get_list<std::vector<Site>>();
    o.batteries = bytes.get_list<std::vector<Energy>>();
    o.drifts = bytes.get_list<std::vector<double>>();
    o.ages = bytes.get_list<std::vector<double>>();
    o.gradients = bytes.get_list<std::vector<double>>();
    o.drift_sums = bytes.get_list<std::vector<double>>();
    o.timing = bytes.get<Timing>();
    static_cast<void>(setup_.planner->choose(o));  // a planner that remembers sees it all again
  }
  setup_.field->restore(bytes.get_text());
}

}  // namespace skein
