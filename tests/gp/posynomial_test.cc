#include "skein/gp/posynomial.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein::gp {
namespace {

Monomial random_monomial(std::size_t variables, RandomStream& random) {
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < variables; ++i) {
    if (random.uniform() < 0.6) {
      factors.push_back({i, random.uniform(-3.0, 3.0)});
    }
  }
  return {std::exp(random.normal(0.0, 2.0)), factors};
}

Posynomial random_posynomial(std::size_t variables, RandomStream& random) {
  Posynomial sum;
  for (std::size_t terms = 1 + random.below(6); terms > 0; --terms) {
    sum += random_monomial(variables, random);
  }
  return sum;
}

std::vector<double> random_point(std::size_t variables, RandomStream& random) {
  std::vector<double> point(variables);
  for (double& value : point) {
    value = random.normal(0.0, 2.0);
  }
  return point;
}

TEST(Posynomial, AlgebraIsThatOfTheValues) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(seed, "algebra");
    const std::size_t n = 1 + random.below(6);
    const Monomial a = random_monomial(n, random);
    const Monomial b = random_monomial(n, random);
    const Posynomial p = random_posynomial(n, random);
    const Posynomial q = random_posynomial(n, random);
    const std::vector<double> y = random_point(n, random);
    const double rounding = 1e-11;
    EXPECT_NEAR((a * b).log_value(y), a.log_value(y) + b.log_value(y), rounding);
    EXPECT_NEAR((a / b).log_value(y), a.log_value(y) - b.log_value(y), rounding);
    EXPECT_NEAR(a.power(-1.5).log_value(y), -1.5 * a.log_value(y), rounding);
    EXPECT_NEAR((p * q).log_value(y), p.log_value(y) + q.log_value(y), rounding);
    EXPECT_NEAR((p / a).log_value(y), p.log_value(y) - a.log_value(y), rounding);
    const double most = std::max(p.log_value(y), q.log_value(y));
    EXPECT_NEAR((p + q).log_value(y),
                most + std::log(std::exp(p.log_value(y) - most) + std::exp(q.log_value(y) - most)), rounding);
  }
}

TEST(Posynomial, FactorsAreSortedAndEachVariableIsThereOnce) {
  const Monomial m(2.0, {{3, 1.0}, {1, 2.0}, {3, 0.5}});
  ASSERT_EQ(m.factors().size(), 2U);
  EXPECT_EQ(m.factors()[0].variable, 1U);
  EXPECT_EQ(m.factors()[1].variable, 3U);
  EXPECT_EQ(m.factors()[1].exponent, 1.5);
}

TEST(Posynomial, LogarithmsReachWhereValuesOverflow) {
  const Posynomial huge = Posynomial(Monomial::of(0, 3.0)) + Posynomial(Monomial::of(0, 2.0));
  EXPECT_NEAR(huge.log_value(std::vector<double>{1000.0}), 3000.0, 1e-9);
  EXPECT_NEAR(huge.log_value(std::vector<double>{-1000.0}), -2000.0, 1e-9);
}

TEST(Posynomial, RefusesCoefficientsThatAreNotPositive) {
  for (const double coefficient : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(Monomial{coefficient}, ProgrammingError) << coefficient;
  }
}

// The best monomial: it touches, has the same slope, and is nowhere above.
TEST(Condensation, TouchesAndIsNeverAbove) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(seed, "condensation");
    const std::size_t n = 1 + random.below(6);
    const Posynomial p = random_posynomial(n, random);
    const std::vector<double> y = random_point(n, random);
    const Monomial near = condense(p, y);
    EXPECT_NEAR(near.log_value(y), p.log_value(y), 1e-11);
    for (std::size_t i = 0; i < n; ++i) {
      constexpr double step = 1e-5;
      std::vector<double> more = y;
      std::vector<double> less = y;
      more[i] += step;
      less[i] -= step;
      const double slope = (p.log_value(more) - p.log_value(less)) / (2.0 * step);
      const double exponent = (near.log_value(more) - near.log_value(less)) / (2.0 * step);
      EXPECT_NEAR(exponent, slope, 1e-8) << "central differences: step^2 times a third derivative below 30";
    }
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> elsewhere = random_point(n, random);
      EXPECT_LE(near.log_value(elsewhere), p.log_value(elsewhere) + 1e-11);
    }
  }
}

TEST(Condensation, OfAMonomialIsItself) {
  RandomStream random(1, "one monomial");
  const Monomial m = random_monomial(4, random);
  const Monomial same = condense(m, random_point(4, random));
  const std::vector<double> y = random_point(4, random);
  EXPECT_NEAR(same.log_value(y), m.log_value(y), 1e-12);
}

TEST(Condensation, HoldsWhereATermVanishes) {
  // At x = e^-800 the second term is 0 in double precision.
  const Posynomial p = Posynomial(Monomial(2.0)) + Posynomial(Monomial::of(0));
  const Monomial near = condense(p, std::vector<double>{-800.0});
  EXPECT_NEAR(near.log_value(std::vector<double>{0.0}), std::log(2.0), 1e-12);
  EXPECT_THROW(condense(Posynomial(), std::vector<double>{}), ProgrammingError);
}

}  // namespace
}  // namespace skein::gp
