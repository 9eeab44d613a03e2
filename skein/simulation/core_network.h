// The core network: observes, plans, sends swarms out, merges what they learn. One step is one training
// sequence (the paper, section V-C), and it is the planner's environment for real.
//
// In a sequence every swarm flies to its site. At a station it recharges. At clusters, swarms wait for one
// another, landed, or begin as they arrive, then go through the same global rounds: each leader solves its
// problem, its swarm gathers and trains, the leader flies to its access point and back, and the core averages
// the swarms' models. At the end each swarm makes the model its own and hands it to the cluster's devices;
// gathered data is discarded. Whoever is done, or cannot train, waits, landed, for the others, also for those
// that recharge, and until the sequence has its least length. Then data drifts.
//
// A plan may say when the sequence ends: then every swarm goes by its own clock. Who is still under way goes
// on in the next one, who recharges is busy until it is full, and nobody waits for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/learning/aggregation.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/planning/planner.h"
#include "skein/planning/reward.h"
#include "skein/protocol/signalling.h"
#include "skein/simulation/airborne.h"
#include "skein/simulation/faults.h"
#include "skein/simulation/field.h"
#include "skein/simulation/fleet.h"
#include "skein/simulation/mission_state.h"
#include "skein/simulation/records.h"
#include "skein/simulation/supplies.h"
#include "skein/world/world.h"

namespace skein {

// Of a sequence, in a mission that ends by the clock: so that it ends.
inline constexpr double least_sequence_s = 10.0;

// What is referred to must outlive the mission.
struct MissionSetup {
  const World* world = nullptr;
  Field* field = nullptr;
  Fleet* fleet = nullptr;
  Planner* planner = nullptr;
  const SwarmProblems* problems = nullptr;
  const AggregationRule* aggregation = nullptr;
  Model initial{};
  std::vector<double> initial_drifts{};  // what is taken of a cluster until it was visited twice
  RewardOptions reward{};
  Timing first_timing{};
  // It ends after so many sequences, or when the clock has passed this; 0: that does not end it.
  std::size_t sequences = 20;
  double end_s = 0.0;
  double cycle_s = 0.0;  // least length of a sequence; the first tour of the clusters does not wait
  std::uint64_t seed = 0;
  FaultSchedule faults{};
  // Of the convergence bounds, for the leaders.
  ConstantsSource constants = ConstantsSource::measured;
  ConstantsMoment constants_moment = ConstantsMoment::sequence;
  WaitChoice waiting = WaitChoice::hover;
  StartChoice start = StartChoice::together;
  EstimateOptions estimates{};
  std::size_t num_classes = 1;
};

class CoreNetwork {
 public:
  CoreNetwork(MissionSetup setup, ThreadPool& pool);

  [[nodiscard]] bool done() const {
    return (setup_.sequences > 0 && state_.world.sequence >= setup_.sequences) ||
           (setup_.end_s > 0.0 && state_.world.clock.now().si() >= setup_.end_s);
  }
  // One training sequence. Throws Divergence.
  SequenceRecord step(FractionListener progress = {});

  [[nodiscard]] const State& state() const { return state_.world; }
  [[nodiscard]] const Model& global_model() const { return *state_.global; }
  [[nodiscard]] Model cluster_model(std::size_t cluster) const;

  // Everything that changes, as bytes; and back, into a network of the same setup. The planner is not in it:
  // it is told again what it has seen.
  void save(ByteWriter& bytes) const;
  void restore(ByteCursor& bytes);

 private:
  // In a round of the present sequence.
  struct Round {
    std::vector<LeaderTask> tasks;  // of the active swarms, in order
    std::vector<SwarmLinks> links;  // of each
    std::vector<bool> reachable;    // whether there is an access point for each
    std::vector<LeaderUpdate> updates;
    std::vector<double> offsets_s;    // that each begins later than the first
    std::vector<RoundTimes> times;    // of each, with all of its messages, since it began
    std::vector<double> durations_s;  // that each needs for the round, to the end of its part
  };
  // Where a swarm's time in a round goes.
  struct RoundParts {
    double training_s = 0.0;  // gathering, too
    double flight_s = 0.0;    // of the leader, there and back
    double exchange_s = 0.0;  // of models with the core network
    double waits_s = 0.0;     // for other swarms
    double hand_over_s = 0.0;
  };
  // What the global rounds of the present sequence have come to.
  struct Training {
    std::vector<double> begins_s{};  // of each swarm, with its next round
    double now_s = 0.0;              // the first of them
    double num_local_rounds = 1.0;   // of all of them
    std::shared_ptr<const Model> first_model{};
    Round last{};
    std::vector<double> objective_sums{};    // of each swarm
    std::vector<std::size_t> num_decided{};  // of each swarm's local rounds
  };

  // The sequence, step by step.
  [[nodiscard]] SequenceRecord begin() const;
  [[nodiscard]] Observation observe();
  void plan(SequenceRecord& record);
  void fly(SequenceRecord& record);
  void measure_drift(const SequenceRecord& record);
  void estimate_left_models(SequenceRecord& record);
  void recharge(SequenceRecord& record);
  void train(SequenceRecord& record, FractionListener progress);
  void finish(SequenceRecord& record);
  [[nodiscard]] double earliest_end(const SequenceRecord& record) const;
  // Who arrives later is under way until then.
  [[nodiscard]] double latest_arrival(const SequenceRecord& record) const;
  void settle(SequenceRecord& record);
  void advance(const SequenceRecord& record);

  // Training, step by step.
  void run_round(std::size_t round, Training& training, SequenceRecord& record);
  void await_begin(const Training& training, SequenceRecord& record);
  [[nodiscard]] Round prepare(std::size_t round, const Training& training, SequenceRecord& record) const;
  [[nodiscard]] LeaderTask task_of(std::size_t swarm, std::size_t round, const SequenceRecord& record,
                                   const std::vector<std::size_t>& access_points_out) const;
  [[nodiscard]] WayToCore way_of(const LeaderTask& task) const;
  void share_slowest_trip(Round& round) const;
  void signal(Round& round, SequenceRecord& record);
  void book_swarm(const Round& round, std::size_t i, double stays_s, const Training& training,
                  SequenceRecord& record);
  void add_objectives(const Round& round, std::size_t i, Training& training) const;
  void send_to_core(const Round& round, std::size_t i);
  // Of a leader's model, one way; and of its flight there and back.
  [[nodiscard]] Time transfer_to_core(const Round& round, std::size_t i) const;
  [[nodiscard]] Time round_trip(const Round& round, std::size_t i) const;
  // Where the time goes of a swarm that stays so long.
  void book_times(const Round& round, std::size_t i, double stays_s, SequenceRecord& record);
  [[nodiscard]] RoundParts parts_of(const Round& round, std::size_t i, double stays_s) const;
  void book_leader(const Round& round, std::size_t i, double stays_s, SequenceRecord& record);
  void book_member(const Round& round, std::size_t i, std::size_t uav, double stays_s,
                   SequenceRecord& record);
  void merge(Round& round, double lasts_s, double now_s, SequenceRecord& record);
  [[nodiscard]] std::vector<SwarmUpdate> whole_updates(Round& round, double lasts_s, double now_s,
                                                       SequenceRecord& record);
  // What a swarm goes on from: the global model, or its own that found no access point.
  [[nodiscard]] const std::shared_ptr<const Model>& model_of(std::size_t swarm) const;
  [[nodiscard]] bool lacks_model(std::size_t swarm) const;
  [[nodiscard]] Time model_delay() const;
  void measure(const Training& training, SequenceRecord& record);
  void measure_constants(const Round& round, const Model& before, std::optional<double> time_s,
                         SequenceRecord& record);
  [[nodiscard]] std::vector<double> constants_in_plans(const Round& round) const;
  void hand_over(Training& training, SequenceRecord& record);
  void estimate_handed_models(const std::vector<std::size_t>& clusters, SequenceRecord& record);
  Time pay_report(std::size_t swarm, SequenceRecord& record);

  [[nodiscard]] ClusterEstimator estimator() { return {setup_.estimates, state_.estimates}; }
  [[nodiscard]] Supplies supplies() { return {*setup_.world, setup_.faults, now_, state_.world.ledger}; }
  [[nodiscard]] Airborne airborne(SequenceRecord& record) {
    return {*setup_.world, setup_.waiting, supplies(), record.uavs};
  }
  void fly_swarm(std::size_t swarm, SequenceRecord& record);
  void depart(std::size_t swarm, SequenceRecord& record);
  void go_on(std::size_t swarm, SequenceRecord& record);
  void arrive(std::size_t swarm, bool trains, SequenceRecord& record);
  // The latest global model, if the swarm lacks it; what that takes.
  Time fetch_model(std::size_t swarm, SequenceRecord& record);

  // Drift, as planners see it.
  [[nodiscard]] double gradient_scale() const;
  [[nodiscard]] std::vector<double> planning_drifts() const;
  [[nodiscard]] double planned_age(std::size_t cluster) const;
  void age_clusters(const std::vector<double>& drifts, SequenceCosts& costs, SequenceRecord& record);
  void score_after(SequenceRecord& record);

  void note_faults(double now_s, SequenceRecord& record) const;
  // Those of a global round that this sequence did not have.
  void note_late_faults(SequenceRecord& record) const;

  MissionSetup setup_;
  ThreadPool& pool_;
  MissionState state_;
  FaultSchedule::Moment now_{};
};

}  // namespace skein
