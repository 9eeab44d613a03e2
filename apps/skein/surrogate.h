// A mission without learning: the planner's model of it, with tables that the offloader solves. It takes
// seconds where the mission takes minutes.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "skein/scenario/scenario.h"

namespace skein::app {

struct Surrogate {
  std::map<std::string, std::size_t> uavs{};  // of each type, in all swarms
  // What stands for the quality of the clusters' models, lower is better: the objective O of a visit, mean
  // over visits, and the drift G since then, mean over clusters and sequences, with the reward's weights.
  double learning_cost = 0.0;
  double energy_j = 0.0;  // of the mission; at most, since all UAVs count as the one that spends most
  double visits = 0.0;    // to clusters
  double recharges = 0.0;
  std::size_t below_threshold = 0;
};

// Flies the scenario's training sequences under beam search, from where its swarms start. Throws InputError
// where no plan could work.
Surrogate fly_surrogate(const Scenario& scenario);

}  // namespace skein::app
