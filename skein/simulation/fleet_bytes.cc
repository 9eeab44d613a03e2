#include "skein/simulation/fleet_bytes.h"

#include "skein/base/field_bytes.h"

namespace skein {

// All fields of a value, for writing and for reading alike. A field that is added to a value and forgotten
// here does not compile: the names must be as many as there are fields.
template <class Value, class Visit>
requires IsOf<Value, LeaderTask>
void each_field(Value& value, Visit&& visit) {
  auto& [swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
         first_iteration, model, batteries, members, silent_devices, conditions, has_constants, constants,
         slowest_trip_s] = value;
  visit(swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
        first_iteration, model, batteries, members, silent_devices, conditions, has_constants, constants,
        slowest_trip_s);
}

template <class Value, class Visit>
requires IsOf<Value, SwarmMembers>
void each_field(Value& value, Visit&& visit) {
  auto& [leader, has_leader, workers, coordinators] = value;
  visit(leader, has_leader, workers, coordinators);
}

template <class Value, class Visit>
requires IsOf<Value, LinkConditions>
void each_field(Value& value, Visit&& visit) {
  auto& [rate_factor, access_points_out, way] = value;
  visit(rate_factor, access_points_out, way);
}

template <class Value, class Visit>
requires IsOf<Value, OffloadSummary>
void each_field(Value& value, Visit&& visit) {
  auto& [objective, energy, planned_learning, gradient_bound, kkt_residual, data, processed, clock,
         processing_s, device_flow, relay_flow] = value;
  visit(objective, energy, planned_learning, gradient_bound, kkt_residual, data, processed, clock,
        processing_s, device_flow, relay_flow);
}

template <class Value, class Visit>
requires IsOf<Value, SwarmUpdate>
void each_field(Value& value, Visit&& visit) {
  auto& [swarm, model, workers] = value;
  visit(swarm, model, workers);
}

template <class Value, class Visit>
requires IsOf<Value, LeaderUpdate>
void each_field(Value& value, Visit&& visit) {
  auto& [swarm, trained, rounds, culprit, energy, duration, data_bits, model_bits, points_sent,
         points_trained, personal_iterations, seconds] = value;
  visit(swarm, trained, rounds, culprit, energy, duration, data_bits, model_bits, points_sent, points_trained,
        personal_iterations, seconds);
}

template <class Value, class Visit>
requires IsOf<Value, Divergence::Place>
void each_field(Value& value, Visit&& visit) {
  auto& [iteration, swarm, worker, loss, likely_cause] = value;
  visit(iteration, swarm, worker, loss, likely_cause);
}

void put_tasks(ByteWriter& bytes, std::span<const LeaderTask> tasks) {
  bytes.put<std::uint64_t>(tasks.size());
  FieldWriter write(bytes);
  for (const LeaderTask& task : tasks) {
    write(task);
  }
}

std::vector<LeaderTask> get_tasks(ByteCursor& bytes) {
  std::vector<LeaderTask> tasks(bytes.get<std::uint64_t>());
  FieldReader read(bytes);
  for (LeaderTask& task : tasks) {
    read(task);
  }
  return tasks;
}

void put_divergence(ByteWriter& bytes, const Divergence::Place& place) { FieldWriter{bytes}(place); }

Divergence::Place get_divergence(ByteCursor& bytes) {
  Divergence::Place place;
  FieldReader{bytes}(place);
  return place;
}

void put_update(ByteWriter& bytes, const LeaderUpdate& update) { FieldWriter{bytes}(update); }

LeaderUpdate get_update(ByteCursor& bytes) {
  LeaderUpdate update;
  FieldReader{bytes}(update);
  return update;
}

}  // namespace skein
