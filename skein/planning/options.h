// What a scenario says about planning: trajectories, recharging and periods (section V of the paper).
#pragma once

#include <vector>

namespace skein {

enum class PlannerKind { beam, learned, myopic, sequential, nearest, threshold_nearest };

// Reward (section V-B): scale / (objective_weight O + gradient_weight sum G + travel_weight E^M)
// - penalty * swarms below their threshold. The paper orders these weights differently in its problem.
struct PlanningOptions {
  PlannerKind planner = PlannerKind::beam;
  double reward_scale = 1e5;
  double objective_weight = 0.2;
  double gradient_weight = 0.25;
  double travel_weight = 0.005;
  double penalty = 1000.0;
  double recharge_cost = 200.0;  // stands for O of a swarm at a station; at 0 it pays to stay there
  double discount = 0.7;
  double exploration = 0.7;
  double least_exploration = 0.005;
  std::vector<double> durations{180, 220, 260};  // T_s to choose from, in local iterations
  std::vector<double> local_periods{1, 2};
  std::vector<double> global_periods{1, 2};
};

}  // namespace skein
