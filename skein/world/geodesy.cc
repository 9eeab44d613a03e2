#include "skein/world/geodesy.h"

#include <cmath>
#include <numbers>

namespace skein {
namespace {

constexpr double radians_per_degree = std::numbers::pi / 180.0;

// Metres per degree of latitude and of longitude at the origin.
struct DegreeLengths {
  double latitude;
  double longitude;
};

// Radii of curvature: along the meridian a (1 - e^2) / (1 - e^2 sin^2)^(3/2), along the parallel
// a cos / (1 - e^2 sin^2)^(1/2), with a and e of WGS 84.
DegreeLengths degree_lengths(const LatLon& origin) {
  constexpr double a = 6378137.0;
  constexpr double flattening = 1.0 / 298.257223563;
  constexpr double e2 = flattening * (2.0 - flattening);
  const double sine = std::sin(origin[0] * radians_per_degree);
  const double w = 1.0 - e2 * sine * sine;
  return {.latitude = radians_per_degree * a * (1.0 - e2) / (w * std::sqrt(w)),
          .longitude = radians_per_degree * a * std::cos(origin[0] * radians_per_degree) / std::sqrt(w)};
}

}  // namespace

Position from_lat_lon(const LatLon& point, const LatLon& origin) {
  const DegreeLengths lengths = degree_lengths(origin);
  const double east = std::remainder(point[1] - origin[1], 360.0);
  return {Length(east * lengths.longitude), Length((point[0] - origin[0]) * lengths.latitude), Length(0.0)};
}

LatLon to_lat_lon(const Position& position, const LatLon& origin) {
  const DegreeLengths lengths = degree_lengths(origin);
  return {origin[0] + position.y.si() / lengths.latitude,
          std::remainder(origin[1] + position.x.si() / lengths.longitude, 360.0)};
}

}  // namespace skein
