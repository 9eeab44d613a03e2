// The world as a picture: a top view in metres, with a close-up of each swarm's links.
#pragma once

#include <string>
#include <vector>

#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// A self-contained SVG. `links` has those of each swarm to show above its cluster.
std::string world_svg(const World& world, const std::vector<SwarmLinks>& links);

}  // namespace skein
