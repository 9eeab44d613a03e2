// What every offloader promises, on random instances from ample to impossible.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "skein/offloading/certificate.h"
#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/worker_selection.h"
#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

void expect_within_limits(const OffloadingInstance& p, const OffloadDecision& x) {
  EXPECT_LE(evaluate(p, x).violation, 1e-9);
  for (const std::vector<double>* shares : {&x.rho.values, &x.varrho.values}) {
    for (const double share : *shares) {
      EXPECT_GE(share, 0.0);
      EXPECT_LE(share, 1.0);
    }
  }
  for (std::size_t j = 0; j < p.num_workers(); ++j) {
    EXPECT_GE(x.clock[j], p.least_clock[j]);
    EXPECT_LE(x.clock[j], p.most_clock[j]);
    for (const double alpha : x.alpha[j]) {
      EXPECT_GE(alpha, 0.0);
      EXPECT_LE(alpha, 1.0);
    }
  }
}

struct Method {
  std::string name;
  std::function<std::unique_ptr<Offloader>()> make;
  std::size_t instances;  // so many of them; Algorithm 1 is slow
  bool certifies;         // always ends at a stationary point of its problem
  bool free;              // may choose everything: then it is infeasible only if P is
};

class OffloaderContract : public testing::TestWithParam<Method> {};

using MakeInstance = OffloadingInstance (*)(std::uint64_t seed, const RandomInstanceOptions& options);

void expect_decisions_or_reasons(const Method& method, MakeInstance make_instance) {
  const std::unique_ptr<Offloader> offloader = method.make();
  std::size_t solved = 0;
  for (std::uint64_t seed = 0; seed < method.instances; ++seed) {
    SCOPED_TRACE(seed);
    const OffloadingInstance p = make_instance(seed, {.most_devices = 8, .impossible = 0.2});
    const OffloadResult result = offloader->solve({&p, 1}, nullptr);
    if (result.status == OffloadStatus::infeasible) {
      EXPECT_FALSE(result.culprit.empty());
      EXPECT_TRUE(result.decisions.empty());
      EXPECT_TRUE(!method.free || is_impossible(p)) << result.culprit;
      continue;
    }
    ++solved;
    ASSERT_EQ(result.decisions.size(), 1U);
    ASSERT_EQ(result.evaluations.size(), 1U);
    EXPECT_TRUE(result.culprit.empty());
    EXPECT_TRUE(std::isfinite(result.objective()));
    expect_within_limits(p, result.decisions.front());
    EXPECT_NEAR(result.objective(), evaluate(p, result.decisions.front()).objective,
                1e-12 * result.objective());
    EXPECT_EQ(result.increases, 0U);
    const bool stationary = result.certificate.kkt_residual <= 1e-6 && result.certificate.violation <= 1e-9;
    EXPECT_EQ(result.status == OffloadStatus::solved, stationary);
    if (method.certifies) {
      EXPECT_TRUE(stationary) << result.certificate.kkt_residual;
      EXPECT_GE(result.certificate.least_reduced_cost, -1e-6);
    }
  }
  EXPECT_GT(solved, method.instances / 10);
}

TEST_P(OffloaderContract, DecisionsWithinLimitsOrAReason) {
  expect_decisions_or_reasons(GetParam(), random_instance);
}

TEST_P(OffloaderContract, DecisionsWithinLimitsOrAReasonWhereTimeHasAPrice) {
  expect_decisions_or_reasons(GetParam(), random_priced_instance);
}

TEST_P(OffloaderContract, TheSameProblemHasTheSameResult) {
  const std::unique_ptr<Offloader> one = GetParam().make();
  const std::unique_ptr<Offloader> other = GetParam().make();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const OffloadingInstance p = random_instance(seed, {.most_devices = 5, .tight = 0.0});
    const OffloadResult first = one->solve({&p, 1}, nullptr);
    const OffloadResult second = other->solve({&p, 1}, nullptr);
    ASSERT_EQ(first.status, second.status);
    if (first.status != OffloadStatus::infeasible) {
      EXPECT_EQ(first.decisions[0].rho.values, second.decisions[0].rho.values);
      EXPECT_EQ(first.decisions[0].alpha, second.decisions[0].alpha);
      EXPECT_EQ(first.decisions[0].clock, second.decisions[0].clock);
    }
  }
}

TEST_P(OffloaderContract, ImpossibleProblemsNameTheCulprit) {
  const std::unique_ptr<Offloader> offloader = GetParam().make();
  const OffloadingInstance good = random_instance(3, {.least_workers = 2, .most_workers = 2, .tight = 0.0});
  const auto culprit = [&](const OffloadingInstance& p) {
    return offloader->solve({&p, 1}, nullptr).culprit;
  };
  OffloadingInstance p = good;
  p.local_time_limit = -0.5;
  EXPECT_THAT(culprit(p), testing::HasSubstr("time"));
  p = good;
  std::ranges::fill(p.device_data, 0.0);
  EXPECT_THAT(culprit(p), testing::HasSubstr("data"));
  p = good;
  p.learning_weight = 0.0;
  EXPECT_THAT(culprit(p), testing::HasSubstr("learning"));
  p = good;
  p.energy_budget[0] = p.energy_budget[1] = -0.62;
  EXPECT_THAT(culprit(p), testing::AllOf(testing::HasSubstr("worker"), testing::HasSubstr("by 0.62 J")));
}

std::vector<Method> methods() {
  std::vector<Method> list;
  for (const std::string_view name : offloader_names()) {
    Method method{std::string(name), [name] { return build_offloader(name); }, 300, true, true};
    method.free = name != "greedy" && name != "maximum_processing";
    if (name == "worker_selection") {
      method.instances = 150;
    } else if (name == "algorithm_1") {  // the published 2 condensations and more
      method.make = [] {
        return std::make_unique<CondensedOffloader>(CondensedOptions{.max_condensations = 20});
      };
      method.instances = 60;
      method.certifies = false;
    }
    list.push_back(std::move(method));
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Methods, OffloaderContract, testing::ValuesIn(methods()),
                         [](const auto& method) { return method.param.name; });

TEST(Offloaders, EachHasTheNameOfItsRow) {
  for (const std::string_view name : offloader_names()) {
    EXPECT_EQ(build_offloader(name)->name(), name);
  }
}

// ---- promises of one or two of them

TEST(NewtonOffloader, AThousandRandomInstancesEndInACertificateOrACulprit) {
  const NewtonOffloader offloader;
  std::size_t infeasible = 0;
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) {
    RandomInstanceOptions options{.impossible = 0.15};
    if (seed % 25 == 0) {
      options = {.least_devices = 30, .most_devices = 50, .least_workers = 3, .most_workers = 4};
    }
    const OffloadingInstance p = random_instance(seed, options);
    const OffloadResult result = offloader.solve({&p, 1}, nullptr);
    if (is_impossible(p)) {
      ++infeasible;
      EXPECT_EQ(result.status, OffloadStatus::infeasible) << seed;
      EXPECT_FALSE(result.culprit.empty()) << seed;
    } else {
      EXPECT_EQ(result.status, OffloadStatus::solved) << seed << ": " << result.certificate.kkt_residual;
    }
  }
  EXPECT_GT(infeasible, 100U);
  EXPECT_LT(infeasible, 400U);
}

TEST(NewtonOffloader, IsNeverWorseThanAlgorithm1) {
  double worst = 0.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OffloadingInstance p = random_instance(seed, {.most_devices = 6});
    const double ours = NewtonOffloader().solve({&p, 1}, nullptr).objective();
    const OffloadResult published = CondensedOffloader({.max_condensations = 40}).solve({&p, 1}, nullptr);
    if (published.status != OffloadStatus::infeasible) {
      worst = std::max(worst, ours / published.objective() - 1.0);
    }
  }
  EXPECT_LE(worst, 1e-4);
}

// Each program of Algorithm 1 is an upper bound that touches P: its objective cannot rise.
TEST(CondensedOffloader, NeverIncreasesInTwoThousandSteps) {
  std::size_t steps = 0;
  std::size_t increases = 0;
  for (std::uint64_t seed = 0; steps < 2000; ++seed) {
    const OffloadingInstance p = random_instance(seed, {.most_devices = 6, .most_workers = 2});
    const OffloadResult result = CondensedOffloader({.max_condensations = 60}).solve({&p, 1}, nullptr);
    steps += result.condensations;
    increases += result.increases;
    if (result.status != OffloadStatus::infeasible) {
      const double start = evaluate(p, feasible_start(p, {}, 1.0, {})).objective;
      EXPECT_LE(result.objective(), start * (1.0 + 1e-8)) << seed;
    }
  }
  EXPECT_EQ(increases, 0U);
}

TEST(NewtonOffloader, ACoordinatorThatCannotRelayIsLeftAside) {
  OffloadingInstance p = random_instance(7, {.least_devices = 6, .tight = 0.0, .impossible = 0.0});
  while (p.num_coordinators() < 2) {
    p = random_instance(p.num_devices() * 31 + 5, {.least_devices = 6, .tight = 0.0});
  }
  const std::size_t u = p.num_workers();
  p.energy_budget[u] = 0.0;
  p.buffer[u + 1] = 0.0;
  const std::vector<std::size_t> workers = all_indices(p.num_workers());
  std::vector<std::size_t> others;
  for (std::size_t h = 2; h < p.num_coordinators(); ++h) {
    others.push_back(h);
  }
  const OffloadingInstance without = with_uavs(p, workers, others);
  const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
  ASSERT_EQ(result.status, OffloadStatus::solved);
  EXPECT_NEAR(result.objective(), NewtonOffloader().solve({&without, 1}, nullptr).objective(),
              1e-6 * result.objective());
  const OffloadResult published = CondensedOffloader({.max_condensations = 5}).solve({&p, 1}, nullptr);
  EXPECT_NE(published.status, OffloadStatus::infeasible) << published.culprit;
}

TEST(NewtonOffloader, WarmStartsSaveMostSteps) {
  std::size_t cold_steps = 0;
  std::size_t warm_steps = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const OffloadingInstance p =
        random_instance(seed, {.least_devices = 5, .least_workers = 2, .tight = 0.0});
    OffloadingInstance later = p;
    RandomStream random(seed, "drift of data");
    for (double& data : later.device_data) {
      data *= random.uniform(0.95, 1.05);
    }
    const NewtonOffloader offloader;
    const OffloadResult before = offloader.solve({&p, 1}, nullptr);
    const OffloadResult cold = offloader.solve({&later, 1}, nullptr);
    const OffloadResult warm = offloader.solve({&later, 1}, &before);
    ASSERT_EQ(warm.status, OffloadStatus::solved) << seed;
    EXPECT_LE(warm.objective(), cold.objective() * 1.01) << seed;
    cold_steps += cold.iterations;
    warm_steps += warm.iterations;
  }
  EXPECT_LT(2 * warm_steps, cold_steps);
}

TEST(NewtonOffloader, RoundsTogetherAreNeverWorseThanEvenParts) {
  double saved = 0.0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    RandomStream random(seed, "rounds");
    std::vector<OffloadingInstance> rounds{
        random_instance(seed, {.most_devices = 6, .most_workers = 2, .tight = 1.0})};
    for (int k = 1; k < 3; ++k) {
      rounds.push_back(rounds.front());
      for (double& data : rounds.back().device_data) {
        data *= random.uniform(0.2, 2.0);
      }
    }
    const NewtonOffloader offloader;
    const OffloadResult split = solve_split(offloader, rounds, nullptr);
    const OffloadResult joint = offloader.solve(rounds, nullptr);
    ASSERT_EQ(split.status, OffloadStatus::solved) << seed;
    ASSERT_EQ(joint.status, OffloadStatus::solved) << seed << ": " << joint.certificate.kkt_residual;
    EXPECT_LE(joint.objective(), split.objective() * (1.0 + 1e-6)) << seed;
    saved += 1.0 - joint.objective() / split.objective();
    for (std::size_t u = 0; u < rounds.front().num_uavs(); ++u) {
      double used = 0.0;
      for (const OffloadEvaluation& e : joint.evaluations) {
        used += e.uav_energy[u];
      }
      EXPECT_LE(used, rounds.front().energy_budget[u] * (1.0 + 1e-9)) << seed;
    }
  }
  EXPECT_GT(saved, 0.0) << "sharing freely helps somewhere";
}

// More weight on learning: no less data processed, no more learning term; energy the other way round. That
// holds for global minima of a weighted sum, so nearly so for ours.
TEST(NewtonOffloader, MoreWeightOnLearningBringsMoreDataAndCostsMoreEnergy) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    OffloadingInstance p = random_instance(seed, {.least_devices = 5, .most_workers = 2, .tight = 0.0});
    double learning = HUGE_VAL;
    double energy = 0.0;
    double first_data = 0.0;
    double last_data = 0.0;
    double first_clock = 0.0;
    double last_clock = 0.0;
    for (const double weight : {0.01, 0.1, 0.3, 0.6, 0.9}) {
      p.learning_weight = weight;
      const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
      ASSERT_EQ(result.status, OffloadStatus::solved) << seed << " " << weight;
      const OffloadEvaluation& e = result.evaluations.front();
      EXPECT_LE(e.learning, learning * 1.02) << seed << " " << weight;
      EXPECT_GE(e.energy(), energy * 0.98) << seed << " " << weight;
      learning = e.learning;
      energy = e.energy();
      last_data = 0.0;
      last_clock = 0.0;
      for (std::size_t j = 0; j < p.num_workers(); ++j) {
        last_data += e.processed[j];
        last_clock = std::max(last_clock, result.decisions.front().clock[j]);
      }
      first_data = weight == 0.01 ? last_data : first_data;
      first_clock = weight == 0.01 ? last_clock : first_clock;
    }
    EXPECT_GT(last_data, first_data) << seed;
    EXPECT_GE(last_clock, first_clock) << seed;
  }
}

TEST(SolveAll, TheSameForAnyNumberOfThreads) {
  std::vector<std::vector<OffloadingInstance>> problems;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    problems.push_back({random_instance(seed, {.most_devices = 5})});
  }
  ThreadPool one(1);
  ThreadPool three(3);
  const std::vector<OffloadResult> alone = solve_all(NewtonOffloader(), problems, one);
  const std::vector<OffloadResult> together = solve_all(NewtonOffloader(), problems, three);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    EXPECT_EQ(alone[i].objective(), together[i].objective());
  }
}

}  // namespace
}  // namespace skein
