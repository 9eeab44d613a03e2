// The core network: observes, plans, sends swarms out, merges what they learn. One step is one training
// sequence, and it is the planner's environment for real.
//
// In a sequence every swarm flies to its site. At a station it recharges. At clusters, swarms wait for one
// another, landed, then go through the same global rounds: each leader solves its problem, its swarm gathers
// and trains, the leader flies to its access point and back, and the core averages the swarms' models. At the
// end each swarm makes the model its own and hands it to the cluster's devices; gathered data is discarded.
// Whoever is done, or cannot train, waits, landed, for the others, also for those that recharge. Then data
// drifts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/planner.h"
#include "skein/simulation/faults.h"
#include "skein/simulation/field.h"
#include "skein/simulation/fleet.h"
#include "skein/simulation/records.h"
#include "skein/world/state.h"
#include "skein/world/world.h"

namespace skein {

// Costs of a sequence, from which a planner's reward follows.
struct SequenceCosts {
  double objective_sum = 0.0;  // O over active swarms
  double gradient_sum = 0.0;   // G over clusters that nobody visited
  double travel_j = 0.0;
  std::size_t recharging = 0;       // swarms at stations
  std::size_t below_threshold = 0;  // swarms
};

// What is referred to must outlive the mission.
struct MissionSetup {
  const World* world = nullptr;
  Field* field = nullptr;
  Fleet* fleet = nullptr;
  Planner* planner = nullptr;
  Model initial{};
  std::vector<double> initial_drifts{};  // what is taken of a cluster until it was visited twice
  std::function<double(const SequenceCosts&)> reward{};
  // G of an unvisited cluster: from its age, drift, drift summed since the last visit, and the squared
  // gradient that the visit left.
  std::function<double(double, double, double, double)> gradient{};
  // O(s) without what decisions change: w times a constant of the timing.
  std::function<double(const Timing&)> objective_constant{};
  double learning_weight = 0.5;      // w
  double untrained_objective = 0.0;  // added to O(s) for a sequence without training, in part for a part
  double age_cap = 20.0;             // in the planner's eyes, the age of a cluster that never had a model
  Timing first_timing{};
  std::size_t sequences = 20;
  std::uint64_t seed = 0;
  DataSize point_size{};
  DataSize model_size{};
  FaultSchedule faults{};
  bool measures_constants = true;  // of the convergence bounds, for the leaders
};

class CoreNetwork {
 public:
  using Progress = std::function<void(double)>;  // how much of a step is done

  CoreNetwork(MissionSetup setup, ThreadPool& pool);

  [[nodiscard]] bool done() const { return state_.sequence >= setup_.sequences; }
  // One training sequence. Throws Divergence.
  SequenceRecord step(const Progress& progress);

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const Model& global_model() const { return *global_; }
  [[nodiscard]] Model cluster_model(std::size_t cluster) const;

  // Everything that changes, as bytes; and back, into a network of the same setup. The planner is not in it:
  // it is told again what it has seen.
  void save(ByteWriter& bytes) const;
  void restore(ByteCursor& bytes);

 private:
  struct ClusterState {
    double age = 1.0;
    double drift = -1.0;            // as measured; below 0: not yet
    double squared_gradient = 0.0;  // of the model that was handed over, at the end of the last visit
    std::uint64_t visited_at = 0;   // sequence + 1; 0: never, and its model is the initial one
  };

  // In a round of the present sequence.
  struct Round {
    std::vector<LeaderTask> tasks;  // of the active swarms, in order
    std::vector<SwarmLinks> links;  // of each
    std::vector<bool> reachable;    // whether there is an access point for each
  };

  [[nodiscard]] Observation observe() const;
  [[nodiscard]] std::vector<double> planning_drifts() const;
  // Whether nobody is left to lead the swarm, or to train.
  [[nodiscard]] bool is_lost(std::size_t swarm) const;
  [[nodiscard]] double least_battery(std::size_t swarm) const;
  [[nodiscard]] double least_margin(std::size_t swarm) const;
  // Of this UAV's battery; a faulty one loses more.
  void spend(std::size_t uav, EnergyKind kind, Energy energy);
  void book(const std::vector<EnergyUse>& uses);
  [[nodiscard]] std::vector<std::size_t> flying(std::size_t swarm) const;
  [[nodiscard]] double planned_age(std::size_t cluster) const;
  [[nodiscard]] double gradient_scale() const;
  void fly(const Plan& plan, SequenceRecord& record);
  void recharge(SequenceRecord& record);
  void train(const Plan& plan, SequenceRecord& record, const Progress& progress);
  [[nodiscard]] Round prepare_round(const SequenceRecord& record, const Plan& plan, std::size_t round) const;
  // Who needs how long for the round, with all of its messages; books what they cost.
  std::vector<double> signal(const Round& round, const std::vector<LeaderUpdate>& updates,
                             SequenceRecord& record);
  // The swarms' models that reach the core network whole.
  std::vector<SwarmUpdate> collect_updates(const Round& round, std::vector<LeaderUpdate>& updates, double now,
                                           SequenceRecord& record);
  void note_faults(double now, SequenceRecord& record) const;
  // Those of a global round that this sequence did not have.
  void note_late_faults(SequenceRecord& record) const;
  void measure_arrivals(const SequenceRecord& record);

  MissionSetup setup_;
  ThreadPool& pool_;
  State state_;
  std::shared_ptr<const Model> global_;
  std::vector<ClusterState> clusters_;
  Timing timing_;
  std::size_t iterations_ = 0;  // local iterations of the mission so far
  FaultSchedule::Moment now_{};
  std::shared_ptr<const BoundConstants> constants_{};
  std::vector<Observation> seen_;
};

}  // namespace skein
