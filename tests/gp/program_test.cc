#include "skein/gp/program.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/input_fault.h"
#include "skein/base/random.h"

namespace skein::gp {
namespace {

// The largest box with walls of at most 200 and a floor of at most 10, heights between half and twice its
// width, depths likewise: a textbook program (Boyd, Kim, Vandenberghe and Hassibi 2007, section 2.5, other
// numbers).
Program box() {
  Program program;
  const Monomial h = Monomial::of(program.add_variable("h"));
  const Monomial w = Monomial::of(program.add_variable("w"));
  const Monomial d = Monomial::of(program.add_variable("d"));
  program.objective = Monomial(1.0) / (h * w * d);
  program.constraints.push_back({"wall", Posynomial(h * w * 0.01) + Posynomial(h * d * 0.01)});
  program.constraints.push_back({"floor", w * d * 0.1});
  program.constraints.push_back({"height", w / h * 0.5});
  program.constraints.push_back({"width", h / w * 0.5});
  program.constraints.push_back({"depth", d / w * 0.5});
  return program;
}

TEST(Program, BoxOfKnownVolume) {
  // Floor w d = 10; walls h (w + d) = 100, h = 2 w: w^2 + 10 = 50.
  const Solution solution = solve(box());
  ASSERT_EQ(solution.status, Status::solved);
  const double w = std::sqrt(40.0);
  EXPECT_NEAR(solution.values[1], w, 1e-6);
  EXPECT_NEAR(1.0 / solution.objective, 2.0 * w * 10.0, 1e-5);
}

TEST(Program, EqualityHolds) {
  Program program = box();
  program.equalities.push_back({"square", Monomial::of(1) / Monomial::of(2)});
  const Solution solution = solve(program);
  ASSERT_EQ(solution.status, Status::solved);
  EXPECT_NEAR(solution.values[1], std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(solution.values[2], std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(solution.values[0], 2.0 * std::sqrt(10.0), 1e-6);
}

TEST(Program, SensitivityIsThatOfTheOptimum) {
  const Solution solution = solve(box());
  Program wider = box();
  wider.constraints[0].left *= Posynomial(Monomial(1.0 / 1.001));
  const Solution changed = solve(wider);
  EXPECT_NEAR(std::log(solution.objective / changed.objective) / std::log(1.001), solution.sensitivities[0],
              1e-3);
}

TEST(Program, InfeasibleNamesTheConstraintAndTheFactor) {
  Program program = box();
  program.constraints.push_back({"tall", Monomial(100.0) / Monomial::of(0)});  // h >= 100, but h <= 2 w
  const Solution solution = solve(program);
  ASSERT_EQ(solution.status, Status::infeasible);
  EXPECT_GT(solution.factor, 1.5);
  EXPECT_FALSE(solution.culprit.empty());
  // Loosened by the factor, there is a solution.
  for (auto& constraint : program.constraints) {
    constraint.left /= Monomial(solution.factor * 1.0001);
  }
  EXPECT_EQ(solve(program).status, Status::solved);
}

TEST(Program, UnboundedNamesTheVariable) {
  Program program;
  const Monomial x = Monomial::of(program.add_variable("x"));
  const Monomial y = Monomial::of(program.add_variable("y", 1.0, 2.0));
  program.objective = Posynomial(y / x) + Posynomial(x.power(-2.0));
  const Solution solution = solve(program);
  ASSERT_EQ(solution.status, Status::unbounded);
  EXPECT_EQ(solution.culprit, "x");
}

TEST(Program, NoMinimiserIsNotCalledSolved) {
  Program program;
  const Monomial x = Monomial::of(program.add_variable("x"));
  program.objective = Posynomial(Monomial(1.0)) + Posynomial(x.power(-1.0));
  EXPECT_EQ(solve(program).status, Status::unbounded);
}

TEST(Program, AbsurdBoundsAreRefused) {
  Program program;
  program.add_variable("x", 2.0, 1.0);
  program.objective = Monomial::of(0);
  EXPECT_THROW(solve(program), InputError);
}

// Random programs with a known optimum: choose the point and the multipliers, then the coefficients such that
// the conditions of optimality hold there.
class RandomPrograms : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPrograms, EndAtTheirKnownOptimum) {
  RandomStream random(GetParam(), "random programs");
  const auto n = static_cast<std::size_t>(2 + random.below(12));
  const std::size_t m = 1 + random.below(n);
  Program program;
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    program.add_variable("x" + std::to_string(i), 1e-6, 1e6);
    y[i] = 4.0 * random.uniform() - 2.0;
  }
  std::vector<double> gradient(n, 0.0);  // of sum z_i log f_i, to be cancelled by the objective's
  const auto random_term = [&] {
    std::vector<Factor> factors;
    for (std::size_t i = 0; i < n; ++i) {
      if (random.uniform() < 0.5) {
        factors.push_back({i, 4.0 * random.uniform() - 2.0});
      }
    }
    return Monomial(0.1 + random.uniform(), factors);
  };
  for (std::size_t c = 0; c < m; ++c) {
    Posynomial left;
    const std::size_t terms = 1 + random.below(4);
    for (std::size_t k = 0; k < terms; ++k) {
      left += random_term();
    }
    const bool tight = random.uniform() < 0.6;
    const double log_value = left.log_value(y) + (tight ? 0.0 : 0.5);
    left /= Monomial::with_log_coefficient(log_value, {});
    program.constraints.push_back({"c" + std::to_string(c), left});
    if (tight) {
      const double z = 0.1 + random.uniform();
      const Monomial nearby = condense(left, y);
      for (const Factor& factor : nearby.factors()) {
        gradient[factor.variable] += z * factor.exponent;
      }
    }
  }
  // The objective: two terms, one with a random direction, the other cancels what is left; value 1 at y.
  std::vector<Factor> first;
  std::vector<Factor> second;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = random.uniform() - 0.5;
    first.push_back({i, -gradient[i] + a});
    second.push_back({i, -gradient[i] - a});
  }
  Monomial one(1.0, first);
  Monomial two(1.0, second);
  one *= Monomial::with_log_coefficient(-one.log_value(y) + std::log(0.5), {});
  two *= Monomial::with_log_coefficient(-two.log_value(y) + std::log(0.5), {});
  program.objective = Posynomial(one) + Posynomial(two);

  const Solution solution = solve(program);
  ASSERT_EQ(solution.status, Status::solved) << solution.residual << " after " << solution.iterations;
  EXPECT_NEAR(solution.objective, 1.0, 1e-7);
  EXPECT_LT(solution.iterations, 100U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range<std::uint64_t>(0, 200));

}  // namespace
}  // namespace skein::gp
