#include "skein/simulation/core_network.h"

#include <algorithm>

#include "skein/base/expect.h"
#include "skein/base/interval.h"
#include "skein/world/energy.h"
#include "skein/world/recharging.h"
#include "skein/world/timing.h"

namespace skein {

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
  const double mean_measured = measured.empty() ? 0.0 : mean_interval(measured).mean;
  return mean_measured > 0.0 ? mean_interval(setup_.initial_drifts).mean / mean_measured : 0.0;
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
