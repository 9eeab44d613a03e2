#include "skein/data/feature_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

constexpr NoiseSource no_noise{};

// Random bytes, seen by a network as Fashion-MNIST or CIFAR-10 would be.
Dataset random_images(SampleShape shape, std::size_t count, std::vector<float> mean,
                      std::vector<float> deviation) {
  Dataset data{.name = "random", .shape = shape, .class_names = {"one"}};
  data.labels.assign(count, 0);
  RandomStream stream(1, "random images");
  std::vector<std::uint8_t> bytes(count * shape.size());
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(stream.below(256));
  }
  data.features = std::move(bytes);
  data.scale = 1.0F / 255.0F;
  data.mean = std::move(mean);
  data.deviation = std::move(deviation);
  return data;
}

Dataset one_image(SampleShape shape, std::vector<float> values) {
  return {.name = "one",
          .shape = shape,
          .class_names = {"one"},
          .labels = {0},
          .features = std::move(values),
          .mean = std::vector<float>(shape.channels, 0.0F),
          .deviation = std::vector<float>(shape.channels, 1.0F)};
}

std::vector<float> read(const Dataset& data, std::size_t index, const FeatureTransform& transform,
                        const NoiseSource& noise = no_noise) {
  std::vector<float> out(data.shape.size());
  read_transformed(data, index, transform, noise, out);
  return out;
}

std::vector<float> plain(const Dataset& data, std::size_t index) {
  std::vector<float> out(data.shape.size());
  data.read(index, out);
  return out;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

TEST(FeatureTransform, IdentityIsTheDataSetsOwnRead) {
  const Dataset data = random_images({32, 32, 3}, 20, {0.5F, 0.4F, 0.3F}, {0.2F, 0.25F, 0.3F});
  for (std::size_t index = 0; index < data.size(); ++index) {
    EXPECT_EQ(read(data, index, {}), plain(data, index));
  }
}

TEST(FeatureTransform, QuarterTurnsAreExact) {
  // 1 2 3      3 6 9
  // 4 5 6  ->  2 5 8
  // 7 8 9      1 4 7
  const Dataset data = one_image({3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(read(data, 0, {.rotation_degrees = 90}), (std::vector<float>{3, 6, 9, 2, 5, 8, 1, 4, 7}));
  EXPECT_EQ(read(data, 0, {.rotation_degrees = 180}), (std::vector<float>{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(read(data, 0, {.rotation_degrees = 270}), (std::vector<float>{7, 4, 1, 8, 5, 2, 9, 6, 3}));
  EXPECT_EQ(read(data, 0, {.rotation_degrees = -90}), read(data, 0, {.rotation_degrees = 270}));
  EXPECT_EQ(read(data, 0, {.rotation_degrees = 360}), plain(data, 0));
  EXPECT_EQ(read(data, 0, {.rotation_degrees = -720}), plain(data, 0));
  // An even side, and channels that stay together.
  const Dataset colours =
      one_image({4, 4, 2}, {0, 100, 1, 101, 2,  102, 3,  103, 4,  104, 5,  105, 6,  106, 7,  107,
                            8, 108, 9, 109, 10, 110, 11, 111, 12, 112, 13, 113, 14, 114, 15, 115});
  EXPECT_EQ(read(colours, 0, {.rotation_degrees = 90}),
            (std::vector<float>{3, 103, 7, 107, 11, 111, 15, 115, 2, 102, 6, 106, 10, 110, 14, 114,
                                1, 101, 5, 105, 9,  109, 13, 113, 0, 100, 4, 104, 8,  108, 12, 112}));
}

TEST(FeatureTransform, ATurnByFortyFiveDegreesWorkedByHand) {
  const Dataset data = one_image({3, 3, 1}, {0, 0, 0, 0, 0, 8, 0, 0, 0});
  const auto turned = read(data, 0, {.rotation_degrees = 45});
  // The bright pixel right of the centre goes to the upper right: the corner (1, -1) looks back at
  // (sqrt 2, 0), which is 0.41421 beyond the pixel, and the top (0, -1) at (sqrt 1/2, -sqrt 1/2).
  const double half = std::sqrt(0.5);
  EXPECT_NEAR(turned[2], 8.0 * (2.0 - std::sqrt(2.0)), 1e-6);
  EXPECT_NEAR(turned[1], 8.0 * half * (1.0 - half), 1e-6);
  EXPECT_NEAR(turned[5], 8.0 * half * (1.0 - half), 1e-6);
  EXPECT_EQ(turned[4], 0.0F);
  EXPECT_NEAR(turned[6], 0.0, 1e-6);
}

TEST(FeatureTransform, AFullTurnInSmallStepsIsTheIdentityWithinRounding) {
  const Dataset data = random_images({28, 28, 1}, 5, {0.2860F}, {0.3530F});
  double angle = 0.0;
  for (int step = 0; step < 3600; ++step) {
    angle = angle + 0.1;
  }
  ASSERT_NE(angle, 360.0);
  for (std::size_t index = 0; index < data.size(); ++index) {
    // The angle is off by less than 3600 half-ulps of 360 (1e-10 degrees), so pixels move by less than 1e-10.
    // What remains is undoing and redoing the normalisation in single precision: values up to 3, three
    // roundings of 2^-24 each relative to at most 1 + 0.286 before division by 0.353.
    EXPECT_LT(largest_difference(read(data, index, {.rotation_degrees = angle}), plain(data, index)),
              4.0 * 1.3 * 0x1p-24 / 0.353 + 1e-9);
  }
}

TEST(FeatureTransform, RotationKeepsABlobsMassAndMovesItAsExpected) {
  // A smooth blob away from the centre: its mass stays, its centre of mass turns.
  constexpr std::size_t side = 41;
  std::vector<float> values(side * side);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const double dx = static_cast<double>(x) - 28.0;
      const double dy = static_cast<double>(y) - 20.0;
      values[y * side + x] = static_cast<float>(std::exp(-(dx * dx + dy * dy) / 8.0));
    }
  }
  const Dataset data = one_image({side, side, 1}, values);
  for (const double degrees : {0.5, 10.0, 37.0, 90.0, 123.0, -60.0, 300.0}) {
    const auto turned = read(data, 0, {.rotation_degrees = degrees});
    double mass = 0.0;
    double at_x = 0.0;
    double at_y = 0.0;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      mass += turned[i];
      at_x += turned[i] * static_cast<double>(i % side);
      at_y += turned[i] * static_cast<double>(i / side);
    }
    const double angle = degrees * std::numbers::pi / 180.0;
    EXPECT_NEAR(mass, 8.0 * std::numbers::pi, 0.05);
    EXPECT_NEAR(at_x / mass, 20.0 + 8.0 * std::cos(angle), 0.02);
    EXPECT_NEAR(at_y / mass, 20.0 - 8.0 * std::sin(angle), 0.02) << "counter-clockwise, rows go down";
  }
}

TEST(FeatureTransform, WaveformsTurnTheirCarrierPhase) {
  std::vector<float> values(256);
  RandomStream stream(2, "waveform");
  for (float& value : values) {
    value = static_cast<float>(stream.normal());
  }
  const Dataset data = one_image({2, 128, 1}, values);
  const auto quarter = read(data, 0, {.rotation_degrees = 90});
  const auto some = read(data, 0, {.rotation_degrees = 25});
  for (std::size_t t = 0; t < 128; ++t) {
    EXPECT_EQ(quarter[t], -values[128 + t]);  // (I + jQ) j = -Q + jI
    EXPECT_EQ(quarter[128 + t], values[t]);
    const double power = values[t] * values[t] + values[128 + t] * values[128 + t];
    EXPECT_NEAR(some[t] * some[t] + some[128 + t] * some[128 + t], power, 1e-6 * (1.0 + power));
    const double phase = std::atan2(values[128 + t], values[t]);
    const double turned = std::atan2(some[128 + t], some[t]);
    EXPECT_NEAR(std::remainder(turned - phase - 25.0 * std::numbers::pi / 180.0, 2.0 * std::numbers::pi), 0.0,
                1e-5);
  }
}

TEST(FeatureTransform, BrightnessScalesIntensityAndSaturatesBytesOnly) {
  Dataset bytes = random_images({1, 256, 1}, 1, {0.1307F}, {0.3081F});
  std::vector<std::uint8_t> ramp(256);
  for (std::size_t i = 0; i < 256; ++i) {
    ramp[i] = static_cast<std::uint8_t>(i);
  }
  bytes.features = ramp;
  const auto seen = read(bytes, 0, {.brightness = 1.5});
  for (std::size_t i = 0; i < 256; ++i) {
    const double intensity = std::min(1.5 * static_cast<double>(i) / 255.0, 1.0);
    EXPECT_NEAR(seen[i], (intensity - 0.1307) / 0.3081, 2e-6);
  }
  const Dataset floats = one_image({1, 3, 1}, {0.5F, 0.9F, -2.0F});
  EXPECT_EQ(read(floats, 0, {.brightness = 2.0}), (std::vector<float>{1.0F, 1.8F, -4.0F}));
}

TEST(FeatureTransform, NoiseIsNormalWithTheDeviationAskedFor) {
  const Dataset data = random_images({28, 28, 1}, 200, {0.286F}, {0.353F});
  constexpr double deviation = 0.2;
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  double count = 0.0;
  for (std::size_t index = 0; index < data.size(); ++index) {
    const auto before = plain(data, index);
    const auto after = read(data, index, {.noise_deviation = deviation}, {.seed = 4});
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double noise = (static_cast<double>(after[i]) - static_cast<double>(before[i])) * 0.353;
      sum += noise;
      squares += noise * noise;
      fourth += noise * noise * noise * noise;
      ++count;
    }
  }
  // 156,800 values: the mean deviates by 0.2 / 396, the variance by sqrt(2) / 396 of itself, the kurtosis by
  // sqrt(24) / 396; five times that.
  const double root = std::sqrt(count);
  const double variance = squares / count;
  EXPECT_NEAR(sum / count, 0.0, 5.0 * deviation / root);
  EXPECT_NEAR(variance / (deviation * deviation), 1.0, 5.0 * std::sqrt(2.0) / root);
  EXPECT_NEAR(fourth / count / (variance * variance), 3.0, 5.0 * std::sqrt(24.0) / root);
}

TEST(FeatureTransform, NoiseBelongsToSeedClusterSequenceAndSample) {
  const Dataset data = random_images({8, 8, 1}, 2, {0.0F}, {1.0F});
  const FeatureTransform noisy{.noise_deviation = 0.1};
  const NoiseSource source{.seed = 1, .cluster = 2, .sequence = 3};
  const auto first = read(data, 1, noisy, source);
  static_cast<void>(read(data, 0, noisy, source));
  EXPECT_EQ(read(data, 1, noisy, source), first);
  EXPECT_NE(read(data, 1, noisy, {.seed = 2, .cluster = 2, .sequence = 3}), first);
  EXPECT_NE(read(data, 1, noisy, {.seed = 1, .cluster = 3, .sequence = 3}), first);
  EXPECT_NE(read(data, 1, noisy, {.seed = 1, .cluster = 2, .sequence = 4}), first);
}

TEST(FeatureTransform, RefusesNumbersThatAreNone) {
  const Dataset data = random_images({2, 2, 2}, 1, {0.0F, 0.0F}, {1.0F, 1.0F});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(read(data, 0, {.rotation_degrees = nan}), ProgrammingError);
  EXPECT_THROW(read(data, 0, {.brightness = nan}), ProgrammingError);
  EXPECT_THROW(read(data, 0, {.brightness = -1.0}), ProgrammingError);
  EXPECT_THROW(read(data, 0, {.noise_deviation = nan}), ProgrammingError);
}

TEST(FeatureTransform, GoldenValues) {
  const Dataset data = one_image({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto out = read(data, 0, {.rotation_degrees = 30, .brightness = 0.5, .noise_deviation = 0.01},
                        {.seed = 1, .cluster = 2, .sequence = 3});
  const std::vector<float> expected{0.6546878F, 1.0748134F, 1.7555385F, 2.1382711F,
                                    1.5154902F, 1.9278027F, 2.6097443F, 3.0071418F};
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace skein
