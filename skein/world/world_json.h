// The world as data: JSON for programs, GeoJSON for maps.
#pragma once

#include <string>
#include <vector>

#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// Every sampled number, in SI units (keys carry them), and the links of each swarm above its cluster.
std::string world_json(const World& world, const std::vector<SwarmLinks>& links);

// Sites, devices and UAVs as points, clusters as polygons; longitude and latitude as GeoJSON wants them.
std::string world_geojson(const World& world, const std::vector<SwarmLinks>& links);

}  // namespace skein
