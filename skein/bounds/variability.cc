#include "skein/bounds/variability.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "skein/base/expect.h"

namespace skein {

std::vector<WorkerPlace> places_of(std::span<const SwarmData> swarms) {
  std::vector<WorkerPlace> places;
  for (std::size_t u = 0; u < swarms.size(); ++u) {
    for (std::size_t j = 0; j < swarms[u].size(); ++j) {
      places.push_back({u, j});
    }
  }
  return places;
}

double total_weight(const SwarmData& swarm) {
  return std::accumulate(swarm.begin(), swarm.end(), 0.0,
                         [](double sum, const WorkerData& worker) { return sum + worker.weight; });
}

double Variability::mean_within() const {
  return std::accumulate(within.begin(), within.end(), 0.0) / static_cast<double>(within.size());
}

double Variability::largest_within() const { return *std::ranges::max_element(within); }

Variability variability_of(std::span<const SwarmData> swarms, std::size_t size, const MakeVector& make,
                           ThreadPool& pool) {
  const std::vector<WorkerPlace> places = places_of(swarms);
  expect(!places.empty(), "variability needs workers");
  const auto num_swarms = static_cast<double>(swarms.size());
  Variability result{.within = std::vector<double>(swarms.size(), 0.0), .mean = Parameters(size)};
  std::vector<Parameters> block(std::min(pool.num_threads(), places.size()), Parameters(size));
  std::vector<double> errors(block.size());
  Parameters swarm_mean(size);
  double square = 0.0;  // of the swarm's vectors, weighted
  double within_error = 0.0;
  double mean_error = 0.0;
  double mean_square = 0.0;  // of the swarms' means
  double between_error = 0.0;
  for (std::size_t begin = 0; begin < places.size(); begin += block.size()) {
    const std::size_t count = std::min(block.size(), places.size() - begin);
    pool.parallel_for(count, [&](std::size_t i) {
      const auto& [u, j] = places[begin + i];
      errors[i] = make(u, j, block[i]);
    });
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [u, j] = places[begin + i];
      const double share = swarms[u][j].weight / total_weight(swarms[u]);
      add_weighted(share, block[i], swarm_mean);
      square += share * squared_norm(block[i]);
      within_error += share * (1.0 - share) * errors[i];
      mean_error += share * share * errors[i];
      if (j + 1 < swarms[u].size()) {
        continue;
      }
      const double square_of_mean = squared_norm(swarm_mean);
      result.within[u] = square - square_of_mean - within_error;
      add_weighted(1.0 / num_swarms, swarm_mean, result.mean);
      mean_square += square_of_mean / num_swarms;
      between_error += mean_error / num_swarms * (1.0 - 1.0 / num_swarms);
      std::ranges::fill(swarm_mean, 0.0);
      square = within_error = mean_error = 0.0;
    }
  }
  result.between = mean_square - squared_norm(result.mean) - between_error;
  return result;
}

double spectral_norm(std::size_t size, const Operator& apply, std::size_t num_steps, RandomStream stream) {
  Parameters v(size);
  Parameters image(size);
  for (double& x : v) {
    x = stream.normal();
  }
  double norm = std::sqrt(squared_norm(v));
  double largest = 0.0;
  for (std::size_t step = 0; step < num_steps && norm > 0.0; ++step) {
    for (double& x : v) {
      x /= norm;
    }
    apply(v, image);
    norm = std::sqrt(squared_norm(image));
    largest = std::max(largest, norm);
    std::swap(v, image);
  }
  return largest;
}

}  // namespace skein
