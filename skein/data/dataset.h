// A labelled data set, in memory once; whoever trains on a part of it holds indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "skein/base/random.h"

namespace skein {

// Samples are stored row by row, channels innermost: value (y, x, c) of a sample is at (y * width + x) *
// channels + c.
struct SampleShape {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 0;

  [[nodiscard]] std::size_t size() const { return height * width * channels; }
  friend bool operator==(const SampleShape&, const SampleShape&) = default;
};

struct Dataset {
  std::string name;
  SampleShape shape;
  std::vector<std::string> class_names;
  std::vector<std::uint8_t> labels;  // below class_names.size()
  std::vector<std::int8_t> snr_db;   // of each waveform; empty for images

  // All samples one after another: bytes as read from an image file, or floats.
  std::variant<std::vector<std::uint8_t>, std::vector<float>> features;
  // What a network sees of a stored value v in channel c: (v * scale - mean[c]) / deviation[c].
  float scale = 1.0F;
  std::vector<float> mean;
  std::vector<float> deviation;

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::size_t num_classes() const { return class_names.size(); }
  // One sample as a network sees it; `out` has shape.size() places.
  void read(std::size_t index, std::span<float> out) const;
};

// What is trained on and what is tested on, never mixed.
struct DataSplit {
  Dataset train;
  Dataset test;
};

// Of all samples and labels, in hexadecimal.
std::string digest_of(const DataSplit& data);

// A random share of a training set's samples to test on, the rest to train on, both in the set's order: for
// choices that must not see the test set. Rounded to whole samples, at least one on either side.
DataSplit hold_out(const Dataset& data, double share, RandomStream& stream);

}  // namespace skein
