#include "skein/simulation/cluster_estimates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/random.h"

namespace skein {
namespace {

// Two classes; 4 more points as expected.
class Estimates : public ::testing::Test {
 protected:
  [[nodiscard]] ClusterEstimator estimator() { return {options_, state_}; }
  [[nodiscard]] ClusterForecast forecast(std::size_t cluster, double now_s) {
    return estimator().forecasts(10, now_s).at(cluster);
  }
  // Of many points: the model finds the first class always and the second never, and so many are of the
  // first.
  static ClassReport sure(double accuracy) {
    return {.labels = {100.0 * accuracy, 100.0 * (1.0 - accuracy)}, .points = {1e9, 1e9}, .hits = {1e9, 0.0}};
  }
  // Of losses, over time.
  static double kept_after(double elapsed_s) { return std::exp2(-elapsed_s / 2700.0); }
  static constexpr double prior_s_ = 2400.0;

  EstimateOptions options_{
      .held_out = 0.1, .prior_points = 4.0, .loss_per_hour = 36.0, .first_accuracy_percent = 70.0};
  MissionEstimates state_ = ClusterEstimator::initial(options_, 2);
};

TEST_F(Estimates, AtFirstItIsWhatTheScenarioSays) {
  for (const std::size_t cluster : {0, 1}) {
    EXPECT_EQ(forecast(cluster, 1000.0).accuracy, 0.1) << "one of ten classes";
    EXPECT_NEAR(forecast(cluster, 1000.0).visited_accuracy, 0.7, 1e-12);
    EXPECT_NEAR(forecast(cluster, 1000.0).loss_per_s, 1e-4, 1e-15) << "36 points in 3600 s";
  }
}

// Shares of 0.6 and 0.4. Classes of which the cluster has much are expected to be found as the first accuracy
// says: (30 + 4 0.7) / 44 and (12 + 4 0.7) / 24.
TEST_F(Estimates, AccuracyIsTheMeanOfRecallsByTheNewestLabels) {
  const double accuracy =
      estimator().hand_over(0, {.labels = {60.0, 40.0}, .points = {40.0, 20.0}, .hits = {30.0, 12.0}}, 0.0);
  EXPECT_NEAR(accuracy, 0.6 * 32.8 / 44.0 + 0.4 * 14.8 / 24.0, 1e-12);
  // Then labels are others, and what is found now counts with 4 points of what was found then.
  const double later =
      estimator().arrive(0, {.labels = {20.0, 80.0}, .points = {0.0, 6.0}, .hits = {0.0, 3.0}}, 10.0);
  EXPECT_NEAR(later, 0.2 * 32.8 / 44.0 + 0.8 * (3.0 + 4.0 * 14.8 / 24.0) / 10.0, 1e-12);
}

// A class that the cluster hardly has is expected to be found like those that other clusters hardly have.
TEST_F(Estimates, FewPointsShrinkToWhatIsExpectedOfAsRareAClass) {
  double reports = 0.0;
  for (int report = 0; report < 30; ++report) {
    reports = std::exp2(-1.0 / 8.0) * reports + 1.0;
    estimator().hand_over(1, {.labels = {98.0, 2.0}, .points = {980.0, 20.0}, .hits = {950.0, 2.0}}, 0.0);
  }
  ClassReport rare{.labels = {0.0, 100.0}, .points = {98.0, 2.0}, .hits = {98.0, 0.0}};
  const double nothing_found = estimator().hand_over(0, rare, 0.0);
  const double frequent = (950.0 * reports + 4.0 * 0.7) / (980.0 * reports + 4.0);
  const double expected = (2.0 * reports + 4.0 * frequent) / (20.0 * reports + 4.0);
  EXPECT_NEAR(nothing_found, 4.0 * expected / 6.0, 1e-12);
  rare.points = {100.0, 0.0};
  rare.labels = {100.0, 0.0};
  EXPECT_NEAR(estimator().hand_over(0, rare, 0.0), (98.0 + 4.0 * 0.97) / 104.0, 0.01);
}

TEST_F(Estimates, ClustersWithoutPointsHaveAllClassesAlike) {
  EXPECT_NEAR(estimator().hand_over(0, {.labels = {0, 0}, .points = {0, 0}, .hits = {0, 0}}, 0.0), 0.7,
              1e-12);
}

// 0.9 to 0.7 in 1000 s. What was assumed counts like 2400 s of each cluster; the mean of clusters is what all
// lose, which counts like as much of this one.
TEST_F(Estimates, LossIsLearntFromVisits) {
  estimator().hand_over(0, sure(0.9), 0.0);
  EXPECT_NEAR(forecast(0, 500.0).accuracy, 0.9 - 500.0 * 1e-4, 1e-6);
  estimator().arrive(0, sure(0.7), 1000.0);
  const double of_all = 0.5 * ((0.2 + prior_s_ * 1e-4) / (1000.0 + prior_s_) + 1e-4);
  EXPECT_NEAR(forecast(1, 0.0).loss_per_s, of_all, 1e-9);
  EXPECT_NEAR(forecast(0, 0.0).loss_per_s, (0.2 + prior_s_ * of_all) / (1000.0 + prior_s_), 1e-9);
  EXPECT_NEAR(forecast(0, 1000.0).accuracy, 0.7, 1e-6);
  // In five hours it would be below half of what was handed over.
  EXPECT_NEAR(forecast(0, 1000.0 + 18000.0).accuracy, 0.45, 1e-6);
}

TEST_F(Estimates, RecentLossesCountMore) {
  options_.loss_per_hour = 0.0;
  for (const auto& [then, now, at] : {std::tuple{0.9, 0.7, 0.0}, {0.9, 0.85, 1000.0}}) {
    estimator().hand_over(0, sure(then), at);
    estimator().arrive(0, sure(now), at + 1000.0);
  }
  const double losses = kept_after(1000.0) * 0.2 + 0.05;
  const double elapsed = kept_after(1000.0) * 1000.0 + 1000.0;
  const double of_all = 0.5 * losses / (elapsed + prior_s_);
  EXPECT_NEAR(forecast(0, 0.0).loss_per_s, (losses + prior_s_ * of_all) / (elapsed + prior_s_), 1e-9);
}

// Drift that rises tenfold shows within three visits, and begins to be forgotten as soon. A cluster that
// loses nothing is looked at again: 0.4 of what all lose is the least, and of what was assumed.
TEST_F(Estimates, SuddenDriftIsSeenSoon) {
  double now_s = 0.0;
  const auto visits = [&](int number, double loss) {
    for (int i = 0; i < number; ++i, now_s += 500.0) {
      estimator().hand_over(0, sure(0.9), now_s);
      estimator().arrive(0, sure(0.9 - loss), now_s + 500.0);
    }
    return forecast(0, 0.0).loss_per_s * 500.0;
  };
  const double calm = visits(20, 0.02);
  EXPECT_NEAR(calm, 0.02, 0.01);
  const double risen = visits(3, 0.2);
  EXPECT_GT(risen, 2.0 * calm);
  EXPECT_LT(visits(6, 0.02), 0.8 * risen);
  visits(100, -0.05);
  EXPECT_NEAR(forecast(0, 0.0).loss_per_s, 0.4 * forecast(1, 0.0).loss_per_s, 1e-12);
  EXPECT_NEAR(forecast(1, 0.0).loss_per_s, 0.4 * 1e-4, 1e-12);
}

// A model that was tested on few points is believed to be as models are as a rule: here on 100, beside the
// 100 that stand for the others. What is lost since then is lost of that.
TEST_F(Estimates, FewPointsOfAModelAreNotBelievedAlone) {
  const ClassReport all_right{.labels = {100.0, 0.0}, .points = {100.0, 0.0}, .hits = {100.0, 0.0}};
  const double handed = estimator().hand_over(0, all_right, 0.0);
  EXPECT_GT(handed, 0.98);
  const double believed = (handed + 0.7) / 2.0;
  EXPECT_NEAR(forecast(0, 0.0).accuracy, believed, 1e-12);
  const double now =
      estimator().arrive(0, {.labels = {80.0, 20.0}, .points = {100.0, 0.0}, .hits = {100.0, 0.0}}, 100.0);
  EXPECT_LT(now, handed);
  EXPECT_NEAR(forecast(0, 100.0).accuracy, believed + now - handed, 1e-12);
}

// Nothing drifts; reports are random. The losses are 0 on average, and predicted ones small and never below
// 0.
TEST_F(Estimates, WithoutDriftNothingIsLostOnAverage) {
  double sum = 0.0;
  double squares = 0.0;
  constexpr int missions = 400;
  for (std::uint64_t seed = 0; seed < missions; ++seed) {
    RandomStream random(seed, "reports");
    state_ = ClusterEstimator::initial(options_, 2);
    const auto report = [&] {
      ClassReport r{.labels = {50.0, 50.0}, .points = {40.0, 40.0}, .hits = {0.0, 0.0}};
      for (std::size_t y = 0; y < 2; ++y) {
        for (int point = 0; point < 40; ++point) {
          r.hits[y] += random.bernoulli(y == 0 ? 0.9 : 0.6) ? 1.0 : 0.0;
        }
      }
      return r;
    };
    estimator().hand_over(0, report(), 0.0);
    for (int visit = 1; visit <= 10; ++visit) {
      const double now_s = 500.0 * visit;
      estimator().arrive(0, report(), now_s);
      EXPECT_GE(forecast(0, now_s).loss_per_s, 0.0);
      estimator().hand_over(0, report(), now_s);
    }
    const double rate = state_.clusters[0].losses / state_.clusters[0].elapsed_s;
    sum += rate / missions;
    squares += rate * rate / missions;
  }
  const double standard_error = std::sqrt(squares / missions);
  EXPECT_LT(std::abs(sum), 3.0 * standard_error);
  EXPECT_LT(standard_error, 0.0015 / 500.0);
}

// Level (0.7 f + 0.9) / (f + 1) with f = 2^(-1/4); the cluster was 0.2 above what was expected, half of which
// counts. Others have the level.
TEST_F(Estimates, VisitsTellWhatTheyLeave) {
  estimator().hand_over(0, sure(0.9), 0.0);
  const double f = std::exp2(-0.25);
  const double level = (0.7 * f + 0.9) / (f + 1.0);
  EXPECT_NEAR(forecast(1, 0.0).visited_accuracy, level, 1e-6);
  EXPECT_NEAR(forecast(0, 0.0).visited_accuracy, level + 0.1, 1e-6);
  for (int visit = 0; visit < 40; ++visit) {
    estimator().hand_over(0, sure(1.0), 0.0);
    estimator().hand_over(1, sure(0.5), 0.0);
  }
  EXPECT_GT(forecast(0, 0.0).visited_accuracy, 0.9);
  EXPECT_LE(forecast(0, 0.0).visited_accuracy, 1.0);
  EXPECT_LT(forecast(1, 0.0).visited_accuracy, 0.6);
}

}  // namespace
}  // namespace skein
