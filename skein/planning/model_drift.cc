#include "skein/planning/model_drift.h"

#include <numeric>
#include <utility>

namespace skein {

double drift_estimate(double squared_change, double elapsed) {
  expect(elapsed > 0.0, "a drift needs time");
  return squared_change / (elapsed * elapsed);
}

double gradient_bound(double squared_gradient, std::span<const double> drifts) {
  const auto steps = static_cast<double>(drifts.size());
  return (steps + 1.0) * (squared_gradient + std::accumulate(drifts.begin(), drifts.end(), 0.0));
}

double gradient_bound(double squared_gradient, double drift, double steps) {
  return (steps + 1.0) * (squared_gradient + steps * drift);
}

void MeasuredDrift::leave(std::size_t cluster, double sequence, std::vector<float> gradient) {
  expect(cluster < visits_.size(), "no such cluster");
  visits_[cluster] = Visit{.sequence = sequence, .gradient = std::move(gradient)};
}

void MeasuredDrift::arrive(std::size_t cluster, double sequence, std::span<const float> gradient) {
  expect(cluster < visits_.size(), "no such cluster");
  const std::optional<Visit>& visit = visits_[cluster];
  if (visit && sequence > visit->sequence) {
    drifts_[cluster] =
        drift_estimate(squared_distance<float>(visit->gradient, gradient), sequence - visit->sequence);
  }
}

}  // namespace skein
