// Small things to train on, for tests of trainers.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "skein/base/random.h"
#include "skein/data/class_pools.h"
#include "skein/data/synthetic.h"
#include "skein/learning/trainer.h"
#include "skein/nn/engine.h"

namespace skein {

// Made-up images of 4 classes, and a network for them.
struct SmallProblem {
  DataSplit data = make_synthetic({.shape = {.height = 6, .width = 6, .channels = 1},
                                   .classes = 4,
                                   .train_per_class = 60,
                                   .test_per_class = 20},
                                  1);
  ClassPools pools{data.train};
  nn::Network<float> network;

  explicit SmallProblem(bool dropout = true) : network(architecture(dropout)) {}

  static nn::Architecture architecture(bool dropout) {
    nn::Architecture result{.input = {.height = 6, .width = 6, .channels = 1}};
    result.layers = {nn::Convolution{.filters = 4, .kernel = {3, 3}}, nn::Relu{}, nn::MaxPool{}};
    if (dropout) {
      result.layers.emplace_back(nn::Dropout{.probability = 0.2});
    }
    result.layers.emplace_back(nn::Linear{.outputs = 4});
    return result;
  }

  [[nodiscard]] std::shared_ptr<const Model> initial() const {
    RandomStream stream(1, "initial model");
    return std::make_shared<const Model>(network.initial_parameters(stream));
  }

  // Swarms with so many workers each; worker j has 20 + 5 j samples of two classes of its swarm.
  [[nodiscard]] std::vector<SwarmTask> tasks(const std::vector<std::size_t>& workers_per_swarm,
                                             const LearningOptions& options) const {
    std::vector<SwarmTask> result;
    std::uint64_t number = 0;
    for (std::size_t u = 0; u < workers_per_swarm.size(); ++u) {
      SwarmTask& task = result.emplace_back(SwarmTask{.swarm = u, .model = initial()});
      task.local_period = options.local_period;
      task.num_local_aggregations = options.global_period;
      LabelMix mix(4, 0.0);
      mix[u % 4] = 0.5;
      mix[(u + 1) % 4] = 0.5;
      for (std::size_t w = 0; w < workers_per_swarm[u]; ++w) {
        RandomStream stream(1, "data", number);
        WorkerTask worker{.worker = number, .samples = draw(pools, mix, 20 + 5 * number, stream)};
        worker.batch_sizes = batch_sizes(options, worker.samples.size());
        worker.redraw = options.redraw ? mix : LabelMix{};
        task.workers.push_back(std::move(worker));
        ++number;
      }
    }
    return result;
  }
};

inline bool same_bits(const Model& a, const Model& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline double largest_difference(const Model& a, const Model& b) {
  double largest = a.size() == b.size() ? 0.0 : 1e9;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

}  // namespace skein
