// A mission without learning: the planner's model of it, with tables that the offloader solves. It takes
// seconds where the mission takes minutes.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "skein/scenario/scenario.h"

namespace skein {

struct Surrogate {
  std::map<std::string, std::size_t> uavs{};  // of each type, in all swarms
  double objective = 0.0;                     // O of a visit, mean over visits; not finite if there are none
  double staleness = 0.0;  // G, the drift since a cluster was visited, mean over clusters and sequences
  double energy_j = 0.0;   // of the mission; at most, since all UAVs count as the one that spends most
  double visits = 0.0;     // to clusters
  double recharges = 0.0;
  std::size_t below_threshold = 0;
};

// Flies the scenario's training sequences from where its swarms start, under its planner, or under beam
// search if that one would have to be trained. Throws InputError where no plan could work.
Surrogate fly_surrogate(const Scenario& scenario);

}  // namespace skein
