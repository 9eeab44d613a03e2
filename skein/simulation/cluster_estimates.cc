#include "skein/simulation/cluster_estimates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/base/expect.h"

namespace skein {

namespace {

// What a cluster has lost counts half after so long. Time counts, not visits: many short looks tell little.
constexpr double half_life_s = 2700.0;
// What all lose counts like so much time of a cluster, and so does what was assumed at first.
constexpr double prior_s = 2400.0;
// A cluster that seems to lose nothing counts with this share of what all lose, and all with this share of
// what was assumed: else nobody would look again.
constexpr double least_loss_share = 0.4;

// What visits leave is known like from so many points more: one that seems worse than others is mostly one
// that was measured worse, and is not visited again for that.
constexpr double belief_points = 100.0;

// After so many visits, what was seen counts half: of a cluster by itself, and of all together.
const double kept_of_cluster = std::exp2(-1.0 / 3.0);
const double kept_of_all = std::exp2(-1.0 / 4.0);

// And what points have shown, after so many reports.
const double kept_of_shares = std::exp2(-1.0 / 8.0);

// Below these, a class is of the first rows.
constexpr std::array share_limits{0.01, 0.03, 0.1};
std::size_t share_row(double share) {
  return static_cast<std::size_t>(std::ranges::upper_bound(share_limits, share) - share_limits.begin());
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Of so many, with so many more as expected.
double shrunk(double part, double all, double prior, double expected) {
  return (part + prior * expected) / (all + prior);
}

// Of a cluster without points all classes count alike.
double accuracy_of(const std::vector<double>& labels, const std::vector<double>& recalls) {
  const double all = sum(labels);
  return all > 0.0 ? std::inner_product(labels.begin(), labels.end(), recalls.begin(), 0.0) / all
                   : sum(recalls) / static_cast<double>(recalls.size());
}

}  // namespace

// What is assumed at first counts as one visit.
MissionEstimates ClusterEstimator::initial(const EstimateOptions& options, std::size_t num_clusters) {
  return {.clusters = std::vector<ClusterEstimate>(num_clusters),
          .level = options.first_accuracy_percent / 100.0,
          .num_levels = 1.0};
}

double ClusterEstimator::arrive(std::size_t cluster, const ClassReport& report, double now_s) {
  ClusterEstimate& own = all_.clusters[cluster];
  expect(!own.recalls.empty(), "the cluster has a model");
  std::vector<double> recalls;
  for (std::size_t y = 0; y < own.recalls.size(); ++y) {
    recalls.push_back(shrunk(report.hits[y], report.points[y], options_.prior_points, own.recalls[y]));
  }
  add_points(own.shares, report);
  const double accuracy = accuracy_of(report.labels, recalls);
  if (const double elapsed_s = now_s - own.since_s; elapsed_s > 0.0) {
    const double kept = std::exp2(-elapsed_s / half_life_s);
    own.losses = kept * own.losses + own.accuracy - accuracy;
    own.elapsed_s = kept * own.elapsed_s + elapsed_s;
  }
  own.believed = std::clamp(own.believed + accuracy - own.accuracy, 0.0, 1.0);
  own.accuracy = accuracy;
  own.since_s = now_s;
  return accuracy;
}

double ClusterEstimator::hand_over(std::size_t cluster, const ClassReport& report, double now_s) {
  ClusterEstimate& own = all_.clusters[cluster];
  const double num_points = std::max(1.0, sum(report.points));
  const std::array<double, 4> expected = expected_recalls();
  own.shares.clear();
  own.recalls.clear();
  for (std::size_t y = 0; y < report.points.size(); ++y) {
    own.shares.push_back(report.points[y] / num_points);
    own.recalls.push_back(
        shrunk(report.hits[y], report.points[y], options_.prior_points, expected[share_row(own.shares[y])]));
  }
  add_points(own.shares, report);
  own.handed = own.accuracy = accuracy_of(report.labels, own.recalls);
  own.believed = shrunk(own.handed * num_points, num_points, belief_points, visited_accuracy(cluster));
  own.since_s = now_s;
  own.deviations = kept_of_cluster * own.deviations + own.handed - all_.level / all_.num_levels;
  own.num_deviations = kept_of_cluster * own.num_deviations + 1.0;
  all_.level = kept_of_all * all_.level + own.handed;
  all_.num_levels = kept_of_all * all_.num_levels + 1.0;
  return own.handed;
}

// What models know of a class depends on how much of it their cluster had. Where little is known of a share,
// the next larger one tells.
std::array<double, 4> ClusterEstimator::expected_recalls() const {
  std::array<double, 4> expected{};
  double larger = options_.first_accuracy_percent / 100.0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    const HeldOutSums& sums = all_.by_share[i];
    larger = expected[i] = shrunk(sums.hits, sums.points, options_.prior_points, larger);
  }
  return expected;
}

void ClusterEstimator::add_points(const std::vector<double>& shares, const ClassReport& report) {
  for (HeldOutSums& sums : all_.by_share) {
    sums.points *= kept_of_shares;
    sums.hits *= kept_of_shares;
  }
  for (std::size_t y = 0; y < shares.size(); ++y) {
    HeldOutSums& sums = all_.by_share[share_row(shares[y])];
    sums.points += report.points[y];
    sums.hits += report.hits[y];
  }
}

// Accuracy per second. Each cluster has one part in what all lose, however often it was visited: else those
// that are visited most, because they are near, would tell of those that nobody has seen for long.
double ClusterEstimator::loss_rate(std::size_t cluster) const {
  const double first = options_.loss_per_hour / 100.0 / 3600.0;
  double of_all = 0.0;
  for (const ClusterEstimate& one : all_.clusters) {
    of_all += shrunk(one.losses, one.elapsed_s, prior_s, first) / static_cast<double>(all_.clusters.size());
  }
  of_all = std::max(of_all, least_loss_share * first);
  const ClusterEstimate& own = all_.clusters[cluster];
  return std::max(shrunk(own.losses, own.elapsed_s, prior_s, of_all), least_loss_share * of_all);
}

double ClusterEstimator::visited_accuracy(std::size_t cluster) const {
  const ClusterEstimate& own = all_.clusters[cluster];
  return std::clamp(all_.level / all_.num_levels + shrunk(own.deviations, own.num_deviations, 1.0, 0.0), 0.0,
                    1.0);
}

std::vector<ClusterForecast> ClusterEstimator::forecasts(std::size_t num_classes, double now_s) const {
  constexpr double least_share = 0.5;  // of a model's accuracy stays, whatever drifts
  std::vector<ClusterForecast> forecasts;
  for (std::size_t c = 0; c < all_.clusters.size(); ++c) {
    const ClusterEstimate& own = all_.clusters[c];
    ClusterForecast& forecast =
        forecasts.emplace_back(ClusterForecast{.accuracy = 1.0 / static_cast<double>(num_classes),
                                               .visited_accuracy = visited_accuracy(c),
                                               .loss_per_s = loss_rate(c)});
    if (!own.recalls.empty()) {
      forecast.accuracy = std::max(own.believed - forecast.loss_per_s * (now_s - own.since_s),
                                   std::min(own.believed, least_share * own.handed));
    }
  }
  return forecasts;
}

}  // namespace skein
