#include "skein/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// Sample i has the values 2 i and 2 i + 1, label i mod 3 and, if it is a waveform, i dB.
template <class Value>
Dataset numbered(std::size_t size, bool waveforms) {
  Dataset data{.name = "numbered",
               .shape = {.height = 1, .width = 2, .channels = 1},
               .class_names = {"a", "b", "c"},
               .scale = 2.0F,
               .mean = {0.5F},
               .deviation = {0.25F}};
  std::vector<Value> values;
  for (std::size_t i = 0; i < size; ++i) {
    data.labels.push_back(static_cast<std::uint8_t>(i % 3));
    values.push_back(static_cast<Value>(2 * i));
    values.push_back(static_cast<Value>(2 * i + 1));
    if (waveforms) {
      data.snr_db.push_back(static_cast<std::int8_t>(i));
    }
  }
  data.features = std::move(values);
  return data;
}

template <class Value>
void hold_out_a_sixth(bool waveforms) {
  const Dataset data = numbered<Value>(60, waveforms);
  RandomStream stream(1, "tuning data");
  const DataSplit split = hold_out(data, 1.0 / 6.0, stream);
  EXPECT_EQ(split.test.size(), 10U);
  EXPECT_EQ(split.train.size(), 50U);
  std::vector<std::size_t> seen(60, 0);
  for (const Dataset* part : {&split.train, &split.test}) {
    EXPECT_EQ(part->name, data.name);
    EXPECT_EQ(part->shape, data.shape);
    EXPECT_EQ(part->class_names, data.class_names);
    const auto& values = std::get<std::vector<Value>>(part->features);
    ASSERT_EQ(values.size(), 2 * part->size());
    ASSERT_EQ(part->snr_db.size(), waveforms ? part->size() : 0);
    EXPECT_TRUE(std::ranges::is_sorted(values)) << "the set's order";
    std::vector<float> out(2);
    std::vector<float> original(2);
    for (std::size_t k = 0; k < part->size(); ++k) {
      const auto i = static_cast<std::size_t>(values[2 * k]) / 2;
      ++seen[i];
      EXPECT_EQ(part->labels[k], i % 3);
      if (waveforms) {
        EXPECT_EQ(part->snr_db[k], static_cast<std::int8_t>(i));
      }
      part->read(k, out);
      data.read(i, original);
      EXPECT_EQ(out, original);
    }
  }
  EXPECT_EQ(seen, std::vector<std::size_t>(60, 1)) << "every sample is on one side";
}

TEST(Dataset, HoldsOutAShareWithAllThatBelongsToIt) {
  hold_out_a_sixth<std::uint8_t>(false);
  hold_out_a_sixth<float>(true);
}

TEST(Dataset, HoldsOutByTheStreamAndLeavesSomethingOnBothSides) {
  const Dataset data = numbered<float>(60, false);
  const auto held = [&](std::uint64_t seed) {
    RandomStream stream(seed, "tuning data");
    return hold_out(data, 0.5, stream).test.features;
  };
  EXPECT_EQ(held(1), held(1));
  EXPECT_NE(held(1), held(2));
  RandomStream stream(1, "tuning data");
  EXPECT_THROW(hold_out(data, 0.001, stream), ProgrammingError);
  EXPECT_THROW(hold_out(data, 1.0, stream), ProgrammingError);
}

}  // namespace
}  // namespace skein
