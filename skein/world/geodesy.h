// Latitude and longitude against the local frame: metres east and north of an origin.
//
// The frame is the tangent plane's map projection on the WGS 84 ellipsoid, with the radii of curvature at the
// origin. Good to about 1e-3 of a distance within 10 km and below 80 degrees of latitude.
#pragma once

#include <array>

#include "skein/world/position.h"

namespace skein {

// {latitude, longitude} in degrees, on the ground.
using LatLon = std::array<double, 2>;

Position from_lat_lon(const LatLon& point, const LatLon& origin);
LatLon to_lat_lon(const Position& position, const LatLon& origin);

}  // namespace skein
