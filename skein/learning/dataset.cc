#include "skein/learning/dataset.h"

#include <algorithm>

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

}  // namespace skein
