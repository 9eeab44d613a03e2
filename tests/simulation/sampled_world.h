// A world with two swarms of three workers and two coordinators each.
#pragma once

#include <cstdint>
#include <string>

#include "skein/base/thread_pool.h"
#include "skein/mission/build.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

inline World sampled_world(std::uint64_t seed) {
  ThreadPool pool(1);
  return build_world(
      load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
                    {.settings = {"run.seed=" + std::to_string(seed), "swarms.types.worker.count=3",
                                  "swarms.types.coordinator.count=2"}}),
      pool);
}

}  // namespace skein
