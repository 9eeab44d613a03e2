#include "skein/learning/aggregation.h"

#include <algorithm>

namespace skein {

double WaitForAll::round_end(std::span<const double> done_s) const {
  return *std::ranges::max_element(done_s);
}

Model WaitForAll::merged(const Model& /*global*/, std::span<const SwarmUpdate> updates,
                         ThreadPool& pool) const {
  return merge(updates, weights_, pool);
}

std::unique_ptr<AggregationRule> build_aggregation(const LearningOptions& options) {
  return std::make_unique<WaitForAll>(options.algorithm.weights);
}

}  // namespace skein
