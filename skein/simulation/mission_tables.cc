#include "skein/simulation/mission_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "skein/base/csv.h"
#include "skein/world/ledger.h"

namespace skein {
namespace {

struct SequenceRow {
  const SequenceRecord& record;
  const State& state;
  ClusterMeans means;
};

struct ClusterRow {
  const World& world;
  const SequenceRecord& record;
  std::size_t cluster;

  [[nodiscard]] const ClusterRecord& own() const { return record.clusters[cluster]; }
};

struct SwarmRow {
  const World& world;
  const SequenceRecord& record;
  std::size_t swarm;

  [[nodiscard]] const SwarmRecord& own() const { return record.swarms[swarm]; }
};

double of_last_round(const SwarmRow& row, double RoundRecord::*value) {
  return row.own().rounds.empty() ? 0.0 : row.own().rounds.back().*value;
}

std::optional<double> percent(std::optional<double> share) {
  return share ? std::optional(100.0 * *share) : std::nullopt;
}

struct UavRow {
  const World& world;
  const SequenceRecord& record;
  const State& state;
  std::size_t uav;

  [[nodiscard]] const Account& account() const { return state.ledger.account(State::account_of_uav(uav)); }
};

Columns<SequenceRow> make_sequence_columns() {
  using Row = const SequenceRow&;
  Columns<SequenceRow> columns{
      {"sequence", [](Row r) { return r.record.sequence; }},
      {"start_s", [](Row r) { return r.record.start_s; }},
      {"end_s", [](Row r) { return r.record.end_s; }},
      {"duration_local_iterations", [](Row r) { return r.record.plan.timing.duration; }},
      {"local_period", [](Row r) { return r.record.plan.timing.local_period; }},
      {"global_period", [](Row r) { return r.record.plan.timing.global_period; }},
      {"global_rounds", [](Row r) { return r.record.global_rounds; }},
      {"active_swarms",
       [](Row r) { return std::ranges::count(r.record.swarms, true, &SwarmRecord::active); }},
      {"mean_accuracy_percent", [](Row r) { return 100.0 * r.means.accuracy; }},
      {"worst_accuracy_percent", [](Row r) { return 100.0 * r.means.worst; }},
      {"mean_age_sequences", [](Row r) { return r.means.age; }},
      {"reward", [](Row r) { return r.record.reward; }},
      {"mean_objective", [](Row r) { return r.record.mean_objective; }},
      {"squared_meta_gradient", [](Row r) { return r.record.squared_meta_gradient; }},
      {"data_Mbit", [](Row r) { return r.record.data_bits / 1e6; }},
      {"model_Mbit", [](Row r) { return r.record.model_bits / 1e6; }},
      {"below_threshold", [](Row r) { return r.record.below_threshold; }},
      {"shortfall_J", [](Row r) { return r.record.shortfall_j; }},
      {"messages", [](Row r) { return r.record.signalling.messages; }},
      {"message_Mbit", [](Row r) { return static_cast<double>(r.record.signalling.bits) / 1e6; }},
      {"refused_messages", [](Row r) { return r.record.signalling.refused; }},
      {"faults", [](Row r) { return r.record.faults.size(); }},
      {"rejected_updates", [](Row r) { return r.record.rejected_updates; }},
      {"unreachable_updates", [](Row r) { return r.record.unreachable_updates; }},
  };
  for (const EnergyKind kind : all_energy_kinds) {
    columns.add(fmt::format("total_{}_J", to_string(kind)),
                [kind](Row r) { return to_energy(r.state.ledger.spent_on(kind)).si(); });
  }
  return columns;
}

Columns<ClusterRow> make_cluster_columns() {
  using Row = const ClusterRow&;
  using Maybe = std::optional<double>;
  return {
      {"sequence", [](Row r) { return r.record.sequence; }},
      {"cluster", [](Row r) { return r.world.site_name(r.cluster); }},
      {"visited", [](Row r) { return r.own().visited; }},
      {"handed_over_s", [](Row r) { return r.own().visited ? Maybe(r.own().handed_over_s) : Maybe(); }},
      {"age_sequences", [](Row r) { return r.own().age; }},
      {"accuracy_before_percent", [](Row r) { return 100.0 * r.own().accuracy_before; }},
      {"accuracy_after_percent", [](Row r) { return 100.0 * r.own().accuracy_after; }},
      {"oracle_accuracy_percent", [](Row r) { return percent(r.own().oracle_accuracy); }},
      {"predicted_accuracy_percent", [](Row r) { return percent(r.own().predicted_accuracy); }},
      {"estimated_before_percent", [](Row r) { return percent(r.own().estimated_before); }},
      {"estimated_after_percent", [](Row r) { return percent(r.own().estimated_after); }},
      {"loss_before_nats", [](Row r) { return r.own().loss_before; }},
      {"loss_after_nats", [](Row r) { return r.own().loss_after; }},
      {"drift", [](Row r) { return r.own().drift; }},
      {"squared_gradient", [](Row r) { return r.own().squared_gradient; }},
  };
}

Columns<SwarmRow> make_swarm_columns() {
  using Row = const SwarmRow&;
  return {
      {"sequence", [](Row r) { return r.record.sequence; }},
      {"swarm", [](Row r) { return r.swarm + 1; }},
      {"from", [](Row r) { return r.world.site_name(r.own().from); }},
      {"to", [](Row r) { return r.world.site_name(r.own().to); }},
      {"active", [](Row r) { return r.own().active; }},
      {"arrival_s", [](Row r) { return r.own().arrival_s; }},
      {"finished_s", [](Row r) { return r.own().finished_s; }},
      {"distance_m", [](Row r) { return r.own().distance_m; }},
      {"travel_J", [](Row r) { return r.own().travel_j; }},
      {"recharged_J", [](Row r) { return r.own().recharged_j; }},
      {"least_battery_J", [](Row r) { return r.own().least_battery_j; }},
      {"least_margin_J", [](Row r) { return r.own().least_margin_j; }},
      {"objective", [](Row r) { return r.own().objective; }},
      {"points_sent", [](Row r) { return r.own().points_sent; }},
      {"points_trained", [](Row r) { return r.own().points_trained; }},
      {"way_m", [](Row r) { return of_last_round(r, &RoundRecord::way_m); }},
      {"transmit_s", [](Row r) { return of_last_round(r, &RoundRecord::transmit_s); }},
      {"hovering_training_J", [](Row r) { return r.own().hovering.training_j; }},
      {"hovering_leader_away_J", [](Row r) { return r.own().hovering.leader_away_j; }},
      {"hovering_waiting_J", [](Row r) { return r.own().hovering.waiting_j; }},
      {"culprit", [](Row r) { return fmt::format("\"{}\"", r.own().culprit); }},
      {"departs_s", [](Row r) { return r.own().departs_s; }},
      {"under_way", [](Row r) { return r.own().under_way; }},
  };
}

Columns<UavRow> make_uav_columns() {
  using Row = const UavRow&;
  Columns<UavRow> columns{
      {"sequence", [](Row r) { return r.record.sequence; }},
      {"uav", [](Row r) { return r.uav + 1; }},
      {"swarm", [](Row r) { return r.world.uavs[r.uav].swarm + 1; }},
      {"role", [](Row r) { return name_of(r.world.uavs[r.uav].role); }},
      {"battery_J", [](Row r) { return r.record.battery_j[r.uav]; }},
      {"recharged_J", [](Row r) { return to_energy(r.account().recharged).si(); }},
  };
  for (const auto& [name, part] : {std::pair{"flying_s", &UavTimes::flying_s},
                                   {"hovering_s", &UavTimes::hovering_s},
                                   {"landed_s", &UavTimes::landed_s}}) {
    columns.add(name, [part = part](Row r) { return r.record.uavs.at(r.uav).*part; });
  }
  for (const EnergyKind kind : all_energy_kinds) {
    columns.add(fmt::format("{}_J", to_string(kind)),
                [kind](Row r) { return to_energy(r.account().spent_on(kind)).si(); });
  }
  return columns;
}

const Columns<SequenceRow>& sequence_columns() {
  static const Columns<SequenceRow> columns = make_sequence_columns();
  return columns;
}

const Columns<ClusterRow>& cluster_columns() {
  static const Columns<ClusterRow> columns = make_cluster_columns();
  return columns;
}

const Columns<SwarmRow>& swarm_columns() {
  static const Columns<SwarmRow> columns = make_swarm_columns();
  return columns;
}

const Columns<UavRow>& uav_columns() {
  static const Columns<UavRow> columns = make_uav_columns();
  return columns;
}

}  // namespace

ClusterMeans means_of(const SequenceRecord& record) {
  ClusterMeans means;
  const auto count = static_cast<double>(record.clusters.size());
  for (const ClusterRecord& cluster : record.clusters) {
    means.accuracy += cluster.accuracy_after / count;
    means.worst = std::min(means.worst, cluster.accuracy_after);
    means.age += cluster.age / count;
  }
  return means;
}

MissionTables empty_tables() {
  return {.sequences = sequence_columns().header(),
          .clusters = cluster_columns().header(),
          .swarms = swarm_columns().header(),
          .energy = uav_columns().header()};
}

void add_rows(MissionTables& tables, const World& world, const SequenceRecord& record, const State& state) {
  tables.sequences += sequence_columns().row({record, state, means_of(record)});
  for (std::size_t c = 0; c < record.clusters.size(); ++c) {
    tables.clusters += cluster_columns().row({world, record, c});
  }
  for (std::size_t s = 0; s < record.swarms.size(); ++s) {
    tables.swarms += swarm_columns().row({world, record, s});
  }
  for (std::size_t id = 0; id < world.uavs.size(); ++id) {
    tables.energy += uav_columns().row({world, record, state, id});
  }
}

}  // namespace skein
