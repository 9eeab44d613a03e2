// Placing sites in the plane so that all pairwise distances lie in a range.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/base/random.h"
#include "skein/world/position.h"

namespace skein {

// A point on the ground in the disc, by rejection from its square.
Position uniform_in_disc(const Position& centre, Length radius, RandomStream& stream);

struct DistanceRange {
  Length least{500.0};
  Length most{2000.0};
};

// `count` points on the ground whose pairwise distances, and those to the points already `given`, all lie in
// the range: darts thrown into the disc of diameter `most`, kept where no other point is nearer than `least`;
// where darts run out and nothing is given, a jittered hexagonal lattice in the same disc. Always ends, in
// time linear in `count`.
//
// Returns fewer than `count` points, as many as were found, where it cannot place them all. The disc and the
// lattice are not the best packing there is: a few more points may fit.
std::vector<Position> place_sites(std::size_t count, const DistanceRange& range,
                                  std::span<const Position> given, RandomStream& stream);

}  // namespace skein
