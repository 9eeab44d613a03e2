#include "skein/simulation/mission_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "skein/base/event_file.h"
#include "skein/simulation/mission_tables.h"

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
          {"way_m", record.way_m},
          {"transmit_s", record.transmit_s},
          {"objective", decision.objective},
          {"gradient_bound", decision.gradient_bound},
          {"kkt_residual", decision.kkt_residual},
          {"data_points", tenths(decision.data)},
          {"processed_points", tenths(decision.processed)},
          {"clock_Hz", tenths(decision.clock)},
          {"device_flow_points", tenths(decision.device_flow)},
          {"relay_flow_points", tenths(decision.relay_flow)}};
}

// A line of events.jsonl.
std::string event(double time_s, const SequenceRecord& record, const char* what, const Json& more) {
  Json line = {{"time_s", time_s}, {"sequence", record.sequence}, {"event", what}};
  line.update(more);
  return line.dump() + "\n";
}

std::string planned(const World& world, const SequenceRecord& record) {
  if (record.alternatives.empty()) {
    return "";
  }
  Json weighed = Json::array();
  for (const Alternative& alternative : record.alternatives) {
    Json sites = Json::array();
    for (const Site site : alternative.destinations) {
      sites.push_back(world.site_name(site));
    }
    weighed.push_back(
        {{"destinations", sites}, {"value", alternative.value}, {"sequences", alternative.sequences}});
  }
  return event(record.start_s, record, "planned", {{"alternatives", weighed}});
}

std::string swarm_events(const World& world, const SequenceRecord& record, std::size_t index) {
  const SwarmRecord& swarm = record.swarms[index];
  const std::string to = world.site_name(swarm.to);
  std::string text;
  const auto add = [&](double time_s, const char* what, const Json& more) {
    Json whose = {{"swarm", index + 1}};
    whose.update(more);
    text += event(time_s, record, what, whose);
  };
  if (!swarm.active && !swarm.under_way && !swarm.recharges && !swarm.lost) {
    return text;  // it rests, or is busy with what was told before
  }
  if (swarm.departs_s >= record.start_s) {
    add(swarm.departs_s, "leaves", {{"from", world.site_name(swarm.from)}, {"to", to}});
  }
  if (swarm.under_way) {
    return text;
  }
  add(swarm.arrival_s, "arrives", arrival_of(world, index, swarm));
  if (swarm.lost) {
    add(swarm.finished_s, "is no more", {{"why", swarm.culprit}});
  } else if (swarm.recharges) {
    add(swarm.finished_s, "recharged", {{"energy_J", swarm.recharged_j}});
  } else if (swarm.active) {
    const ClusterRecord& cluster = record.clusters[swarm.to];
    if (cluster.visited) {
      add(swarm.finished_s, "hands over",
          {{"to", to},
           {"accuracy_before_percent", 100.0 * cluster.accuracy_before},
           {"accuracy_after_percent", 100.0 * cluster.accuracy_after}});
    } else {
      add(swarm.finished_s, "cannot train", {{"why", swarm.culprit}});
    }
    for (std::size_t round = 0; round < swarm.rounds.size(); ++round) {
      add(swarm.rounds[round].start_s, "decided", decision_of(to, round, swarm.rounds[round]));
    }
  }
  if (swarm.least_margin_j < 0.0) {
    add(record.end_s, "below threshold", {{"margin_J", swarm.least_margin_j}});
  }
  return text;
}

std::string measured(const SequenceRecord& record) {
  std::string text;
  for (const auto& [time_s, swarm, c] : record.constants) {
    Json what{{"gradient_bound", c.gradient_bound},
              {"gradient_lipschitz", c.gradient_lipschitz},
              {"meta_lipschitz", c.meta_lipschitz},
              {"gradient_variance", c.gradient_variance},
              {"hessian_variance", c.hessian_variance},
              {"swarm_gradient_variability", c.swarm_gradient_variability},
              {"swarm_hessian_variability", c.swarm_hessian_variability},
              {"network_gradient_variability", c.network_gradient_variability},
              {"network_hessian_variability", c.network_hessian_variability}};
    if (swarm) {
      what["swarm"] = *swarm + 1;
    }
    text += event(time_s.value_or(record.end_s), record, "measured constants", what);
  }
  return text;
}

}  // namespace

std::string events_of(const World& world, const SequenceRecord& record) {
  std::string text = planned(world, record);
  for (std::size_t s = 0; s < record.swarms.size(); ++s) {
    text += swarm_events(world, record, s);
  }
  text += measured(record);
  for (const FaultNote& note : record.faults) {
    text += event(note.time_s, record, "fault", {{"what", note.what}});
  }
  return text;
}

std::string scalars_of(const World& world, const SequenceRecord& record, const State& state) {
  std::vector<Scalar> scalars;
  for (std::size_t c = 0; c < record.clusters.size(); ++c) {
    scalars.emplace_back("accuracy_percent_of_cluster/" + world.site_name(c),
                         100.0 * record.clusters[c].accuracy_after);
  }
  const ClusterMeans means = means_of(record);
  scalars.emplace_back("accuracy_percent/mean", 100.0 * means.accuracy);
  scalars.emplace_back("accuracy_percent/worst", 100.0 * means.worst);
  for (const EnergyKind kind : all_energy_kinds) {
    scalars.emplace_back(fmt::format("energy_J/{}", to_string(kind)),
                         to_energy(state.ledger.spent_on(kind)).si());
  }
  scalars.emplace_back("energy_J/all", to_energy(state.ledger.total_spent()).si());
  scalars.emplace_back("battery_J/least", *std::ranges::min_element(record.battery_j));
  scalars.emplace_back("mission/reward", record.reward);
  scalars.emplace_back("mission/mean_age_sequences", means.age);
  scalars.emplace_back("mission/squared_meta_gradient", record.squared_meta_gradient);
  return event_record(record.end_s, static_cast<std::int64_t>(record.sequence), scalars);
}

}  // namespace skein
