#include "skein/simulation/core_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/world/energy.h"
#include "skein/world/links.h"
#include "skein/world/recharging.h"
#include "skein/world/timing.h"

namespace skein {
namespace {

double squared_norm(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

double squared_change(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double change = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += change * change;
  }
  return sum;
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
  for (ClusterState& cluster : clusters_) {
    cluster.model = global_;
    cluster.drift = -1.0;
  }
  expect(setup_.initial_drifts.size() == clusters_.size(), "every cluster has a drift to begin with");
  setup_.planner->begin(setup_.seed);
}

double CoreNetwork::least_battery(std::size_t swarm) const {
  const Swarm& members = setup_.world->swarms[swarm];
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
    least = std::min(least, state_.ledger.level(State::account_of_uav(id)).si());
  }
  return least;
}

double CoreNetwork::least_margin(std::size_t swarm) const {
  const Swarm& members = setup_.world->swarms[swarm];
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
    const double level = state_.ledger.level(State::account_of_uav(id)).si();
    least = std::min(least, level - setup_.world->uavs[id].battery_threshold.si());
  }
  return least;
}

// Measured drifts are squared norms of gradients; planners know drift in the reward's scale. Measured ones
// keep their proportions, with the mean of what was assumed at the start.
std::vector<double> CoreNetwork::planning_drifts() const {
  std::vector<double> measured;
  for (const ClusterState& cluster : clusters_) {
    if (cluster.drift >= 0.0) {
      measured.push_back(cluster.drift);
    }
  }
  const double mean_measured = measured.empty() ? 0.0 : mean_of(measured);
  const double mean_assumed = mean_of(setup_.initial_drifts);
  std::vector<double> drifts = setup_.initial_drifts;
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    if (clusters_[c].drift >= 0.0 && mean_measured > 0.0) {
      drifts[c] = clusters_[c].drift / mean_measured * mean_assumed;
    }
  }
  return drifts;
}

Observation CoreNetwork::observe() const {
  Observation o;
  o.sequence = state_.sequence;
  o.drifts = planning_drifts();
  for (std::size_t swarm = 0; swarm < setup_.world->swarms.size(); ++swarm) {
    const std::size_t site = state_.swarm_sites[swarm];
    o.active.push_back(!setup_.world->is_station(site));
    o.positions.push_back(static_cast<Site>(site));
    o.batteries.emplace_back(least_battery(swarm));
  }
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    o.ages.push_back(clusters_[c].age);
    o.gradients.push_back(clusters_[c].squared_gradient);
    o.drift_sums.push_back(clusters_[c].age * o.drifts[c]);
  }
  o.timing = timing_;
  return o;
}

void CoreNetwork::book(const std::vector<EnergyUse>& uses) {
  for (const EnergyUse& use : uses) {
    state_.ledger.book(
        use.is_device ? State::account_of_device(*setup_.world, use.index) : State::account_of_uav(use.index),
        use.kind, Energy(use.joules));
  }
}

void CoreNetwork::hover(std::size_t swarm, double seconds, double leader_away) {
  const Swarm& members = setup_.world->swarms[swarm];
  for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
    const double time = id == members.leader ? seconds - leader_away : seconds;
    if (time > 0.0) {
      state_.ledger.book(State::account_of_uav(id), EnergyKind::hovering,
                         hovering_energy(setup_.world->uavs[id].propulsion, Time(time)));
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
    const Swarm& members = world.swarms[swarm];
    for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
      const Uav& uav = world.uavs[id];
      const Flight flight{.distance = distance, .speed = uav.cruise_speed};
      const Energy energy = travel_energy(uav.propulsion, flight);
      own.travel_j += energy.si();
      state_.ledger.book(State::account_of_uav(id), EnergyKind::travel, energy);
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
    if (own.active) {
      continue;
    }
    const Charger& charger = world.stations[own.to - world.clusters.size()].charger;
    const Swarm& members = world.swarms[swarm];
    double longest = 0.0;
    for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
      const Ledger::Id account = State::account_of_uav(id);
      longest = std::max(longest, recharge_time(charger, state_.ledger.missing(account)).si());
      own.recharged_j += to_energy(state_.ledger.recharge_fully(account)).si();
    }
    own.finished_s = own.arrival_s + longest;
  }
}

// On arrival at a cluster: how far the gradient of the model that was left there has moved.
void CoreNetwork::measure_arrivals(const SequenceRecord& record) {
  std::vector<ClusterModel> arrived;
  for (const SwarmRecord& swarm : record.swarms) {
    if (swarm.active && clusters_[swarm.to].visited_at > 0) {
      arrived.push_back({swarm.to, clusters_[swarm.to].model.get()});
    }
  }
  const std::vector<std::vector<float>> now = setup_.field->meta_gradients(arrived);
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    ClusterState& cluster = clusters_[arrived[i].cluster];
    const auto elapsed = static_cast<double>(state_.sequence + 1 - cluster.visited_at);
    if (elapsed > 0.0) {
      cluster.drift = squared_change(now[i], cluster.left_gradient) / (elapsed * elapsed);
    }
  }
}

void CoreNetwork::train(const Plan& plan, SequenceRecord& record, const Progress& progress) {
  const World& world = *setup_.world;
  std::vector<std::size_t> active;
  double begin = record.start_s;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    if (record.swarms[swarm].active) {
      active.push_back(swarm);
      begin = std::max(begin, record.swarms[swarm].arrival_s);
    }
  }
  if (active.empty()) {
    return;
  }
  for (const std::size_t swarm : active) {
    hover(swarm, begin - record.swarms[swarm].arrival_s, 0.0);
  }
  std::vector<Length> access_point_distances;  // of each active swarm, in order
  for (const std::size_t swarm : active) {
    access_point_distances.push_back(
        swarm_links(world, swarm, record.swarms[swarm].to, state_.sequence).access_point_distance);
  }
  const auto local_period = static_cast<std::size_t>(plan.timing.local_period);
  const auto global_period = static_cast<std::size_t>(plan.timing.global_period);
  record.global_rounds = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(plan.timing.duration)) / (local_period * global_period));
  std::vector<LeaderTask> tasks;
  std::vector<LeaderUpdate> updates;
  double now = begin;
  std::vector<double> objective_sums(world.swarms.size(), 0.0);
  for (std::size_t round = 0; round < record.global_rounds; ++round) {
    tasks.clear();
    for (const std::size_t swarm : active) {
      std::vector<double> batteries;
      for (std::size_t id = world.swarms[swarm].leader; id < world.swarms[swarm].coordinators.end(); ++id) {
        batteries.push_back(state_.ledger.level(State::account_of_uav(id)).si());
      }
      tasks.push_back({.swarm = swarm,
                       .cluster = record.swarms[swarm].to,
                       .sequence = state_.sequence,
                       .global_round = round,
                       .num_global_rounds = record.global_rounds,
                       .local_period = local_period,
                       .global_period = global_period,
                       .first_iteration = iterations_,
                       .model = global_,
                       .batteries = std::move(batteries)});
    }
    updates = setup_.fleet->run(tasks);
    // The slowest swarm, its leader's trip included, ends the round for all.
    double duration = 0.0;
    std::vector<double> trips;
    std::vector<SwarmUpdate> to_merge;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::size_t swarm = tasks[i].swarm;
      const Uav& leader = world.uavs[world.swarms[swarm].leader];
      const AccessPointTrips trip{
          .num_aggregations = 1,
          .one_way = {.distance = access_point_distances[i], .speed = leader.cruise_speed}};
      const bool trained = updates[i].trained;
      trips.push_back(trained ? access_point_time(trip).si() : 0.0);
      book(updates[i].energy);
      if (trained) {
        state_.ledger.book(State::account_of_uav(world.swarms[swarm].leader), EnergyKind::access_point_trips,
                           access_point_energy(leader.propulsion, trip));
        to_merge.push_back(std::move(updates[i].swarm));
        record.model_bits += 2.0 * 32.0 * static_cast<double>(global_->size());
      }
      duration = std::max(duration, updates[i].duration + trips.back());
      SwarmRecord& own = record.swarms[swarm];
      own.points_sent += updates[i].points_sent;
      own.points_trained += updates[i].points_trained;
      own.culprit = updates[i].culprit;
      double objective = 0.0;
      for (const OffloadSummary& summary : updates[i].rounds) {
        objective += summary.objective / static_cast<double>(updates[i].rounds.size());
      }
      objective_sums[swarm] += objective / static_cast<double>(record.global_rounds);
      own.last_rounds = updates[i].rounds;
      record.data_bits += updates[i].data_bits;
      record.model_bits += updates[i].model_bits;
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      hover(tasks[i].swarm, duration, trips[i]);
    }
    now += duration;
    iterations_ += local_period * global_period;
    if (!to_merge.empty()) {
      global_ = std::make_shared<const Model>(merge(to_merge, MergeWeights::equal, pool_));
    }
    progress(static_cast<double>(round + 1) / static_cast<double>(record.global_rounds + 1));
  }
  record.local_iterations = record.global_rounds * local_period * global_period;
  for (LeaderTask& task : tasks) {
    task.model = global_;
    task.first_iteration = iterations_;
  }
  std::vector<Model> own_models = setup_.fleet->personalise(tasks);
  std::vector<ClusterModel> of_own, of_global;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    of_own.push_back({tasks[i].cluster, &own_models[i]});
    of_global.push_back({tasks[i].cluster, global_.get()});
  }
  std::vector<std::vector<float>> own_gradients = setup_.field->meta_gradients(of_own);
  const std::vector<std::vector<float>> global_gradients = setup_.field->meta_gradients(of_global);
  double gradient_sum = 0.0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    SwarmRecord& swarm = record.swarms[tasks[i].swarm];
    swarm.finished_s = now;
    swarm.objective = objective_sums[tasks[i].swarm];
    ClusterState& cluster = clusters_[tasks[i].cluster];
    ClusterRecord& cluster_record = record.clusters[tasks[i].cluster];
    if (updates[i].trained) {
      cluster.model = std::make_shared<const Model>(std::move(own_models[i]));
      cluster.left_gradient = std::move(own_gradients[i]);
      cluster.squared_gradient = squared_norm(cluster.left_gradient);
      cluster.visited_at = state_.sequence + 1;
      cluster_record.visited = true;
      cluster_record.handed_over_s = now;
    }
    gradient_sum += squared_norm(global_gradients[i]);
    record.mean_objective += swarm.objective / static_cast<double>(tasks.size());
  }
  record.squared_meta_gradient = gradient_sum / static_cast<double>(tasks.size());
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
    models.push_back({c, clusters_[c].model.get()});
  }
  const std::vector<ModelScore> before = setup_.field->scores(models);
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    record.clusters[c].accuracy_before = record.clusters[c].accuracy_after = before[c].accuracy;
    record.clusters[c].loss_before = record.clusters[c].loss_after = before[c].loss;
    record.clusters[c].mix = setup_.field->mix(c);
  }
  const NanojouleSum shortfall = state_.ledger.total_shortfall();

  seen_.push_back(observe());
  record.plan = setup_.planner->choose(seen_.back());
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
    costs.travel_j += own.travel_j;
    costs.objective_sum += own.active ? own.objective : 0.0;
    costs.recharging += own.active ? 0 : 1;
  }
  // Whoever is done early waits in the air; at a station on the ground.
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    if (own.active) {
      hover(swarm, record.end_s - own.finished_s, 0.0);
    }
    own.least_battery_j = least_battery(swarm);
    own.least_margin_j = least_margin(swarm);
    record.below_threshold += own.least_margin_j < 0.0 ? 1 : 0;
  }
  costs.below_threshold = record.below_threshold;
  models.clear();
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    if (record.clusters[c].visited) {
      models.push_back({c, clusters_[c].model.get()});
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
      costs.gradient_sum += std::min(cluster.age, setup_.age_cap) * drifts[c];
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

std::string CoreNetwork::save() const {
  ByteWriter bytes;
  bytes.put<std::uint64_t>(state_.sequence);
  bytes.put(state_.clock.now().si());
  bytes.put_list(state_.swarm_sites);
  bytes.put_list(state_.ledger.accounts());
  bytes.put(timing_);
  bytes.put<std::uint64_t>(iterations_);
  bytes.put_list(*global_);
  for (const ClusterState& cluster : clusters_) {
    bytes.put_list(*cluster.model);
    bytes.put(cluster.age);
    bytes.put(cluster.drift);
    bytes.put(cluster.squared_gradient);
    bytes.put(cluster.visited_at);
    bytes.put_list(cluster.left_gradient);
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
  return bytes.take();
}

void CoreNetwork::restore(const std::string& text) {
  ByteCursor bytes(text);
  state_.sequence = bytes.get<std::uint64_t>();
  state_.clock = Clock(Time(bytes.get<double>()));
  state_.swarm_sites = bytes.get_list<std::vector<std::size_t>>();
  state_.ledger = Ledger(bytes.get_list<std::vector<Account>>());
  timing_ = bytes.get<Timing>();
  iterations_ = bytes.get<std::uint64_t>();
  global_ = std::make_shared<const Model>(bytes.get_list<Model>());
  for (ClusterState& cluster : clusters_) {
    cluster.model = std::make_shared<const Model>(bytes.get_list<Model>());
    cluster.age = bytes.get<double>();
    cluster.drift = bytes.get<double>();
    cluster.squared_gradient = bytes.get<double>();
    cluster.visited_at = bytes.get<std::uint64_t>();
    cluster.left_gradient = bytes.get_list<std::vector<float>>();
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
  expect(bytes.at_end(), "a checkpoint is of the same mission");
}

}  // namespace skein
