// Ipopt as an oracle: it solves the same programs by a method and with a linear solver of its own.

#include <gtest/gtest.h>

#include <cmath>
#include <ranges>

#include "skein/offloading/condensed_program.h"
#include "skein/offloading/direct_program.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/newton_offloader.h"
#include "tests/offloading/random_instance.h"
#ifdef SKEIN_HAS_IPOPT
#include "ipopt_peer.h"
#endif

namespace skein {
namespace {

#ifdef SKEIN_HAS_IPOPT

TEST(Ipopt, FindsTheSameOptimaOfGeometricPrograms) {
  std::size_t compared = 0;
  for (const NamedInstance& named :
       read_instances(SKEIN_SOURCE_DIR "/tests/reference/offloading_instances.jsonl")) {
    const OffloadingInstance& p = named.instance;
    if (p.num_devices() > 50) {
      continue;
    }
    CondensedProgram condensed(p, 1e-6);
    const std::vector<double> point = condensed.point_of(feasible_start(p, {}, 1.0, {}));
    condensed.condense_at(point);
    gp::Solver solver(condensed.program());
    const gp::Solution ours = solver.solve_from(point, {.tolerance = 1e-8});
    const IpoptResult theirs = solve_with_ipopt(condensed.program(), point, 1e-9);
    ASSERT_EQ(ours.status, gp::Status::solved) << p.name;
    ASSERT_TRUE(theirs.solved) << p.name;
    EXPECT_NEAR(std::log(ours.objective), std::log(theirs.objective), 1e-6) << p.name;
    ++compared;
  }
  EXPECT_GE(compared, 30U);
}

// P with limits that may be negative: DirectProgram counts in units of its limits, so it gets wide ones, and
// what they are too wide by is added to their rows.
class NegativeLimits : public gp::SmoothProgram {
 public:
  explicit NegativeLimits(const OffloadingInstance& p)
      : wide_(widened(p)), program_({&wide_, 1}, {}), excess_(num_equalities() + num_inequalities(), 0.0) {
    // Rows: equalities, shares of devices, relays and buffers of coordinators, time and energy of UAVs.
    const std::size_t time = num_equalities() + p.num_devices() + 2 * p.num_coordinators();
    for (std::size_t u = 0; u < p.num_uavs(); ++u) {
      excess_[time + u] = 1.0 - p.local_time_limit / wide_.local_time_limit;
      excess_[time + p.num_uavs() + u] = 1.0 - p.energy_budget[u] / wide_.energy_budget[u];
    }
    const OffloadDecision start = feasible_start(wide_, {}, 1.0, {});
    scale_ = evaluate(wide_, start).objective;
    program_.set_scale(scale_);
    start_ = program_.point_of({&start, 1});
  }

  [[nodiscard]] std::size_t num_equalities() const override { return program_.num_equalities(); }
  [[nodiscard]] std::size_t num_inequalities() const override { return program_.num_inequalities(); }
  [[nodiscard]] std::span<const double> lower() const override { return program_.lower(); }
  [[nodiscard]] std::span<const double> upper() const override { return program_.upper(); }
  [[nodiscard]] std::span<const gp::Entry> jacobian_pattern() const override {
    return program_.jacobian_pattern();
  }
  [[nodiscard]] std::span<const gp::Entry> hessian_pattern() const override {
    return program_.hessian_pattern();
  }
  double values(std::span<const double> x, std::span<double> constraints) override {
    const double objective = program_.values(x, constraints);
    for (std::size_t row = 0; row < constraints.size(); ++row) {
      constraints[row] += excess_[row];
    }
    return objective;
  }
  void derivatives(std::span<const double> x, std::span<const double> multipliers,
                   const Derivatives& result) override {
    program_.derivatives(x, multipliers, result);
  }

  [[nodiscard]] IpoptResult solve() {
    IpoptResult result = solve_with_ipopt(*this, start_, 1e-8);
    result.objective *= scale_;
    return result;
  }

 private:
  static OffloadingInstance widened(OffloadingInstance p) {
    p.local_time_limit = p.local_time_limit > 0.0 ? p.local_time_limit : 1.0;
    for (double& budget : p.energy_budget) {
      budget = budget > 0.0 ? budget : 1.0;
    }
    return p;
  }

  OffloadingInstance wide_;
  DirectProgram program_;
  std::vector<double> excess_;
  std::vector<double> start_;
  double scale_ = 1.0;
};

// Random instances, some with limits that leave nothing. Who says that there is a decision shows one; where
// we say that there is none, Ipopt finds none. What it finds from one start is not better than ours.
TEST(Ipopt, AgreesWithTheVerdicts) {
  std::size_t asked = 0;
  std::size_t solved = 0;
  std::size_t infeasible = 0;
  double worst = -HUGE_VAL;
  for (std::uint64_t seed = 0; asked < 100; ++seed) {
    const OffloadingInstance p = random_instance(seed, {.impossible = 0.3});
    // Ipopt keeps limits to 1e-8, so it cannot tell nothing from next to nothing.
    const auto workers = std::views::iota(std::size_t{0}, p.num_workers());
    if (!(p.total_data() > 0.0) || std::ranges::any_of(workers, [&](std::size_t j) {
          return p.energy_budget[j] == 0.0 || p.buffer[j] == 0.0;
        })) {
      continue;
    }
    ++asked;
    const OffloadResult ours = NewtonOffloader().solve({&p, 1}, nullptr);
    const IpoptResult theirs = NegativeLimits(p).solve();
    if (ours.status == OffloadStatus::infeasible) {
      EXPECT_FALSE(theirs.solved) << seed << " " << ours.culprit;
      infeasible += theirs.infeasible ? 1 : 0;
      continue;
    }
    ASSERT_EQ(ours.status, OffloadStatus::solved) << seed;
    EXPECT_LE(evaluate(p, ours.decisions.front()).violation, 1e-9) << seed;
    EXPECT_FALSE(theirs.infeasible) << seed;
    if (theirs.solved) {
      worst = std::max(worst, ours.objective() / theirs.objective - 1.0);
      ++solved;
    }
  }
  EXPECT_LE(worst, 1e-3);
  EXPECT_GE(solved, 50U);
  EXPECT_GE(infeasible, 15U);
}

// Ipopt's objective beside ours, as a part of ours: below 0 where Ipopt's is better.
struct Comparison {
  std::size_t solved = 0;
  std::size_t better = 0;  // Ipopt, by more than 1e-6
  std::size_t worse = 0;
  double most_better = 0.0;
};

void add(const IpoptResult& theirs, Comparison& comparison) {
  if (!theirs.solved) {
    return;
  }
  const double excess = theirs.objective - 1.0;
  ++comparison.solved;
  comparison.better += excess < -1e-6 ? 1 : 0;
  comparison.worse += excess > 1e-6 ? 1 : 0;
  comparison.most_better = std::max(comparison.most_better, -excess);
}

// Where time has a price, and with a prediction of accuracy: what Ipopt finds from one start is not better
// than ours, and from ours it finds nothing better.
void expect_not_worse_than_ipopt(bool accuracy) {
  std::size_t asked = 0;
  Comparison from_start;
  Comparison from_ours;
  for (std::uint64_t seed = 0; asked < 100; ++seed) {
    OffloadingInstance p = random_priced_instance(seed);
    if (is_impossible(p)) {
      continue;
    }
    ++asked;
    p = accuracy ? with_accuracy(p) : p;
    const OffloadResult ours = NewtonOffloader().solve({&p, 1}, nullptr);
    ASSERT_EQ(ours.status, OffloadStatus::solved) << seed;
    const std::vector<double> unit{ours.evaluations.front().round_time};
    const auto theirs_from = [&](OffloadDecision start) {
      for (std::array<double, 3>& alpha : start.alpha) {  // of idle workers: its logarithm
        std::ranges::transform(alpha, alpha.begin(), [](double ratio) { return std::max(ratio, 1e-6); });
      }
      DirectProgram program({&p, 1}, {}, unit);
      program.set_scale(ours.objective());
      return solve_with_ipopt(program, program.point_of({&start, 1}), 1e-8);
    };
    const IpoptResult theirs = theirs_from(feasible_start(p, {}, 1.0, {}));
    EXPECT_FALSE(theirs.infeasible) << seed;
    add(theirs, from_start);
    add(theirs_from(ours.decisions.front()), from_ours);
  }
  for (const Comparison& comparison : {from_start, from_ours}) {
    EXPECT_EQ(comparison.better, 0U) << "by " << comparison.most_better;
    EXPECT_GE(comparison.solved, 90U);
  }
  EXPECT_GE(from_start.worse, accuracy ? 20U : 1U) << "one start is not enough";
}

TEST(Ipopt, AgreesWhereTimeHasAPrice) { expect_not_worse_than_ipopt(false); }
TEST(Ipopt, AgreesWhereAccuracyIsPredicted) { expect_not_worse_than_ipopt(true); }

#else

TEST(Ipopt, AgreesWhereAccuracyIsPredicted) { GTEST_SKIP() << "Ipopt is not here (coinor-libipopt-dev)"; }
TEST(Ipopt, AgreesWhereTimeHasAPrice) { GTEST_SKIP() << "Ipopt is not here (coinor-libipopt-dev)"; }
TEST(Ipopt, FindsTheSameOptimaOfGeometricPrograms) {
  GTEST_SKIP() << "Ipopt is not here (coinor-libipopt-dev)";
}
TEST(Ipopt, AgreesWithTheVerdicts) { GTEST_SKIP() << "Ipopt is not here (coinor-libipopt-dev)"; }

#endif

}  // namespace
}  // namespace skein
