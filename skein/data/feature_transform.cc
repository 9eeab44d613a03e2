#include "skein/data/feature_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

struct Turn {
  double cosine = 1.0;
  double sine = 0.0;
};

// Right angles are exact: only the rest, in [-45, 45] degrees, goes through sine and cosine.
Turn turn_by(double degrees) {
  const double within = std::remainder(degrees, 360.0);  // in [-180, 180]
  const double quarter = std::nearbyint(within / 90.0);
  const double rest = (within - 90.0 * quarter) * (std::numbers::pi / 180.0);
  const double c = std::cos(rest);
  const double s = std::sin(rest);
  switch (static_cast<int>(quarter)) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case -1:
      return {s, -c};
    default:
      return {-c, -s};
  }
}

bool is_waveform(const SampleShape& shape) { return shape.height == 2 && shape.channels == 1; }

// A coordinate's pixel and the next one, with the weight of the next.
struct Place {
  std::ptrdiff_t pixel = 0;
  float weight = 0.0F;
};

Place place_of(double coordinate) {
  const double pixel = std::floor(coordinate);
  return {static_cast<std::ptrdiff_t>(pixel), static_cast<float>(coordinate - pixel)};
}

// Seen with rows going down, turning the picture by +angle brings to (x, y), measured from the centre, what
// was at (c x - s y, s x + c y).
void rotate_image(const SampleShape& shape, Turn turn, std::span<float> values) {
  static thread_local std::vector<float> source;
  source.assign(values.begin(), values.end());
  const auto height = static_cast<std::ptrdiff_t>(shape.height);
  const auto width = static_cast<std::ptrdiff_t>(shape.width);
  const double middle_y = 0.5 * static_cast<double>(height - 1);
  const double middle_x = 0.5 * static_cast<double>(width - 1);
  const auto pixel = [&](std::ptrdiff_t y, std::ptrdiff_t x, std::size_t channel) {
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    return inside ? source[static_cast<std::size_t>(y * width + x) * shape.channels + channel] : 0.0F;
  };
  std::size_t out = 0;
  for (std::ptrdiff_t row = 0; row < height; ++row) {
    for (std::ptrdiff_t column = 0; column < width; ++column) {
      const double y = static_cast<double>(row) - middle_y;
      const double x = static_cast<double>(column) - middle_x;
      const Place from_y = place_of(turn.sine * x + turn.cosine * y + middle_y);
      const Place from_x = place_of(turn.cosine * x - turn.sine * y + middle_x);
      for (std::size_t channel = 0; channel < shape.channels; ++channel, ++out) {
        const auto blend = [&](std::ptrdiff_t source_row) {
          const float left = pixel(source_row, from_x.pixel, channel);
          const float right = pixel(source_row, from_x.pixel + 1, channel);
          return left * (1.0F - from_x.weight) + right * from_x.weight;
        };
        values[out] = blend(from_y.pixel) * (1.0F - from_y.weight) + blend(from_y.pixel + 1) * from_y.weight;
      }
    }
  }
}

void rotate_waveform(const SampleShape& shape, Turn turn, std::span<float> values) {
  const auto c = static_cast<float>(turn.cosine);
  const auto s = static_cast<float>(turn.sine);
  for (std::size_t t = 0; t < shape.width; ++t) {
    const float in_phase = values[t];
    const float quadrature = values[shape.width + t];
    values[t] = c * in_phase - s * quadrature;
    values[shape.width + t] = s * in_phase + c * quadrature;
  }
}

}  // namespace

void read_transformed(const Dataset& dataset, std::size_t index, const FeatureTransform& transform,
                      const NoiseSource& noise, std::span<float> out) {
  dataset.read(index, out);
  if (transform.is_identity()) {
    return;
  }
  expect(std::isfinite(transform.rotation_degrees) && transform.brightness >= 0.0 &&
             std::isfinite(transform.brightness) && transform.noise_deviation >= 0.0 &&
             std::isfinite(transform.noise_deviation),
         "a feature transform has finite numbers, brightness and noise not negative");
  const std::size_t channels = dataset.shape.channels;
  const auto per_value = [&](const auto& change) {
    for (std::size_t i = 0; i < out.size(); i += channels) {
      for (std::size_t channel = 0; channel < channels; ++channel) {
        out[i + channel] = change(out[i + channel], channel);
      }
    }
  };
  per_value([&](float value, std::size_t channel) {
    return value * dataset.deviation[channel] + dataset.mean[channel];
  });
  if (transform.rotation_degrees != 0.0) {
    const Turn turn = turn_by(transform.rotation_degrees);
    if (is_waveform(dataset.shape)) {
      rotate_waveform(dataset.shape, turn, out);
    } else {
      rotate_image(dataset.shape, turn, out);
    }
  }
  if (transform.brightness != 1.0) {
    const auto factor = static_cast<float>(transform.brightness);
    const bool saturates = std::holds_alternative<std::vector<std::uint8_t>>(dataset.features);
    const float full_scale = 255.0F * dataset.scale;
    per_value([&](float value, std::size_t) {
      return saturates ? std::min(value * factor, full_scale) : value * factor;
    });
  }
  if (transform.noise_deviation != 0.0) {
    RandomStream stream(noise.seed, "feature noise", noise.cluster, noise.sequence, index);
    per_value([&](float value, std::size_t) {
      return value + static_cast<float>(transform.noise_deviation * stream.normal());
    });
  }
  per_value([&](float value, std::size_t channel) {
    return (value - dataset.mean[channel]) / dataset.deviation[channel];
  });
}

}  // namespace skein
