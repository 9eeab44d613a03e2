// A point in the mission's local frame: metres east, north and up of its origin.
#pragma once

#include <cmath>

#include "skein/base/quantity.h"

namespace skein {

struct Position {
  Length x;  // east
  Length y;  // north
  Length z;  // up

  friend bool operator==(const Position&, const Position&) = default;
};

// Straight through the air.
inline Length distance(const Position& a, const Position& b) {
  return Length(std::hypot((a.x - b.x).si(), (a.y - b.y).si(), (a.z - b.z).si()));
}

// On the map, altitudes left out.
inline Length ground_distance(const Position& a, const Position& b) {
  return Length(std::hypot((a.x - b.x).si(), (a.y - b.y).si()));
}

// How high one end stands above the other end's horizon, in degrees from 0 to 90, the same seen from both
// ends: 180/pi asin(|dh| / d) with the difference in altitude dh and the distance d. Two nodes at one point
// have nothing between them: 90.
double elevation_degrees(const Position& a, const Position& b);

}  // namespace skein
