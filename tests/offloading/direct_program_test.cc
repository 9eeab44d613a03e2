#include "skein/offloading/direct_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

// A point inside, not at any solution.
std::vector<double> random_point(const DirectProgram& program, RandomStream& random) {
  std::vector<double> x;
  for (std::size_t i = 0; i < program.lower().size(); ++i) {
    const double low = std::max(program.lower()[i], -3.0);
    const double high = std::min(program.upper()[i], low + 1.0);
    x.push_back(low + (0.1 + 0.8 * random.uniform()) * (high - low));
  }
  return x;
}

class Derivatives : public testing::TestWithParam<std::uint64_t> {};

// From 20 on with a price of time, from 30 on with a prediction of accuracy too.
OffloadingInstance instance_of(std::uint64_t seed) {
  const RandomInstanceOptions options{.most_devices = 4, .tight = 0.0};
  OffloadingInstance p = seed < 20 ? random_instance(seed, options) : random_priced_instance(seed, options);
  if (seed >= 30) {
    p.accuracy = AccuracyLoss{.training_exponent = 0.3, .data_exponent = 0.6};
    p.local_rounds = 3.0;
  }
  return p;
}

// Against central differences: of a function of size 1 their error is about step^2 + rounding / step.
TEST_P(Derivatives, AgreeWithDifferences) {
  constexpr double step = 1e-5;
  RandomStream random(GetParam(), "derivatives");
  std::vector<OffloadingInstance> rounds{instance_of(GetParam())};
  if (GetParam() % 2 == 1) {
    rounds.push_back(rounds.front());  // a second round with other data
    for (double& data : rounds.back().device_data) {
      data = 1.3 * data + 7.0;
    }
  }
  const OffloadRestrictions restrictions = GetParam() % 5 == 4 ? greedy_offloading() : OffloadRestrictions{};
  DirectProgram program(rounds, restrictions);
  const std::size_t n = program.lower().size();
  const std::size_t m = program.num_equalities() + program.num_inequalities();
  std::vector<double> x = random_point(program, random);
  std::vector<double> constraints(m);
  program.set_scale(program.values(x, constraints));
  std::vector<double> multipliers(m);
  for (double& multiplier : multipliers) {
    multiplier = random.uniform(-1.0, 1.0);
  }
  struct All {
    double objective = 0.0;
    std::vector<double> constraints, gradient, jacobian, hessian, concave;
  };
  const auto at = [&](const std::vector<double>& point) {
    All all;
    all.constraints.resize(m);
    all.gradient.resize(n);
    all.jacobian.resize(program.jacobian_pattern().size());
    all.hessian.resize(program.hessian_pattern().size());
    all.concave.resize(program.hessian_pattern().size());
    all.objective = program.values(point, all.constraints);
    program.derivatives(point, multipliers, {all.gradient, all.jacobian, all.hessian, all.concave});
    return all;
  };
  // Gradient of the Lagrangian, dense.
  const auto slope = [&](const All& all) {
    std::vector<double> sum = all.gradient;
    for (std::size_t e = 0; e < all.jacobian.size(); ++e) {
      const gp::Entry& entry = program.jacobian_pattern()[e];
      sum[entry.column] += multipliers[entry.row] * all.jacobian[e];
    }
    return sum;
  };
  const All here = at(x);
  EXPECT_NEAR(here.objective, 1.0, 1e-12);
  std::map<std::pair<std::size_t, std::size_t>, double> jacobian;
  std::map<std::pair<std::size_t, std::size_t>, double> hessian;
  for (std::size_t e = 0; e < here.jacobian.size(); ++e) {
    const gp::Entry& entry = program.jacobian_pattern()[e];
    jacobian[{entry.row, entry.column}] += here.jacobian[e];
  }
  for (std::size_t e = 0; e < here.hessian.size(); ++e) {
    const gp::Entry& entry = program.hessian_pattern()[e];
    const double value = here.hessian[e] + here.concave[e];
    hessian[{entry.row, entry.column}] += value;
    if (entry.row != entry.column) {
      hessian[{entry.column, entry.row}] += value;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> more = x;
    std::vector<double> less = x;
    more[i] += step;
    less[i] -= step;
    const All above = at(more);
    const All below = at(less);
    const auto near = [&](double value, double difference, const char* what, std::size_t other) {
      EXPECT_NEAR(value, difference, 2e-6 * (1.0 + std::abs(difference))) << what << " " << other << " " << i;
    };
    near(here.gradient[i], (above.objective - below.objective) / (2.0 * step), "gradient", 0);
    for (std::size_t row = 0; row < m; ++row) {
      near(jacobian[{row, i}], (above.constraints[row] - below.constraints[row]) / (2.0 * step), "jacobian",
           row);
    }
    const std::vector<double> slope_above = slope(above);
    const std::vector<double> slope_below = slope(below);
    for (std::size_t j = 0; j < n; ++j) {
      near(hessian[{j, i}], (slope_above[j] - slope_below[j]) / (2.0 * step), "hessian", j);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Derivatives, testing::Range<std::uint64_t>(0, 40));

TEST(DirectProgram, ItsObjectiveAndLimitsAreThoseOfTheInstance) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, "the same problem");
    const std::vector<OffloadingInstance> rounds{instance_of(seed)};
    DirectProgram program(rounds, {});
    // A decision: everything sent somewhere in part.
    OffloadDecision x;
    const OffloadingInstance& p = rounds.front();
    x.rho = Table<double>(p.num_devices(), p.num_uavs());
    x.varrho = Table<double>(p.num_coordinators(), p.num_workers());
    for (double& share : x.rho.values) {
      share = random.uniform() / static_cast<double>(p.num_uavs());
    }
    for (double& share : x.varrho.values) {
      share = random.uniform() / static_cast<double>(p.num_workers());
    }
    for (std::size_t j = 0; j < p.num_workers(); ++j) {
      x.alpha.push_back({0.1 + 0.9 * random.uniform(), 0.5, random.uniform(0.2, 1.0)});
      x.clock.push_back(random.uniform(p.least_clock[j], p.most_clock[j]));
    }
    std::vector<double> point = program.point_of({&x, 1});
    const OffloadEvaluation e = evaluate(p, x);
    if (p.prices_time()) {  // a start has some time to spare
      point.back() = e.round_time / p.local_time_limit;
    }
    std::vector<double> constraints(program.num_equalities() + program.num_inequalities());
    const double objective = program.values(point, constraints);
    EXPECT_NEAR(objective, e.objective, 1e-10 * e.objective) << seed;
    for (std::size_t i = 0; i < program.num_equalities(); ++i) {
      EXPECT_NEAR(constraints[i], 0.0, 1e-12) << "data is what is sent";
    }
    // Every limit above 1 is a constraint above 0, but for workers' buffers, which are bounds.
    double worst_limit = 0.0;
    for (const LimitUse& use : e.limits) {
      const bool is_bound = use.kind == LimitKind::buffer && use.index < p.num_workers();
      const bool scaled = use.kind == LimitKind::relay_share;  // in units of all data
      worst_limit = is_bound || scaled ? worst_limit : std::max(worst_limit, use.used - 1.0);
    }
    double worst_row = p.prices_time() ? point.back() - 1.0 : 0.0;  // a bound
    for (std::size_t i = program.num_equalities(); i < constraints.size(); ++i) {
      worst_row = std::max(worst_row, constraints[i]);
    }
    EXPECT_NEAR(worst_row, worst_limit, 1e-9 * (1.0 + worst_limit)) << seed;
    const OffloadDecision back = program.decision_of(point, 0);
    for (std::size_t i = 0; i < x.varrho.values.size(); ++i) {
      EXPECT_NEAR(back.varrho.values[i], x.varrho.values[i], 1e-12);
    }
    EXPECT_NEAR(back.clock[0], x.clock[0], 1e-12 * x.clock[0]);
  }
}

}  // namespace
}  // namespace skein
