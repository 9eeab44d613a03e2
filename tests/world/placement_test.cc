#include "skein/world/placement.h"

#include <gtest/gtest.h>

namespace skein {
namespace {

std::vector<Position> placed(std::size_t count, DistanceRange range, std::uint64_t seed,
                             const std::vector<Position>& given = {}) {
  RandomStream stream(seed, "test");
  return place_sites(count, range, given, stream);
}

void expect_in_range(const std::vector<Position>& sites, const DistanceRange& range) {
  for (std::size_t a = 0; a < sites.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      // Lattice points may be off by rounding.
      EXPECT_GE(ground_distance(sites[a], sites[b]).si(), range.least.si() * (1 - 1e-9));
      EXPECT_LE(ground_distance(sites[a], sites[b]).si(), range.most.si() * (1 + 1e-8));
    }
  }
}

TEST(Placement, KeepsAllDistancesInRange) {
  const DistanceRange range{500_m, 2000_m};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const std::size_t count : {1U, 2U, 10U, 13U}) {
      const std::vector<Position> sites = placed(count, range, seed);
      ASSERT_EQ(sites.size(), count);
      expect_in_range(sites, range);
    }
  }
}

TEST(Placement, ReachesTheLatticesCapacityAndNoFurther) {
  const DistanceRange range{500_m, 2000_m};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Position> full = placed(19, range, seed);
    ASSERT_EQ(full.size(), 19U);
    expect_in_range(full, range);
    EXPECT_EQ(placed(20, range, seed).size(), 19U);
  }
}

TEST(Placement, EndsWhereNothingFits) {
  EXPECT_EQ(placed(2, {1000_m, 1000_m}, 1).size(), 2U);
  EXPECT_EQ(placed(5, {1000_m, 1000_m}, 1).size(), 2U);
  EXPECT_EQ(placed(1, {1000_m, 1000_m}, 1).size(), 1U);
  const std::vector<Position> far_apart{{-2000_m, 0_m, 0_m}, {2000_m, 0_m, 0_m}};
  EXPECT_TRUE(placed(3, {500_m, 1000_m}, 1, far_apart).empty());
}

TEST(Placement, KeepsItsDistanceFromGivenPoints) {
  const std::vector<Position> given{{5000_m, 5000_m, 0_m}, {5600_m, 5000_m, 0_m}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<Position> sites = placed(5, {500_m, 2000_m}, seed, given);
    ASSERT_EQ(sites.size(), 5U);
    sites.insert(sites.end(), given.begin(), given.end());
    expect_in_range(sites, {500_m, 2000_m});
  }
}

TEST(Placement, PlacesManySites) {
  const DistanceRange range{500_m, 60000_m};
  const std::vector<Position> sites = placed(3000, range, 1);
  ASSERT_EQ(sites.size(), 3000U);
  expect_in_range(sites, range);
}

}  // namespace
}  // namespace skein
