#include "skein/simulation/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "skein/base/bytes.h"
#include "skein/base/event_file.h"
#include "skein/world/geodesy.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

// To a tenth: enough for pictures, and short.
Json tenths(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    list.push_back(std::round(10.0 * value) / 10.0);
  }
  return list;
}

// Where a swarm's UAVs hover above a cluster: leader, workers, coordinators.
Json arrival_of(const World& world, std::size_t swarm, const SwarmRecord& record) {
  Json arrival = {{"at", world.site_name(record.to)}};
  if (record.active) {
    Json positions = Json::array();
    for (const Position& p : hover_points(world, swarm, record.to)) {
      positions.push_back(tenths({p.x.si(), p.y.si(), p.z.si()}));
    }
    arrival["access_point"] = fmt::format("A:{}", record.access_point + 1);
    arrival["positions_m"] = std::move(positions);
  }
  return arrival;
}

Json decision_of(const std::string& cluster, std::size_t round, const RoundRecord& record) {
  const OffloadSummary& decision = record.decision;
  return {{"cluster", cluster},
          {"round", round},
          {"local_rounds", record.local_rounds},
          {"training_s", record.training_s},
          {"trip_s", record.trip_s},
          {"objective", decision.objective},
          {"gradient_bound", decision.gradient_bound},
          {"kkt_residual", decision.kkt_residual},
          {"data_points", tenths(decision.data)},
          {"processed_points", tenths(decision.processed)},
          {"clock_Hz", tenths(decision.clock)},
          {"device_flow_points", tenths(decision.device_flow)},
          {"relay_flow_points", tenths(decision.relay_flow)}};
}

// TensorBoard takes whatever has "tfevents" in its name; here nothing but the mission tells what is in it.
constexpr const char* tensorboard_file = "tensorboard/events.out.tfevents.0.skein";

// What TensorBoard shows: a moment of simulated time for each sequence. Energies are since the start.
std::string scalars_of(const World& world, const SequenceRecord& record, const State& state) {
  double mean = 0.0;
  double worst = 1.0;
  double age = 0.0;
  const auto count = static_cast<double>(record.clusters.size());
  std::vector<Scalar> scalars;
  for (std::size_t c = 0; c < record.clusters.size(); ++c) {
    const ClusterRecord& cluster = record.clusters[c];
    scalars.emplace_back("accuracy_percent_of_cluster/" + world.site_name(c), 100.0 * cluster.accuracy_after);
    mean += cluster.accuracy_after / count;
    worst = std::min(worst, cluster.accuracy_after);
    age += cluster.age / count;
  }
  scalars.emplace_back("accuracy_percent/mean", 100.0 * mean);
  scalars.emplace_back("accuracy_percent/worst", 100.0 * worst);
  for (const EnergyKind kind : all_energy_kinds) {
    scalars.emplace_back(fmt::format("energy_J/{}", to_string(kind)),
                         to_energy(state.ledger.spent_on(kind)).si());
  }
  scalars.emplace_back("energy_J/all", to_energy(state.ledger.total_spent()).si());
  scalars.emplace_back("battery_J/least", *std::ranges::min_element(record.battery_j));
  scalars.emplace_back("mission/reward", record.reward);
  scalars.emplace_back("mission/mean_age_sequences", age);
  scalars.emplace_back("mission/squared_meta_gradient", record.squared_meta_gradient);
  return event_record(record.end_s, static_cast<std::int64_t>(record.sequence), scalars);
}

}  // namespace

MissionRecorder::MissionRecorder(const World& world)
    : world_(world),
      accuracy_seconds_(world.clusters.size(), 0.0),
      last_accuracy_(world.clusters.size(), 0.0) {
  sequences_ =
      "sequence,start_s,end_s,duration_local_iterations,local_period,global_period,global_rounds,active_"
      "swarms,"
      "mean_accuracy_percent,worst_accuracy_percent,mean_age_sequences,reward,mean_objective,"
      "squared_meta_gradient,gradient_bound,data_Mbit,model_Mbit,below_threshold,shortfall_J,messages,"
      "message_Mbit,refused_messages,faults,rejected_updates,unreachable_updates";
  for (const EnergyKind kind : all_energy_kinds) {
    sequences_ += fmt::format(",total_{}_J", to_string(kind));
  }
  sequences_ += "\n";
  clusters_ =
      "sequence,cluster,visited,handed_over_s,age_sequences,accuracy_before_percent,accuracy_after_percent,"
      "loss_before_nats,loss_after_nats,drift,squared_gradient\n";
  swarms_ =
      "sequence,swarm,from,to,active,arrival_s,finished_s,distance_m,travel_J,recharged_J,least_battery_J,"
      "least_margin_J,objective,points_sent,points_trained,culprit\n";
  energy_ = "sequence,uav,swarm,role,battery_J,recharged_J";
  for (const EnergyKind kind : all_energy_kinds) {
    energy_ += fmt::format(",{}_J", to_string(kind));
  }
  energy_ += "\n";
  tensorboard_ = event_file_start();
}

void MissionRecorder::record(const SequenceRecord& record, const State& state) {
  const std::size_t num_clusters = record.clusters.size();
  double mean = 0.0;
  double worst = 1.0;
  double age = 0.0;
  for (std::size_t c = 0; c < num_clusters; ++c) {
    const ClusterRecord& cluster = record.clusters[c];
    const double until = cluster.visited ? cluster.handed_over_s : record.end_s;
    accuracy_seconds_[c] +=
        cluster.accuracy_before * (until - record.start_s) + cluster.accuracy_after * (record.end_s - until);
    last_accuracy_[c] = cluster.accuracy_after;
    mean += cluster.accuracy_after / static_cast<double>(num_clusters);
    worst = std::min(worst, cluster.accuracy_after);
    age += cluster.age / static_cast<double>(num_clusters);
    visits_ += cluster.visited ? 1 : 0;
    clusters_ +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", record.sequence, world_.site_name(c),
                    cluster.visited ? 1 : 0, cluster.visited ? fmt::format("{}", cluster.handed_over_s) : "",
                    cluster.age, 100.0 * cluster.accuracy_before, 100.0 * cluster.accuracy_after,
                    cluster.loss_before, cluster.loss_after,
                    cluster.drift >= 0.0 ? fmt::format("{}", cluster.drift) : "", cluster.squared_gradient);
  }
  age_sum_ += age;
  if (!record.alternatives.empty()) {
    Json weighed = Json::array();
    for (const Alternative& alternative : record.alternatives) {
      Json sites = Json::array();
      for (const Site site : alternative.destinations) {
        sites.push_back(world_.site_name(site));
      }
      weighed.push_back(
          {{"destinations", sites}, {"value", alternative.value}, {"sequences", alternative.sequences}});
    }
    events_ += Json{{"time_s", record.start_s},
                    {"sequence", record.sequence},
                    {"event", "planned"},
                    {"alternatives", weighed}}
                   .dump() +
               "\n";
  }
  std::size_t active = 0;
  for (std::size_t s = 0; s < record.swarms.size(); ++s) {
    const SwarmRecord& swarm = record.swarms[s];
    active += swarm.active ? 1 : 0;
    idle_visits_ += swarm.active && !record.clusters[swarm.to].visited ? 1 : 0;
    const bool at_station = world_.is_station(swarm.to);
    const bool lost = !swarm.active && (!at_station || !swarm.culprit.empty());
    recharges_ += at_station && !lost ? 1 : 0;
    distance_m_ += swarm.distance_m;
    legs_.push_back(
        {record.start_s, swarm.arrival_s, swarm.finished_s, record.sequence, s, swarm.from, swarm.to});
    swarms_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\"{}\"\n", record.sequence, s + 1,
                           world_.site_name(swarm.from), world_.site_name(swarm.to), swarm.active ? 1 : 0,
                           swarm.arrival_s, swarm.finished_s, swarm.distance_m, swarm.travel_j,
                           swarm.recharged_j, swarm.least_battery_j, swarm.least_margin_j, swarm.objective,
                           swarm.points_sent, swarm.points_trained, swarm.culprit);
    const auto event = [&](double time, const char* what, const Json& more) {
      Json line = {{"time_s", time}, {"sequence", record.sequence}, {"event", what}, {"swarm", s + 1}};
      if (!more.is_null()) {
        line.update(more);
      }
      events_ += line.dump() + "\n";
    };
    event(record.start_s, "leaves",
          {{"from", world_.site_name(swarm.from)}, {"to", world_.site_name(swarm.to)}});
    event(swarm.arrival_s, "arrives", arrival_of(world_, s, swarm));
    if (lost) {
      event(swarm.finished_s, "is no more", {{"why", swarm.culprit}});
    } else if (at_station) {
      event(swarm.finished_s, "recharged", {{"energy_J", swarm.recharged_j}});
    } else {
      if (record.clusters[swarm.to].visited) {
        event(swarm.finished_s, "hands over",
              {{"to", world_.site_name(swarm.to)},
               {"accuracy_before_percent", 100.0 * record.clusters[swarm.to].accuracy_before},
               {"accuracy_after_percent", 100.0 * record.clusters[swarm.to].accuracy_after}});
      } else {
        event(swarm.finished_s, "cannot train", {{"why", swarm.culprit}});
      }
      for (std::size_t round = 0; round < swarm.rounds.size(); ++round) {
        event(swarm.rounds[round].start_s, "decided",
              decision_of(world_.site_name(swarm.to), round, swarm.rounds[round]));
      }
    }
    if (swarm.least_margin_j < 0.0) {
      event(record.end_s, "below threshold", {{"margin_J", swarm.least_margin_j}});
    }
  }
  if (record.constants != nullptr) {
    const BoundConstants& c = *record.constants;
    events_ += Json{{"time_s", record.end_s},
                    {"sequence", record.sequence},
                    {"event", "measured constants"},
                    {"gradient_bound", c.gradient_bound},
                    {"gradient_lipschitz", c.gradient_lipschitz},
                    {"meta_lipschitz", c.meta_lipschitz},
                    {"gradient_variance", c.gradient_variance},
                    {"hessian_variance", c.hessian_variance},
                    {"swarm_gradient_variability", c.swarm_gradient_variability},
                    {"swarm_hessian_variability", c.swarm_hessian_variability},
                    {"network_gradient_variability", c.network_gradient_variability},
                    {"network_hessian_variability", c.network_hessian_variability}}
                   .dump() +
               "\n";
  }
  for (const FaultNote& note : record.faults) {
    events_ +=
        Json{{"time_s", note.time_s}, {"sequence", record.sequence}, {"event", "fault"}, {"what", note.what}}
            .dump() +
        "\n";
  }
  sequences_ += fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", record.sequence,
      record.start_s, record.end_s, record.plan.timing.duration, record.plan.timing.local_period,
      record.plan.timing.global_period, record.global_rounds, active, 100.0 * mean, 100.0 * worst, age,
      record.reward, record.mean_objective, record.squared_meta_gradient, record.gradient_bound,
      record.data_bits / 1e6, record.model_bits / 1e6, record.below_threshold, record.shortfall_j,
      record.signalling.messages, static_cast<double>(record.signalling.bits) / 1e6,
      record.signalling.refused, record.faults.size(), record.rejected_updates, record.unreachable_updates);
  for (const EnergyKind kind : all_energy_kinds) {
    sequences_ += fmt::format(",{}", to_energy(state.ledger.spent_on(kind)).si());
  }
  sequences_ += "\n";
  for (std::size_t id = 0; id < world_.uavs.size(); ++id) {
    const Uav& uav = world_.uavs[id];
    constexpr std::array roles{"leader", "worker", "coordinator"};
    const Account& account = state.ledger.account(State::account_of_uav(id));
    energy_ += fmt::format("{},{},{},{},{},{}", record.sequence, id + 1, uav.swarm + 1,
                           roles[static_cast<std::size_t>(uav.role)], record.battery_j[id],
                           to_energy(account.recharged).si());
    for (const EnergyKind kind : all_energy_kinds) {
      energy_ += fmt::format(",{}", to_energy(account.spent_on(kind)).si());
    }
    energy_ += "\n";
  }
  tensorboard_ += scalars_of(world_, record, state);
  reward_sum_ += record.reward;
  data_bits_ += record.data_bits;
  model_bits_ += record.model_bits;
  shortfall_j_ += record.shortfall_j;
  messages_ += record.signalling.messages;
  refused_ += record.signalling.refused;
  faults_ += record.faults.size();
  rejected_ += record.rejected_updates;
  unreachable_ += record.unreachable_updates;
  below_threshold_ += record.below_threshold;
  ++num_sequences_;
}

Headline MissionRecorder::headline(const State& state) const {
  Headline h;
  h.duration_s = state.clock.now().si();
  h.sequences = num_sequences_;
  if (num_sequences_ == 0) {
    return h;
  }
  const auto clusters = static_cast<double>(accuracy_seconds_.size());
  const auto sequences = static_cast<double>(num_sequences_);
  const double duration = std::max(h.duration_s, 1e-300);
  h.mean_accuracy =
      std::accumulate(accuracy_seconds_.begin(), accuracy_seconds_.end(), 0.0) / clusters / duration;
  h.worst_accuracy = *std::ranges::min_element(accuracy_seconds_) / duration;
  h.last_accuracy = std::accumulate(last_accuracy_.begin(), last_accuracy_.end(), 0.0) / clusters;
  h.mean_age = age_sum_ / sequences;
  h.energy_j = to_energy(state.ledger.total_spent()).si();
  for (const EnergyKind kind : all_energy_kinds) {
    h.energy_by_kind_j[std::string(to_string(kind))] = to_energy(state.ledger.spent_on(kind)).si();
  }
  h.recharged_j = to_energy(state.ledger.total_recharged()).si();
  h.recharges = recharges_;
  h.visits = visits_;
  h.idle_visits = idle_visits_;
  h.distance_m = distance_m_;
  h.data_bits = data_bits_;
  h.model_bits = model_bits_;
  h.mean_reward = reward_sum_ / sequences;
  h.below_threshold = below_threshold_;
  h.shortfall_j = shortfall_j_;
  h.messages = messages_;
  h.refused_messages = refused_;
  h.faults = faults_;
  h.rejected_updates = rejected_;
  h.unreachable_updates = unreachable_;
  return h;
}

std::map<std::string, std::string> MissionRecorder::files() const {
  std::map<std::string, std::string> files{{"sequences.csv", sequences_}, {"clusters.csv", clusters_},
                                           {"swarms.csv", swarms_},       {"energy.csv", energy_},
                                           {"events.jsonl", events_},     {tensorboard_file, tensorboard_}};
  Json features = Json::array();
  const auto place = [&](std::size_t site) {
    const LatLon there = to_lat_lon(world_.site(site), world_.origin_deg);
    return Json::array({there[1], there[0]});
  };
  for (const Leg& leg : legs_) {
    features.push_back(
        {{"type", "Feature"},
         {"geometry", {{"type", "LineString"}, {"coordinates", {place(leg.from), place(leg.to)}}}},
         {"properties",
          {{"sequence", leg.sequence},
           {"swarm", leg.swarm + 1},
           {"from", world_.site_name(leg.from)},
           {"to", world_.site_name(leg.to)},
           {"start_s", leg.start_s},
           {"arrival_s", leg.arrival_s},
           {"finished_s", leg.finished_s}}}});
  }
  files["trajectory.geojson"] = Json{{"type", "FeatureCollection"}, {"features", features}}.dump(1) + "\n";
  return files;
}

std::string MissionRecorder::save() const {
  ByteWriter bytes;
  for (const std::string* text : {&sequences_, &clusters_, &swarms_, &energy_, &events_, &tensorboard_}) {
    bytes.put_text(*text);
  }
  bytes.put_list(legs_);
  bytes.put_list(accuracy_seconds_);
  bytes.put_list(last_accuracy_);
  for (const double value : {age_sum_, reward_sum_, distance_m_, data_bits_, model_bits_, shortfall_j_}) {
    bytes.put(value);
  }
  for (const std::uint64_t value : {num_sequences_, recharges_, visits_, below_threshold_, messages_,
                                    refused_, faults_, rejected_, unreachable_, idle_visits_}) {
    bytes.put(value);
  }
  return bytes.take();
}

void MissionRecorder::restore(const std::string& saved) {
  ByteCursor bytes(saved);
  for (std::string* text : {&sequences_, &clusters_, &swarms_, &energy_, &events_, &tensorboard_}) {
    *text = bytes.get_text();
  }
  legs_ = bytes.get_list<std::vector<Leg>>();
  accuracy_seconds_ = bytes.get_list<std::vector<double>>();
  last_accuracy_ = bytes.get_list<std::vector<double>>();
  for (double* value : {&age_sum_, &reward_sum_, &distance_m_, &data_bits_, &model_bits_, &shortfall_j_}) {
    *value = bytes.get<double>();
  }
  for (std::uint64_t* value : {&num_sequences_, &recharges_, &visits_, &below_threshold_, &messages_,
                               &refused_, &faults_, &rejected_, &unreachable_, &idle_visits_}) {
    *value = bytes.get<std::uint64_t>();
  }
}

}  // namespace skein
