#include "skein/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "skein/base/digest.h"
#include "skein/base/expect.h"

namespace skein {
namespace {

bool all_equal(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [&](float value) { return value == values.front(); });
}

// out = value * factor - offset, with factor = scale / deviation and offset = mean / deviation of the
// channel.
template <class Value>
void normalise(const Value* values, const Dataset& data, std::span<float> out) {
  if (all_equal(data.mean) && all_equal(data.deviation)) {
    const float factor = data.scale / data.deviation.front();
    const float offset = data.mean.front() / data.deviation.front();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<float>(values[i]) * factor - offset;
    }
    return;
  }
  const std::size_t channels = data.shape.channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const float factor = data.scale / data.deviation[c];
    const float offset = data.mean[c] / data.deviation[c];
    for (std::size_t i = c; i < out.size(); i += channels) {
      out[i] = static_cast<float>(values[i]) * factor - offset;
    }
  }
}

// A data set of these samples only.
Dataset part_of(const Dataset& data, std::span<const std::size_t> samples) {
  Dataset part{.name = data.name,
               .shape = data.shape,
               .class_names = data.class_names,
               .scale = data.scale,
               .mean = data.mean,
               .deviation = data.deviation};
  for (const std::size_t i : samples) {
    part.labels.push_back(data.labels[i]);
    if (!data.snr_db.empty()) {
      part.snr_db.push_back(data.snr_db[i]);
    }
  }
  std::visit(
      [&](const auto& values) {
        const std::size_t size = data.shape.size();
        std::decay_t<decltype(values)> chosen;
        chosen.reserve(samples.size() * size);
        for (const std::size_t i : samples) {
          const auto sample = std::span(values).subspan(i * size, size);
          chosen.insert(chosen.end(), sample.begin(), sample.end());
        }
        part.features = std::move(chosen);
      },
      data.features);
  return part;
}

}  // namespace

void Dataset::read(std::size_t index, std::span<float> out) const {
  expect(index < size(), "a sample's index is below the data set's size");
  expect(out.size() == shape.size(), "a sample is read into shape.size() places");
  expect(shape.channels > 0 && mean.size() == shape.channels && deviation.size() == shape.channels,
         "a data set has a mean and a deviation for every channel");
  std::visit(
      [&](const auto& values) {
        expect(values.size() >= (index + 1) * out.size(), "a data set has the features of all its samples");
        normalise(values.data() + index * out.size(), *this, out);
      },
      features);
}

std::string digest_of(const DataSplit& data) {
  std::string digests;
  for (const Dataset* part : {&data.train, &data.test}) {
    std::visit(
        [&](const auto& values) {
          digests +=
              sha256({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])});
        },
        part->features);
    digests += sha256({reinterpret_cast<const char*>(part->labels.data()), part->labels.size()});
  }
  return sha256(digests);
}

DataSplit hold_out(const Dataset& data, double share, RandomStream& stream) {
  const auto count = static_cast<std::size_t>(std::llround(share * static_cast<double>(data.size())));
  expect(count > 0 && count < data.size(), "a share to hold out leaves samples on both sides");
  std::vector<bool> held(data.size(), false);
  for (const std::size_t i : stream.choose(data.size(), count)) {
    held[i] = true;
  }
  std::vector<std::size_t> kept;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < data.size(); ++i) {
    (held[i] ? out : kept).push_back(i);
  }
  return {.train = part_of(data, kept), .test = part_of(data, out)};
}

}  // namespace skein
