#include "skein/simulation/mission_state.h"

#include "skein/base/field_bytes.h"

namespace skein {

// Of everything that changes, once: for saving and for restoring.
template <class Value, class Visit>
requires IsOf<Value, MissionState>
void each_field(Value& value, Visit&& visit) {
  auto& [world, global, clusters, timing, iterations, constants, seen, merges, known_merges, own_models,
         trips, uav_arrivals_s, estimates] = value;
  visit(world, global, clusters, timing, iterations, constants, seen, merges, known_merges, own_models, trips,
        uav_arrivals_s, estimates);
}

template <class Value, class Visit>
requires IsOf<Value, State>
void each_field(Value& value, Visit&& visit) {
  auto& [clock, sequence, swarm_sites, ledger] = value;
  visit(clock, sequence, swarm_sites, ledger);
}

template <class Value, class Visit>
requires IsOf<Value, Observation>
void each_field(Value& value, Visit&& visit) {
  auto& [sequence, active, positions, batteries, drifts, ages, gradients, drift_sums, timing, now_s, left_s,
         spent_j, arrivals_s, forecasts] = value;
  visit(sequence, active, positions, batteries, drifts, ages, gradients, drift_sums, timing, now_s, left_s,
        spent_j, arrivals_s, forecasts);
}

template <class Value, class Visit>
requires IsOf<Value, ClusterEstimate>
void each_field(Value& value, Visit&& visit) {
  auto& [shares, recalls, handed, accuracy, believed, since_s, losses, elapsed_s, deviations,
         num_deviations] = value;
  visit(shares, recalls, handed, accuracy, believed, since_s, losses, elapsed_s, deviations, num_deviations);
}

template <class Value, class Visit>
requires IsOf<Value, MissionEstimates>
void each_field(Value& value, Visit&& visit) {
  auto& [clusters, level, num_levels, by_share] = value;
  visit(clusters, level, num_levels, by_share);
}

// Accounts are all that a ledger has.
void each_field(const Ledger& ledger, FieldWriter& write) { write(ledger.accounts()); }
void each_field(Ledger& ledger, FieldReader& read) {
  std::vector<Account> accounts;
  read(accounts);
  ledger = Ledger(std::move(accounts));
}

MissionState initial_mission_state(const World& world, const Model& initial, const Timing& timing) {
  return {.world = initial_state(world),
          .global = std::make_shared<const Model>(initial),
          .clusters = std::vector<ClusterState>(world.clusters.size()),
          .timing = timing,
          .constants = std::vector<std::shared_ptr<const BoundConstants>>(world.swarms.size()),
          .known_merges = std::vector<std::uint64_t>(world.swarms.size()),
          .own_models = std::vector<std::shared_ptr<const Model>>(world.swarms.size()),
          .trips = std::vector<Trip>(world.swarms.size()),
          .uav_arrivals_s = std::vector<double>(world.uavs.size())};
}

void put_mission_state(ByteWriter& bytes, const MissionState& state) { FieldWriter{bytes}(state); }

MissionState get_mission_state(ByteCursor& bytes) {
  MissionState state;
  FieldReader{bytes}(state);
  return state;
}

}  // namespace skein
