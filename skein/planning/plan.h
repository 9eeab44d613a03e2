// What the core network knows and decides before a training sequence (section V-B of the paper): the state
// Z(s) and the action H(s).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "skein/base/quantity.h"

namespace skein {

// Sites are the clusters followed by the stations, as in World.
using Site = std::uint16_t;

// T_s, tau_L and tau_G.
struct Timing {
  double duration = 180.0;  // T_s, in local iterations
  double local_period = 1.0;
  double global_period = 1.0;

  friend bool operator==(const Timing&, const Timing&) = default;
};

// What is said of the battery of a swarm that cannot train any more.
constexpr double lost_battery_j = -1.0;

// All that the paper's state has; with the swarms' positions and the clusters' ages it is Markov.
struct Observation {
  std::size_t sequence = 0;        // s
  std::vector<bool> active;        // U(s): swarms above a cluster
  std::vector<Site> positions;     // X(s)
  std::vector<Energy> batteries;   // the least of each swarm; lost_battery_j of one that is lost
  std::vector<double> drifts;      // latest estimates per cluster
  std::vector<double> ages;        // sequences since each cluster was visited
  std::vector<double> gradients;   // squared meta-gradient at the end of the last visit
  std::vector<double> drift_sums;  // drift summed up since
  Timing timing;                   // of the sequence that has ended
};

struct Plan {
  std::vector<Site> destinations;  // of each swarm, all different; a lost one's is where it is
  std::vector<bool> active;        // who trains: swarms that go to a cluster
  Timing timing;
};

// A plan that was weighed: what it and the sequences after it are worth to whoever weighed it.
struct Alternative {
  std::vector<Site> destinations;
  double value = 0.0;  // sum of expected rewards, with a learned value of what comes after if there is one
  std::size_t sequences = 1;  // looked ahead, this plan's included
};

}  // namespace skein
