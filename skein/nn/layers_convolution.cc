// Convolution with the ReLU and max-pooling that may follow it.
//
// A convolution is a product of the image's patches with the weights; patches are read where they lie: one
// row of a patch is kernel width * channels numbers in a row. Each image goes through all steps while it is
// in the cache.
//
// Backward, where pooled windows do not overlap, a window's gradient goes to one of its places, another for
// each filter: sums over windows (Routes) have a quarter of the products, or less, that sums over all places
// have. Otherwise the gradient is spread out as a plane. Behind windows that overlap, most of that is zero:
// routes again, with one place for each pixel of the plane.

#include <algorithm>

#include "skein/nn/convolution_frame.h"
#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"
#include "skein/nn/pooling.h"

namespace skein::nn {
namespace {

template <class T>
class ConvolutionOperation final : public Operation<T> {
  using Frame = ConvolutionFrame<T>;
  using Packed = typename Frame::Packed;

 public:
  explicit ConvolutionOperation(const ConvolutionBlock& block)
      : at_(block.input, block.convolution),
        pool_(pool_of<T>(at_.plane, at_.filters, block.pool, block.relu)),
        router_(pool_,
                {.num_runs = at_.layer.kernel[0],
                 .run_stride = at_.image.width * at_.image.channels,
                 .run_length = at_.run},
                at_.corners) {}

  [[nodiscard]] std::size_t num_weights() const override { return at_.patch * at_.layer.filters; }
  [[nodiscard]] std::size_t num_biases() const override { return at_.layer.filters; }
  [[nodiscard]] bool by_sample() const override { return true; }
  [[nodiscard]] bool ends_with_relu() const override { return pool_.relu; }

  void forward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, Scratch<T>& scratch) const override {
    m.sources->resize(m.size * sources_of(pool_) + padding<T>);
    const Packed weights = at_.pack(w, m.starts(), scratch, Frame::weight_slots);
    const Packed direction =
        v != nullptr ? at_.pack(*v, m.starts(), scratch, Frame::direction_slots) : Packed{};
    T* plane = scratch.get(Frame::plane_slot, at_.corners.size() * at_.filters);
    for (std::size_t b = m.begin; b < m.end; ++b) {
      Source* sources = m.sources->data() + b * sources_of(pool_);
      const T* image = at_.with_border(m.x.row(b), scratch, Frame::image_slot);
      convolve_and_pool(image, weights, plane, m.y.row(b), sources);
      if (v != nullptr) {
        convolve(image, direction, direction.bias, plane, false);
        if (m.x_tangent) {
          convolve(at_.with_border(m.x.row(m.size + b), scratch, Frame::image_slot), weights, nullptr, plane,
                   true);
        }
        kernels<T>().pool_tangent(pool_, plane, sources, m.y.row(m.size + b));
      }
    }
  }

  void backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                Scratch<T>& scratch) const override {
    if (router_.pays()) {
      routed_backward(m, w, v, sink, scratch, false);
    } else if (m.dx.data == nullptr && at_.patch <= longest_small_patch) {
      small_patch_backward(m, v, sink, scratch);
    } else if (!router_.apart() && 2 * router_.row() <= 3 * at_.patch) {
      routed_backward(m, w, v, sink, scratch, true);
    } else {
      plane_backward(m, w, v, sink, scratch);
    }
  }

 private:
  void plane_backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                      Scratch<T>& scratch) const {
    const bool wants_dx = m.dx.data != nullptr;
    const Packed weights =
        wants_dx ? at_.transpose(w.weight, m.starts(), scratch, Frame::weight_slots) : Packed{};
    const Packed direction = wants_dx && v != nullptr
                                 ? at_.transpose(v->weight, m.starts(), scratch, Frame::direction_slots)
                                 : Packed{};
    const std::size_t plane_size = at_.corners.size() * at_.filters;
    T* plane = scratch.get(Frame::plane_slot, plane_size);
    T* tangent = v != nullptr ? scratch.get(Frame::tangent_plane_slot, plane_size) : nullptr;
    T* gradient = sums(m, (at_.patch + 1) * at_.filters, scratch);
    T* bias_gradient = gradient + at_.patch * at_.filters;
    for (std::size_t b = m.begin; b < m.end; ++b) {
      const Source* sources = m.sources->data() + b * sources_of(pool_);
      const T* image = at_.with_border(m.x.row(b), scratch, Frame::image_slot);
      std::fill_n(plane, plane_size, T(0));
      kernels<T>().pool_backward(pool_, m.dy.row(b), sources, plane);
      if (v == nullptr) {
        correlate(image, plane, gradient);
        kernels<T>().add_rows(plane, at_.corners.size(), at_.layer.filters, bias_gradient);
      } else {
        std::fill_n(tangent, plane_size, T(0));
        kernels<T>().pool_backward(pool_, m.dy.row(m.size + b), sources, tangent);
        correlate(image, tangent, gradient);
        kernels<T>().add_rows(tangent, at_.corners.size(), at_.layer.filters, bias_gradient);
        if (m.x_tangent) {
          correlate(at_.with_border(m.x.row(m.size + b), scratch, Frame::image_slot), plane, gradient);
        }
      }
      if (wants_dx) {
        spread({{plane, weights}}, m.dx.row(b), scratch);
        if (v != nullptr) {
          spread({{tangent, weights}, {plane, direction}}, m.dx.row(m.size + b), scratch);
        }
      }
    }
    if (m.ends()) {
      pour_padded(gradient, bias_gradient, sink);
    }
  }

  // By the routes of windows, whose sums stay in registers, or of a plane's pixels, whose sums are in memory:
  // those of an image are put together before they are added.
  void routed_backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                       Scratch<T>& scratch, bool by_plane) const {
    const bool wants_dx = m.dx.data != nullptr;
    const T* weights = wants_dx ? by_filter(w.weight, m.starts(), scratch, Frame::weight_slots) : nullptr;
    const T* direction = wants_dx && v != nullptr
                             ? by_filter(v->weight, m.starts(), scratch, Frame::direction_slots)
                             : nullptr;
    const auto outer_products =
        by_plane ? kernels<T>().chosen_outer_products : kernels<T>().routed_outer_products;
    const std::size_t gradient_size = at_.layer.filters * router_.row();
    T* gradient = sums(m, gradient_size + at_.filters, scratch);
    T* bias_gradient = gradient + gradient_size;
    T* image_gradient = by_plane ? scratch.get(Frame::image_gradient_slot, gradient_size) : gradient;
    for (std::size_t b = m.begin; b < m.end; ++b) {
      const Source* sources = m.sources->data() + b * sources_of(pool_);
      const Routes<T> plain = by_plane ? plane_routes(m.dy.row(b), sources, scratch, Frame::plane_slot)
                                       : window_routes(m.dy.row(b), sources, scratch, wants_dx);
      const Routes<T> last =  // the tangents, if there are any
          v != nullptr ? tangent_routes(plain, m.dy.row(m.size + b), sources, scratch, by_plane) : plain;
      if (by_plane) {
        std::fill_n(image_gradient, gradient_size, T(0));
      }
      outer_products(last, at_.readable_image(m.x.row(b), scratch), image_gradient);
      if (v != nullptr && m.x_tangent) {
        outer_products(plain, at_.readable_image(m.x.row(m.size + b), scratch), image_gradient);
      }
      for (std::size_t i = 0; by_plane && i < gradient_size; ++i) {
        gradient[i] += image_gradient[i];
      }
      kernels<T>().add_rows(last.values, last.windows, at_.layer.filters, bias_gradient);
      if (wants_dx) {
        spread_routes(plain, last, weights, direction, m, b, scratch);
      }
    }
    if (m.ends()) {
      pour_by_filter(gradient, bias_gradient, sink, scratch);
    }
  }
  Routes<T> window_routes(const T* dy, const Source* sources, Scratch<T>& scratch, bool to_spread) const {
    T* values = scratch.get(Frame::plane_slot, router_.windows() * at_.filters);
    return router_.route(dy, sources, values, to_spread, scratch.routes);
  }
  // The gradient of the convolution's output, each pixel of it a window with one place.
  Routes<T> plane_routes(const T* dy, const Source* sources, Scratch<T>& scratch, std::size_t slot) const {
    T* plane = scratch.get(slot, at_.corners.size() * at_.filters);
    std::fill_n(plane, at_.corners.size() * at_.filters, T(0));
    kernels<T>().pool_backward(pool_, dy, sources, plane);
    return router_.of_plane(
        plane, at_.corners,
        slot == Frame::plane_slot ? scratch.routes.chosen : scratch.routes.tangent_chosen);
  }
  Routes<T> tangent_routes(const Routes<T>& plain, const T* dy, const Source* sources, Scratch<T>& scratch,
                           bool by_plane) const {
    return by_plane
               ? plane_routes(dy, sources, scratch, Frame::tangent_plane_slot)
               : router_.reroute(plain, dy, sources,
                                 scratch.get(Frame::tangent_plane_slot, router_.windows() * at_.filters));
  }
  void spread_routes(const Routes<T>& plain, const Routes<T>& last, const T* weights, const T* direction,
                     Memory<T>& m, std::size_t b, Scratch<T>& scratch) const {
    at_.write_image(m.dx.row(b), scratch,
                    [&](T* image) { kernels<T>().routed_spread(plain, weights, image); });
    if (direction != nullptr) {
      at_.write_image(m.dx.row(m.size + b), scratch, [&](T* image) {
        kernels<T>().routed_spread(last, weights, image);
        kernels<T>().routed_spread(plain, direction, image);
      });
    }
  }

  // For the network's first layer: nobody wants dx, and an image has no tangent.
  void small_patch_backward(Memory<T>& m, const Weights<T>* v, const Sink<T>& sink,
                            Scratch<T>& scratch) const {
    T* gradient = sums(m, (at_.patch + 1) * at_.filters, scratch);
    T* bias_gradient = gradient + at_.patch * at_.filters;
    for (std::size_t b = m.begin; b < m.end; ++b) {
      kernels<T>().pooled_outer_products({.windows = router_.windows(),
                                          .places = router_.places(),
                                          .filters = at_.layer.filters,
                                          .image = at_.with_border(m.x.row(b), scratch, Frame::image_slot),
                                          .corners = router_.corners(),
                                          .num_runs = at_.layer.kernel[0],
                                          .run_stride = at_.image.width * at_.image.channels,
                                          .run_length = at_.run,
                                          .dy = m.dy.row(v == nullptr ? b : m.size + b),
                                          .source = m.sources->data() + b * sources_of(pool_),
                                          .gradient = gradient,
                                          .bias_gradient = bias_gradient});
    }
    if (m.ends()) {
      pour_padded(gradient, bias_gradient, sink);
    }
  }

  // Sums over the samples, zero before the first.
  static T* sums(const Memory<T>& m, std::size_t size, Scratch<T>& scratch) {
    T* gradient = scratch.get(Frame::gradient_slot, size);
    if (m.starts()) {
      std::fill_n(gradient, size, T(0));
    }
    return gradient;
  }

  void pour_by_filter(const T* gradient, const T* bias_gradient, const Sink<T>& sink,
                      Scratch<T>& scratch) const {
    T* row = scratch.get(Frame::plane_slot, at_.filters);
    for (std::size_t k = 0; k < at_.patch; ++k) {
      const T* place = gradient + in_filter(k);
      for (std::size_t f = 0; f < at_.layer.filters; ++f) {
        row[f] = place[f * router_.row()];
      }
      pour(row, at_.layer.filters, k * at_.layer.filters, sink.weight, sink.factor);
    }
    pour(bias_gradient, at_.layer.filters, 0, sink.bias, sink.factor);
  }
  void pour_padded(const T* gradient, const T* bias_gradient, const Sink<T>& sink) const {
    for (std::size_t k = 0; k < at_.patch; ++k) {
      pour(gradient + k * at_.filters, at_.layer.filters, k * at_.layer.filters, sink.weight, sink.factor);
    }
    pour(bias_gradient, at_.layer.filters, 0, sink.bias, sink.factor);
  }

  // Patches up to this are summed straight from the pool's gradient: every place of a window costs products,
  // most of them with zero, but no plane has to be filled and read.
  static constexpr std::size_t longest_small_patch = 12;
  // Weights that stay in the first cache while a whole image passes.
  static constexpr std::size_t most_weights_to_pool = 6144;

  // A filter's weights in a row, its runs padded with zeros.
  const T* by_filter(const T* weight, bool first, Scratch<T>& scratch, std::size_t slot) const {
    T* out = scratch.get(slot, at_.layer.filters * router_.row());
    if (!first) {
      return out;
    }
    std::fill_n(out, at_.layer.filters * router_.row(), T(0));
    for (std::size_t k = 0; k < at_.patch; ++k) {
      for (std::size_t f = 0; f < at_.layer.filters; ++f) {
        out[f * router_.row() + in_filter(k)] = weight[k * at_.layer.filters + f];
      }
    }
    return out;
  }
  [[nodiscard]] std::size_t in_filter(std::size_t k) const {
    return k / at_.run * padded<T>(at_.run) + k % at_.run;
  }

  void convolve(const T* image, const Packed& weights, const T* bias, T* plane, bool add) const {
    Product<T> product = at_.convolution(weights);
    product.a = image;
    product.bias = bias;
    product.c = plane;
    product.add = add;
    kernels<T>().multiply(product);
  }

  // In one go where windows do not overlap, as then no sum is needed twice.
  void convolve_and_pool(const T* image, const Packed& weights, T* plane, T* y, Source* sources) const {
    const bool fits = at_.filters == at_.layer.filters && weights.tails == nullptr &&
                      at_.patch * at_.filters <= most_weights_to_pool;
    if (router_.apart() && fits && (router_.places() == 4 || router_.places() == 1)) {
      Product<T> product = at_.convolution(weights);
      product.a = image;
      product.a_rows = router_.corners();
      product.bias = weights.bias;
      kernels<T>().multiply_pool(product, pool_, y, sources);
    } else {
      convolve(image, weights, weights.bias, plane, false);
      kernels<T>().pool(pool_, plane, y, sources);
    }
  }

  void correlate(const T* image, const T* plane, T* gradient) const {
    kernels<T>().outer_products({.points = at_.corners.size(),
                                 .columns = at_.layer.filters,
                                 .a = image,
                                 .a_points = at_.corners.data(),
                                 .num_runs = at_.layer.kernel[0],
                                 .run_stride = at_.image.width * at_.image.channels,
                                 .run_length = at_.run,
                                 .d = plane,
                                 .d_stride = at_.filters,
                                 .c = gradient,
                                 .c_stride = at_.filters});
  }

  struct Term {
    const T* plane;
    const Packed& transposed;
  };
  void spread(std::initializer_list<Term> terms, T* dx, Scratch<T>& scratch) const {
    at_.write_image(dx, scratch, [&](T* image) { spread_rows(terms, image); });
  }
  void spread_rows(std::initializer_list<Term> terms, T* image) const {
    const std::size_t stride = at_.layer.stride[0];
    for (std::size_t y = 0; y < at_.image.height; ++y) {
      // Plane row r sees it in row y - r * stride of its patch: from the largest such row down, as in
      // spread_order.
      const std::size_t highest = at_.layer.kernel[0] - 1;
      const std::size_t first = y > highest ? (y - highest + stride - 1) / stride : 0;
      const std::size_t end = std::min(y / stride + 1, at_.plane.height);
      if (first >= end) {
        continue;
      }
      const std::size_t run = static_cast<std::size_t>(
          std::ranges::find(at_.spread_order, y - first * stride) - at_.spread_order.begin());
      for (const Term& term : terms) {
        Product<T> product = at_.spreading(term.transposed);
        product.a = term.plane + first * product.run_stride;
        product.num_runs = end - first;
        product.b += run * product.run_length * product.b_stride;
        if (product.tails != nullptr) {
          product.tails += run * term.transposed.tail_numbers;
        }
        product.c = image + y * at_.image.width * at_.image.channels;
        kernels<T>().multiply(product);
      }
    }
  }

  ConvolutionFrame<T> at_;
  Pool<T> pool_;
  Router<T> router_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation<T>> make_convolution(const ConvolutionBlock& block) {
  return std::make_unique<ConvolutionOperation<T>>(block);
}

template std::unique_ptr<Operation<float>> make_convolution(const ConvolutionBlock&);
template std::unique_ptr<Operation<double>> make_convolution(const ConvolutionBlock&);

}  // namespace skein::nn
