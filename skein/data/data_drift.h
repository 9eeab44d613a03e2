// Drift of a cluster's data between training sequences: of its label mix, and of the features.
//
// The paper (sections III-B and V-A) keeps data distributions still during a sequence and lets them vary
// between sequences, each cluster with a rate of its own that is affine in time (section VI-C). It gives the
// effect only, a bound on how far gradients move. Here the data itself moves, in named and measurable ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/input_fault.h"
#include "skein/base/names.h"
#include "skein/data/class_pools.h"
#include "skein/data/feature_transform.h"

namespace skein {

// A rate per sequence that is affine in time: rate(s) = start + growth * s acts between sequence s and s + 1,
// s = 0, 1, ... To go from `start` to `end` within n sequences, growth is (end - start) / n. Likewise by the
// hour: rate(t) at the start t of a sequence, in hours, acts for as many hours as the sequence lasts. From a
// moment on the rate may be another one at once, which stays: rate(s) = later for s >= later_from > 0.
// Sampled once per cluster; a list has one value per cluster.
struct DriftRateOptions {
  Distribution<double> start{};
  Distribution<double> growth{constant(0), unit::number, any_number};
  Distribution<double> later{constant(0), unit::number, start.allowed};
  double later_from = 0.0;  // a sequence or an hour; 0: never
};

struct DriftOptions {
  // What a cluster's label mix moves towards; when it is there, the next target is drawn.
  enum class Target {
    permuted,   // the same probabilities, dealt anew to the classes: other labels
    rotated,    // every class hands its probability on to the next
    dirichlet,  // a mix drawn from Dirichlet(concentration, ..., concentration)
  };
  friend constexpr auto names_of(Target) { return names_for<Target>("permuted", "rotated", "dirichlet"); }
  // What rates are for.
  enum class Per { sequence, hour };
  friend constexpr auto names_of(Per) { return names_for<Per>("sequence", "hour"); }
  Per per = Per::sequence;
  Target target = Target::permuted;
  double dirichlet_concentration = 0.5;
  // The share of newly collected data points whose label changes in a sequence: the total variation
  // distance that the mix moves. Kept in [0, 1]; in an hour it may be more than 1, on to further targets.
  DriftRateOptions label_mix{.start = {constant(0), unit::number, ratio}};
  // Images turn by this many degrees, counter-clockwise; the carrier phase of waveforms advances by it.
  DriftRateOptions rotation{.start = {constant(0), unit::number, Range{.low = -360.0, .high = 360.0}}};
  // Values are multiplied by this factor. Kept in [0.01, 100].
  DriftRateOptions brightness{.start = {constant(1), unit::number, Range{.low = 0.01, .high = 100.0}},
                              .later = {constant(1), unit::number, Range{.low = 0.01, .high = 100.0}}};
  // The deviation of noise on every value rises by this, full scale of an image being 1. Kept at 0 or above.
  DriftRateOptions noise{.start = {constant(0), unit::number, non_negative}};
};

// Everything wrong with the options for so many clusters.
std::vector<InputFault> faults_of(const DriftOptions& options, std::size_t num_clusters);

struct DriftRate {
  double start = 0.0;
  double growth = 0.0;
  double later = 0.0;
  double later_from = std::numeric_limits<double>::infinity();

  // Sequences or hours after the start.
  [[nodiscard]] double at(double moment) const {
    return moment < later_from ? start + growth * moment : later;
  }
  friend bool operator==(const DriftRate&, const DriftRate&) = default;
};

// How one cluster drifts; does not change in a run.
struct ClusterDriftRates {
  DriftRate label_mix;
  DriftRate rotation;
  DriftRate brightness{.start = 1.0};
  DriftRate noise;

  [[nodiscard]] bool change_features() const {
    return rotation != DriftRate{} || brightness != DriftRate{.start = 1.0} || noise != DriftRate{};
  }
};

std::vector<ClusterDriftRates> sample_drift_rates(const DriftOptions& options, std::size_t num_clusters,
                                                  std::uint64_t seed);

// From one sequence to the next: the rates of a moment act for a while. Both in sequences, or both in hours.
struct DriftStep {
  double at = 0.0;
  double length = 1.0;
};

// What the rates do to the features of data points, from those collected in one sequence to those of the
// next: rotations add up, brightness factors multiply to something in [1/16, 16], noise deviations add up.
FeatureTransform advance(const FeatureTransform& transform, const ClusterDriftRates& rates,
                         const DriftStep& step);
// The same of all steps up to this sequence, by the sequence. Sequence 0 is the data as it is stored. Costs
// O(sequence): ask once per sequence.
FeatureTransform feature_transform(const ClusterDriftRates& rates, std::size_t sequence);

// Where a cluster's label mix is, and where it is going.
struct ClusterDrift {
  LabelMix mix;
  LabelMix target;                // empty before the first move
  std::uint64_t num_targets = 0;  // drawn so far
  std::uint64_t sequence = 0;

  friend bool operator==(const ClusterDrift&, const ClusterDrift&) = default;
};

// What stays the same from one call of advance to the next.
struct DriftContext {
  const DriftOptions& options;
  const ClassPools& pools;  // targets have no class without samples
  std::uint64_t seed = 0;
};

// From one sequence to the next. A target is drawn if there is none; then, with d the total variation
// distance between mix and target, the mix moves straight towards it by min(rate, d):
//
//   mix <- mix + (target - mix) min(rate / d, 1)
//
// It stays a probability vector, being between two of them. When the target is reached it is given up, and
// the next sequence draws another. By the hour, the rate is multiplied by the step's length, and what is left
// of it at the target goes towards the next one, so that many short sequences move as far as a long one.
void advance(ClusterDrift& drift, const ClusterDriftRates& rates, std::size_t cluster,
             const DriftContext& context, const DriftStep& step);
// By the sequence.
void advance(ClusterDrift& drift, const ClusterDriftRates& rates, std::size_t cluster,
             const DriftContext& context);

// Half the sum of absolute differences: the least share of labels that must change to turn one mix into the
// other.
double total_variation(const LabelMix& a, const LabelMix& b);

}  // namespace skein
