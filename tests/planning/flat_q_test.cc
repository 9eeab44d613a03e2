#include "skein/planning/flat_q.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

TEST(FlatQ, HasThePublishedOutputs) {
  const auto e = reference_environment();
  EXPECT_EQ(num_flat_plans(*e), 8640U);
  const FlatNetwork network(*e);
  EXPECT_EQ(network.num_features(), 27U);
  // LSTM of 1 number into 64, layers of 60, 80, 60 and 8640.
  EXPECT_EQ(network.num_parameters(), (1U + 64 + 1) * 256 + 65 * 60 + 61 * 80 + 81 * 60 + 61 * 8640);
  EXPECT_EQ(num_flat_plans(*random_environment({.swarms = 5, .clusters = 20, .stations = 2}, 1)), 0U);
}

// In float, central differences are good to some 1e-3 of the largest gradient.
TEST(FlatQ, TheGradientAgreesWithDifferences) {
  const auto e = random_environment({.swarms = 1, .clusters = 2, .stations = 1}, 3);
  FlatNetwork network(*e);
  RandomStream stream(1, "test.flat");
  const nn::Vector<float> w = network.initial_parameters(stream);
  constexpr std::size_t rows = 3;
  std::vector<float> features(rows * network.num_features() + 16);
  for (float& x : features) {
    x = static_cast<float>(stream.normal());
  }
  const std::vector<std::size_t> plans{0, 7, 35};
  const std::vector<float> targets{1.0F, -2.0F, 3.0F};
  nn::Vector<float> gradient(w.size());
  nn::Vector<float> unused(w.size());
  network.gradient(w, features.data(), plans, targets, gradient);
  double largest = 0.0;
  for (const float g : gradient) {
    largest = std::max(largest, std::abs(static_cast<double>(g)));
  }
  ASSERT_GT(largest, 0.1);
  std::size_t wrong = 0;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < w.size(); i += 13) {
    constexpr float step = 4e-3F;
    nn::Vector<float> moved = w;
    moved[i] = w[i] + step;
    const double up = network.gradient(moved, features.data(), plans, targets, unused);
    moved[i] = w[i] - step;
    const double down = network.gradient(moved, features.data(), plans, targets, unused);
    wrong += std::abs((up - down) / (2.0 * step) - gradient[i]) > 3e-3 * largest ? 1 : 0;
    ++tried;
  }
  EXPECT_LE(wrong, tried / 100);
}

TEST(FlatQ, TrainsAndPlansTheSameAgain) {
  const auto e = random_environment({.swarms = 2, .clusters = 4, .stations = 1}, 2);
  const FlatTraining a = train_flat_agent(e, 0.7, 60, 3);
  const FlatTraining b = train_flat_agent(e, 0.7, 60, 3);
  EXPECT_TRUE(std::ranges::equal(a.agent->parameters, b.agent->parameters));
  EXPECT_EQ(a.rewards, b.rewards);
  FlatPlanner planner(e, a.agent);
  planner.begin(1);
  std::vector<double> state(StateLayout(*e).size());
  start_at(*e, std::vector<Site>{0, 1}, state);
  for (int epoch = 0; epoch < 30; ++epoch) {
    const Plan plan = planner.choose(observe(*e, state));
    EXPECT_NE(plan.destinations[0], plan.destinations[1]);
    EXPECT_EQ(step(*e, state, plan.destinations, timing_index(*e, plan.timing)).below_threshold, 0U);
  }
}

}  // namespace
}  // namespace skein
