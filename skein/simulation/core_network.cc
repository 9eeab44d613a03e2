#include "skein/simulation/core_network.h"

#include <algorithm>
#include <limits>

#include "skein/base/expect.h"
#include "skein/base/interval.h"
#include "skein/bounds/drift.h"
#include "skein/simulation/model_bytes.h"
#include "skein/world/energy.h"
#include "skein/world/recharging.h"
#include "skein/world/timing.h"

namespace skein {

CoreNetwork::CoreNetwork(MissionSetup setup, ThreadPool& pool)
    : setup_(std::move(setup)),
      pool_(pool),
      state_(initial_mission_state(*setup_.world, setup_.initial, setup_.first_timing)) {
  expect(setup_.initial_drifts.size() == state_.clusters.size(), "every cluster has a drift to begin with");
  if (setup_.estimates.held_out > 0.0) {
    state_.estimates = ClusterEstimator::initial(setup_.estimates, state_.clusters.size());
  }
  setup_.planner->begin(setup_.seed);
}

namespace {

// Planners that do not say who trains mean whoever is at a cluster.
bool trains(const Plan& plan, std::size_t swarm, const World& world) {
  return !world.is_station(plan.destinations[swarm]) && (plan.active.empty() || plan.active[swarm]);
}

}  // namespace

SequenceRecord CoreNetwork::step(FractionListener progress) {
  expect(!done(), "the mission is over");
  now_ = {.sequence = state_.world.sequence, .round = 0};
  const NanojouleSum shortfall = state_.world.ledger.total_shortfall();
  SequenceRecord record = begin();
  plan(record);
  fly(record);
  measure_drift(record);
  estimate_left_models(record);
  recharge(record);
  train(record, progress);
  finish(record);
  settle(record);
  record.shortfall_j = to_energy(state_.world.ledger.total_shortfall() - shortfall).si();
  advance(record);
  progress(1.0);
  return record;
}

// Clusters' models on the data of now.
SequenceRecord CoreNetwork::begin() const {
  SequenceRecord record;
  record.sequence = state_.world.sequence;
  record.start_s = state_.world.clock.now().si();
  record.swarms.resize(setup_.world->swarms.size());
  record.clusters.resize(state_.clusters.size());
  record.uavs.resize(setup_.world->uavs.size());
  for (std::size_t id = 0; id < record.uavs.size(); ++id) {
    record.uavs[id].aloft = state_.uav_arrivals_s[id] > record.start_s;
  }
  std::vector<ClusterModel> models;
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    models.push_back({c, state_.clusters[c].was_visited() ? nullptr : &setup_.initial});
  }
  const std::vector<ModelScore> scores = setup_.field->scores(models);
  for (std::size_t c = 0; c < scores.size(); ++c) {
    record.clusters[c].accuracy_before = record.clusters[c].accuracy_after = scores[c].accuracy;
    record.clusters[c].loss_before = record.clusters[c].loss_after = scores[c].loss;
  }
  note_faults(record.start_s, record);
  return record;
}

// Measured drifts are squared norms of gradients; planners know drift in the reward's scale. Measured ones
// keep their proportions, with the mean of what was assumed at the start.
double CoreNetwork::gradient_scale() const {
  std::vector<double> measured;
  for (const ClusterState& cluster : state_.clusters) {
    if (cluster.num_measured > 0) {
      measured.push_back(std::max(cluster.drift, 0.0));
    }
  }
  const double mean_measured = measured.empty() ? 0.0 : mean_interval(measured).mean;
  return mean_measured > 0.0 ? mean_interval(setup_.initial_drifts).mean / mean_measured : 0.0;
}

// A cluster that seems not to drift counts with a little of the mean: it would never be measured again.
std::vector<double> CoreNetwork::planning_drifts() const {
  constexpr double least_share = 0.05;
  const double scale = gradient_scale();
  std::vector<double> drifts = setup_.initial_drifts;
  const double least = least_share * mean_interval(drifts).mean;
  for (std::size_t c = 0; c < drifts.size(); ++c) {
    if (state_.clusters[c].num_measured > 0 && scale > 0.0) {
      drifts[c] = std::max(state_.clusters[c].drift * scale, least);
    }
  }
  return drifts;
}

// A cluster that never had a model counts as old.
double CoreNetwork::planned_age(std::size_t cluster) const {
  const ClusterState& c = state_.clusters[cluster];
  return c.was_visited() ? c.age : std::max(c.age, setup_.reward.age_cap);
}

Observation CoreNetwork::observe() {
  Observation o;
  o.sequence = state_.world.sequence;
  o.drifts = planning_drifts();
  for (std::size_t swarm = 0; swarm < setup_.world->swarms.size(); ++swarm) {
    const std::size_t site = state_.world.swarm_sites[swarm];
    o.active.push_back(!setup_.world->is_station(site));
    o.positions.push_back(static_cast<Site>(site));
    o.batteries.emplace_back(supplies().is_lost(swarm) ? lost_battery_j : supplies().least_battery(swarm));
  }
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    o.ages.push_back(planned_age(c));
    o.gradients.push_back(state_.clusters[c].squared_gradient * gradient_scale());
    o.drift_sums.push_back(planned_age(c) * o.drifts[c]);
  }
  o.timing = state_.timing;
  o.now_s = state_.world.clock.now().si();
  o.left_s =
      setup_.end_s > 0.0 ? std::max(0.0, setup_.end_s - o.now_s) : std::numeric_limits<double>::infinity();
  o.spent_j = to_energy(state_.world.ledger.total_spent()).si();
  for (const Trip& trip : state_.trips) {
    o.arrivals_s.push_back(std::max(0.0, trip.busy_until_s - o.now_s));
  }
  o.forecasts = estimator().forecasts(setup_.num_classes, o.now_s);
  return o;
}

void CoreNetwork::plan(SequenceRecord& record) {
  state_.seen.push_back(observe());
  const std::vector<ClusterForecast>& forecasts = state_.seen.back().forecasts;
  for (std::size_t c = 0; c < forecasts.size(); ++c) {
    record.clusters[c].predicted_accuracy = forecasts[c].accuracy;
  }
  record.plan = setup_.planner->choose(state_.seen.back());
  record.alternatives = setup_.planner->alternatives();
  expect(record.plan.destinations.size() == setup_.world->swarms.size(),
         "a plan has a destination for every swarm");
}

void CoreNetwork::fly(SequenceRecord& record) {
  for (std::size_t swarm = 0; swarm < setup_.world->swarms.size(); ++swarm) {
    fly_swarm(swarm, record);
  }
}

void CoreNetwork::fly_swarm(std::size_t swarm, SequenceRecord& record) {
  const World& world = *setup_.world;
  SwarmRecord& own = record.swarms[swarm];
  own.from = own.to = state_.world.swarm_sites[swarm];
  own.departs_s = own.arrival_s = own.finished_s = record.start_s;
  if (supplies().is_lost(swarm)) {  // nothing moves
    own.lost = true;
    own.culprit = supplies().flying(swarm).empty() ? "nobody is left" : "nobody is left to lead or to train";
    state_.trips[swarm].busy_until_s = record.start_s;
    return;
  }
  if (state_.trips[swarm].busy_until_s > record.start_s) {
    go_on(swarm, record);
    return;
  }
  const Plan& plan = record.plan;
  const bool rests = plan.destinations[swarm] == own.from && !trains(plan, swarm, world);
  own.departs_s += plan.departures_s.empty() ? 0.0 : plan.departures_s[swarm];
  const double delay_s = lacks_model(swarm) ? model_delay().si() : 0.0;
  if ((rests && !world.is_station(own.from)) || own.departs_s + delay_s >= latest_arrival(record)) {
    own.departs_s = record.start_s;
    return;
  }
  depart(swarm, record);
}

void CoreNetwork::depart(std::size_t swarm, SequenceRecord& record) {
  const World& world = *setup_.world;
  SwarmRecord& own = record.swarms[swarm];
  own.to = record.plan.destinations[swarm];
  const bool will_train = trains(record.plan, swarm, world);
  const Length distance = ground_distance(world.site(own.from), world.site(own.to));
  own.distance_m = distance.si();
  const double leaves_s = own.departs_s + (will_train ? fetch_model(swarm, record).si() : 0.0);
  Airborne airborne = this->airborne(record);
  own.arrival_s = leaves_s;
  for (const std::size_t id : supplies().flying(swarm)) {
    const Uav& uav = world.uavs[id];
    airborne.land(id, Time(leaves_s - record.start_s));
    const Flight flight{.distance = distance, .speed = uav.cruise_speed};
    const Energy energy = travel_energy(uav.propulsion, flight);
    own.travel_j += energy.si();
    own.dearest_flight_j = std::max(own.dearest_flight_j, energy.si());
    airborne.fly(id, EnergyKind::travel, energy, flight_time(flight));
    state_.uav_arrivals_s[id] = leaves_s + flight_time(flight).si();
    own.arrival_s = std::max(own.arrival_s, state_.uav_arrivals_s[id]);
  }
  state_.trips[swarm] = {.from = own.from, .departs_s = leaves_s, .busy_until_s = own.arrival_s};
  state_.world.swarm_sites[swarm] = own.to;
  arrive(swarm, will_train, record);
}

// Under way, or recharging, since an earlier sequence.
void CoreNetwork::go_on(std::size_t swarm, SequenceRecord& record) {
  SwarmRecord& own = record.swarms[swarm];
  const Trip& trip = state_.trips[swarm];
  own.departs_s = trip.departs_s;
  own.finished_s = trip.busy_until_s;
  bool flies = false;
  Airborne airborne = this->airborne(record);
  for (const std::size_t id : supplies().flying(swarm)) {
    const double left_s = state_.uav_arrivals_s[id] - record.start_s;
    airborne.go_on(id, Time(left_s));
    flies = flies || left_s > 0.0;
  }
  if (flies) {
    own.from = trip.from;
    own.arrival_s = trip.busy_until_s;
    arrive(swarm, trains(record.plan, swarm, *setup_.world), record);
  }
}

// In this sequence, or it is still under way.
void CoreNetwork::arrive(std::size_t swarm, bool trains, SequenceRecord& record) {
  SwarmRecord& own = record.swarms[swarm];
  own.under_way = own.arrival_s > latest_arrival(record);
  own.active = trains && !own.under_way;
  if (own.active) {
    own.arrival_s += fetch_model(swarm, record).si();
  }
  own.finished_s = own.arrival_s;
}

Time CoreNetwork::fetch_model(std::size_t swarm, SequenceRecord& record) {
  if (!lacks_model(swarm)) {
    return {};
  }
  record.swarms[swarm].gets_model = true;
  state_.known_merges[swarm] = state_.merges;
  record.model_bits += setup_.problems->sizes().model.si();
  return model_delay();
}

// Of the plan that brings the global model to a leader from afar.
Time CoreNetwork::model_delay() const {
  return setup_.problems->sizes().model / DataRate(SwarmDescription{}.control_rate);
}

const std::shared_ptr<const Model>& CoreNetwork::model_of(std::size_t swarm) const {
  return state_.own_models[swarm] ? state_.own_models[swarm] : state_.global;
}

bool CoreNetwork::lacks_model(std::size_t swarm) const {
  return !state_.own_models[swarm] && state_.known_merges[swarm] < state_.merges;
}

// On arrival at a cluster: how far the gradient of the model that was left there has moved.
void CoreNetwork::measure_drift(const SequenceRecord& record) {
  std::vector<std::size_t> arrived;
  for (const SwarmRecord& swarm : record.swarms) {
    if (swarm.active && state_.clusters[swarm.to].was_visited()) {
      arrived.push_back(swarm.to);
    }
  }
  const std::vector<double> changes = setup_.field->squared_gradient_changes(arrived);
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    ClusterState& cluster = state_.clusters[arrived[i]];
    const auto elapsed = static_cast<double>(state_.world.sequence + 1 - cluster.visited_at);
    if (elapsed > 0.0) {
      cluster.drift = drift_rate(changes[i], elapsed);
      ++cluster.num_measured;
    }
  }
}

void CoreNetwork::recharge(SequenceRecord& record) {
  const World& world = *setup_.world;
  Ledger& ledger = state_.world.ledger;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    if (own.under_way || own.lost || !world.is_station(own.to) || own.finished_s > own.arrival_s) {
      continue;
    }
    const Charger& charger = world.stations[own.to - world.clusters.size()].charger;
    double longest = 0.0;
    for (const std::size_t id : supplies().flying(swarm)) {
      const Ledger::Id account = State::account_of_uav(id);
      longest = std::max(longest, recharge_time(charger, ledger.missing(account)).si());
      own.recharged_j += to_energy(ledger.recharge_fully(account)).si();
    }
    own.finished_s = own.arrival_s + longest;
    own.recharges = !(record.plan.until_s > 0.0) || own.arrival_s > record.start_s;
    state_.trips[swarm].busy_until_s = own.finished_s;
  }
}

// All wait for it, landed; but while the first tour gets on there is no waiting.
double CoreNetwork::earliest_end(const SequenceRecord& record) const {
  const bool all_visited = std::ranges::all_of(state_.clusters, &ClusterState::was_visited);
  const bool on_first_tour =
      !all_visited && std::ranges::any_of(record.clusters, &ClusterRecord::first_visit);
  const double until_s = record.plan.until_s;
  const double end_s = record.start_s + (until_s > 0.0 ? until_s : on_first_tour ? 0.0 : setup_.cycle_s);
  return setup_.end_s > 0.0 ? std::min(std::max(end_s, record.start_s + least_sequence_s), setup_.end_s)
                            : end_s;
}

double CoreNetwork::latest_arrival(const SequenceRecord& record) const {
  return record.plan.until_s > 0.0 ? earliest_end(record) : std::numeric_limits<double>::infinity();
}

// When it ends for all. Until then whoever is done is on the ground.
void CoreNetwork::finish(SequenceRecord& record) {
  record.end_s = earliest_end(record);
  for (const SwarmRecord& swarm : record.swarms) {
    const bool counts = swarm.active || !(record.plan.until_s > 0.0);
    record.end_s = counts ? std::max(record.end_s, swarm.finished_s) : record.end_s;
  }
  Airborne airborne = this->airborne(record);
  for (std::size_t swarm = 0; swarm < record.swarms.size(); ++swarm) {
    for (const std::size_t id : supplies().flying(swarm)) {
      UavTimes& times = record.uavs[id];
      if (state_.uav_arrivals_s[id] > record.end_s) {  // the rest of its flight is of later sequences
        times.flying_s -= state_.uav_arrivals_s[id] - record.end_s;
        continue;
      }
      const double busy_s = times.flying_s + times.hovering_s + times.landed_s;
      airborne.land(id, Time(record.end_s - record.start_s - busy_s));
    }
  }
}

// What it was worth.
void CoreNetwork::settle(SequenceRecord& record) {
  const World& world = *setup_.world;
  const std::vector<double> drifts = planning_drifts();
  SequenceCosts costs;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    SwarmRecord& own = record.swarms[swarm];
    costs.travel_j += own.dearest_flight_j;
    costs.objective_sum += own.active ? own.objective : 0.0;
    costs.recharging += world.is_station(own.to) && !own.lost ? 1 : 0;
    own.least_battery_j = supplies().least_battery(swarm);
    own.least_margin_j = supplies().least_margin(swarm);
    record.below_threshold += own.least_margin_j < 0.0 ? 1 : 0;
  }
  costs.below_threshold = record.below_threshold;
  note_late_faults(record);
  score_after(record);
  age_clusters(drifts, costs, record);
  record.reward = reward(setup_.reward, costs);
  for (std::size_t id = 0; id < world.uavs.size(); ++id) {
    record.battery_j.push_back(state_.world.ledger.level(State::account_of_uav(id)).si());
  }
}

// Of clusters with a new model.
void CoreNetwork::score_after(SequenceRecord& record) {
  std::vector<ClusterModel> models;
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    if (record.clusters[c].visited) {
      models.push_back({c});
    }
  }
  const std::vector<ModelScore> scores = setup_.field->scores(models);
  for (std::size_t i = 0; i < models.size(); ++i) {
    record.clusters[models[i].cluster].accuracy_after = scores[i].accuracy;
    record.clusters[models[i].cluster].loss_after = scores[i].loss;
  }
}

void CoreNetwork::age_clusters(const std::vector<double>& drifts, SequenceCosts& costs,
                               SequenceRecord& record) {
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    ClusterState& cluster = state_.clusters[c];
    ClusterRecord& own = record.clusters[c];
    cluster.age = own.visited ? 0.0 : cluster.age + 1.0;
    if (!own.visited) {
      const double age = planned_age(c);
      costs.gradient_sum += unvisited_gradient(setup_.reward, age, drifts[c], age * drifts[c],
                                               cluster.squared_gradient * gradient_scale());
    }
    own.age = cluster.age;
    own.drift = cluster.num_measured > 0 ? std::optional(cluster.drift) : std::nullopt;
    own.squared_gradient = cluster.squared_gradient;
  }
}

// To the next sequence: data drifts.
void CoreNetwork::advance(const SequenceRecord& record) {
  state_.timing = record.plan.timing;
  state_.world.clock.advance_to(Time(record.end_s));
  ++state_.world.sequence;
  setup_.field->advance(Time(record.end_s));
}

void CoreNetwork::note_faults(double now_s, SequenceRecord& record) const {
  for (const MissionFault& fault : setup_.faults.all()) {
    if (fault.sequence == now_.sequence && fault.round == now_.round) {
      record.faults.push_back({now_s, to_string(fault, *setup_.world)});
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

Model CoreNetwork::cluster_model(std::size_t cluster) const {
  return state_.clusters[cluster].was_visited() ? setup_.field->handed(cluster).model : setup_.initial;
}

void CoreNetwork::save(ByteWriter& bytes) const {
  put_mission_state(bytes, state_);
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    if (state_.clusters[c].was_visited()) {
      put_handed(bytes, setup_.field->handed(c));
    }
  }
  bytes.put_text(setup_.field->save());
}

void CoreNetwork::restore(ByteCursor& bytes) {
  state_ = get_mission_state(bytes);
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    if (state_.clusters[c].was_visited()) {
      setup_.field->restore(c, get_handed(bytes));
    }
  }
  setup_.field->restore(bytes.get_text());
  setup_.planner->begin(setup_.seed);
  for (const Observation& seen : state_.seen) {
    static_cast<void>(setup_.planner->choose(seen));  // a planner that remembers sees it all again
  }
}

}  // namespace skein
