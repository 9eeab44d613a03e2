// The core network: observes, plans, sends swarms out, merges what they learn. One step is one training
// sequence, and it is the planner's environment for real.
//
// In a sequence every swarm flies to its site. At a station it recharges. Above clusters, swarms wait for one
// another, then go through the same global rounds: each leader solves its problem, its swarm gathers and
// trains, the leader flies to its access point and back, and the core averages the swarms' models. At the end
// each swarm makes the model its own and hands it to the cluster's devices; gathered data is discarded. Then
// data drifts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/learning/field.h"
#include "skein/planning/planner.h"
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
  double age_cap = 20.0;  // G of an unvisited cluster: min(age, cap) drift
  Timing first_timing{};
  std::size_t sequences = 20;
  std::uint64_t seed = 0;
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
  [[nodiscard]] const Model& cluster_model(std::size_t cluster) const { return *clusters_[cluster].model; }

  // Everything that changes, as bytes; and back, into a network of the same setup. The planner is not in it:
  // it is told again what it has seen.
  [[nodiscard]] std::string save() const;
  void restore(const std::string& bytes);

 private:
  struct ClusterState {
    std::shared_ptr<const Model> model;
    double age = 1.0;
    double drift = 0.0;                // as measured; below 0: not yet
    double squared_gradient = 0.0;     // at the end of the last visit
    std::uint64_t visited_at = 0;      // sequence + 1; 0: never
    std::vector<float> left_gradient;  // of the model that was left there
  };

  [[nodiscard]] Observation observe() const;
  [[nodiscard]] std::vector<double> planning_drifts() const;
  [[nodiscard]] double least_battery(std::size_t swarm) const;
  [[nodiscard]] double least_margin(std::size_t swarm) const;
  void book(const std::vector<EnergyUse>& uses);
  void hover(std::size_t swarm, double seconds, double leader_away);
  void fly(const Plan& plan, SequenceRecord& record);
  void recharge(SequenceRecord& record);
  void train(const Plan& plan, SequenceRecord& record, const Progress& progress);
  void measure_arrivals(const SequenceRecord& record);

  MissionSetup setup_;
  ThreadPool& pool_;
  State state_;
  std::shared_ptr<const Model> global_;
  std::vector<ClusterState> clusters_;
  Timing timing_;
  std::size_t iterations_ = 0;  // local iterations of the mission so far
  std::vector<Observation> seen_;
};

}  // namespace skein
