// Problem P of a swarm above a cluster, from what a scenario says of offloading and learning, and its
// solution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "skein/bounds/bounds.h"
#include "skein/offloading/offloader.h"
#include "skein/offloading/options.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// How many aggregations a training sequence has, for what is spent on them.
struct SequenceRounds {
  std::size_t local_aggregations = 1;   // K_L
  std::size_t global_aggregations = 1;  // K_G
};
// So many as fit into these local iterations, at least one of each.
SequenceRounds sequence_rounds(std::size_t local_iterations, std::size_t local_period,
                               std::size_t global_period);

// One size of data points and one of models for all swarms and sequences.
struct MessageSizes {
  DataSize point{};
  DataSize model{};
};
MessageSizes message_sizes(const OffloadingOptions& options, std::uint64_t seed);

struct OffloadingSite {
  std::size_t swarm = 0;
  std::size_t cluster = 0;
  std::size_t sequence = 0;
  std::size_t local_period = 1;   // tau_L
  std::size_t global_period = 1;  // tau_G: local rounds of the problem
  SequenceRounds rounds{};        // that the batteries must last for
  // K_L of the whole sequence: O(s) has the mean of the learning part over them, and the sum of energies.
  std::size_t local_aggregations = 1;
  // Of all leaders in a global round, to an access point and back, with the models of the local rounds
  // before: others wait for it.
  Time slowest_trip{};
  std::optional<BoundConstants> constants{};  // where they were measured
  std::optional<std::size_t> leader{};        // of the world's UAVs, where another took the role
  LinkConditions conditions{};
};
// With the scenario's periods, at the start of a sequence.
OffloadingSite offloading_site(const LearningOptions& learning, std::size_t swarm, std::size_t cluster);

// The local rounds of one global round. Data on the cluster's devices is given, in points, the same in every
// round. Of each UAV's battery (joules, in the world's order) the threshold, and what hovering, models and,
// for the leader, its trips take in the whole sequence is set aside; the rest is for all K_L local rounds
// alike. `leader_shortfall` is what the leader's battery lacks for its own part, if above 0.
//
// Where time is priced, points are sent once and stay with the workers. Hovering in local rounds is not set
// aside: P decides on it and the batteries pay; that of the leader limits what a round may last.
struct OffloadingProblem {
  std::vector<OffloadingInstance> rounds{};
  double leader_shortfall = 0.0;  // J
  // What the first local round gathers serves them all: in the others points take no bits.
  bool data_stays = false;
  SwarmLinks links{};  // that its rates are of
};

// What all problems of a mission have in common.
struct SwarmProblemSetting {
  OffloadingOptions offloading{};
  LearningOptions learning{};
  std::size_t num_classes = 10;            // of the data: what the loss of guessing follows from
  WaitChoice waiting = WaitChoice::hover;  // of those whose leader is away
};

// The bounds' part of the objective, by the scenario's periods or by others; nothing if a prediction of
// accuracy is in its place. Throws InputError where the bounds do not hold.
SwarmBoundCoefficients swarm_bound(const SwarmProblemSetting& setting);
SwarmBoundCoefficients swarm_bound(const SwarmProblemSetting& setting, std::size_t local_period,
                                   std::size_t global_period, const BoundConstants& constants);

// The problems of a world's swarms. The world must outlive it.
class SwarmProblems {
 public:
  SwarmProblems(SwarmProblemSetting setting, const World& world);

  [[nodiscard]] const SwarmProblemSetting& setting() const { return setting_; }
  [[nodiscard]] const World& world() const { return *world_; }
  [[nodiscard]] const MessageSizes& sizes() const { return sizes_; }

  // What no decision changes of w Xi(s), the bound of a sequence's mean squared gradient: the part that falls
  // with its length, from the loss of guessing, and the constant.
  [[nodiscard]] double objective_constant(std::size_t local_period, std::size_t global_period,
                                          double local_iterations) const;

  // How far the leader flies to the core network in a global round: decided with an even part of what its
  // battery has above its threshold, by what it costs those who wait. Undecided where leaders always fly all
  // the way.
  [[nodiscard]] WayToCore way(const OffloadingSite& site, std::span<const double> batteries,
                              std::vector<std::size_t> others) const;
  // One way, by a full leader at the start of a mission.
  [[nodiscard]] Length leader_flight(std::size_t swarm, std::size_t cluster,
                                     std::span<const double> batteries) const;
  [[nodiscard]] OffloadingProblem problem(const OffloadingSite& site, std::span<const double> device_data,
                                          std::span<const double> batteries) const;
  // By the scenario's choice: rounds as one problem, or with an even part of the budgets each.
  [[nodiscard]] OffloadResult solve(const Offloader& offloader, const OffloadingProblem& problem) const;

 private:
  // Of the swarm, and of the slowest of all.
  struct TimeLimits {
    Time own{};
    Time slowest{};
  };
  [[nodiscard]] LinkConditions decided_conditions(const OffloadingSite& site,
                                                  std::span<const double> batteries) const;
  [[nodiscard]] TimeLimits time_limits(std::size_t swarm, std::size_t sequence) const;
  void add_links(const OffloadingSite& site, const SwarmLinks& links, OffloadingInstance& p) const;
  void add_uavs(const OffloadingSite& site, const SwarmLinks& links, std::span<const double> batteries,
                Time duration, OffloadingInstance& p) const;
  // Hovering in local rounds, and how long a leader can that has so much energy for all of them.
  void price_time(const OffloadingSite& site, const Uav& leader, double spare_j, OffloadingInstance& p) const;

  SwarmProblemSetting setting_;
  const World* world_;
  MessageSizes sizes_;
};

// Of every UAV, in joules.
std::vector<double> full_batteries(const World& world);

// By this rule of sharing: see SwarmProblems::solve. Where data stays, local rounds are alike: one is solved,
// with its part of the batteries and of what is sent. Infeasible where the leader's battery lacks something.
OffloadResult solve_problem(const Offloader& offloader, BatterySharing sharing,
                            const OffloadingProblem& problem);

}  // namespace skein
