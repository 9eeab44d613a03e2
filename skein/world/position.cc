#include "skein/world/position.h"

#include <algorithm>
#include <numbers>

namespace skein {

// asin(|dh| / d) = atan2(|dh|, ground distance); the second form keeps its digits straight overhead.
double elevation_degrees(const Position& a, const Position& b) {
  const double height = std::abs((a.z - b.z).si());
  const double ground = ground_distance(a, b).si();
  if (height == 0.0 && ground == 0.0) {
    return 90.0;
  }
  return std::min(180.0 / std::numbers::pi * std::atan2(height, ground), 90.0);
}

}  // namespace skein
