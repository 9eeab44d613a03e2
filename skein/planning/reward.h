// The reward of a training sequence (section V-B of the paper): costs in, reward out. For the planner's
// model, for whoever searches it or bounds it, and for missions alike.
//
//   V = scale / (objective_weight sum O + recharge_cost [swarms at stations] + gradient_weight sum G
//                + travel_weight E^M) - penalty [swarms below their threshold]
//
// The denominator is a sum of costs, so that parts of it may be added up apart.
#pragma once

#include <algorithm>
#include <cstddef>

#include "skein/bounds/drift.h"
#include "skein/planning/options.h"

namespace skein {

// O(s) of a swarm that cannot train: above that of any decision.
constexpr double untrained_objective = 1e6;

struct SequenceCosts {
  double objective_sum = 0.0;  // O over swarms that train
  double gradient_sum = 0.0;   // G over clusters that nobody visits
  double travel_j = 0.0;
  std::size_t recharging = 0;       // swarms at stations
  std::size_t below_threshold = 0;  // swarms
};

[[nodiscard]] inline double objective_cost(const RewardOptions& o, double objective_sum) {
  return o.objective_weight * objective_sum;
}
[[nodiscard]] inline double recharge_cost(const RewardOptions& o, std::size_t swarms) {
  return o.recharge_cost * static_cast<double>(swarms);
}
[[nodiscard]] inline double gradient_cost(const RewardOptions& o, double gradient_sum) {
  return o.gradient_weight * gradient_sum;
}
[[nodiscard]] inline double travel_cost(const RewardOptions& o, double joules) {
  return o.travel_weight * joules;
}
// All but travel.
[[nodiscard]] inline double learning_cost(const RewardOptions& o, const SequenceCosts& costs) {
  return objective_cost(o, costs.objective_sum) + recharge_cost(o, costs.recharging) +
         gradient_cost(o, costs.gradient_sum);
}

// What so much cost is worth, without penalties.
[[nodiscard]] inline double worth(const RewardOptions& o, double cost) { return o.scale / cost; }
// With a swarm below its threshold, by zero_on_violation, only penalties count.
[[nodiscard]] inline double reward(const RewardOptions& o, double cost, std::size_t below_threshold) {
  const bool counts = below_threshold == 0 || !o.zero_on_violation;
  return (counts ? worth(o, cost) : 0.0) - o.penalty * static_cast<double>(below_threshold);
}
[[nodiscard]] inline double reward(const RewardOptions& o, const SequenceCosts& costs) {
  return reward(o, learning_cost(o, costs) + travel_cost(o, costs.travel_j), costs.below_threshold);
}

// G_c of a cluster that nobody visits: from its age, its drift, the drift summed up since the last visit, and
// the squared gradient that the visit left.
[[nodiscard]] inline double unvisited_gradient(const RewardOptions& o, double age, double drift,
                                               double drift_sum, double left) {
  return o.gradient == GradientForm::capped_age ? std::min(age, o.age_cap) * drift
                                                : drifted_gradient(left, drift_sum, age);
}

}  // namespace skein
