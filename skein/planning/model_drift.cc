#include "skein/planning/model_drift.h"

#include <numeric>

#include "skein/base/expect.h"

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

}  // namespace skein
