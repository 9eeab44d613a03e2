#include "skein/data/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/base/random.h"

namespace skein {
namespace {

constexpr std::size_t cells_per_side = 4;
constexpr std::size_t candidates = 16;
constexpr std::size_t max_bytes = std::size_t{1} << 32U;

using Picture = std::vector<double>;  // level of every cell, in [0, 1]

double squared_distance(const Picture& a, const Picture& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return sum;
}

double distance_to_nearest(const Picture& picture, const std::vector<Picture>& others) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Picture& other : others) {
    nearest = std::min(nearest, squared_distance(picture, other));
  }
  return nearest;
}

// Of several random pictures, each class takes the one farthest from the classes before it.
std::vector<Picture> draw_pictures(const SyntheticOptions& options, std::uint64_t seed) {
  const std::size_t num_cells = cells_per_side * cells_per_side * options.shape.channels;
  std::vector<Picture> pictures;
  for (std::size_t label = 0; label < options.classes; ++label) {
    RandomStream random(seed, "synthetic class", label);
    Picture best;
    double best_distance = -1.0;
    for (std::size_t i = 0; i < candidates; ++i) {
      Picture picture(num_cells);
      std::generate(picture.begin(), picture.end(), [&] { return random.uniform(); });
      const double distance = distance_to_nearest(picture, pictures);
      if (distance > best_distance) {
        best_distance = distance;
        best = std::move(picture);
      }
    }
    pictures.push_back(std::move(best));
  }
  return pictures;
}

Dataset draw_samples(const SyntheticOptions& options, const std::vector<Picture>& pictures,
                     std::size_t per_class, std::uint64_t seed, std::string_view part) {
  const SampleShape shape = options.shape;
  Dataset data = describe_synthetic(options);
  std::vector<std::uint8_t> values;
  values.reserve(per_class * options.classes * shape.size());
  for (std::size_t i = 0; i < per_class * options.classes; ++i) {
    const std::size_t label = i % options.classes;
    RandomStream random(seed, part, i);
    const double brightness = random.normal(0.0, options.brightness_deviation);
    for (std::size_t y = 0; y < shape.height; ++y) {
      for (std::size_t x = 0; x < shape.width; ++x) {
        const std::size_t row = y * cells_per_side / shape.height;
        const std::size_t column = x * cells_per_side / shape.width;
        for (std::size_t c = 0; c < shape.channels; ++c) {
          const double level = pictures[label][(row * cells_per_side + column) * shape.channels + c];
          const double value = level + brightness + random.normal(0.0, options.noise_deviation);
          values.push_back(static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0))));
        }
      }
    }
    data.labels.push_back(static_cast<std::uint8_t>(label));
  }
  data.features = std::move(values);
  return data;
}

void check(const SyntheticOptions& options) {
  InputFaults faults;
  const auto note = [&](std::string key, std::string value, std::string message) {
    faults.add({.file = "", .key = std::move(key), .value = std::move(value), .message = std::move(message)});
  };
  const auto check_count = [&](std::string_view key, std::size_t value, std::size_t most) {
    if (value < 1 || value > most) {
      note(fmt::format("synthetic {}", key), fmt::format("{}", value),
           fmt::format("allowed is 1 to {}", most));
    }
  };
  const auto check_deviation = [&](std::string_view key, double value) {
    if (!(value >= 0.0 && value <= 1.0)) {
      note(fmt::format("synthetic {}", key), fmt::format("{}", value), "allowed is 0 to 1");
    }
  };
  check_count("height", options.shape.height, 1024);
  check_count("width", options.shape.width, 1024);
  check_count("channels", options.shape.channels, 16);
  check_count("classes", options.classes, 256);
  check_count("train_per_class", options.train_per_class, 1'000'000);
  check_count("test_per_class", options.test_per_class, 1'000'000);
  check_deviation("noise_deviation", options.noise_deviation);
  check_deviation("brightness_deviation", options.brightness_deviation);
  faults.throw_if_any();
  const std::size_t samples = (options.train_per_class + options.test_per_class) * options.classes;
  if (samples > max_bytes / options.shape.size()) {
    note("synthetic", "",
         fmt::format("{} samples of {} values are more than {} bytes", samples, options.shape.size(),
                     max_bytes));
  }
  faults.throw_if_any();
}

}  // namespace

Dataset describe_synthetic(const SyntheticOptions& options) {
  Dataset data{.name = "synthetic", .shape = options.shape, .scale = 1.0F / 255.0F};
  data.mean.assign(options.shape.channels, 0.5F);
  data.deviation.assign(options.shape.channels, 0.5F);
  for (std::size_t label = 0; label < options.classes; ++label) {
    data.class_names.push_back(fmt::format("class {}", label));
  }
  return data;
}

DataSplit make_synthetic(const SyntheticOptions& options, std::uint64_t seed) {
  check(options);
  const std::vector<Picture> pictures = draw_pictures(options, seed);
  return {.train = draw_samples(options, pictures, options.train_per_class, seed, "synthetic train"),
          .test = draw_samples(options, pictures, options.test_per_class, seed, "synthetic test")};
}

}  // namespace skein
