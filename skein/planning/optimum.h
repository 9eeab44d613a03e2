// How good the best planner could be: bounds on the highest mean reward of small worlds, by dynamic
// programming over every state.
//
// Everything about a state is finite but the batteries (ages stop to matter at their cap). Rounded up to a
// grid after each sequence, they make a world that is kinder than the true one; rounded down, a harder one.
// The best mean reward of the first is above the true optimum, that of the second below. Both come from
// value iteration, which after each sweep holds the optimum of its world between the least and the largest
// change of any state's value; so what is returned is a bound whenever it stops.
//
// Scope: static drift, capped ages, plans that keep every swarm above its threshold, one timing for each set
// of destinations (the best one).
#pragma once

#include <cstddef>
#include <optional>

#include "skein/planning/environment.h"

namespace skein {

struct OptimumOptions {
  std::size_t battery_levels = 24;  // between threshold and capacity
  std::size_t most_sweeps = 400;
  double tolerance = 0.5;              // stop when the bounds of a sweep are this near, in reward
  std::size_t most_states = 30000000;  // more are refused
};

struct OptimumBounds {
  double lower = 0.0;  // of the best mean reward
  double upper = 0.0;
  std::size_t states = 0;
  std::size_t sweeps = 0;
};

// Nothing where the world has too many states, or drift that moves, or the lemma's G.
std::optional<OptimumBounds> optimum_bounds(const Environment& environment, const OptimumOptions& options,
                                            ThreadPool& pool);

}  // namespace skein
