// Every term of the convergence bounds beside what it bounds, measured while a network is trained: with the
// constants that a scenario gives, and with measured ones.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/log_number.h"
#include "skein/base/thread_pool.h"
#include "skein/bounds/bounds.h"
#include "skein/bounds/estimators.h"
#include "skein/data/data_drift.h"
#include "skein/learning/training.h"

namespace skein {

struct BoundStudySetup {
  TrainingSetup training{};
  DriftOptions drift{};
  std::size_t num_clusters = 1;  // that drift
  // Workers have no more points than this here; 0: all. A study goes through all data many times.
  std::size_t most_points = 256;
  std::size_t num_rounds = 2;       // global rounds of training: the path has one model more
  std::size_t num_draws = 16;       // of mini-batches, for their error
  std::size_t num_sequences = 3;    // of drift, after the last visit
  std::size_t cluster_points = 64;  // of each class, for a cluster's data
  EstimatorOptions estimator{};
};

// One line of the study.
struct BoundTerm {
  std::string_view name;    // for programs
  std::string_view title;   // for people
  std::string_view symbol;  // the paper's
  std::string_view unit;
  std::optional<double> measured{};  // nothing for a part of a sum
  // With the scenario's constants, and with measured ones; nothing where there is no bound.
  std::optional<LogNumber> by_scenario{};
  std::optional<LogNumber> by_measurement{};
};

// A swarm's cluster, whose data drifts after the last visit.
struct ClusterDriftStudy {
  std::size_t cluster = 0;
  double gradient = 0.0;  // squared meta-gradient at the visit
  double drift = 0.0;     // Lambda: the largest over the sequences
  double measured = 0.0;  // squared meta-gradient of the same model after the last sequence
  double bound = 0.0;     // the paper's
  double triangle = 0.0;  // the sharper one
};

struct BoundStudy {
  LossEstimates estimates{};
  std::vector<BoundTerm> terms{};
  std::vector<ClusterDriftStudy> drift{};
  std::vector<std::string> unmet_by_scenario{};  // conditions, in words
  std::vector<std::string> unmet_by_measurement{};
  std::vector<std::string> exceeded{};  // what measures above its bound with the scenario's constants
  std::vector<std::string> notes{};     // where training here is not the scenario's
  std::string growth{};                 // growth_report with the scenario's constants
};

// How far a stage is, from 0 to 1.
using StudyProgress = std::function<void(std::string_view stage, double fraction)>;
// HN-PFL with one mini-batch update per iteration, whatever the scenario trains: that is what the bounds are
// about. The same bits for any number of threads. Throws Divergence.
BoundStudy study_bounds(const BoundStudySetup& setup, ThreadPool& pool, const StudyProgress& progress = {});

}  // namespace skein
