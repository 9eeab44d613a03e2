// The way of gradients back through a max-pool whose windows do not overlap, to the patches of a convolution.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "skein/nn/kernels.h"

namespace skein::nn {

// What a route is written to; for one image at a time.
struct RouteBuffers {
  std::vector<Offset> origins;
  std::vector<std::uint16_t> lists;
  std::vector<std::uint16_t> counts;
};

template <class T>
class Router {
 public:
  // `patch` has the runs; plane_corners are where the patch of each pixel of the plane begins in the image.
  Router(const Pool<T>& pool, const Routes<T>& patch, const std::vector<Offset>& plane_corners)
      : pool_(pool), patch_(patch) {
    patch_.windows = pool.out_height * pool.out_width;
    patch_.filters = pool.channels;
    patch_.places = pool.kernel_height * pool.kernel_width;
    patch_.row = patch.num_runs * padded<T>(patch.run_length);
    if (!pays()) {
      return;
    }
    for (std::size_t y = 0; y < pool.out_height; ++y) {
      for (std::size_t x = 0; x < pool.out_width; ++x) {
        for (std::size_t place = 0; place < patch_.places; ++place) {
          const std::size_t row = y * pool.step_y + place / pool.kernel_width;
          const std::size_t column = x * pool.step_x + place % pool.kernel_width;
          corners_.push_back(plane_corners[row * pool.in_width + column]);
        }
      }
    }
  }

  // Whether it saves half of the products: windows must not overlap, and patches be long enough for registers.
  [[nodiscard]] bool pays() const {
    const bool apart = pool_.step_y >= pool_.kernel_height && pool_.step_x >= pool_.kernel_width;
    return apart && 2 * patch_.row <= patch_.places * patch_.num_runs * patch_.run_length;
  }

  [[nodiscard]] std::size_t row() const { return patch_.row; }
  [[nodiscard]] std::size_t windows() const { return patch_.windows; }

  // Routes without values.
  Routes<T> route(const Source* sources, RouteBuffers& buffers) const {
    const std::size_t stride = padded<T>(patch_.filters);
    buffers.origins.resize(patch_.windows * stride);
    // One more, for those that go nowhere.
    buffers.lists.resize((patch_.windows * patch_.places + 1) * patch_.filters);
    buffers.counts.resize(patch_.windows * patch_.places + 1);
    std::ranges::fill(buffers.counts, std::uint16_t{0});
    for (std::size_t window = 0; window < patch_.windows; ++window) {
      const Source* source = sources + window * stride;
      const Offset* corners = corners_.data() + window * patch_.places;
      Offset* origins = buffers.origins.data() + window * stride;
      const std::size_t first = window * patch_.places;
      for (std::size_t filter = 0; filter < patch_.filters; ++filter) {
        const bool somewhere = source[filter] != no_source;
        const std::size_t place = somewhere ? source[filter] : 0;
        origins[filter] = corners[place];
        const std::size_t at = somewhere ? first + place : patch_.windows * patch_.places;
        buffers.lists[at * patch_.filters + buffers.counts[at]] = static_cast<std::uint16_t>(filter);
        buffers.counts[at] = static_cast<std::uint16_t>(somewhere ? buffers.counts[at] + 1 : 0);
      }
    }
    Routes<T> routes = patch_;
    routes.origins = buffers.origins.data();
    routes.corners = corners_.data();
    routes.lists = buffers.lists.data();
    routes.counts = buffers.counts.data();
    return routes;
  }

  // dy in padded rows, 0 where it goes nowhere.
  void take(const T* dy, const Source* sources, T* values) const {
    const std::size_t stride = padded<T>(patch_.filters);
    for (std::size_t window = 0; window < patch_.windows; ++window) {
      for (std::size_t filter = 0; filter < patch_.filters; ++filter) {
        values[filter] = sources[filter] != no_source ? dy[filter] : T(0);
      }
      std::fill(values + patch_.filters, values + stride, T(0));
      dy += patch_.filters;
      sources += stride;
      values += stride;
    }
  }

 private:
  Pool<T> pool_;
  Routes<T> patch_;
  std::vector<Offset> corners_;
};

}  // namespace skein::nn
