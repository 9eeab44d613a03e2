// How good a model is for swarms, new or old, after one gradient step on their own data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/data/partition.h"
#include "skein/learning/trainer.h"
#include "skein/nn/engine.h"

namespace skein {

// What is referred to must outlive the call.
struct AdaptationSetup {
  const nn::Network<float>* network = nullptr;
  const DataSplit* data = nullptr;
  const Partition* partition = nullptr;  // of the training set: a group per swarm, its members the workers
  std::size_t batch_points = 100;        // of a worker, for its step
  std::uint64_t seed = 0;
};

// For each step size: every worker takes one gradient step from the model, each swarm averages its workers'
// models, weighted by the points of their steps, and is tested on the test set with its own mix of labels;
// the mean accuracy over swarms, from 0 to 1. A step of size 0 tests the model as it is. Throws Divergence.
std::vector<double> accuracy_after_step(const Model& model, std::span<const double> step_sizes,
                                        const AdaptationSetup& setup, ThreadPool& pool);

}  // namespace skein
