// Whole missions under planners by the clock, in the model's own terms: visits take what they are said to,
// and accuracy goes as forecast. Nothing is learned, so that a mission takes seconds.
//
// Scope. Who trains waits for no other swarm, and nobody is lost. What a visit leaves, and how fast it goes,
// stays as it was at first. Who is neither flying nor training is on the ground.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "skein/planning/environment.h"
#include "skein/planning/planner.h"

namespace skein {

struct ClockMission {
  std::vector<Site> starts;                // of each swarm, with full batteries
  std::vector<ClusterForecast> forecasts;  // of each cluster, before anybody has come
  double seconds = std::numeric_limits<double>::infinity();
  std::size_t sequences = 0;  // at most; 0: until its time is over
  std::uint64_t seed = 1;     // of the planner
};

struct ClockFlight {
  double seconds = 0.0;
  double accuracy_seconds = 0.0;  // of all clusters
  double energy_j = 0.0;          // of all UAVs
  std::size_t visits = 0;         // that trained
  std::size_t recharges = 0;
  double least_margin_j = std::numeric_limits<double>::infinity();  // above thresholds, of any swarm
};

// The environment has visits; a mission ends by its time or by its sequences.
ClockFlight fly_by_the_clock(const Environment& environment, Planner& planner, const ClockMission& mission);

}  // namespace skein
