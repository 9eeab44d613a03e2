#include "skein/planning/planner_evaluation.h"

#include <gtest/gtest.h>

#include "skein/planning/heuristics.h"
#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

// By hand: of 8 values the middle 4; of 6, [1.5, 4.5] of the sorted line: half of 2, 3, 4, half of 5.
TEST(Evaluation, InterquartileMeanByHand) {
  EXPECT_DOUBLE_EQ(interquartile_mean(std::vector<double>{100, 1, 2, 3, 4, 5, 6, -50}), 3.5);
  EXPECT_DOUBLE_EQ(interquartile_mean(std::vector<double>{1, 2, 3, 4, 5, 60}),
                   (0.5 * 2 + 3 + 4 + 0.5 * 5) / 3.0);
  EXPECT_DOUBLE_EQ(interquartile_mean(std::vector<double>{7}), 7.0);
}

// 95 % intervals of a known mean hold it about that often.
TEST(Evaluation, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::size_t held = 0;
  constexpr std::size_t trials = 120;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    RandomStream stream(seed, "test.bootstrap");
    std::vector<std::vector<double>> groups(5);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int i = 0; i < 10; ++i) {
        groups[g].push_back(stream.normal(3.0, 1.0));
      }
    }
    const Interval interval = bootstrap_interval(groups, seed);
    EXPECT_LE(interval.low, interval.value);
    EXPECT_GE(interval.high, interval.value);
    held += interval.low <= 3.0 && 3.0 <= interval.high ? 1 : 0;
  }
  EXPECT_GT(held, trials * 85 / 100);
  EXPECT_LT(held, trials);
}

TEST(Evaluation, ImprovementProbabilityByHand) {
  // Group 1: 2 of 4 pairs won and one tie; group 2: all.
  const Interval p = improvement_probability({{1, 3}, {5, 6}}, {{1, 2}, {0, 0}}, 1);
  EXPECT_DOUBLE_EQ(p.value, ((0.5 + 0.0 + 1.0 + 1.0) / 4.0 + 1.0) / 2.0);
  EXPECT_LE(p.low, p.value);
  EXPECT_GE(p.high, p.value);
}

TEST(Evaluation, TheSameForAnyNumberOfThreads) {
  const auto e = reference_environment();
  const auto run = [&](std::size_t threads) {
    ThreadPool pool(threads);
    std::vector<double> numbers;
    const auto make = [&] {
      return std::make_unique<HeuristicPlanner>(
          e, HeuristicOptions{.route = Route::nearest, .random_share = 0.5});
    };
    for (const MissionScore& one : evaluate(*e, make, {.starts = 6, .epochs = 50, .seed = 3}, pool)) {
      numbers.push_back(one.reward);
      numbers.insert(numbers.end(), one.visits.begin(), one.visits.end());
    }
    return numbers;
  };
  EXPECT_EQ(run(1), run(4));
}

// Every swarm is somewhere in every epoch.
TEST(Evaluation, VisitsAddUp) {
  const auto e = reference_environment();
  ThreadPool pool(1);
  const MissionScore score = mean_of(evaluate(
      *e, [&] { return std::make_unique<MyopicPlanner>(e); }, {.starts = 2, .epochs = 100}, pool));
  double visits = 0.0;
  for (const double site : score.visits) {
    visits += site;
  }
  EXPECT_NEAR(visits, 3.0, 1e-9);
  EXPECT_NEAR(score.recharges, (score.visits[8] + score.visits[9]) / 3.0, 1e-12);
}

}  // namespace
}  // namespace skein
