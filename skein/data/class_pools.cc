#include "skein/data/class_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "skein/base/expect.h"

namespace skein {

std::string fault_of(std::span<const double> mix, std::size_t num_classes) {
  if (mix.size() != num_classes) {
    return fmt::format("needs one probability for each of the {} classes, has {}", num_classes, mix.size());
  }
  double sum = 0.0;
  for (const double probability : mix) {
    if (!(probability >= 0.0 && probability <= 1.0)) {
      return fmt::format("has a probability of {}, which is not in [0, 1]", probability);
    }
    sum += probability;
  }
  return std::abs(sum - 1.0) > 1e-9 ? fmt::format("adds up to {}, not to 1", sum) : "";
}

ClassPools::ClassPools(const Dataset& dataset)
    : class_names_(dataset.class_names),
      labels_(dataset.labels),
      samples_(labels_.size()),
      begin_(class_names_.size() + 1, 0) {
  expect(labels_.size() <= std::numeric_limits<SampleIndex>::max(), "a data set has fewer than 2^32 samples");
  for (const std::uint8_t label : labels_) {
    expect(label < num_classes(), "every label of a data set names one of its classes");
    ++begin_[label + 1U];
  }
  for (std::size_t label = 0; label < num_classes(); ++label) {
    begin_[label + 1] += begin_[label];
  }
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t sample = 0; sample < labels_.size(); ++sample) {
    samples_[next[labels_[sample]]++] = static_cast<SampleIndex>(sample);
  }
}

std::span<const SampleIndex> ClassPools::of(std::size_t label) const {
  expect(label < num_classes(), "there is no such class");
  return std::span(samples_).subspan(begin_[label], begin_[label + 1] - begin_[label]);
}

LabelMix ClassPools::frequencies() const {
  expect(size() > 0, "an empty data set has no class frequencies");
  LabelMix mix(num_classes());
  for (std::size_t label = 0; label < num_classes(); ++label) {
    mix[label] = static_cast<double>(of(label).size()) / static_cast<double>(size());
  }
  return mix;
}

std::vector<std::size_t> split_by_mix(std::span<const double> mix, std::size_t count, RandomStream& stream) {
  // u is kept 2^-21 away from 0 and 1, so that a rounding error in count * P_c cannot move a class that
  // should get a whole number.
  const double u = (static_cast<double>(stream.bits() >> 44U) + 0.5) * 0x1p-20;
  std::vector<std::size_t> counts(mix.size(), 0);
  std::size_t last = mix.size();  // the last class that can get anything
  while (last > 0 && mix[last - 1] <= 0.0) {
    --last;
  }
  expect(last > 0, "a label mix has a class with a positive probability");
  double cumulative = 0.0;
  std::size_t given = 0;
  for (std::size_t label = 0; label + 1 < last; ++label) {
    cumulative += mix[label];
    const auto upto = static_cast<std::size_t>(static_cast<double>(count) * cumulative + u);
    counts[label] = std::min(upto, count) - given;
    given += counts[label];
  }
  counts[last - 1] = count - given;
  return counts;
}

// The first `count` steps of a Fisher-Yates shuffle. A small draw from a large pool keeps only the places
// that the shuffle has touched; both ways give the same samples.
void draw_distinct(std::span<const SampleIndex> pool, std::size_t count, RandomStream& stream,
                   std::vector<SampleIndex>& out) {
  expect(count <= pool.size(), "a pool has too few samples");
  if (count >= pool.size() / 8) {
    std::vector<SampleIndex> shuffled(pool.begin(), pool.end());
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(shuffled[i], shuffled[i + stream.below(pool.size() - i)]);
    }
    out.insert(out.end(), shuffled.begin(), shuffled.begin() + static_cast<std::ptrdiff_t>(count));
    return;
  }
  std::unordered_map<std::size_t, SampleIndex> moved;
  moved.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = i + stream.below(pool.size() - i);
    const auto mine = moved.find(i);
    const SampleIndex displaced = mine == moved.end() ? pool[i] : mine->second;
    const auto [theirs, untouched] = moved.try_emplace(j, displaced);
    out.push_back(untouched ? (i == j ? displaced : pool[j]) : theirs->second);
    theirs->second = displaced;
  }
}

std::vector<SampleIndex> draw(const ClassPools& pools, std::span<const double> mix, std::size_t count,
                              RandomStream& stream) {
  expect(mix.size() == pools.num_classes(), "a label mix has one probability per class");
  const std::vector<std::size_t> counts = split_by_mix(mix, count, stream);
  std::vector<SampleIndex> samples;
  samples.reserve(count);
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const std::span<const SampleIndex> pool = pools.of(label);
    expect(counts[label] == 0 || !pool.empty(), "a class with a positive probability has samples");
    for (std::size_t left = counts[label]; left > 0;) {
      const std::size_t part = std::min(left, pool.size());
      draw_distinct(pool, part, stream, samples);
      left -= part;
    }
  }
  stream.shuffle(samples);
  return samples;
}

}  // namespace skein
