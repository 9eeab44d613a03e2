// What the core network estimates of clusters' accuracy, and what it predicts from it.
//
// Devices hold some points out: nobody trains on them. On arrival at a cluster, and when a model is handed
// over, they report label by label how many of their newest points they have, and how many of those held out
// the model finds. With the shares p(y) of the newest labels and the recalls r(y) of the model, its accuracy
// now is
//
//   a = sum over labels y of p(y) r(y)
//
// The loss from one visit to the next, over the time between them, gives the rate at which a cluster loses
// accuracy; models that were handed over tell what a visit leaves.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "skein/planning/options.h"
#include "skein/planning/plan.h"
#include "skein/simulation/field.h"

namespace skein {

// Of one cluster, since it has a model.
struct ClusterEstimate {
  std::vector<double> shares{};   // of each class in its points that were held out, when it was handed over
  std::vector<double> recalls{};  // of each class; empty: it was never handed one
  double handed = 0.0;            // accuracy of the model then
  double accuracy = 0.0;          // as estimated last
  double believed = 0.0;          // the same, with what visits leave as a rule
  double since_s = 0.0;           // the moment that it was estimated for
  // Between visits, recent times counting more.
  double losses = 0.0;
  double elapsed_s = 0.0;
  double deviations = 0.0;  // of handed models from the level of all
  double num_deviations = 0.0;
};

// Points that were held out, of all clusters, recent ones counting more.
struct HeldOutSums {
  double points = 0.0;
  double hits = 0.0;
};

struct MissionEstimates {
  std::vector<ClusterEstimate> clusters{};
  double level = 0.0;  // sum of accuracies of handed models, recent ones counting more
  double num_levels = 0.0;
  std::array<HeldOutSums, 4> by_share{};  // of classes that a model has seen this much of, the least first
};

// How estimates move. Data stays still during a training sequence: moments are those of its begin.
class ClusterEstimator {
 public:
  // Both must outlive it.
  ClusterEstimator(const EstimateOptions& options, MissionEstimates& estimates)
      : options_(options), all_(estimates) {}

  // At the start.
  static MissionEstimates initial(const EstimateOptions& options, std::size_t num_clusters);

  // Of the model that the cluster has; returns its accuracy now.
  double arrive(std::size_t cluster, const ClassReport& report, double now_s);
  // Of a new one.
  double hand_over(std::size_t cluster, const ClassReport& report, double now_s);
  [[nodiscard]] std::vector<ClusterForecast> forecasts(std::size_t num_classes, double now_s) const;

 private:
  // Of classes of each share.
  [[nodiscard]] std::array<double, 4> expected_recalls() const;
  void add_points(const std::vector<double>& shares, const ClassReport& report);
  [[nodiscard]] double loss_rate(std::size_t cluster) const;
  [[nodiscard]] double visited_accuracy(std::size_t cluster) const;

  const EstimateOptions& options_;
  MissionEstimates& all_;
};

}  // namespace skein
