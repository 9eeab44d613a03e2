// A device's buffer: a bounded double-ended queue in which new data displaces the oldest (the paper,
// section II-A).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/base/random.h"
#include "skein/data/class_pools.h"

namespace skein {

// A sample, collected in a training sequence: drift has changed its features up to then, and not since.
struct DataPoint {
  SampleIndex sample = 0;
  std::uint32_t sequence = 0;

  friend bool operator==(const DataPoint&, const DataPoint&) = default;
};

class DeviceBuffer {
 public:
  // Holds at most `capacity` data points, at least 1.
  explicit DeviceBuffer(std::size_t capacity);
  // As it was saved: contents oldest first, no more than the capacity.
  DeviceBuffer(std::size_t capacity, std::vector<DataPoint> contents, std::uint64_t num_displaced);

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t size() const { return ring_.size(); }
  // How many data points have been pushed out by newer ones, ever.
  [[nodiscard]] std::uint64_t num_displaced() const { return num_displaced_; }
  // Place 0 is the oldest.
  [[nodiscard]] const DataPoint& operator[](std::size_t place) const;
  // Oldest first.
  [[nodiscard]] std::vector<DataPoint> contents() const;

  void push(DataPoint point);
  // In order: the last is the newest.
  void push(std::span<const SampleIndex> samples, std::uint32_t sequence);

  // `count` different places of the buffer, uniformly at random; at most size().
  [[nodiscard]] std::vector<DataPoint> sample(std::size_t count, RandomStream& stream) const;

  // What is sent to each of several receivers, receiver j getting the fraction ratios[j] of the buffer,
  // uniformly at random (the paper, section IV-A). No data point is sent twice, so the ratios add up to at
  // most 1. Counts are rounded together: the first j receivers have round(size (ratios[0] + ... +
  // ratios[j - 1])) in all.
  [[nodiscard]] std::vector<std::vector<DataPoint>> sample_for(std::span<const double> ratios,
                                                               RandomStream& stream) const;

  // Equal if they hold the same, however it lies in memory.
  friend bool operator==(const DeviceBuffer& a, const DeviceBuffer& b) {
    return a.capacity_ == b.capacity_ && a.num_displaced_ == b.num_displaced_ && a.contents() == b.contents();
  }

 private:
  std::size_t capacity_;
  std::vector<DataPoint> ring_;
  std::size_t oldest_ = 0;  // moves only once the ring is full
  std::uint64_t num_displaced_ = 0;
};

}  // namespace skein
