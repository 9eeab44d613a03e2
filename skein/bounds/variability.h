// How vectors differ between the workers of a swarm and between swarms, and how much an operator stretches
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "skein/base/random.h"
#include "skein/base/thread_pool.h"
#include "skein/bounds/sample_loss.h"

namespace skein {

// A worker's data, and its weight in its swarm: the data that it processes, Delta_j.
struct WorkerData {
  std::uint64_t worker = 0;  // of all swarms: names its random streams
  std::span<const SampleIndex> samples{};
  double weight = 1.0;
};
using SwarmData = std::vector<WorkerData>;
double total_weight(const SwarmData& swarm);

struct WorkerPlace {
  std::size_t swarm;
  std::size_t member;
};
// Of all workers, swarm after swarm.
std::vector<WorkerPlace> places_of(std::span<const SwarmData> swarms);

// How vectors of workers, one each, deviate from the mean of their swarm, and those from the network's.
struct Variability {
  std::vector<double> within;  // of each swarm: sum_j Delta_j / Delta-bar |x_j - x-bar_u|^2
  double between = 0.0;        // (1/U) sum_u |x-bar_u - x-bar|^2
  Parameters mean{};           // x-bar

  [[nodiscard]] double mean_within() const;
  [[nodiscard]] double largest_within() const;
};
// Calls make(swarm, place in it, vector) for every worker; vectors are added in order, so memory is a vector
// per thread. A worker's vector may be a mean over a few samples only: `make` returns the expected square of
// its error (0 if it is exact), and what these errors add to the variability on average is taken out again:
// right on average, so it may be below zero where there is little.
using MakeVector = std::function<double(std::size_t, std::size_t, Parameters&)>;
Variability variability_of(std::span<const SwarmData> swarms, std::size_t size, const MakeVector& make,
                           ThreadPool& pool);

// Largest |A v| / |v| of a symmetric A, by power iteration from a random start: never too large.
using Operator = std::function<void(const Parameters& v, Parameters& out)>;
double spectral_norm(std::size_t size, const Operator& apply, std::size_t num_steps, RandomStream stream);

}  // namespace skein
