// Max-pooling of images of a shape, as kernels want it.
#pragma once

#include <cstddef>

#include "skein/nn/architecture.h"
#include "skein/nn/kernels.h"

namespace skein::nn {

template <class T>
Pool<T> pool_of(const Shape& in, std::size_t in_stride, const MaxPool& pool, bool relu) {
  return {.channels = in.channels,
          .in_width = in.width,
          .in_stride = in_stride,
          .out_height = (in.height - pool.kernel[0]) / pool.stride[0] + 1,
          .out_width = (in.width - pool.kernel[1]) / pool.stride[1] + 1,
          .kernel_height = pool.kernel[0],
          .kernel_width = pool.kernel[1],
          .step_y = pool.stride[0],
          .step_x = pool.stride[1],
          .relu = relu};
}

template <class T>
std::size_t sources_of(const Pool<T>& pool) {
  return pool.out_height * pool.out_width * padded<T>(pool.channels);
}

}  // namespace skein::nn
