#include "skein/bounds/drift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "skein/base/random.h"

namespace skein {
namespace {

// A gradient that moves by at most sqrt(drift) in each step: the lemma's bound holds for every path, and is
// reached by none that turns.
TEST(Drift, TheLemmasBoundHolds) {
  constexpr std::size_t size = 6;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "test.drift");
    std::vector<double> gradient(size);
    double left = 0.0;
    for (double& x : gradient) {
      x = stream.normal();
      left += x * x;
    }
    double sum = 0.0;
    double most = 0.0;
    const std::size_t steps = 1 + stream.below(20);
    for (std::size_t t = 0; t < steps; ++t) {
      const double drift = stream.uniform(0.0, 4.0);
      std::vector<double> direction(size);
      double norm = 0.0;
      for (double& x : direction) {
        x = stream.normal();
        norm += x * x;
      }
      double now = 0.0;
      for (std::size_t i = 0; i < size; ++i) {
        gradient[i] += direction[i] * std::sqrt(drift / norm);
        now += gradient[i] * gradient[i];
      }
      sum += drift;
      most = std::max(most, drift);
      EXPECT_LE(now, drifted_gradient(left, sum, static_cast<double>(t + 1)) * (1.0 + 1e-12))
          << seed << " " << t;
    }
    const auto n = static_cast<double>(steps);
    EXPECT_LE(drifted_gradient(left, sum, n), drifted_gradient(left, n * most, n) + 1e-9);
  }
}

// By hand: 3 steps, gradient 2, drifts 1 + 2 + 3: 4 (2 + 6) = 32; with none above 3: 4 (2 + 9) = 44.
TEST(Drift, TheLemmasBoundByHand) {
  EXPECT_DOUBLE_EQ(drifted_gradient(2.0, 6.0, 3.0), 32.0);
  EXPECT_DOUBLE_EQ(drifted_gradient(2.0, 9.0, 3.0), 44.0);
  EXPECT_DOUBLE_EQ(drifted_gradient(2.0, 0.0, 0.0), 2.0);
}

// A gradient that moves on a straight line at constant speed: every revisit finds its drift, whenever it is.
TEST(Drift, ARevisitFindsTheDriftOfAStraightLine) {
  const double drift = 2.25;  // the gradient moves by 1.5 in a step
  for (const double elapsed : {1.0, 2.0, 8.0}) {
    const double moved = 1.5 * elapsed;
    EXPECT_NEAR(drift_estimate(moved * moved, elapsed), drift, 1e-12);
  }
}

// The estimate never exceeds the largest drift of the way, whatever the path: it is a lower bound.
TEST(Drift, AnEstimateIsNeverAboveTheLargestDrift) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream stream(seed, "test.estimate");
    double place = 0.0;
    double most = 0.0;
    const std::size_t steps = 1 + stream.below(10);
    for (std::size_t t = 0; t < steps; ++t) {
      const double move = stream.normal();
      place += move;
      most = std::max(most, move * move);
    }
    EXPECT_LE(drift_estimate(place * place, static_cast<double>(steps)), most * (1.0 + 1e-12));
  }
}

}  // namespace
}  // namespace skein
