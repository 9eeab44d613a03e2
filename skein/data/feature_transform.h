// Samples as they look after feature drift, made when they are read: the data set stays in memory once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/data/dataset.h"

namespace skein {

// Acts on stored values times the data set's scale, before normalisation: full scale of an 8-bit image is 1.
// First rotation, then brightness, then noise.
struct FeatureTransform {
  // Images turn about their centre, counter-clockwise, with bilinear interpolation; what comes from outside
  // is 0. Waveforms (height 2, one channel: rows I and Q) have their carrier phase advanced:
  // I + jQ <- (I + jQ) exp(j angle).
  double rotation_degrees = 0.0;
  // A factor; 8-bit images saturate at full scale, as their sensor would.
  double brightness = 1.0;
  // Deviation of normal noise on every value; it is not clipped.
  double noise_deviation = 0.0;

  [[nodiscard]] bool is_identity() const {
    return rotation_degrees == 0.0 && brightness == 1.0 && noise_deviation == 0.0;
  }
  friend bool operator==(const FeatureTransform&, const FeatureTransform&) = default;
};

// Names the noise of a data point: the same sample collected in the same cluster and sequence always has the
// same noise.
struct NoiseSource {
  std::uint64_t seed = 0;
  std::size_t cluster = 0;
  std::size_t sequence = 0;
};

// What drift has done to the features of one cluster's data, by the sequence that a point was collected in.
struct FeatureDrift {
  std::vector<FeatureTransform> transforms{};  // of sequence 0, 1, ...
  std::uint64_t seed = 0;
  std::size_t cluster = 0;
};

// One sample as a network sees it; `out` has shape.size() places. With the identity it is Dataset::read.
void read_transformed(const Dataset& dataset, std::size_t index, const FeatureTransform& transform,
                      const NoiseSource& noise, std::span<float> out);

}  // namespace skein
