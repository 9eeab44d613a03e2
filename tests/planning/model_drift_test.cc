#include "skein/planning/model_drift.h"

#include <gtest/gtest.h>

namespace skein {
namespace {

TEST(Drift, AffineFromStartToEnd) {
  const AffineDrift drift{.start = {2.0, 16.0}, .end = {15.0, 17.0}, .sequences = 100};
  EXPECT_DOUBLE_EQ(drift.at(0, 0), 2.0);
  EXPECT_DOUBLE_EQ(drift.at(0, 50), 8.5);
  EXPECT_DOUBLE_EQ(drift.at(1, 100), 17.0);
  EXPECT_DOUBLE_EQ(drift.at(0, 5000), 15.0);
  const AffineDrift still{.start = {2.0}, .end = {15.0}, .sequences = 0};
  EXPECT_DOUBLE_EQ(still.at(0, 5000), 2.0);
}

}  // namespace
}  // namespace skein
