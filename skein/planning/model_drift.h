// Model drift (section V-A of the paper): how fast a cluster's meta-gradient moves when nobody looks.
//
// Definition: || grad F_c(w | D(t)) - grad F_c(w | D(t - 1)) ||^2 <= Lambda_c(t) for every model w.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace skein {

// The least constant drift that explains how far a gradient of one model has moved in `elapsed` > 0 steps:
// by the triangle inequality || change ||^2 <= (elapsed sqrt(Lambda))^2, so Lambda >= || change ||^2 /
// elapsed^2.
double drift_estimate(double squared_change, double elapsed);

// The lemma "Estimating online gradient via model drift": after n = drifts.size() steps without a visit the
// squared meta-gradient of the outdated model is at most (n + 1) (squared_gradient + sum of drifts).
double gradient_bound(double squared_gradient, std::span<const double> drifts);
// The same where no drift is above `drift`: (n + 1) (squared_gradient + n drift).
double gradient_bound(double squared_gradient, double drift, double steps);

// Drift of each cluster as a straight line in time, from start to end, constant from then on. With
// sequences = 0 it is at the start for ever.
struct AffineDrift {
  std::vector<double> start;
  std::vector<double> end;
  std::size_t sequences = 0;

  [[nodiscard]] double at(std::size_t cluster, double sequence) const {
    if (sequences == 0) {
      return start[cluster];
    }
    const double share = std::min(1.0, sequence / static_cast<double>(sequences));
    return start[cluster] + share * (end[cluster] - start[cluster]);
  }
};

}  // namespace skein
