#include "skein/world/position.h"

#include <algorithm>
#include <numbers>

namespace skein {

double elevation_degrees(const Position& a, const Position& b) {
  const Length d = distance(a, b);
  if (d == Length(0.0)) {
    return 90.0;
  }
  const double sine = std::min(std::abs((a.z - b.z) / d), 1.0);
  return 180.0 / std::numbers::pi * std::asin(sine);
}

}  // namespace skein
