// A whole training run: global rounds, what they cost, and how good the models become.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/data/partition.h"
#include "skein/learning/options.h"
#include "skein/learning/trainer.h"
#include "skein/learning/training_record.h"
#include "skein/nn/engine.h"
#include "skein/world/world.h"

namespace skein {

// What is referred to must outlive the run.
struct TrainingSetup {
  LearningOptions options{};
  const nn::Network<float>* network = nullptr;
  std::shared_ptr<const Model> initial{};  // the model to start from
  const DataSplit* data = nullptr;
  const ClassPools* pools = nullptr;     // of the training set
  const Partition* partition = nullptr;  // of the training set: a group per swarm, its members the workers
  const World* world = nullptr;          // for time and energy; swarms and workers as in the partition
  DataSize model_size{};                 // on the air
  std::uint64_t seed = 0;
  bool personalise_always = true;  // at every evaluation, or at the last only
};

// A task per swarm, without a model yet; workers are numbered over all swarms.
std::vector<SwarmTask> swarm_tasks(const TrainingSetup& setup);

struct TrainingResult {
  Model global;                     // empty where swarms learn alone
  std::vector<Model> personalised;  // of each swarm
  std::vector<TrainingRecord> records;
};

struct TrainingObserver {
  std::function<void(const TrainingRecord&)> record{};  // as soon as there is one
  std::function<void(double)> progress{};               // from 0 to 1
};

// Records the start, every `evaluation_period`-th global aggregation, and the last; `iterations` must be
// whole global rounds. Ends at the first record with the target accuracy, if there is one. The initial model
// is let go after the first round. The same bits for any number of threads. Throws Divergence.
TrainingResult run_training(TrainingSetup setup, ThreadPool& pool, const TrainingObserver& observer);

}  // namespace skein
