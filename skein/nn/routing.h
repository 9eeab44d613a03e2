// The way of gradients back through a max-pool whose windows do not overlap, to the patches of a convolution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "skein/nn/kernels.h"

namespace skein::nn {

// What a route is written to; for one image at a time.
struct RouteBuffers {
  std::vector<Offset> origins;
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint32_t> tangent_chosen;
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

  // Whether it saves half of the products: windows must not overlap, and patches be long enough for
  // registers.
  [[nodiscard]] bool pays() const {
    return apart() && 2 * patch_.row <= patch_.places * patch_.num_runs * patch_.run_length;
  }

  [[nodiscard]] bool apart() const {
    return pool_.step_y >= pool_.kernel_height && pool_.step_x >= pool_.kernel_width;
  }

  [[nodiscard]] std::size_t row() const { return patch_.row; }
  [[nodiscard]] std::size_t windows() const { return patch_.windows; }
  [[nodiscard]] std::size_t places() const { return patch_.places; }
  // [window][place]: where the patch begins in the image.
  [[nodiscard]] const Offset* corners() const { return corners_.data(); }

  // Routes of dy; which filters a place has, only spreading needs to know.
  Routes<T> route(const T* dy, const Source* sources, T* values, bool to_spread,
                  RouteBuffers& buffers) const {
    buffers.origins.resize(patch_.windows * padded<T>(patch_.filters));
    kernels<T>().route(pool_, dy, sources, corners_.data(), values, buffers.origins.data());
    Routes<T> routes = patch_;
    routes.values = values;
    routes.origins = buffers.origins.data();
    if (to_spread) {
      buffers.chosen.resize(corners_.size() * ((patch_.filters + 31) / 32));
      kernels<T>().choose(pool_, sources, buffers.chosen.data());
      routes.corners = corners_.data();
      routes.chosen = buffers.chosen.data();
    }
    return routes;
  }
  // Routes of what is not zero in a plane: every pixel is a window of one place.
  Routes<T> of_plane(const T* plane, const std::vector<Offset>& plane_corners,
                     std::vector<std::uint32_t>& chosen) const {
    Routes<T> routes = patch_;
    routes.windows = plane_corners.size();
    routes.places = 1;
    routes.values = plane;
    routes.corners = plane_corners.data();
    chosen.resize(routes.windows * ((routes.filters + 31) / 32));
    kernels<T>().choose_nonzero(plane, routes.windows, routes.filters, chosen.data());
    routes.chosen = chosen.data();
    return routes;
  }
  // Other values on the same routes.
  Routes<T> reroute(Routes<T> routes, const T* dy, const Source* sources, T* values) const {
    kernels<T>().route(pool_, dy, sources, corners_.data(), values, nullptr);
    routes.values = values;
    return routes;
  }

 private:
  Pool<T> pool_;
  Routes<T> patch_;
  std::vector<Offset> corners_;
};

}  // namespace skein::nn
