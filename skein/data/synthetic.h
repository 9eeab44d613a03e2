// Small synthetic images whose classes can be told apart: for tests, and to try a scenario in seconds.
//
// Every class has a picture of its own, a grid of up to 4 x 4 grey (or coloured) cells chosen far from those
// of the other classes; a sample is its class's picture, a little brighter or darker, with noise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "skein/data/dataset.h"

namespace skein {

struct SyntheticOptions {
  SampleShape shape{.height = 12, .width = 12, .channels = 1};
  std::size_t classes = 10;            // 1 to 256
  std::size_t train_per_class = 100;   // at least 1
  std::size_t test_per_class = 20;     // at least 1
  double noise_deviation = 0.1;        // of a value, full scale being 1
  double brightness_deviation = 0.05;  // of a sample, full scale being 1
};

// Class by class in turn: sample i is of class i mod classes. Throws InputError if the options make no sense.
// Shape, classes and normalisation; no images yet.
Dataset describe_synthetic(const SyntheticOptions& options);

DataSplit make_synthetic(const SyntheticOptions& options, std::uint64_t seed);

}  // namespace skein
