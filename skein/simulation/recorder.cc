#include "skein/simulation/recorder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <type_traits>

#include "skein/base/bytes.h"
#include "skein/base/event_file.h"
#include "skein/simulation/mission_events.h"
#include "skein/simulation/mission_files.h"
#include "skein/world/geodesy.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

// TensorBoard takes whatever has "tfevents" in its name; here nothing but the mission tells what is in it.
constexpr const char* tensorboard_file = "tensorboard/events.out.tfevents.0.skein";

template <class Value>
void put(ByteWriter& bytes, const Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    bytes.put(value);
  } else {
    bytes.put_list(value);
  }
}

template <class Value>
void get(ByteCursor& bytes, Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    value = bytes.get<Value>();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = bytes.get_text();
  } else {
    value = bytes.get_list<Value>();
  }
}

}  // namespace

// All that changes, for saving and restoring alike. A field that is added and forgotten here does not
// compile: the names must be as many as there are fields.
template <class Recorder, class Visit>
void MissionRecorder::each_field(Recorder& recorder, const Visit& visit) {
  auto& [tables, events, tensorboard] = recorder.texts_;
  auto& [sequences, clusters, swarms, energy] = tables;
  visit(sequences, clusters, swarms, energy, events, tensorboard, recorder.legs_);
  auto& [accuracy_seconds, last_accuracy, oracle_seconds, age, reward, distance, data, model, shortfall,
         num_sequences, recharges, visits, idle_visits, below_threshold, messages, refused, faults, rejected,
         unreachable, hovering] = recorder.sums_;
  visit(accuracy_seconds, last_accuracy, oracle_seconds, age, reward, distance, data, model, shortfall,
        num_sequences, recharges, visits, idle_visits, below_threshold, messages, refused, faults, rejected,
        unreachable, hovering);
}

MissionRecorder::MissionRecorder(const World& world)
    : world_(world),
      texts_{.tables = empty_tables(), .events = {}, .tensorboard = event_file_start()},
      sums_{.accuracy_seconds = std::vector<double>(world.clusters.size(), 0.0),
            .last_accuracy = std::vector<double>(world.clusters.size(), 0.0)} {}

void MissionRecorder::record(const SequenceRecord& record, const State& state) {
  add_rows(texts_.tables, world_, record, state);
  texts_.events += events_of(world_, record);
  texts_.tensorboard += scalars_of(world_, record, state);
  add_clusters(record);
  add_swarms(record);
  sums_.age += means_of(record).age;
  sums_.reward += record.reward;
  sums_.data_bits += record.data_bits;
  sums_.model_bits += record.model_bits;
  sums_.shortfall_j += record.shortfall_j;
  sums_.messages += record.signalling.messages;
  sums_.refused_messages += record.signalling.refused;
  sums_.faults += record.faults.size();
  sums_.rejected_updates += record.rejected_updates;
  sums_.unreachable_updates += record.unreachable_updates;
  sums_.below_threshold += record.below_threshold;
  ++sums_.sequences;
}

void MissionRecorder::add_clusters(const SequenceRecord& record) {
  for (std::size_t c = 0; c < record.clusters.size(); ++c) {
    const ClusterRecord& cluster = record.clusters[c];
    const double until = cluster.visited ? cluster.handed_over_s : record.end_s;
    sums_.accuracy_seconds[c] +=
        cluster.accuracy_before * (until - record.start_s) + cluster.accuracy_after * (record.end_s - until);
    sums_.last_accuracy[c] = cluster.accuracy_after;
    if (cluster.oracle_accuracy) {
      sums_.oracle_seconds =
          std::max(sums_.oracle_seconds, 0.0) + *cluster.oracle_accuracy * (record.end_s - record.start_s) /
                                                    static_cast<double>(record.clusters.size());
    }
    sums_.visits += cluster.visited ? 1 : 0;
  }
}

void MissionRecorder::add_swarms(const SequenceRecord& record) {
  for (std::size_t s = 0; s < record.swarms.size(); ++s) {
    const SwarmRecord& swarm = record.swarms[s];
    sums_.idle_visits += swarm.active && !record.clusters[swarm.to].visited ? 1 : 0;
    sums_.recharges += swarm.recharges ? 1 : 0;
    sums_.distance_m += swarm.distance_m;
    sums_.hovering.training_j += swarm.hovering.training_j;
    sums_.hovering.leader_away_j += swarm.hovering.leader_away_j;
    sums_.hovering.waiting_j += swarm.hovering.waiting_j;
    legs_.push_back(
        {swarm.departs_s, swarm.arrival_s, swarm.finished_s, record.sequence, s, swarm.from, swarm.to});
  }
}

Headline MissionRecorder::headline(const State& state) const {
  const auto sum = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  Headline h{.duration_s = state.clock.now().si(), .sequences = sums_.sequences};
  if (sums_.sequences == 0) {
    return h;
  }
  const auto clusters = static_cast<double>(sums_.accuracy_seconds.size());
  const auto sequences = static_cast<double>(sums_.sequences);
  const double duration = std::max(h.duration_s, 1e-300);
  h.mean_accuracy = sum(sums_.accuracy_seconds) / clusters / duration;
  h.worst_accuracy = *std::ranges::min_element(sums_.accuracy_seconds) / duration;
  h.last_accuracy = sum(sums_.last_accuracy) / clusters;
  if (sums_.oracle_seconds >= 0.0) {
    h.oracle_accuracy = sums_.oracle_seconds / duration;
  }
  h.mean_age = sums_.age / sequences;
  h.energy_j = to_energy(state.ledger.total_spent()).si();
  for (const EnergyKind kind : all_energy_kinds) {
    h.energy_by_kind_j[std::string(to_string(kind))] = to_energy(state.ledger.spent_on(kind)).si();
  }
  h.hovering = sums_.hovering;
  h.recharged_j = to_energy(state.ledger.total_recharged()).si();
  h.recharges = sums_.recharges;
  h.visits = sums_.visits;
  h.idle_visits = sums_.idle_visits;
  h.distance_m = sums_.distance_m;
  h.data_bits = sums_.data_bits;
  h.model_bits = sums_.model_bits;
  h.mean_reward = sums_.reward / sequences;
  h.below_threshold = sums_.below_threshold;
  h.shortfall_j = sums_.shortfall_j;
  h.messages = sums_.messages;
  h.refused_messages = sums_.refused_messages;
  h.faults = sums_.faults;
  h.rejected_updates = sums_.rejected_updates;
  h.unreachable_updates = sums_.unreachable_updates;
  return h;
}

std::map<std::string, std::string> MissionRecorder::files() const {
  std::map<std::string, std::string> files{{mission_file::sequences, texts_.tables.sequences},
                                           {mission_file::clusters, texts_.tables.clusters},
                                           {mission_file::swarms, texts_.tables.swarms},
                                           {mission_file::energy, texts_.tables.energy},
                                           {mission_file::events, texts_.events},
                                           {tensorboard_file, texts_.tensorboard}};
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
  each_field(*this, [&](const auto&... fields) { (put(bytes, fields), ...); });
  return bytes.take();
}

void MissionRecorder::restore(const std::string& saved) {
  ByteCursor bytes(saved);
  each_field(*this, [&](auto&... fields) { (get(bytes, fields), ...); });
}

}  // namespace skein
