#include "skein/learning/aggregation.h"

#include <algorithm>

namespace skein {

double WaitForAll::round_end(std::span<const double> done_s) const {
  return *std::ranges::max_element(done_s);
}

Model WaitForAll::merged(const Model& global, std::span<const SwarmUpdate> updates, ThreadPool& pool) const {
  Model mean = merge(updates, weights_, pool);
  if (num_swarms_ > updates.size()) {
    const float part = static_cast<float>(updates.size()) / static_cast<float>(num_swarms_);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] = global[i] + part * (mean[i] - global[i]);
    }
  }
  return mean;
}

std::unique_ptr<AggregationRule> build_aggregation(const LearningOptions& options, std::size_t num_swarms) {
  const bool all_count = options.absent_swarms == AbsentSwarms::as_global;
  return std::make_unique<WaitForAll>(options.algorithm.weights, all_count ? num_swarms : 0);
}

}  // namespace skein
