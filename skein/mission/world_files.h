// A sampled world in a run's directory.
#pragma once

#include <filesystem>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/scenario/scenario.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// Of every swarm above its first cluster.
std::vector<SwarmLinks> first_links(const World& world, ThreadPool& pool);

// Writes world.json, world.geojson, world.svg and the resolved scenario.toml.
void write_world(const World& world, const std::vector<SwarmLinks>& links, const Scenario& scenario,
                 const std::filesystem::path& directory);

}  // namespace skein
