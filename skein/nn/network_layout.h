// A network made ready to run: its operations, and where their parameters are in the flat vector.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "skein/nn/engine.h"
#include "skein/nn/layers.h"

namespace skein::nn {

template <class T>
struct Network<T>::Layout {
  struct Step {
    std::unique_ptr<Operation<T>> operation;
    std::size_t size = 0;    // of what comes out, for each sample
    std::size_t weight = 0;  // where its weights begin
    std::size_t bias = 0;    // where its biases begin, and its weights end
    std::size_t end = 0;
  };

  Architecture architecture;
  std::size_t num_inputs = 0;
  std::size_t num_parameters = 0;
  std::vector<Step> steps;
};

}  // namespace skein::nn
