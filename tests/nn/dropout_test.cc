// Dropout within the engine: masks, their scale, and where they come from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "skein/nn/engine.h"
#include "tests/nn/random_problem.h"

namespace skein::nn {
namespace {

// With all parameters zero the outputs are zero, and the gradient of the weight from input i to output k is
// the mean over samples of (1 / 3 - [k = label]) times what dropout made of the input: masks can be read off.
std::vector<double> dropped_inputs(double probability, std::size_t inputs, RandomStream& stream) {
  const Network<double> network(
      architecture({1, 1, inputs}, {fmt::format("dropout {}", probability), "linear 3"}));
  Engine<double> engine(network);
  const Vector<double> w(network.num_parameters());
  Vector<double> g(w.size());
  const std::vector<double> ones(2 * inputs, 1.0);
  const std::array<std::uint8_t, 2> labels{0, 1};
  engine.gradient(w, {ones.data(), labels.data(), 2}, &stream, g);
  std::vector<double> values(2 * inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    // g[0] = (a (-2/3) + b / 3) / 2, g[1] = (a / 3 - b (2/3)) / 2
    values[i] = -2.0 * (2.0 * g[i * 3] + g[i * 3 + 1]);
    values[inputs + i] = -2.0 * (g[i * 3] + 2.0 * g[i * 3 + 1]);
  }
  return values;
}

TEST(Dropout, KeepsItsShareAndScalesIt) {
  for (const double probability : {0.1, 0.25, 0.5, 0.9}) {
    SCOPED_TRACE(probability);
    // A probability is rounded to a multiple of 2^-16.
    const double tolerance = std::ldexp(1.0, -17) / std::pow(1.0 - probability, 2) * 1.001;
    std::size_t kept = 0;
    std::size_t kept_twice = 0;
    std::size_t total = 0;
    constexpr std::size_t inputs = 301;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      RandomStream stream(seed, "keep rate");
      const std::vector<double> values = dropped_inputs(probability, inputs, stream);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_kept = values[i] > 0.5;
        ASSERT_NEAR(values[i], is_kept ? 1.0 / (1.0 - probability) : 0.0, tolerance);
        kept += is_kept ? 1 : 0;
        kept_twice += i < inputs && is_kept && values[inputs + i] > 0.5 ? 1 : 0;
      }
      total += values.size();
    }
    const auto expect_rate = [](std::size_t count, std::size_t of, double rate) {
      const double deviation = std::sqrt(rate * (1.0 - rate) / static_cast<double>(of));
      EXPECT_NEAR(static_cast<double>(count) / static_cast<double>(of), rate, 4.5 * deviation);
    };
    expect_rate(kept, total, 1.0 - probability);
    // Samples of a batch have masks of their own.
    expect_rate(kept_twice, total / 2, (1.0 - probability) * (1.0 - probability));
  }
}

TEST(Dropout, MasksComeFromTheStreamAlone) {
  RandomStream stream(1, "masks");
  const RandomStream start = stream;
  const std::vector<double> first = dropped_inputs(0.5, 100, stream);
  EXPECT_NE(stream.state(), start.state());
  const std::vector<double> second = dropped_inputs(0.5, 100, stream);
  EXPECT_NE(first, second);
  RandomStream again = start;
  EXPECT_EQ(dropped_inputs(0.5, 100, again), first);
}

TEST(Dropout, NothingIsDroppedWithoutAStream) {
  const std::vector<std::string> with = {"conv 3 2x2", "relu",        "pool 2x2 stride 1", "dropout 0.25",
                                         "linear 5",   "dropout 0.5", "linear 3"};
  const std::vector<std::string> without = {"conv 3 2x2", "relu", "pool 2x2 stride 1", "linear 5",
                                            "linear 3"};
  Problem<double> a(architecture({5, 5, 1}, with), 6, 1);
  Problem<double> b(architecture({5, 5, 1}, without), 6, 1);
  EXPECT_TRUE(same_bits(a.gradient(a.w), b.gradient(b.w)));
  EXPECT_TRUE(same_bits(a.hessian_vector(a.v), b.hessian_vector(b.v)));
  // Scoring never drops.
  EXPECT_EQ(a.engine.score(a.w, a.batch()).loss_sum, b.engine.score(b.w, b.batch()).loss_sum);
  RandomStream stream(1, "masks");
  EXPECT_GT(deviation(a.gradient(a.w, &stream), b.gradient(b.w)), 1e-3);
}

TEST(Dropout, ProbabilityZeroDropsNothing) {
  Problem<double> a(architecture({1, 1, 6}, {"linear 5", "dropout 0", "linear 3"}), 6, 1);
  RandomStream stream(1, "masks");
  EXPECT_LT(deviation(a.gradient(a.w, &stream), a.gradient(a.w)), 1e-14);
}

}  // namespace
}  // namespace skein::nn
