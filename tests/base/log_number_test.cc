#include "skein/base/log_number.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/random.h"

namespace skein {
namespace {

TEST(LogNumber, CountsAsNumbersDo) {
  RandomStream stream(1, "numbers");
  for (int i = 0; i < 2000; ++i) {
    const double a = std::exp(stream.uniform(-200.0, 200.0));
    const double b = i % 10 == 0 ? a : std::exp(stream.uniform(-200.0, 200.0));
    // A logarithm of up to 200 to 16 digits is a number to 14.
    EXPECT_NEAR((LogNumber(a) + b).value() / (a + b), 1.0, 2e-13);
    EXPECT_NEAR((LogNumber(a) * b).value() / (a * b), 1.0, 2e-13);
    EXPECT_NEAR((a / LogNumber(b)).value() / (a / b), 1.0, 2e-13);
    EXPECT_EQ(LogNumber(a) < LogNumber(b), std::log(a) < std::log(b));
  }
}

TEST(LogNumber, KnowsZero) {
  const LogNumber zero;
  EXPECT_EQ(zero.value(), 0.0);
  EXPECT_EQ(LogNumber(0.0), zero);
  EXPECT_EQ(zero + zero, zero);
  EXPECT_EQ((zero + 3.0).log(), std::log(3.0));
  EXPECT_EQ(zero * LogNumber::from_log(1e6), zero);
  EXPECT_EQ(zero / 3.0, zero);
  EXPECT_THROW(LogNumber(3.0) / zero, ProgrammingError);
  EXPECT_THROW(LogNumber(-1.0), ProgrammingError);
  EXPECT_THROW(LogNumber(std::nan("")), ProgrammingError);
}

TEST(LogNumber, GoesBeyondDouble) {
  LogNumber huge = LogNumber::from_log(5000.0);
  EXPECT_TRUE(std::isinf(huge.value()));
  EXPECT_DOUBLE_EQ((huge + huge).log(), 5000.0 + std::log(2.0));
  huge += 1.0;
  EXPECT_EQ(huge.log(), 5000.0);
  EXPECT_NEAR((huge / LogNumber::from_log(4999.0)).value(), std::exp(1.0), 1e-11);
  EXPECT_NEAR(LogNumber(1000.0).log10(), 3.0, 1e-14);
}

}  // namespace
}  // namespace skein
