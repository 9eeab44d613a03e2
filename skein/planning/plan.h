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

// What is predicted of a cluster's accuracy, from what visits have measured.
struct ClusterForecast {
  double accuracy = 0.0;          // 0 to 1, of the model that it has, on what its devices collect now
  double visited_accuracy = 0.0;  // of the model that a visit now would leave
  double loss_per_s = 0.0;        // of accuracy, from a visit on as long as nobody visits again
};

// All that the paper's state has; with the swarms' positions and the clusters' ages it is Markov. Behind it,
// what planners of predicted accuracy go by.
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

  double now_s = 0.0;                        // on the mission's clock
  double left_s = 0.0;                       // of the mission; infinite where it has no hours
  double spent_j = 0.0;                      // by all UAVs so far
  std::vector<double> arrivals_s{};          // until each swarm is at its position, if it is under way
  std::vector<ClusterForecast> forecasts{};  // of each cluster; empty: nothing is predicted
};

struct Plan {
  // Of each swarm, all different but for those that stay landed; a lost one's is where it is, and one's that
  // is under way where it flies to.
  std::vector<Site> destinations;
  std::vector<bool> active;  // who trains: swarms that go to a cluster
  Timing timing;
  // Of each swarm: seconds that it waits on the ground before it leaves; empty: none does.
  std::vector<double> departures_s{};
  // When the sequence ends, in seconds from its start: who is still under way then goes on, who trains ends
  // first, and who would leave later stays. 0: when all are done.
  double until_s = 0.0;
};

// A plan that was weighed: what it and the sequences after it are worth to whoever weighed it.
struct Alternative {
  std::vector<Site> destinations;
  double value = 0.0;  // sum of expected rewards, with a learned value of what comes after if there is one
  std::size_t sequences = 1;  // looked ahead, this plan's included
};

}  // namespace skein
