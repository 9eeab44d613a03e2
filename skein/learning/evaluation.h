// How good a model is on samples it was not trained on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/learning/trainer.h"
#include "skein/learning/workspace.h"

namespace skein {

struct Evaluation {
  double accuracy = 0.0;  // share of samples whose class has the largest output
  double loss = 0.0;      // mean cross-entropy, in nats
};

// On these samples, at least one. Chunks are scored in parallel and summed in order. With drift, `samples`
// are places in `drifted`.
Evaluation evaluate(const Model& model, const Dataset& data, std::span<const SampleIndex> samples,
                    Workspaces& workspaces, ThreadPool& pool, const DriftedSamples& drifted = {});

// As on samples with this mix of labels: every class of the mix is tested on all of its samples, and accuracy
// and loss are weighted by the mix. Classes without samples are left out; at least one of the mix has some.
// `pools` are of `data`.
Evaluation evaluate(const Model& model, const Dataset& data, const LabelMix& mix, const ClassPools& pools,
                    Workspaces& workspaces, ThreadPool& pool);

}  // namespace skein
