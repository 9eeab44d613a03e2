// Trains swarms on the threads of this machine.
//
// The workers of all swarms are one parallel loop per local aggregation, so all threads have work. Results
// are the same bits for any number of threads and any order of tasks and workers: random streams are named by
// worker and iteration, and averages are summed in the order of worker numbers. Beside the models of the
// swarms, memory is a workspace and one and a half model buffers per thread, however many workers there are.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/learning/local_training.h"
#include "skein/learning/model_sums.h"
#include "skein/learning/trainer.h"
#include "skein/learning/workspace.h"

namespace skein {

class SwarmTrainer : public Trainer {
 public:
  // All of them must outlive it.
  SwarmTrainer(LocalTraining::Setting setting, Workspaces& workspaces, ThreadPool& pool);

  // The tasks of one call have the same periods.
  std::vector<SwarmUpdate> train(std::span<const SwarmTask> tasks, const Progress& progress) override;
  std::vector<SwarmUpdate> personalise(std::span<const SwarmTask> tasks) override;

  // The squared norm of the mean over swarms of the mean over workers, weighted by their data, of the
  // meta-gradient at each task's model: exact, without dropout, on a worker's first `num_points` samples as
  // all three batches, with the step and the data of the task's first iteration.
  double squared_meta_gradient(std::span<const SwarmTask> tasks, std::size_t num_points);

 private:
  // Moves a copy of its swarm's model; returns the loss.
  using Work = std::function<double(const SwarmTask&, const WorkerTask&, Workspace&, Model&)>;
  // Every worker does its work, from its swarm's latest model, and the swarms average.
  void local_round(std::span<const SwarmTask> tasks, std::vector<SwarmUpdate>& updates, const Work& work);
  // Updates without models yet.
  [[nodiscard]] std::vector<SwarmUpdate> begin(std::span<const SwarmTask> tasks,
                                               std::size_t num_iterations) const;

  LocalTraining local_training_;
  Workspaces& workspaces_;
  ModelSums sums_;
};

}  // namespace skein
