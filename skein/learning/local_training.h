// What one worker does between two local aggregations: its mini-batches and its steps.
//
// A local iteration takes one of two forms (LocalStep), each with meta-gradients or plain gradients:
//
//   mini_batch  One update, as in the paper's text. A meta-gradient has three mini-batches of the worker's
//               sizes, each of distinct samples, drawn independently of each other; a plain gradient one of
//               as many points as the three together (at most all).
//   epoch       A pass over the data, as in the published study. Plain: all samples in random order, in
//               batches of the three sizes together. Meta: three subsets of a third of the data each, drawn
//               independently; all of the second in random order, in batches of the second size, each with a
//               fresh batch of the first subset, and of the third where the form of the meta-gradient needs
//               one. The last batch of a pass may be smaller. The subsets last for a local round.
//
// First-order meta-gradients never read the third batch, so it is not read from the data set either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/learning/options.h"
#include "skein/learning/trainer.h"
#include "skein/learning/workspace.h"

namespace skein {

// `step` and `inner_step` at a local iteration, by the schedule if there is one.
double scheduled(const LearningOptions& options, double step, std::size_t iteration);
// Why training has probably diverged at a local iteration: its step sizes.
std::string likely_cause(const LearningOptions& options, std::size_t iteration);

class LocalTraining {
 public:
  // The data, with its pools if workers redraw, must outlive it.
  struct Setting {
    LearningOptions options{};
    const Dataset* data = nullptr;
    const ClassPools* pools = nullptr;
    std::uint64_t seed = 0;
  };
  explicit LocalTraining(Setting setting);

  [[nodiscard]] const LearningOptions& options() const { return setting_.options; }

  // A worker's local iterations of one local round.
  struct Round {
    std::size_t swarm = 0;
    std::size_t first_iteration = 0;
    std::size_t num_iterations = 1;
  };
  // Moves `model`; returns the mean loss of its updates. With a label shift, which is off again at the end,
  // if there is to be one. Throws Divergence.
  double run(const WorkerTask& worker, const Round& round, Workspace& workspace, Model& model) const;
  // Makes a model the worker's own, by Personalisation: further local iterations, or gradient steps. Returns
  // their mean loss, each before its step.
  double personalise(const WorkerTask& worker, const Round& round, Workspace& workspace, Model& model) const;
  // The exact meta-gradient as of a local iteration, whose step and data it has, with all three batches the
  // worker's first `num_points` samples and no dropout; a few samples at a time, to need little memory.
  void meta_gradient(const WorkerTask& worker, std::size_t iteration, std::size_t num_points,
                     Workspace& workspace, const Model& model, Model& gradient) const;

  // How often each class occurs in the data of these workers that they have in an iteration.
  [[nodiscard]] LabelCounts label_counts(std::span<const WorkerTask> workers, std::size_t iteration) const;

  // alpha D: see WorkerReport.
  [[nodiscard]] double points_per_iteration(const WorkerTask& worker) const;

 private:
  class Steps;
  [[nodiscard]] std::vector<SampleIndex> data_of(const WorkerTask& worker, std::size_t iteration) const;
  void count_labels(const WorkerTask& worker, std::span<const SampleIndex> data, LabelCounts& counts) const;
  // On the biases, for as long as a worker trains on this data; empty: none.
  [[nodiscard]] std::vector<double> shift_for(const WorkerTask& worker,
                                              std::span<const SampleIndex> data) const;

  Setting setting_;
};

}  // namespace skein
