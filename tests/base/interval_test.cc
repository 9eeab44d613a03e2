#include "skein/base/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

// From printed tables of the t distribution.
TEST(Interval, QuantilesOfStudent) {
  EXPECT_NEAR(student_quantile(1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(2), 4.303, 5e-4);
  EXPECT_NEAR(student_quantile(9), 2.262, 5e-4);
  EXPECT_NEAR(student_quantile(10), 2.228, 6e-4);
  EXPECT_NEAR(student_quantile(15), 2.131, 6e-4);
  EXPECT_NEAR(student_quantile(30), 2.042, 6e-4);
  EXPECT_NEAR(student_quantile(120), 1.980, 6e-4);
  for (std::size_t n = 1; n < 200; ++n) {
    EXPECT_GT(student_quantile(n), student_quantile(n + 1)) << n;
  }
}

TEST(Interval, ByHand) {
  const std::vector<double> values{1.0, 2.0, 6.0};
  const MeanInterval result = mean_interval(values);
  EXPECT_DOUBLE_EQ(result.mean, 3.0);
  EXPECT_DOUBLE_EQ(result.deviation, std::sqrt(7.0));  // (4 + 1 + 9) / 2
  EXPECT_NEAR(result.half_width, 4.30265 * std::sqrt(7.0 / 3.0), 1e-5);
}

TEST(Interval, OneValueHasNoSpread) {
  const MeanInterval result = mean_interval(std::vector<double>{5.0});
  EXPECT_EQ(result.mean, 5.0);
  EXPECT_EQ(result.deviation, 0.0);
  EXPECT_EQ(result.half_width, 0.0);
  EXPECT_THROW(mean_interval({}), ProgrammingError);
}

// Of many samples of 4 normal variates, 95 % have the true mean in their interval.
TEST(Interval, CoversTheMeanAsOftenAsItSays) {
  int covered = 0;
  constexpr int trials = 20000;
  RandomStream stream(1, "interval");
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(4);
    for (double& value : values) {
      value = stream.normal(7.0, 3.0);
    }
    const MeanInterval result = mean_interval(values);
    covered += std::abs(result.mean - 7.0) <= result.half_width ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / trials, 0.95, 5.0 * std::sqrt(0.95 * 0.05 / trials));
}

}  // namespace
}  // namespace skein
