#include "skein/gp/interior_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "skein/base/random.h"

namespace skein::gp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A number with its gradient and Hessian by N variables, so that programs below are plain formulas.
template <std::size_t N>
struct Jet {
  double value = 0.0;
  std::array<double, N> gradient{};
  std::array<std::array<double, N>, N> hessian{};

  Jet() = default;
  Jet(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor)

  // f(this), from f, f' and f'' at its value.
  [[nodiscard]] Jet chain(double f, double first, double second) const {
    Jet result(f);
    for (std::size_t i = 0; i < N; ++i) {
      result.gradient[i] = first * gradient[i];
      for (std::size_t j = 0; j < N; ++j) {
        result.hessian[i][j] = first * hessian[i][j] + second * gradient[i] * gradient[j];
      }
    }
    return result;
  }
  friend Jet operator+(Jet a, const Jet& b) {
    a.value += b.value;
    for (std::size_t i = 0; i < N; ++i) {
      a.gradient[i] += b.gradient[i];
      for (std::size_t j = 0; j < N; ++j) {
        a.hessian[i][j] += b.hessian[i][j];
      }
    }
    return a;
  }
  friend Jet operator*(const Jet& a, const Jet& b) {
    Jet result(a.value * b.value);
    for (std::size_t i = 0; i < N; ++i) {
      result.gradient[i] = a.value * b.gradient[i] + b.value * a.gradient[i];
      for (std::size_t j = 0; j < N; ++j) {
        result.hessian[i][j] = a.value * b.hessian[i][j] + b.value * a.hessian[i][j] +
                               a.gradient[i] * b.gradient[j] + b.gradient[i] * a.gradient[j];
      }
    }
    return result;
  }
  friend Jet operator-(const Jet& a, const Jet& b) { return a + b * Jet(-1.0); }
  friend Jet exp(const Jet& a) { return a.chain(std::exp(a.value), std::exp(a.value), std::exp(a.value)); }
  friend Jet sin(const Jet& a) { return a.chain(std::sin(a.value), std::cos(a.value), -std::sin(a.value)); }
};

// A program of N variables with dense derivatives. `functions` gives the objective, then equalities, then
// inequalities. All curvature counts as convex unless it is said to be concave.
template <std::size_t N>
class Formulas : public SmoothProgram {
 public:
  using Point = std::array<Jet<N>, N>;
  struct Description {
    std::function<std::vector<Jet<N>>(const Point&)> functions;
    std::size_t equalities = 0;
    std::size_t inequalities = 0;
    std::vector<double> lower = std::vector<double>(N, -infinity);
    std::vector<double> upper = std::vector<double>(N, infinity);
    bool concave = false;
    std::vector<Entry> absent{};  // of the constraints' derivatives: always zero
  };

  explicit Formulas(Description description) : d_(std::move(description)) {
    for (std::size_t row = 0; row < d_.equalities + d_.inequalities; ++row) {
      for (std::size_t i = 0; i < N; ++i) {
        const bool is_absent = std::ranges::any_of(
            d_.absent, [&](const Entry& entry) { return entry.row == row && entry.column == i; });
        if (!is_absent) {
          jacobian_.push_back({row, i});
        }
      }
    }
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        hessian_.push_back({i, j});
      }
    }
  }

  [[nodiscard]] std::size_t num_equalities() const override { return d_.equalities; }
  [[nodiscard]] std::size_t num_inequalities() const override { return d_.inequalities; }
  [[nodiscard]] std::span<const double> lower() const override { return d_.lower; }
  [[nodiscard]] std::span<const double> upper() const override { return d_.upper; }
  [[nodiscard]] std::span<const Entry> jacobian_pattern() const override { return jacobian_; }
  [[nodiscard]] std::span<const Entry> hessian_pattern() const override { return hessian_; }

  double values(std::span<const double> x, std::span<double> constraints) override {
    const std::vector<Jet<N>> jets = at(x);
    for (std::size_t row = 0; row < constraints.size(); ++row) {
      constraints[row] = jets[1 + row].value;
    }
    return jets[0].value;
  }
  void derivatives(std::span<const double> x, std::span<const double> multipliers,
                   const Derivatives& result) override {
    const std::vector<Jet<N>> jets = at(x);
    std::size_t h = 0;
    for (std::size_t i = 0; i < N; ++i) {
      result.gradient[i] = jets[0].gradient[i];
      for (std::size_t j = 0; j <= i; ++j, ++h) {
        double sum = jets[0].hessian[i][j];
        for (std::size_t row = 0; row < multipliers.size(); ++row) {
          sum += multipliers[row] * jets[1 + row].hessian[i][j];
        }
        result.hessian[h] = d_.concave ? 0.0 : sum;
        result.concave[h] = d_.concave ? sum : 0.0;
      }
    }
    for (std::size_t e = 0; e < jacobian_.size(); ++e) {
      result.jacobian[e] = jets[1 + jacobian_[e].row].gradient[jacobian_[e].column];
    }
  }

 private:
  std::vector<Jet<N>> at(std::span<const double> x) const {
    Point point;
    for (std::size_t i = 0; i < N; ++i) {
      point[i] = Jet<N>(x[i]);
      point[i].gradient[i] = 1.0;
    }
    return d_.functions(point);
  }

  Description d_;
  std::vector<Entry> jacobian_, hessian_;
};

template <std::size_t N>
InteriorPointResult solve(const typename Formulas<N>::Description& description, std::vector<double> start,
                          const InteriorPointOptions& options = {}) {
  Formulas<N> program(description);
  return InteriorPoint(program).solve(start, options);
}

TEST(InteriorPoint, NearestPointOfAHalfPlane) {
  // min (x - 1)^2 + (y - 2)^2 with x + y <= 1: (0, 1), multiplier 2.
  const InteriorPointResult result =
      solve<2>({.functions =
                    [](const auto& x) {
                      return std::vector<Jet<2>>{(x[0] - 1.0) * (x[0] - 1.0) + (x[1] - 2.0) * (x[1] - 2.0),
                                                 x[0] + x[1] - 1.0};
                    },
                .inequalities = 1},
               {5.0, -3.0}, {.convex = true});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.x[0], 0.0, 1e-8);
  EXPECT_NEAR(result.x[1], 1.0, 1e-8);
  EXPECT_NEAR(result.multipliers[0], 2.0, 1e-7);
  EXPECT_LE(result.infeasibility, 1e-9);
}

// Hock and Schittkowski's problem 71: min x1 x4 (x1 + x2 + x3) + x3 with x1 x2 x3 x4 >= 25 and
// x1^2 + ... + x4^2 = 40, 1 <= x <= 5. Its solution is published.
Formulas<4>::Description problem_71() {
  return {.functions =
              [](const auto& x) {
                return std::vector<Jet<4>>{x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
                                           x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 40.0,
                                           Jet<4>(25.0) - x[0] * x[1] * x[2] * x[3]};
              },
          .equalities = 1,
          .inequalities = 1,
          .lower = {1.0, 1.0, 1.0, 1.0},
          .upper = {5.0, 5.0, 5.0, 5.0}};
}

TEST(InteriorPoint, PublishedProblem71) {
  const InteriorPointResult result = solve<4>(problem_71(), {1.0, 5.0, 5.0, 1.0});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.objective, 17.0140173, 1e-6);
  EXPECT_NEAR(result.x[1], 4.7429994, 1e-6);
  EXPECT_NEAR(result.x[2], 3.8211503, 1e-6);
  EXPECT_NEAR(result.x[3], 1.3794082, 1e-6);
  EXPECT_NEAR(result.x[0], 1.0, 1e-8);
  EXPECT_GT(result.lower_multipliers[0], 1.0) << "its bound holds it";
  EXPECT_LT(result.iterations, 40U);
}

TEST(InteriorPoint, AWarmStartTakesFewerSteps) {
  Formulas<4> program(problem_71());
  InteriorPoint method(program);
  const InteriorPointResult cold = method.solve(std::vector<double>{1.0, 5.0, 5.0, 1.0}, {});
  const InteriorPointResult warm = method.solve(cold, {.first_barrier = 1e-7});
  ASSERT_EQ(warm.status, InteriorPointStatus::solved);
  EXPECT_LT(2 * warm.iterations, cold.iterations);
  EXPECT_NEAR(warm.objective, cold.objective, 1e-7);
}

TEST(InteriorPoint, FixedVariablesStay) {
  Formulas<4>::Description description = problem_71();
  description.lower[0] = description.upper[0] = 1.0;  // where its bound holds it anyway
  const InteriorPointResult result = solve<4>(description, {4.0, 5.0, 5.0, 1.0});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_EQ(result.x[0], 1.0);
  EXPECT_EQ(result.lower_multipliers[0], 0.0);
  EXPECT_NEAR(result.objective, 17.0140173, 1e-6);
  EXPECT_NEAR(result.x[1], 4.7429994, 1e-6);
}

// x y on the unit disc has a saddle in the middle and its minima, -1/2, at (1, -1) and (-1, 1) over sqrt 2.
TEST(InteriorPoint, LeavesSaddlesForMinima) {
  for (const bool concave : {false, true}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      RandomStream random(seed, "saddle");
      const InteriorPointResult result =
          solve<2>({.functions =
                        [](const auto& x) {
                          return std::vector<Jet<2>>{x[0] * x[1], x[0] * x[0] + x[1] * x[1] - 1.0};
                        },
                    .inequalities = 1,
                    .concave = concave},
                   {1e-3 * random.normal(), 1e-3 * random.normal()});
      ASSERT_EQ(result.status, InteriorPointStatus::solved) << seed;
      EXPECT_NEAR(result.objective, -0.5, 1e-7) << seed;
    }
  }
}

// Rosenbrock's valley with its minimum (1, 1) outside of a disc: the published minimum on the disc of radius
// sqrt 2 is (1, 1) itself; on the unit disc it is (0.786415, 0.617698).
TEST(InteriorPoint, CurvedValley) {
  const auto valley = [](double squared_radius) {
    return Formulas<2>::Description{.functions =
                                        [squared_radius](const auto& x) {
                                          const Jet<2> across = x[1] - x[0] * x[0];
                                          const Jet<2> along = Jet<2>(1.0) - x[0];
                                          return std::vector<Jet<2>>{
                                              Jet<2>(100.0) * across * across + along * along,
                                              x[0] * x[0] + x[1] * x[1] - squared_radius};
                                        },
                                    .inequalities = 1};
  };
  const InteriorPointResult on_unit_disc = solve<2>(valley(1.0), {-0.5, 0.5});
  ASSERT_EQ(on_unit_disc.status, InteriorPointStatus::solved);
  EXPECT_NEAR(on_unit_disc.x[0], 0.786415, 1e-5);
  EXPECT_NEAR(on_unit_disc.x[1], 0.617698, 1e-5);
  const InteriorPointResult on_wide_disc = solve<2>(valley(4.0), {-1.0, 1.0});
  ASSERT_EQ(on_wide_disc.status, InteriorPointStatus::solved);
  EXPECT_NEAR(on_wide_disc.x[0], 1.0, 1e-6);
  EXPECT_NEAR(on_wide_disc.x[1], 1.0, 1e-6);
}

TEST(InteriorPoint, ManyWavesEndInAMinimum) {
  // sin x on [0, 20]: every solution is a minimum, -1 or an end.
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(seed, "waves");
    const InteriorPointResult result =
        solve<1>({.functions = [](const auto& x) { return std::vector<Jet<1>>{sin(x[0])}; },
                  .lower = {0.0},
                  .upper = {20.0}},
                 {20.0 * random.uniform()});
    ASSERT_EQ(result.status, InteriorPointStatus::solved) << seed;
    const bool at_start = result.x[0] < 1e-6;
    EXPECT_TRUE(at_start || std::abs(result.objective + 1.0) < 1e-9) << seed << ": " << result.x[0];
  }
}

// ---- degenerate programs

TEST(InteriorPoint, TheSameEqualityTwice) {
  const InteriorPointResult result = solve<2>(
      {.functions =
           [](const auto& x) {
             return std::vector<Jet<2>>{x[0] * x[0] + x[1] * x[1], x[0] + x[1] - 2.0, x[0] + x[1] - 2.0};
           },
       .equalities = 2},
      {3.0, 0.0}, {.convex = true});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.x[0], 1.0, 1e-8);
  EXPECT_NEAR(result.x[1], 1.0, 1e-8);
}

TEST(InteriorPoint, AVertexWithMoreConstraintsThanVariables) {
  // min x + y with x, y >= 0, x + y >= 0, 2 x + y >= 0, x + 3 y >= 0: the vertex (0, 0).
  const InteriorPointResult result =
      solve<2>({.functions =
                    [](const auto& x) {
                      const Jet<2> zero(0.0);
                      return std::vector<Jet<2>>{x[0] + x[1], zero - x[0] - x[1], zero - x[0] - x[0] - x[1],
                                                 zero - x[0] - x[1] - x[1] - x[1]};
                    },
                .inequalities = 3,
                .lower = {0.0, 0.0}},
               {1.0, 2.0}, {.convex = true});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.x[0], 0.0, 1e-8);
  EXPECT_NEAR(result.x[1], 0.0, 1e-8);
}

TEST(InteriorPoint, ALineOfSolutions) {
  // min (x + y - 1)^2: any point of the line is one.
  const InteriorPointResult result = solve<2>({.functions =
                                                   [](const auto& x) {
                                                     const Jet<2> off = x[0] + x[1] - 1.0;
                                                     return std::vector<Jet<2>>{off * off};
                                                   },
                                               .lower = {-5.0, -5.0},
                                               .upper = {5.0, 5.0}},
                                              {3.0, 2.0}, {.convex = true});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.x[0] + result.x[1], 1.0, 1e-4);
  EXPECT_NEAR(result.objective, 0.0, 1e-8);
}

TEST(InteriorPoint, NoInterior) {
  // x <= y and y <= x leave a line: min x^2 + (y - 2)^2 on it is (1, 1).
  const InteriorPointResult result = solve<2>(
      {.functions =
           [](const auto& x) {
             return std::vector<Jet<2>>{x[0] * x[0] + (x[1] - 2.0) * (x[1] - 2.0), x[0] - x[1], x[1] - x[0]};
           },
       .inequalities = 2},
      {3.0, 0.0}, {.convex = true});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.x[0], 1.0, 1e-5);
  EXPECT_NEAR(result.x[1], 1.0, 1e-5);
}

TEST(InteriorPoint, ALimitOfFixedVariablesThatIsTightDoesNotDisturb) {
  // min (x - 3)^2 with x <= 1, and y fixed at 2 where y <= 2 is another limit.
  const InteriorPointResult result =
      solve<2>({.functions =
                    [](const auto& x) {
                      return std::vector<Jet<2>>{(x[0] - 3.0) * (x[0] - 3.0), x[0] - 1.0, x[1] - 2.0};
                    },
                .inequalities = 2,
                .lower = {-10.0, 2.0},
                .upper = {10.0, 2.0},
                .absent = {{1, 0}}},
               {0.0, 2.0}, {.convex = true});
  ASSERT_EQ(result.status, InteriorPointStatus::solved);
  EXPECT_NEAR(result.x[0], 1.0, 1e-8);
  EXPECT_NEAR(result.multipliers[0], 4.0, 1e-7);
  EXPECT_LT(result.multipliers[1], 1e-6) << "not without end";
  EXPECT_LE(result.stationarity, 1e-8);
}

TEST(InteriorPoint, TheInfeasibleIsNotCalledSolved) {
  const InteriorPointResult result = solve<1>({.functions =
                                                   [](const auto& x) {
                                                     return std::vector<Jet<1>>{x[0], x[0] * x[0] + 1.0};
                                                   },
                                               .inequalities = 1},
                                              {2.0});
  EXPECT_NE(result.status, InteriorPointStatus::solved);
  EXPECT_GT(result.infeasibility, 0.5);
}

TEST(InteriorPoint, StopsAtTheIterationLimit) {
  const InteriorPointResult result = solve<4>(problem_71(), {1.0, 5.0, 5.0, 1.0}, {.max_iterations = 3});
  EXPECT_EQ(result.status, InteriorPointStatus::iteration_limit);
  EXPECT_EQ(result.iterations, 3U);
}

// Random convex programs: quadratic objectives and exponential constraints with a chosen solution.
TEST(InteriorPoint, RandomConvexProgramsEndAtTheirSolution) {
  constexpr std::size_t n = 4;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "convex");
    std::array<double, n> solution{};
    std::array<double, n> linear{};
    std::array<double, n> direction{};
    for (std::size_t i = 0; i < n; ++i) {
      solution[i] = random.normal();
      direction[i] = random.normal();
    }
    // exp(direction (x - solution)) <= 1 with multiplier z; the objective's slope there cancels it.
    const double z = random.uniform(0.1, 2.0);
    for (std::size_t i = 0; i < n; ++i) {
      linear[i] = -z * direction[i];
    }
    const InteriorPointResult result =
        solve<n>({.functions =
                      [&](const auto& x) {
                        Jet<n> objective(0.0);
                        Jet<n> exponent(0.0);
                        for (std::size_t i = 0; i < n; ++i) {
                          const Jet<n> off = x[i] - solution[i];
                          objective = objective + Jet<n>(linear[i]) * off + off * off;
                          exponent = exponent + Jet<n>(direction[i]) * off;
                        }
                        return std::vector<Jet<n>>{objective, exp(exponent) - 1.0};
                      },
                  .inequalities = 1},
                 {0.0, 0.0, 0.0, 0.0}, {.convex = true});
    ASSERT_EQ(result.status, InteriorPointStatus::solved) << seed;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(result.x[i], solution[i], 1e-7) << seed;
    }
    EXPECT_NEAR(result.multipliers[0], z, 1e-6) << seed;
  }
}

}  // namespace
}  // namespace skein::gp
