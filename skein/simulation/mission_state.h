// Everything of a mission that changes, but for the devices' data, which the field has: one value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/learning/trainer.h"
#include "skein/planning/plan.h"
#include "skein/simulation/cluster_estimates.h"
#include "skein/world/state.h"
#include "skein/world/world.h"

namespace skein {

// What the core network knows of a cluster.
struct ClusterState {
  double age = 1.0;                // sequences since it was visited
  std::uint64_t num_measured = 0;  // visits on which its drift was measured
  double drift = 0.0;              // as measured last: squared change of its gradient in a sequence
  double squared_gradient = 0.0;   // of the model that was handed over, at the end of the last visit
  std::uint64_t visited_at = 0;    // sequence + 1; 0: never, and its model is the initial one

  [[nodiscard]] bool was_visited() const { return visited_at > 0; }
};

// The last flight of a swarm.
struct Trip {
  std::size_t from = 0;  // site
  double departs_s = 0.0;
  double busy_until_s = 0.0;  // with it and with recharging
};

struct MissionState {
  State world{};                          // time, sequence, where swarms are, all energies
  std::shared_ptr<const Model> global{};  // the model
  std::vector<ClusterState> clusters{};
  Timing timing{};               // of the last sequence
  std::uint64_t iterations = 0;  // local iterations of the mission so far
  // For each swarm, as measured last; nullptr: not yet.
  std::vector<std::shared_ptr<const BoundConstants>> constants{};
  std::vector<Observation> seen{};            // by the planner, one for each sequence
  std::uint64_t merges = 0;                   // of swarms' models into the global one, so far
  std::vector<std::uint64_t> known_merges{};  // of each swarm: those in the global model that it got last
  // Of each swarm: what it has trained since then, if it found no access point to bring it to.
  std::vector<std::shared_ptr<const Model>> own_models{};
  std::vector<Trip> trips{};             // of each swarm
  std::vector<double> uav_arrivals_s{};  // of each UAV, from its last flight with its swarm
  MissionEstimates estimates{};          // of accuracy; of no clusters where no points are held out
};

// At the start: full batteries, each swarm above its first cluster.
MissionState initial_mission_state(const World& world, const Model& initial, const Timing& timing);

void put_mission_state(ByteWriter& bytes, const MissionState& state);
MissionState get_mission_state(ByteCursor& bytes);

}  // namespace skein
