// Sampling a world and all its links, from 100 UAVs over 1,000 devices to 1,000 over 10,000: the time must
// grow linearly. main() prints the ratio and fails above 11.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {
namespace {

// 5 UAVs a swarm, 10 devices a cluster, one swarm to five clusters.
struct Size {
  std::size_t uavs;
  std::size_t devices;
};
constexpr Size small{.uavs = 100, .devices = 1000};
constexpr Size large{.uavs = 1000, .devices = 10000};
constexpr double most_allowed_ratio = 11.0;

double sample_once(const Size& size, ThreadPool& pool) {
  WorldOptions options;
  options.distance_m = {500, 1e5};
  options.clusters.sites.count = size.devices / 10;
  options.clusters.devices.spread = constant(10);
  SwarmOptions swarms;
  swarms.count = size.uavs / 5;
  swarms.types[1].count.spread = constant(3);
  swarms.types[2].count.spread = constant(1);
  const World world = sample_world(options, swarms, {}, 1, pool);
  std::vector<SwarmLinks> links(world.swarms.size());
  pool.parallel_for(links.size(), [&](std::size_t u) {
    links[u] = swarm_links(world, u, world.swarms[u].start_cluster, 0);
  });
  return links.back().leader_to_access_point.si();
}

void sample_world_and_links(benchmark::State& state) {
  const Size size = state.range(0) == 100 ? small : large;
  ThreadPool pool(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(sample_once(size, pool));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size.uavs + size.devices));
}
BENCHMARK(sample_world_and_links)
    ->ArgNames({"uavs", "threads"})
    ->ArgsProduct({{100, 1000}, {1, 2}})
    ->Unit(benchmark::kMillisecond);

// Seconds of processor time: what other programs do on the machine does not count.
double processor_seconds(const Size& size, ThreadPool& pool) {
  const std::clock_t start = std::clock();
  benchmark::DoNotOptimize(sample_once(size, pool));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Median over rounds of one large world over ten small ones, in turn.
double growth(ThreadPool& pool) {
  constexpr int rounds = 31;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    double ten_small = 0.0;
    for (int i = 0; i < 10; ++i) {
      ten_small += processor_seconds(small, pool);
    }
    ratios.push_back(10.0 * processor_seconds(large, pool) / ten_small);
  }
  std::nth_element(ratios.begin(), ratios.begin() + rounds / 2, ratios.end());
  return ratios[rounds / 2];
}

}  // namespace
}  // namespace skein

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  skein::ThreadPool pool(1);
  const double ratio = skein::growth(pool);
  std::printf(
      "10,000 devices and 1,000 UAVs take %.2f times the processor time of 1,000 and 100 (at most %.0f)\n",
      ratio, skein::most_allowed_ratio);
  return ratio <= skein::most_allowed_ratio ? 0 : 1;
}
