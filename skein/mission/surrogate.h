// A mission without learning: the planner's model of it, with tables that the offloader solves. It takes
// seconds where the mission takes minutes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "skein/planning/plan.h"
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
  // Under a planner by the clock, which has neither O nor G: predicted, mean over clusters and time.
  double accuracy_percent = 0.0;
  double hours = 0.0;
};

// Of any cluster before it is visited, as planning.estimates assumes at first.
ClusterForecast first_forecast(const Scenario& scenario);
// The same, with what visits of these missions have left and what was lost between them, where there were
// any. Throws InputError.
ClusterForecast flown_forecast(const Scenario& scenario, std::span<const std::filesystem::path> runs);

// Flies the scenario's training sequences from where its swarms start, under its planner, or under beam
// search if that one would have to be trained. Planners by the clock fly its hours, and clusters are as
// `forecast` says. Throws InputError where no plan could work.
Surrogate fly_surrogate(const Scenario& scenario, const ClusterForecast& forecast);
inline Surrogate fly_surrogate(const Scenario& scenario) {
  return fly_surrogate(scenario, first_forecast(scenario));
}

}  // namespace skein
