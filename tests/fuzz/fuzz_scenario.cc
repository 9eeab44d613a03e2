// Any text is a scenario or an InputError; what loads also resolves to itself and samples, or says why not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "skein/base/input_fault.h"
#include "skein/base/thread_pool.h"
#include "skein/scenario/scenario.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace {

// Worlds above this are left out: the fuzzer looks for faults, not for memory.
constexpr std::size_t largest = 300;

std::size_t most_of(const skein::Spread& spread) {
  double most = 0;
  for (const double number : spread.numbers) {
    most = number > most ? number : most;
  }
  return static_cast<std::size_t>(std::min(most, 1e6));
}

bool is_small(const skein::Scenario& s) {
  bool small = s.world.clusters.sites.count <= largest && s.world.stations.sites.count <= largest &&
               s.world.access_points.sites.count <= largest &&
               most_of(s.world.clusters.devices.spread) <= largest;
  for (const skein::UavType& type : s.swarms.types) {
    small = small && most_of(type.count.spread) <= largest;
  }
  return small;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("base") != std::string::npos) {
    return 0;  // would read files of this machine
  }
  try {
    const skein::Scenario scenario = skein::parse_scenario(text, "fuzz.toml");
    const std::string resolved = skein::resolved_scenario(scenario);
    if (skein::resolved_scenario(skein::parse_scenario(resolved, "resolved.toml")) != resolved) {
      std::abort();
    }
    if (is_small(scenario)) {
      static skein::ThreadPool pool(1);
      const skein::World world =
          skein::sample_world(scenario.world, scenario.swarms, scenario.radio, scenario.run.seed, pool);
      skein::swarm_links(world, 0, world.swarms[0].start_cluster, 0);
    }
  } catch (const skein::InputError&) {
  }
  return 0;
}
