// The samples of a data set by class: built once in one pass, shared by all who draw from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skein/base/random.h"
#include "skein/data/dataset.h"

namespace skein {

// The place of a sample in its data set.
using SampleIndex = std::uint32_t;

// The probability of each class: non-negative, sums to 1.
using LabelMix = std::vector<double>;

// What is wrong with a mix over `num_classes` classes; empty if nothing.
std::string fault_of(std::span<const double> mix, std::size_t num_classes);

class ClassPools {
 public:
  explicit ClassPools(const Dataset& dataset);

  [[nodiscard]] std::size_t num_classes() const { return class_names_.size(); }
  // All samples, of all classes.
  [[nodiscard]] std::size_t size() const { return samples_.size(); }
  // The samples of a class, in the data set's order.
  [[nodiscard]] std::span<const SampleIndex> of(std::size_t label) const;
  // All samples, class after class.
  [[nodiscard]] std::span<const SampleIndex> all() const { return samples_; }
  [[nodiscard]] const std::string& class_name(std::size_t label) const { return class_names_[label]; }
  [[nodiscard]] const std::vector<std::string>& class_names() const { return class_names_; }
  // The class of a sample.
  [[nodiscard]] std::size_t label(SampleIndex sample) const { return labels_[sample]; }
  // The share of each class in the data set, which must not be empty.
  [[nodiscard]] LabelMix frequencies() const;

 private:
  std::vector<std::string> class_names_;
  std::vector<std::uint8_t> labels_;
  std::vector<SampleIndex> samples_;
  std::vector<std::size_t> begin_;  // of each class in samples_, and the end
};

// How many of `count` data points fall on each class: systematic sampling. With cumulative probabilities
// P_c and one u ~ U(0, 1), class c gets
//
//   floor(count P_c + u) - floor(count P_(c-1) + u)
//
// so the counts add up to `count`, each is within 1 of count * p_c, and is count * p_c in expectation. An
// equal mix over k labels gives each of them count / k, rounded up or down. Exact for counts below 1e9.
std::vector<std::size_t> split_by_mix(std::span<const double> mix, std::size_t count, RandomStream& stream);

// Appends `count` distinct samples of `pool` to `out`, in random order. Costs O(count) however large the
// pool is. The pool must have as many.
void draw_distinct(std::span<const SampleIndex> pool, std::size_t count, RandomStream& stream,
                   std::vector<SampleIndex>& out);

// `count` samples with the given label mix, in random order; distinct as long as every class has enough,
// else a class is gone through again. Every class with a positive probability must have samples.
//
// The published study redraws each worker's data so for every local round:
//   draw(pools, mix, count, stream) with RandomStream stream(seed, "draw", member, iteration).
std::vector<SampleIndex> draw(const ClassPools& pools, std::span<const double> mix, std::size_t count,
                              RandomStream& stream);

}  // namespace skein
