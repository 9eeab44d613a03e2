#include "skein/data/device_buffer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "skein/base/expect.h"

namespace skein {

DeviceBuffer::DeviceBuffer(std::size_t capacity) : DeviceBuffer(capacity, {}, 0) {}

DeviceBuffer::DeviceBuffer(std::size_t capacity, std::vector<DataPoint> contents, std::uint64_t num_displaced)
    : capacity_(capacity), ring_(std::move(contents)), num_displaced_(num_displaced) {
  expect(capacity_ >= 1, "a buffer has room for at least one data point");
  expect(ring_.size() <= capacity_, "a buffer holds no more than its capacity");
}

const DataPoint& DeviceBuffer::operator[](std::size_t place) const {
  expect(place < size(), "a place in a buffer is below its size");
  const std::size_t i = oldest_ + place;
  return ring_[i < ring_.size() ? i : i - ring_.size()];
}

std::vector<DataPoint> DeviceBuffer::contents() const {
  std::vector<DataPoint> points(ring_);
  std::rotate(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(oldest_), points.end());
  return points;
}

void DeviceBuffer::push(DataPoint point) {
  if (ring_.size() < capacity_) {
    ring_.push_back(point);
    return;
  }
  ring_[oldest_] = point;
  oldest_ = oldest_ + 1 < capacity_ ? oldest_ + 1 : 0;
  ++num_displaced_;
}

void DeviceBuffer::push(std::span<const SampleIndex> samples, std::uint32_t sequence) {
  for (const SampleIndex sample : samples) {
    push({.sample = sample, .sequence = sequence});
  }
}

std::vector<DataPoint> DeviceBuffer::sample(std::size_t count, RandomStream& stream) const {
  std::vector<SampleIndex> all(size());
  std::iota(all.begin(), all.end(), SampleIndex{0});
  std::vector<SampleIndex> places;
  draw_distinct(all, count, stream, places);
  std::vector<DataPoint> points;
  points.reserve(count);
  for (const SampleIndex place : places) {
    points.push_back((*this)[place]);
  }
  return points;
}

std::vector<std::vector<DataPoint>> DeviceBuffer::sample_for(std::span<const double> ratios,
                                                             RandomStream& stream) const {
  std::vector<std::size_t> ends;
  double sum = 0.0;
  for (const double ratio : ratios) {
    expect(ratio >= 0.0 && ratio <= 1.0, "a device sends a fraction of its data");
    sum += ratio;
    ends.push_back(std::min(size(), static_cast<std::size_t>(std::round(sum * static_cast<double>(size())))));
  }
  expect(sum <= 1.0 + 1e-9, "a device sends each data point once at most");
  const std::vector<DataPoint> points = sample(ends.empty() ? 0 : ends.back(), stream);
  std::vector<std::vector<DataPoint>> parts;
  auto begin = points.begin();
  for (const std::size_t end : ends) {
    parts.emplace_back(begin, points.begin() + static_cast<std::ptrdiff_t>(end));
    begin = points.begin() + static_cast<std::ptrdiff_t>(end);
  }
  return parts;
}

}  // namespace skein
