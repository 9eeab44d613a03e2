// A mission as a picture: the map with every swarm's legs and how long it stayed where, and its battery over
// time.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "skein/planning/planner_evaluation.h"

namespace skein {

// Places in the plane with these distances: the environment's own, or classical multidimensional scaling of
// its distances, which is exact for those of a plane.
std::vector<std::array<double, 2>> site_places(const Environment& environment);

// A self-contained SVG.
std::string trajectory_svg(const Environment& environment, std::span<const double> start,
                           std::span<const EpochRecord> records, const std::string& title);

}  // namespace skein
