#include "skein/learning/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "skein/base/expect.h"
#include "skein/learning/model_sums.h"

namespace skein {

double SwarmUpdate::points_processed() const {
  return std::accumulate(workers.begin(), workers.end(), 0.0, [](double sum, const WorkerReport& report) {
    return sum + report.points_processed;
  });
}

Divergence::Divergence(Place place)
    : std::runtime_error(fmt::format(
          "training diverged in local iteration {}: worker {}, of swarm {}, has a loss of {:g}; {}",
          place.iteration + 1, place.worker + 1, place.swarm + 1, place.loss, place.likely_cause)),
      place_(std::move(place)) {}

std::array<std::size_t, 3> batch_sizes(const LearningOptions& options, std::size_t num_points) {
  std::array<std::size_t, 3> sizes = options.batch_sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      sizes[i] =
          static_cast<std::size_t>(std::llround(options.batch_ratios[i] * static_cast<double>(num_points)));
    }
    sizes[i] = std::max<std::size_t>(1, std::min(sizes[i], num_points));
  }
  return sizes;
}

Model merge(std::span<const SwarmUpdate> updates, MergeWeights weights, ThreadPool& pool) {
  expect(!updates.empty(), "a merge needs an update");
  std::vector<const SwarmUpdate*> ordered;
  for (const SwarmUpdate& update : updates) {
    ordered.push_back(&update);
  }
  std::ranges::sort(ordered, {}, &SwarmUpdate::swarm);
  double total = 0.0;
  std::vector<double> shares;
  for (const SwarmUpdate* update : ordered) {
    shares.push_back(weights == MergeWeights::equal ? 1.0 : update->points_processed());
    total += shares.back();
  }
  expect(total > 0.0, "a merge by data needs data");

  Model merged(updates.front().model.size());
  constexpr std::size_t block = 1 << 16;
  pool.parallel_for((merged.size() + block - 1) / block, [&](std::size_t b) {
    const std::size_t begin = b * block;
    const std::size_t count = std::min(block, merged.size() - begin);
    for (std::size_t u = 0; u < ordered.size(); ++u) {
      expect(ordered[u]->model.size() == merged.size(), "models of one merge have one size");
      add_weighted(static_cast<float>(shares[u] / total), ordered[u]->model.span().subspan(begin, count),
                   merged.span().subspan(begin, count));
    }
  });
  return merged;
}

}  // namespace skein
