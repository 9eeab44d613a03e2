// Problem P where time has a price, in all its mixes: each ends with a certificate or with a named reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/swarm_problem.h"
#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

enum class Mix { bound, relays, accuracy, nearly_empty, data_stays, data_stays_accuracy, joint, large };
constexpr std::size_t num_mixes = 8;

OffloadingInstance instance_of(Mix mix, std::uint64_t seed) {
  RandomInstanceOptions options{.impossible = 0.1};
  switch (mix) {
    case Mix::relays:
      options.least_workers = 2;
      options.most_workers = 4;
      options.most_coordinators = 5;
      options.tight = 0.5;
      break;
    case Mix::nearly_empty:
      options.nearly_empty = 1.0;
      break;
    case Mix::large:
      options = {.least_devices = 30, .most_devices = 50, .least_workers = 3, .most_workers = 5};
      break;
    default:
      break;
  }
  const OffloadingInstance p = random_priced_instance(seed, options);
  return mix == Mix::accuracy || mix == Mix::data_stays_accuracy ? with_accuracy(p) : p;
}

// As a mission's leaders ask: local rounds of one global round.
OffloadingProblem problem_of(Mix mix, std::uint64_t seed) {
  const OffloadingInstance p = instance_of(mix, seed);
  OffloadingProblem problem{.rounds = {p}};
  if (mix == Mix::joint) {
    problem.rounds.push_back(p);
    for (double& data : problem.rounds.back().device_data) {
      data *= 0.6;
    }
  } else if (mix == Mix::data_stays || mix == Mix::data_stays_accuracy) {
    problem.rounds.assign(2 + seed % 3, p);
    for (std::size_t k = 0; k < problem.rounds.size(); ++k) {
      problem.rounds[k].local_rounds = static_cast<double>(problem.rounds.size());
      problem.rounds[k].point_bits *= k == 0 ? 1.0 : 0.0;
    }
    problem.data_stays = true;
  }
  return problem;
}

void expect_numbers(const OffloadResult& result) {
  const auto expect_finite = [](const std::vector<double>& values) {
    for (const double value : values) {
      EXPECT_TRUE(std::isfinite(value));
    }
  };
  for (const OffloadDecision& x : result.decisions) {
    expect_finite(x.rho.values);
    expect_finite(x.varrho.values);
    expect_finite(x.clock);
    for (const std::array<double, 3>& alpha : x.alpha) {
      expect_finite({alpha.begin(), alpha.end()});
    }
  }
  for (const OffloadEvaluation& e : result.evaluations) {
    expect_finite({e.objective, e.learning, e.energy(), e.hovering_energy, e.round_time});
    expect_finite(e.data);
    expect_finite(e.uav_energy);
  }
  const OffloadCertificate& c = result.certificate;
  expect_finite({c.kkt_residual, c.violation, c.complementarity, c.least_reduced_cost});
}

// `result` may say "solved" only with all that this takes, worked out again.
void expect_solution(const OffloadingProblem& problem, const OffloadResult& result) {
  ASSERT_EQ(result.decisions.size(), problem.rounds.size());
  EXPECT_EQ(result.status, OffloadStatus::solved) << result.certificate.kkt_residual;
  EXPECT_LE(result.certificate.kkt_residual, 1e-6);
  EXPECT_LE(result.certificate.violation, 1e-9);
  EXPECT_GE(result.certificate.least_reduced_cost, -1e-6);
  expect_numbers(result);
  std::vector<double> used(problem.rounds.front().num_uavs(), 0.0);
  for (std::size_t k = 0; k < problem.rounds.size(); ++k) {
    const OffloadEvaluation e = evaluate(problem.rounds[k], result.decisions[k]);
    EXPECT_LE(e.violation, 1e-9);
    EXPECT_EQ(e.objective, result.evaluations[k].objective);
    for (std::size_t u = 0; u < used.size(); ++u) {
      used[u] += e.uav_energy[u];
    }
  }
  for (std::size_t u = 0; u < used.size(); ++u) {
    EXPECT_LE(used[u], std::max(0.0, problem.rounds.front().energy_budget[u]) * (1.0 + 1e-9)) << u;
  }
}

TEST(PricedMixes, AThousandEndInACertificateOrACulprit) {
  const NewtonOffloader offloader;
  std::map<Mix, std::size_t> solved;
  std::map<Mix, std::size_t> refused;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Mix mix{static_cast<int>(seed % num_mixes)};
    SCOPED_TRACE(seed);
    const OffloadingProblem problem = problem_of(mix, seed);
    const OffloadResult result = solve_problem(offloader, BatterySharing::joint, problem);
    // Who has an even part of its battery in each round may be the one who cannot.
    OffloadingInstance least = problem.rounds.front();
    for (double& budget : least.energy_budget) {
      budget /= problem.data_stays ? static_cast<double>(problem.rounds.size()) : 1.0;
    }
    if (is_impossible(problem.rounds.front())) {
      EXPECT_EQ(result.status, OffloadStatus::infeasible);
    }
    if (result.status == OffloadStatus::infeasible) {
      EXPECT_TRUE(is_impossible(least)) << result.culprit;
      EXPECT_FALSE(result.culprit.empty());
      EXPECT_TRUE(result.decisions.empty());
      ++refused[mix];
    } else {
      expect_solution(problem, result);
      ++solved[mix];
    }
  }
  for (std::size_t mix = 0; mix < num_mixes; ++mix) {
    const Mix which{static_cast<int>(mix)};
    EXPECT_GE(solved[which], 40U) << mix;
    EXPECT_GE(refused[which], which == Mix::large ? 0U : 3U) << mix;
  }
}

TEST(PricedMixes, WhoCannotHoverUntilAPointIsSentIsNamed) {
  OffloadingInstance p = random_priced_instance(
      4, {.least_devices = 4, .least_workers = 2, .most_workers = 2, .most_coordinators = 0, .tight = 0.0});
  p.uav_hover_power = {100.0, 100.0};
  p.energy_budget = {1e3, 1e-4};
  const auto culprit = [&](const std::string& name) {
    return build_offloader(name)->solve({&p, 1}, nullptr).culprit;
  };
  for (const std::string name : {"newton", "algorithm_1", "greedy", "maximum_processing"}) {
    EXPECT_THAT(culprit(name), testing::HasSubstr("worker 2: its battery lets it hover for 1e-06 s")) << name;
  }
  // Whoever may leave it out does.
  const OffloadResult selected = build_offloader("worker_selection")->solve({&p, 1}, nullptr);
  ASSERT_EQ(selected.status, OffloadStatus::solved);
  EXPECT_TRUE(selected.decisions.front().is_idle(1));
  p.energy_budget = {1e3, 1e3};
  p.local_time_limit = 1e-6;
  EXPECT_THAT(culprit("newton"), testing::HasSubstr("time: 1e-06 s"));
}

// Learning that is worth hardly anything, where hovering costs megawatts: nobody sends as much as a point.
TEST(PricedMixes, LearningThatIsNotWorthAPointEndsWithAReason) {
  std::size_t named = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    OffloadingInstance p = random_priced_instance(seed, {.tight = 0.0});
    if (is_impossible(p)) {
      continue;
    }
    p.uav_hover_power.clear();
    p.hover_power = 3e6;
    p.learning_weight = 1e-5;
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    EXPECT_NE(result.status, OffloadStatus::feasible);
    if (result.status == OffloadStatus::infeasible) {
      named += result.culprit.find("worth less than the hovering") != std::string::npos ? 1 : 0;
      EXPECT_FALSE(result.culprit.empty());
    }
  }
  EXPECT_GE(named, 1U);
}

// What a decision says of who is idle is what is seen of it: it does nothing and need not stay up. Methods
// that may not choose have everybody up.
TEST(PricedMixes, WhoeverIsIdleDoesNothingAndCostsNothing) {
  for (const std::string_view name : offloader_names()) {
    SCOPED_TRACE(std::string(name));
    std::size_t idle = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(seed);
      OffloadingInstance p = random_priced_instance(
          seed, {.least_devices = 3, .most_devices = 6, .least_workers = 2, .tight = 0.0});
      p.uav_hover_power.assign(p.num_uavs(), 80.0);
      p = seed % 2 == 0 ? p : with_accuracy(p);
      const OffloadResult result = build_offloader(name)->solve({&p, 1}, nullptr);
      if (result.status == OffloadStatus::infeasible) {
        continue;
      }
      const OffloadDecision& x = result.decisions.front();
      const OffloadEvaluation& e = result.evaluations.front();
      double power = p.hover_power;
      for (std::size_t u = 0; u < p.num_uavs(); ++u) {
        const bool is_used =
            u < p.num_workers()
                ? std::ranges::find(result.workers, u) != result.workers.end()
                : std::ranges::find(result.coordinators, u - p.num_workers()) != result.coordinators.end();
        EXPECT_EQ(is_used, !x.is_idle(u)) << u;
        power += x.is_idle(u) ? 0.0 : p.uav_hover_power[u];
        if (x.is_idle(u)) {
          ++idle;
          EXPECT_EQ(e.data[u], 0.0);
          EXPECT_EQ(e.uav_energy[u], 0.0);
          EXPECT_EQ(e.gathering_time[u], 0.0);
        }
      }
      EXPECT_NEAR(e.hovering_energy, power * e.round_time, 1e-9 * e.hovering_energy);
    }
    const bool selects = name == "newton" || name == "worker_selection";
    EXPECT_EQ(idle > 0, selects) << "newton where accuracy is predicted, worker selection always";
  }
}

}  // namespace
}  // namespace skein
