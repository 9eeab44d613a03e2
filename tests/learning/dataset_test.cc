#include "skein/learning/dataset.h"

#include <gtest/gtest.h>

#include "skein/base/expect.h"

namespace skein {
namespace {

Dataset two_pixels_of_three_channels() {
  return {.name = "tiny",
          .shape = {.height = 1, .width = 2, .channels = 3},
          .class_names = {"a", "b"},
          .labels = {0, 1},
          .features = std::vector<std::uint8_t>{0, 51, 102, 153, 204, 255, 255, 204, 153, 102, 51, 0},
          .scale = 1.0F / 255.0F,
          .mean = {0.0F, 0.2F, 0.5F},
          .deviation = {1.0F, 0.5F, 0.25F}};
}

TEST(Dataset, ReadsBytesWithTheNormalisationOfEachChannel) {
  const Dataset data = two_pixels_of_three_channels();
  std::vector<float> out(6);
  data.read(0, out);
  const std::vector<float> first{0.0F, 0.0F, -0.4F, 0.6F, 1.2F, 2.0F};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(out[i], first[i], 1e-6F) << i;
  }
  data.read(1, out);
  const std::vector<float> second{1.0F, 1.2F, 0.4F, 0.4F, 0.0F, -2.0F};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(out[i], second[i], 1e-6F) << i;
  }
}

TEST(Dataset, ReadsTheSameWhetherChannelsShareTheirNormalisationOrNot) {
  Dataset shared = two_pixels_of_three_channels();
  shared.mean = {0.5F, 0.5F, 0.5F};
  shared.deviation = {0.5F, 0.5F, 0.5F};
  std::vector<float> out(6);
  shared.read(0, out);
  const auto& bytes = std::get<std::vector<std::uint8_t>>(shared.features);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(out[i], (static_cast<float>(bytes[i]) / 255.0F - 0.5F) / 0.5F, 1e-6F);
  }
}

TEST(Dataset, ReadsFloatsUnchangedWithoutNormalisation) {
  const Dataset data{.name = "floats",
                     .shape = {.height = 1, .width = 3, .channels = 1},
                     .class_names = {"a"},
                     .labels = {0},
                     .features = std::vector<float>{-1.5F, 0.25F, 3.0e-7F},
                     .mean = {0.0F},
                     .deviation = {1.0F}};
  std::vector<float> out(3);
  data.read(0, out);
  EXPECT_EQ(out, (std::vector<float>{-1.5F, 0.25F, 3.0e-7F}));
}

TEST(Dataset, RefusesAWrongIndexOrSizeOrNormalisation) {
  Dataset data = two_pixels_of_three_channels();
  std::vector<float> out(6);
  EXPECT_THROW(data.read(2, out), ProgrammingError);
  std::vector<float> small(5);
  EXPECT_THROW(data.read(0, small), ProgrammingError);
  data.mean.pop_back();
  EXPECT_THROW(data.read(0, out), ProgrammingError);
}

}  // namespace
}  // namespace skein
