// Sampling a world and all its links, from 100 UAVs over 1,000 devices to 1,000 over 10,000: the time must
// grow linearly. main() prints the ratio and fails above 11.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
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

// The least of several runs: the machine's noise only adds.
double least_seconds(const Size& size, ThreadPool& pool, int runs) {
  double least = 1e9;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(sample_once(size, pool));
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

}  // namespace
}  // namespace skein

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  skein::ThreadPool pool(1);
  const double ratio =
      skein::least_seconds(skein::large, pool, 20) / skein::least_seconds(skein::small, pool, 100);
  std::printf("10,000 devices and 1,000 UAVs take %.2f times the time of 1,000 and 100 (at most %.0f)\n",
              ratio, skein::most_allowed_ratio);
  return ratio <= skein::most_allowed_ratio ? 0 : 1;
}
