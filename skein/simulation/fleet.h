// Where the leaders run. A leader's part of a global round goes out as a plain task and comes back as a plain
// update, so that threads, processes and machines are each just another Fleet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/learning/trainer.h"
#include "skein/simulation/faults.h"
#include "skein/world/ledger.h"
#include "skein/world/links.h"

namespace skein {

// One swarm's part of one global round.
struct LeaderTask {
  std::size_t swarm = 0;
  std::size_t cluster = 0;
  std::size_t sequence = 0;
  std::size_t global_round = 0;       // of the sequence
  std::size_t num_global_rounds = 1;  // of the sequence: what is left must last for them
  std::size_t local_period = 1;       // tau_L
  std::size_t global_period = 1;      // tau_G: local rounds in this task
  std::size_t first_iteration = 0;    // local iterations of the mission before: names random streams
  std::shared_ptr<const Model> model{};
  std::vector<double> batteries{};            // J, of the swarm's UAVs: leader, workers, coordinators
  SwarmMembers members{};                     // who takes part
  std::vector<std::size_t> silent_devices{};  // numbers within the cluster
  LinkConditions conditions{};
  bool has_constants = false;  // of the bounds, as the core network has measured them
  BoundConstants constants{};
  double slowest_trip_s = 0.0;  // of all leaders to an access point and back, models included
};

struct EnergyUse {
  bool is_device = false;
  std::size_t index = 0;  // of the world's UAVs or devices
  EnergyKind kind = EnergyKind::processing;
  double joules = 0.0;
};

// What a leader decided for a local round, for the record.
struct OffloadSummary {
  double objective = 0.0;  // the round's part of O(s), without its constant
  double energy = 0.0;     // J, its second part before weighting; hovering where time has a price
  // Its first part, before weighting, without the constant, by the constants that the planner's tables have:
  // leaders decide by measured ones, whose objectives cannot be compared from sequence to sequence.
  double planned_learning = 0.0;
  double gradient_bound = 0.0;  // on the squared meta-gradient, as problem P has it
  double kkt_residual = 0.0;
  std::vector<double> data{};          // points at each of the swarm's workers and coordinators
  std::vector<double> processed{};     // points of a local iteration, of each worker
  std::vector<double> clock{};         // Hz, of each worker
  std::vector<double> processing_s{};  // of each worker, in the local round
  std::vector<double> device_flow{};   // points from each device to each UAV, row by row
  std::vector<double> relay_flow{};    // points from each coordinator to each worker
};

struct LeaderUpdate {
  SwarmUpdate swarm{};                   // model after the round, and what each worker did
  bool trained = false;                  // somebody had data
  std::vector<OffloadSummary> rounds{};  // one per local round
  std::string culprit{};                 // why nothing was trained, if so
  std::vector<EnergyUse> energy{};       // of gathering, training and models; not of flying
  double duration = 0.0;                 // s: local rounds, without the leader's trip
  double data_bits = 0.0;                // sent by devices and coordinators
  double model_bits = 0.0;               // between workers and leader
  std::uint64_t points_sent = 0;         // by devices
  std::uint64_t points_trained = 0;      // held by workers, summed over local rounds
  // What it will take of each worker to make a model the swarm's own, in local iterations of the last round.
  std::vector<double> personal_iterations{};
  double seconds = 0.0;  // that it took to compute: how heavy the task is
};

class Fleet {
 public:
  Fleet() = default;
  virtual ~Fleet() = default;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  Fleet(Fleet&&) = delete;
  Fleet& operator=(Fleet&&) = delete;

  // One global round of all active swarms, in order. What the workers hold at the end stays in the fleet.
  // Throws Divergence.
  virtual std::vector<LeaderUpdate> run(std::span<const LeaderTask> tasks) = 0;
  // Each swarm's model made its own, on the data that its workers hold since the last round. A task per swarm
  // of that round.
  virtual std::vector<Model> personalise(std::span<const LeaderTask> tasks) = 0;
};

}  // namespace skein
