// From a scenario and its world to problem P of each swarm.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skein/bounds/bounds.h"
#include "skein/offloading/offloader.h"
#include "skein/scenario/scenario.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// The bounds' part of the objective, by the scenario's periods or by others. Throws InputError where the
// bounds do not hold.
SwarmBoundCoefficients build_bound(const Scenario& scenario);
SwarmBoundCoefficients build_bound(const Scenario& scenario, std::size_t local_period,
                                   std::size_t global_period, const BoundConstants& constants);

// How many aggregations a training sequence has, for what is spent on them.
struct SequenceRounds {
  std::size_t local_aggregations = 1;   // K_L
  std::size_t global_aggregations = 1;  // K_G
};
SequenceRounds sequence_rounds(const Scenario& scenario);

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
  // Of all leaders in a global round, to an access point and back, with the models of the local rounds
  // before: others wait for it.
  Time slowest_trip{};
  std::optional<BoundConstants> constants{};  // where they were measured
  std::optional<std::size_t> leader{};        // of the world's UAVs, where another took the role
  LinkConditions conditions{};
};
// With the scenario's periods, at the start of a sequence.
OffloadingSite offloading_site(const Scenario& scenario, std::size_t swarm, std::size_t cluster);

// The local rounds of one global round. Data on the cluster's devices is given, in points, the same in every
// round. Of each UAV's battery (joules, in the world's order) the threshold, and what hovering, models and,
// for the leader, its trips take in the whole sequence is set aside; the rest is for all K_L local rounds
// alike. `leader_shortfall` is what the leader's battery lacks for its own part, if above 0.
struct OffloadingProblem {
  std::vector<OffloadingInstance> rounds{};
  double leader_shortfall = 0.0;  // J
};
OffloadingProblem build_offloading(const Scenario& scenario, const World& world, const OffloadingSite& site,
                                   std::span<const double> device_data, std::span<const double> batteries);

// Of every UAV, in joules.
std::vector<double> full_batteries(const World& world);
// Data that each device of a cluster holds at the start: the scenario's quantity, at most its buffer.
std::vector<double> initial_device_data(const Scenario& scenario, const World& world, std::size_t cluster);

// By the scenario's choice: rounds as one problem, or with an even part of the budgets each.
OffloadResult solve_problem(const Offloader& offloader, BatterySharing sharing,
                            const OffloadingProblem& problem, const OffloadResult* previous);

}  // namespace skein
