// Model drift (section V-A of the paper): how fast a cluster's meta-gradient moves when nobody looks.
//
// Definition: || grad F_c(w | D(t)) - grad F_c(w | D(t - 1)) ||^2 <= Lambda_c(t) for every model w.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "skein/base/expect.h"

namespace skein {

// || a - b ||^2
template <class Number>
double squared_distance(std::span<const Number> a, std::span<const Number> b) {
  expect(a.size() == b.size(), "gradients of different networks");
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

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

// Drift as it is seen: a cluster's estimate is renewed each time a swarm comes back.
class MeasuredDrift {
 public:
  // Clusters that were never visited twice are taken to have these.
  explicit MeasuredDrift(std::vector<double> initial)
      : drifts_(std::move(initial)), visits_(drifts_.size()) {}

  // At the end of a visit: the gradient of the model that is left there.
  void leave(std::size_t cluster, double sequence, std::vector<float> gradient);
  // On arrival: the gradient of that same model on the cluster's data of now. Without an earlier visit, or
  // within the same sequence, nothing is learnt.
  void arrive(std::size_t cluster, double sequence, std::span<const float> gradient);

  [[nodiscard]] std::span<const double> drifts() const { return drifts_; }

 private:
  struct Visit {
    double sequence = 0.0;
    std::vector<float> gradient;
  };
  std::vector<double> drifts_;
  std::vector<std::optional<Visit>> visits_;
};

}  // namespace skein
