#include "skein/planning/trajectory_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "skein/planning/heuristics.h"
#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

// Distances of points in a plane give the points again, up to a turn and a flip.
TEST(TrajectorySvg, PlacesHaveTheGivenDistances) {
  const auto e = reference_environment();
  ASSERT_TRUE(e->places_m.empty());
  const auto places = site_places(*e);
  for (std::size_t i = 0; i < e->num_sites(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NEAR(std::hypot(places[i][0] - places[j][0], places[i][1] - places[j][1]), e->distance(i, j),
                  0.01);
    }
  }
}

TEST(TrajectorySvg, ShowsSitesLegsAndBatteries) {
  const auto e = reference_environment();
  MyopicPlanner planner(e);
  const std::vector<double> start = reference_file().start;
  const std::string svg = trajectory_svg(*e, start, fly(*e, planner, start, 30, 1), "a title");
  for (const char* part :
       {"a title", "C:1", "C:8", "R:2", "Swarm 3: battery in kJ, threshold 16.9", "</svg>"}) {
    EXPECT_THAT(svg, ::testing::HasSubstr(part));
  }
  EXPECT_THAT(svg, ::testing::Not(::testing::HasSubstr("nan")));
}

}  // namespace
}  // namespace skein
