// Weighted sums of models that are made by many threads, in any order, and added in a fixed one.
//
// Members are numbered; each belongs to a group. Making a member needs a buffer of a model's size; members
// begin in order, and one that is done waits for the earlier ones of its group before it is added. There are
// only so many buffers: the next member begins when there is one. So memory does not grow with the number of
// members, the sums do not depend on the number of threads, and threads rarely wait.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/nn/vector.h"

namespace skein {

class ModelSums {
 public:
  struct Member {
    std::size_t group = 0;
    float weight = 0.0F;
  };

  ModelSums(std::size_t model_size, ThreadPool& pool);

  // Calls make(i, buffer) for every member; sums[group] += weight * buffer. If members throw, the exception
  // of the first of them is rethrown, and the sums are not to be used.
  void run(std::span<const Member> members, std::span<nn::Vector<float>> sums,
           const std::function<void(std::size_t, nn::Vector<float>&)>& make);

  [[nodiscard]] std::size_t num_buffers() const { return buffers_.size(); }

 private:
  ThreadPool& pool_;
  std::vector<nn::Vector<float>> buffers_;
};

// sum += weight * values, one place after another.
void add_weighted(float weight, std::span<const float> values, std::span<float> sum);

}  // namespace skein
