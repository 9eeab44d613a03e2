// How good a planner is: missions from many starts, and what can be said from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/environment.h"
#include "skein/planning/planner.h"

namespace skein {

using PlannerFactory = std::function<std::unique_ptr<Planner>()>;

struct MissionOptions {
  std::size_t starts = 8;    // at random clusters, with full batteries
  std::size_t epochs = 600;  // training sequences of each
  std::uint64_t seed = 1;
  std::size_t sequence = 0;  // of the first epoch: where drift moves, how far it is
};

// Means over the epochs of a mission.
struct MissionScore {
  double reward = 0.0;
  double learning_objective = 0.0;
  double battery_j = 0.0;      // over swarms
  double violations = 0.0;     // swarms below their threshold, per epoch
  double recharges = 0.0;      // visits to stations per swarm and epoch
  std::vector<double> visits;  // to each site, per epoch
};

struct EpochRecord {
  Plan plan;
  Outcome outcome;
  std::vector<double> state;  // afterwards
};

// One mission, epoch after epoch.
std::vector<EpochRecord> fly(const Environment& environment, Planner& planner, std::span<const double> start,
                             std::size_t epochs, std::uint64_t seed);
MissionScore score(const Environment& environment, std::span<const EpochRecord> records);

// One score per start; the same for any number of threads and processes.
std::vector<MissionScore> evaluate(const Environment& environment, const PlannerFactory& make_planner,
                                   const MissionOptions& options, ThreadPool& pool, Crew& crew = alone());

MissionScore mean_of(std::span<const MissionScore> scores);

// The mean of the middle half of all values; ends count by their share in it. At least one value.
double interquartile_mean(std::span<const double> values);

struct Interval {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};
// Interquartile mean over all values with its 95 % interval by bootstrap, stratified: values are drawn anew
// within each group (a geometry), as rliable does.
Interval bootstrap_interval(const std::vector<std::vector<double>>& groups, std::uint64_t seed);
// The probability that a run of `a` beats one of `b` in the same group, ties by half; with its interval.
Interval improvement_probability(const std::vector<std::vector<double>>& a,
                                 const std::vector<std::vector<double>>& b, std::uint64_t seed);

}  // namespace skein
