// From a scenario to a training run.
#pragma once

#include <memory>

#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/data/partition.h"
#include "skein/learning/training.h"
#include "skein/nn/engine.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// The model that training starts from: a file's, or random numbers.
Model initial_model(const Scenario& scenario, const nn::Network<float>& network);

// Everything that run_training needs, in one place. The data may be shared by runs of several scenarios with
// the same source and seed.
//
// Data is put straight on the workers, as in the paper's proof of concept (section VI-A): the swarms are the
// groups of [data]'s partition, and each worker has learning.points_per_worker points.
class PreparedTraining {
 public:
  // Throws InputError with every fault under the scenario's keys; the file's name is the caller's to add.
  PreparedTraining(const Scenario& scenario, std::shared_ptr<const DataSplit> data, ThreadPool& pool);

  // Refers to this object, and takes the initial model along: to be called once.
  [[nodiscard]] TrainingSetup setup();

  [[nodiscard]] const nn::Network<float>& network() const { return network_; }
  [[nodiscard]] const Partition& partition() const { return partition_; }
  [[nodiscard]] const World& world() const { return world_; }

 private:
  Scenario scenario_;
  std::shared_ptr<const DataSplit> data_;
  World world_;
  nn::Network<float> network_;
  ClassPools pools_;
  Partition partition_;
  std::shared_ptr<const Model> initial_;
  DataSize model_size_;
};

}  // namespace skein
