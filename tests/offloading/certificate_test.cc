// A certificate is only worth what it would refuse.

#include "skein/offloading/certificate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/worker_selection.h"
#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

// With so little weight on learning that, as a rule, no limit is in the way.
OffloadingInstance easy_instance(std::uint64_t seed, std::size_t most_coordinators) {
  OffloadingInstance p = random_instance(
      seed, {.least_devices = 4, .most_coordinators = most_coordinators, .tight = 0.0, .impossible = 0.0});
  p.learning_weight = 0.001;
  return p;
}

LimitMultipliers no_multipliers(const OffloadingInstance& p) {
  return {.device_share = std::vector<double>(p.num_devices()),
          .relay = std::vector<double>(p.num_coordinators()),
          .buffer = std::vector<double>(p.num_uavs()),
          .time = std::vector<double>(p.num_uavs()),
          .energy = std::vector<double>(p.num_uavs())};
}

// What the objective rises by, relative, if a decision is changed a little.
double relative_change(const OffloadingInstance& p, const OffloadDecision& before,
                       const OffloadDecision& after) {
  const double objective = evaluate(p, before).objective;
  return (evaluate(p, after).objective - objective) / objective;
}

TEST(Certificate, ReducedCostsAreSlopesOfTheObjective) {
  constexpr double little = 1e-9;  // next to what the least busy worker has, too
  std::size_t shares = 0;
  std::size_t relays = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OffloadingInstance p = easy_instance(seed, 2);
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved) << seed;
    const auto is_free = [](const LimitUse& use) { return use.kind == LimitKind::relay_share; };
    if (!std::ranges::all_of(result.certificate.binding, is_free)) {
      continue;
    }
    const OffloadDecision& x = result.decisions.front();
    const ReducedCosts& costs = result.certificate.reduced_costs.front();
    const std::vector<double>& data = result.evaluations.front().data;
    const std::size_t workers = p.num_workers();
    for (std::size_t i = 0; i < p.num_devices(); ++i) {
      for (std::size_t u = 0; u < p.num_uavs(); ++u) {
        EXPECT_EQ(std::isnan(costs.rho(i, u)), x.rho(i, u) != 0.0 || p.device_data[i] == 0.0);
        if (std::isnan(costs.rho(i, u))) {
          continue;
        }
        OffloadDecision changed = x;
        changed.rho(i, u) = little;
        if (u < workers) {
          const double slope = relative_change(p, x, changed) / little;
          EXPECT_NEAR(costs.rho(i, u), slope, 1e-3 * std::abs(slope) + 1e-5) << seed;
          ++shares;
        } else if (data[u] == 0.0) {
          // Through a coordinator that does nothing so far, to each worker.
          for (std::size_t j = 0; j < workers; ++j) {
            changed.varrho(u - workers, j) = 1.0;
            const double slope = relative_change(p, x, changed) / little;
            const double cost =
                costs.rho(i, u) + p.device_data[i] / p.total_data() * costs.relay(u - workers, j);
            EXPECT_NEAR(cost, slope, 1e-3 * std::abs(slope) + 1e-5) << seed;
            changed.varrho(u - workers, j) = 0.0;
            ++relays;
          }
        }
      }
    }
  }
  EXPECT_GT(shares, 100U);
  EXPECT_GT(relays, 100U);
}

TEST(Certificate, RefusesWhatIsNotStationary) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const OffloadingInstance p = easy_instance(seed, 0);
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved);
    if (!result.certificate.binding.empty()) {
      continue;
    }
    ++tried;
    const LimitMultipliers none = no_multipliers(p);
    const auto residual = [&](const OffloadDecision& x, const LimitMultipliers& multipliers) {
      return certify({&p, 1}, {&x, 1}, {&multipliers, 1}, {}).kkt_residual;
    };
    const OffloadDecision& x = result.decisions.front();
    EXPECT_LE(residual(x, none), 1e-6) << "nothing binds: no multiplier is needed";
    OffloadDecision less = x;
    for (double& share : less.rho.values) {
      share *= 0.99;
    }
    EXPECT_GT(residual(less, none), 1e-5);
    OffloadDecision smaller = x;
    smaller.alpha.front()[1] *= 0.9;
    EXPECT_GT(residual(smaller, none), 1e-5);
    OffloadDecision faster = x;
    for (double& clock : faster.clock) {
      clock *= 2.0;
    }
    EXPECT_GT(residual(faster, none), 1e-5);
    LimitMultipliers negative = none;
    negative.time.front() = -1e-3;
    EXPECT_GE(residual(x, negative), 1e-3);
    LimitMultipliers unasked = none;
    unasked.buffer.front() = 1e-3;
    EXPECT_GT(certify({&p, 1}, {&x, 1}, {&unasked, 1}, {}).complementarity, 1e-5);
  }
  EXPECT_GE(tried, 5U);
}

// Worker selection solves P for the second worker alone; whose battery binds is told in terms of all.
TEST(Certificate, OfSelectedWorkersNamesThemAmongAll) {
  OffloadingInstance p = random_instance(
      3, {.least_devices = 6, .least_workers = 2, .most_workers = 2, .tight = 0.0, .impossible = 0.0});
  p.learning_weight = 0.9;
  for (std::size_t i = 0; i < p.num_devices(); ++i) {
    p.device_rate(i, 0) /= 100.0;  // far from everyone
  }
  const OffloadResult ample = WorkerSelection().solve({&p, 1}, nullptr);
  ASSERT_EQ(ample.workers, std::vector<std::size_t>{1});
  p.energy_budget[1] = 0.5 * ample.evaluations.front().uav_energy[1];
  const OffloadResult result = WorkerSelection().solve({&p, 1}, nullptr);
  ASSERT_EQ(result.status, OffloadStatus::solved);
  ASSERT_EQ(result.workers, std::vector<std::size_t>{1});
  const auto binds = [&](LimitKind kind, std::size_t index) {
    return std::ranges::any_of(result.certificate.binding,
                               [&](const LimitUse& use) { return use.kind == kind && use.index == index; });
  };
  EXPECT_TRUE(binds(LimitKind::energy, 1));
  EXPECT_FALSE(binds(LimitKind::energy, 0));
  const ReducedCosts& costs = result.certificate.reduced_costs.front();
  ASSERT_EQ(costs.rho.columns, p.num_uavs());
  for (std::size_t i = 0; i < p.num_devices(); ++i) {
    EXPECT_TRUE(std::isnan(costs.rho(i, 0))) << "not used, so at no cost";
  }
}

TEST(Certificate, OfRoundsOneByOneTellsWhatBindsInAny) {
  const OffloadingInstance ample = easy_instance(1, 0);
  OffloadingInstance hasty = ample;
  hasty.local_time_limit = 1e-3;
  const std::vector<OffloadingInstance> rounds{ample, hasty};
  const OffloadResult result = solve_split(NewtonOffloader(), rounds, nullptr);
  ASSERT_EQ(result.status, OffloadStatus::solved);
  EXPECT_EQ(result.certificate.reduced_costs.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(result.certificate.binding,
                                  [](const LimitUse& use) { return use.kind == LimitKind::time; }));
}

// Algorithm 1 knows no zeros: its least shares take longer than there is time, where less would do.
TEST(CondensedOffloader, SaysWhenItsLeastSharesAreTooMuch) {
  OffloadingInstance p = easy_instance(2, 2);
  p.local_time_limit = 1e-6;
  EXPECT_LE(evaluate(p, feasible_start(p, {}, 1.0, {})).violation, 0.0);
  const OffloadResult result = CondensedOffloader().solve({&p, 1}, nullptr);
  EXPECT_EQ(result.status, OffloadStatus::infeasible);
  EXPECT_NE(result.culprit.find("time of UAV"), std::string::npos) << result.culprit;
  EXPECT_NE(result.culprit.find("share"), std::string::npos) << result.culprit;
}

}  // namespace
}  // namespace skein
