// The learning block as the rest of the system sees it: tasks go to swarms, updates come back.
//
// A global round of HN-PFL (the paper, section III-B): every active swarm starts from a model; its workers do
// `local_period` local iterations each, their models are averaged, weighted by the data that each has
// processed, and so on `num_local_aggregations` times. The core network then merges the swarms' models.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/feature_transform.h"
#include "skein/learning/options.h"
#include "skein/nn/vector.h"

namespace skein {

using Model = nn::Vector<float>;

struct WorkerTask {
  std::uint64_t worker = 0;            // of all swarms: names its random streams
  std::vector<SampleIndex> samples{};  // its data, of the training set
  std::array<std::size_t, 3>
      batch_sizes;  // points of its three mini-batches: alpha_1 D, alpha_2 D, alpha_3 D
  // If not empty, every local round takes as many samples with this mix, drawn anew.
  LabelMix redraw{};
  std::vector<std::uint32_t> collected{};  // the sequence of each sample, if that is known
  // How drift has changed features, by the sequence of each sample; nullptr: it has not. Goes without redraw.
  std::shared_ptr<const FeatureDrift> drift{};
};

struct SwarmTask {
  std::size_t swarm = 0;
  std::shared_ptr<const Model> model{};  // to start from
  std::size_t first_iteration = 0;       // local iterations done before: names random streams, finds the step
  std::size_t local_period = 1;          // tau_L
  std::size_t num_local_aggregations = 1;  // tau_G
  std::vector<WorkerTask> workers{};
};

struct WorkerReport {
  std::uint64_t worker = 0;
  // In the whole round: tau_G tau_L alpha D. All three mini-batches count, as in the paper's weights and
  // energies, though a first-order meta-gradient never reads the third.
  double points_processed = 0.0;
  double loss = 0.0;  // mean over its updates in the last local round
};

struct SwarmUpdate {
  std::size_t swarm = 0;
  Model model{};
  std::vector<WorkerReport> workers{};  // in the task's order

  [[nodiscard]] double points_processed() const;
};

// Training has left the range of numbers, or the loss has become absurd.
class Divergence : public std::runtime_error {
 public:
  struct Place {
    std::size_t iteration = 0;  // local iterations done before it
    std::size_t swarm = 0;
    std::uint64_t worker = 0;
    double loss = 0.0;  // not finite, or far above that of guessing
    std::string likely_cause{};
  };
  explicit Divergence(Place place);

  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Place place_;
};

class Trainer {
 public:
  // How much of a call is done, from 0 to 1; called on the caller's thread.
  using Progress = std::function<void(double)>;

  Trainer() = default;
  virtual ~Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  Trainer(Trainer&&) = delete;
  Trainer& operator=(Trainer&&) = delete;

  // One global round of all active swarms; an update per task, in order. Throws Divergence.
  virtual std::vector<SwarmUpdate> train(std::span<const SwarmTask> tasks, const Progress& progress) = 0;
  // Makes each task's model its swarm's own: gradient steps or further local iterations at each worker, the
  // swarm's average, and the label shift of all their data, if there is to be one. Periods of the tasks don't
  // count.
  virtual std::vector<SwarmUpdate> personalise(std::span<const SwarmTask> tasks) = 0;
};

// A worker's mini-batches by the options, for so much data: each at least 1 point and at most all.
std::array<std::size_t, 3> batch_sizes(const LearningOptions& options, std::size_t num_points);

// The core network's average of the swarms' models. In the order of swarm numbers, whatever that of the
// updates.
Model merge(std::span<const SwarmUpdate> updates, MergeWeights weights, ThreadPool& pool);

}  // namespace skein
