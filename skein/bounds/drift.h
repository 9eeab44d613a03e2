// Model drift (section V-A of the paper): how fast a cluster's meta-gradient moves when nobody looks.
//
// Definition: || grad F_c(w | D(t)) - grad F_c(w | D(t - 1)) ||^2 <= Lambda_c(t) for every model w.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "skein/base/expect.h"

namespace skein {

// The least constant drift that explains how far a gradient of one model has moved in `elapsed` > 0 steps:
// by the triangle inequality || change ||^2 <= (elapsed sqrt(Lambda))^2, so Lambda >= || change ||^2 /
// elapsed^2.
inline double drift_estimate(double squared_change, double elapsed) {
  expect(elapsed > 0.0, "a drift needs time");
  return squared_change / (elapsed * elapsed);
}

// The squared change of a gradient from samples: with gradients of independent halves A and B of the points,
// then (0) and now (1),
//
//   <g1A - g0A, g1B - g0B>
//
// is |E g1 - E g0|^2 in expectation. The square of a single difference has the variances of both gradients on
// top. It may be below 0.
inline double crossed_change(const std::array<std::vector<float>, 2>& then,
                             const std::array<std::vector<float>, 2>& now) {
  double sum = 0.0;
  for (std::size_t i = 0; i < then[0].size(); ++i) {
    sum += (static_cast<double>(now[0][i]) - static_cast<double>(then[0][i])) *
           (static_cast<double>(now[1][i]) - static_cast<double>(then[1][i]));
  }
  return sum;
}

// What planners take for a cluster's drift: the squared change in a step, on average. The square of the steps
// stands in the lemma, where the change is exact; an estimate's error does not grow with time, and divided by
// the square it would make clusters look the calmer the longer nobody was there.
inline double drift_rate(double squared_change, double elapsed) {
  expect(elapsed > 0.0, "a drift needs time");
  return squared_change / elapsed;
}

// The lemma "Estimating online gradient via model drift": n steps after the last visit, when its square was
// G, the meta-gradient of a cluster's outdated model on its present data is
//
//   |grad F_c|^2 <= (n + 1) (G + sum of the steps' drifts)
template <class Scalar>
Scalar drifted_gradient(const Scalar& squared_gradient, const Scalar& drift_sum, double num_steps) {
  return (num_steps + 1.0) * (squared_gradient + drift_sum);
}
// The paper's own triangle inequality, one step earlier, where no drift is above Lambda:
// (sqrt(G) + n sqrt(Lambda))^2. Never more than the above, and G where nothing drifts.
template <class Scalar>
Scalar drifted_gradient_triangle(const Scalar& squared_gradient, const Scalar& drift, double num_steps) {
  using std::sqrt;
  const Scalar norm = sqrt(squared_gradient) + num_steps * sqrt(drift);
  return norm * norm;
}

}  // namespace skein
