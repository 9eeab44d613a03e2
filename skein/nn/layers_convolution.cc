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

#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"
#include "skein/nn/pooling.h"

namespace skein::nn {
namespace {

template <class T>
class ConvolutionOperation final : public Operation<T> {
 public:
  explicit ConvolutionOperation(const ConvolutionBlock& block)
      : input_(block.input),
        layer_(block.convolution),
        image_{input_.height + 2 * layer_.padding[0], input_.width + 2 * layer_.padding[1], input_.channels},
        plane_{(image_.height - layer_.kernel[0]) / layer_.stride[0] + 1,
               (image_.width - layer_.kernel[1]) / layer_.stride[1] + 1, layer_.filters},
        run_(layer_.kernel[1] * input_.channels),
        patch_(layer_.kernel[0] * run_),
        filters_(padded<T>(layer_.filters)),
        pool_(pool_of<T>(plane_, filters_, block.pool, block.relu)),
        corners_(corners()),
        router_(
            pool_,
            {.num_runs = layer_.kernel[0], .run_stride = image_.width * image_.channels, .run_length = run_},
            corners_) {
    for (std::size_t phase = 0; phase < layer_.stride[0]; ++phase) {
      for (std::size_t y = layer_.kernel[0]; y-- > 0;) {
        if (y % layer_.stride[0] == phase) {
          spread_order_.push_back(y);
        }
      }
    }
  }

  [[nodiscard]] std::size_t num_weights() const override { return patch_ * layer_.filters; }
  [[nodiscard]] std::size_t num_biases() const override { return layer_.filters; }
  [[nodiscard]] bool by_sample() const override { return true; }
  [[nodiscard]] bool ends_with_relu() const override { return pool_.relu; }

  void forward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, Scratch<T>& scratch) const override {
    m.sources->resize(m.size * sources_of(pool_) + padding<T>);
    const Packed weights = pack(w, m.starts(), scratch, weight_slots);
    const Packed direction = v != nullptr ? pack(*v, m.starts(), scratch, direction_slots) : Packed{};
    T* plane = scratch.get(plane_slot, corners_.size() * filters_);
    for (std::size_t b = m.begin; b < m.end; ++b) {
      Source* sources = m.sources->data() + b * sources_of(pool_);
      const T* image = with_border(m.x.row(b), scratch, image_slot);
      convolve_and_pool(image, weights, plane, m.y.row(b), sources);
      if (v != nullptr) {
        convolve(image, direction, direction.bias, plane, false);
        if (m.x_tangent) {
          convolve(with_border(m.x.row(m.size + b), scratch, image_slot), weights, nullptr, plane, true);
        }
        kernels<T>().pool_tangent(pool_, plane, sources, m.y.row(m.size + b));
      }
    }
  }

  void backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                Scratch<T>& scratch) const override {
    if (router_.pays()) {
      routed_backward(m, w, v, sink, scratch, false);
    } else if (m.dx.data == nullptr && patch_ <= longest_small_patch) {
      small_patch_backward(m, v, sink, scratch);
    } else if (!router_.apart() && 2 * router_.row() <= 3 * patch_) {
      routed_backward(m, w, v, sink, scratch, true);
    } else {
      plane_backward(m, w, v, sink, scratch);
    }
  }

 private:
  [[nodiscard]] std::vector<Offset> corners() const {
    std::vector<Offset> all;
    for (std::size_t y = 0; y < plane_.height; ++y) {
      for (std::size_t x = 0; x < plane_.width; ++x) {
        all.push_back(static_cast<Offset>((y * layer_.stride[0] * image_.width + x * layer_.stride[1]) *
                                          image_.channels));
      }
    }
    return all;
  }

  void plane_backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                      Scratch<T>& scratch) const {
    const bool wants_dx = m.dx.data != nullptr;
    const Packed weights = wants_dx ? transpose(w.weight, m.starts(), scratch, weight_slots) : Packed{};
    const Packed direction =
        wants_dx && v != nullptr ? transpose(v->weight, m.starts(), scratch, direction_slots) : Packed{};
    const std::size_t plane_size = corners_.size() * filters_;
    T* plane = scratch.get(plane_slot, plane_size);
    T* tangent = v != nullptr ? scratch.get(tangent_plane_slot, plane_size) : nullptr;
    T* gradient = sums(m, (patch_ + 1) * filters_, scratch);
    T* bias_gradient = gradient + patch_ * filters_;
    for (std::size_t b = m.begin; b < m.end; ++b) {
      const Source* sources = m.sources->data() + b * sources_of(pool_);
      const T* image = with_border(m.x.row(b), scratch, image_slot);
      std::fill_n(plane, plane_size, T(0));
      kernels<T>().pool_backward(pool_, m.dy.row(b), sources, plane);
      if (v == nullptr) {
        correlate(image, plane, gradient);
        kernels<T>().add_rows(plane, corners_.size(), layer_.filters, bias_gradient);
      } else {
        std::fill_n(tangent, plane_size, T(0));
        kernels<T>().pool_backward(pool_, m.dy.row(m.size + b), sources, tangent);
        correlate(image, tangent, gradient);
        kernels<T>().add_rows(tangent, corners_.size(), layer_.filters, bias_gradient);
        if (m.x_tangent) {
          correlate(with_border(m.x.row(m.size + b), scratch, image_slot), plane, gradient);
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
    const T* weights = wants_dx ? by_filter(w.weight, m.starts(), scratch, weight_slots) : nullptr;
    const T* direction =
        wants_dx && v != nullptr ? by_filter(v->weight, m.starts(), scratch, direction_slots) : nullptr;
    const auto outer_products =
        by_plane ? kernels<T>().chosen_outer_products : kernels<T>().routed_outer_products;
    const std::size_t gradient_size = layer_.filters * router_.row();
    T* gradient = sums(m, gradient_size + filters_, scratch);
    T* bias_gradient = gradient + gradient_size;
    T* image_gradient = by_plane ? scratch.get(image_gradient_slot, gradient_size) : gradient;
    for (std::size_t b = m.begin; b < m.end; ++b) {
      const Source* sources = m.sources->data() + b * sources_of(pool_);
      const Routes<T> plain = by_plane ? plane_routes(m.dy.row(b), sources, scratch, plane_slot)
                                       : window_routes(m.dy.row(b), sources, scratch, wants_dx);
      const Routes<T> last =  // the tangents, if there are any
          v != nullptr ? tangent_routes(plain, m.dy.row(m.size + b), sources, scratch, by_plane) : plain;
      if (by_plane) {
        std::fill_n(image_gradient, gradient_size, T(0));
      }
      outer_products(last, readable_image(m.x.row(b), scratch), image_gradient);
      if (v != nullptr && m.x_tangent) {
        outer_products(plain, readable_image(m.x.row(m.size + b), scratch), image_gradient);
      }
      for (std::size_t i = 0; by_plane && i < gradient_size; ++i) {
        gradient[i] += image_gradient[i];
      }
      kernels<T>().add_rows(last.values, last.windows, layer_.filters, bias_gradient);
      if (wants_dx) {
        spread_routes(plain, last, weights, direction, m, b, scratch);
      }
    }
    if (m.ends()) {
      pour_by_filter(gradient, bias_gradient, sink, scratch);
    }
  }
  Routes<T> window_routes(const T* dy, const Source* sources, Scratch<T>& scratch, bool to_spread) const {
    T* values = scratch.get(plane_slot, router_.windows() * filters_);
    return router_.route(dy, sources, values, to_spread, scratch.routes);
  }
  // The gradient of the convolution's output, each pixel of it a window with one place.
  Routes<T> plane_routes(const T* dy, const Source* sources, Scratch<T>& scratch, std::size_t slot) const {
    T* plane = scratch.get(slot, corners_.size() * filters_);
    std::fill_n(plane, corners_.size() * filters_, T(0));
    kernels<T>().pool_backward(pool_, dy, sources, plane);
    return router_.of_plane(plane, corners_,
                            slot == plane_slot ? scratch.routes.chosen : scratch.routes.tangent_chosen);
  }
  Routes<T> tangent_routes(const Routes<T>& plain, const T* dy, const Source* sources, Scratch<T>& scratch,
                           bool by_plane) const {
    return by_plane ? plane_routes(dy, sources, scratch, tangent_plane_slot)
                    : router_.reroute(plain, dy, sources,
                                      scratch.get(tangent_plane_slot, router_.windows() * filters_));
  }
  void spread_routes(const Routes<T>& plain, const Routes<T>& last, const T* weights, const T* direction,
                     Memory<T>& m, std::size_t b, Scratch<T>& scratch) const {
    write_image(m.dx.row(b), scratch, [&](T* image) { kernels<T>().routed_spread(plain, weights, image); });
    if (direction != nullptr) {
      write_image(m.dx.row(m.size + b), scratch, [&](T* image) {
        kernels<T>().routed_spread(last, weights, image);
        kernels<T>().routed_spread(plain, direction, image);
      });
    }
  }

  // For the network's first layer: nobody wants dx, and an image has no tangent.
  void small_patch_backward(Memory<T>& m, const Weights<T>* v, const Sink<T>& sink,
                            Scratch<T>& scratch) const {
    T* gradient = sums(m, (patch_ + 1) * filters_, scratch);
    T* bias_gradient = gradient + patch_ * filters_;
    for (std::size_t b = m.begin; b < m.end; ++b) {
      kernels<T>().pooled_outer_products({.windows = router_.windows(),
                                          .places = router_.places(),
                                          .filters = layer_.filters,
                                          .image = with_border(m.x.row(b), scratch, image_slot),
                                          .corners = router_.corners(),
                                          .num_runs = layer_.kernel[0],
                                          .run_stride = image_.width * image_.channels,
                                          .run_length = run_,
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
    T* gradient = scratch.get(gradient_slot, size);
    if (m.starts()) {
      std::fill_n(gradient, size, T(0));
    }
    return gradient;
  }

  void pour_by_filter(const T* gradient, const T* bias_gradient, const Sink<T>& sink,
                      Scratch<T>& scratch) const {
    T* row = scratch.get(plane_slot, filters_);
    for (std::size_t k = 0; k < patch_; ++k) {
      const T* place = gradient + in_filter(k);
      for (std::size_t f = 0; f < layer_.filters; ++f) {
        row[f] = place[f * router_.row()];
      }
      pour(row, layer_.filters, k * layer_.filters, sink.weight, sink.factor);
    }
    pour(bias_gradient, layer_.filters, 0, sink.bias, sink.factor);
  }
  void pour_padded(const T* gradient, const T* bias_gradient, const Sink<T>& sink) const {
    for (std::size_t k = 0; k < patch_; ++k) {
      pour(gradient + k * filters_, layer_.filters, k * layer_.filters, sink.weight, sink.factor);
    }
    pour(bias_gradient, layer_.filters, 0, sink.bias, sink.factor);
  }

  // Patches up to this are summed straight from the pool's gradient: every place of a window costs products,
  // most of them with zero, but no plane has to be filled and read.
  static constexpr std::size_t longest_small_patch = 12;
  // Weights that stay in the first cache while a whole image passes.
  static constexpr std::size_t most_weights_to_pool = 6144;

  enum Slot : std::size_t {
    plane_slot,
    tangent_plane_slot,
    gradient_slot,
    image_slot,
    spread_slot,
    image_gradient_slot,
    weight_slots,  // and the next two
    direction_slots = weight_slots + 3,
  };

  // Weights as products want them: made before the first sample, then found where they were put.
  struct Packed {
    const T* weight = nullptr;
    const T* bias = nullptr;
    const T* tails = nullptr;
    std::size_t tail_numbers = 0;  // of each run
  };
  static Packed with_tails(Packed packed, const Product<T>& product, bool first, Scratch<T>& scratch,
                           std::size_t slot) {
    packed.tail_numbers = kernels<T>().tail_numbers(product);
    if (packed.tail_numbers != 0) {
      T* tails = scratch.get(slot + 2, product.num_runs * packed.tail_numbers);
      if (first) {
        kernels<T>().pack_tails(product, tails);
      }
      packed.tails = tails;
    }
    return packed;
  }

  // Filters in padded rows.
  Packed pack(const Weights<T>& w, bool first, Scratch<T>& scratch, std::size_t slot) const {
    const Packed packed = padded_filters(w, first, scratch, slot);
    return with_tails(packed, convolution(packed), first, scratch, slot);
  }
  Packed padded_filters(const Weights<T>& w, bool first, Scratch<T>& scratch, std::size_t slot) const {
    if (filters_ == layer_.filters) {
      return {w.weight, w.bias};
    }
    T* weight = scratch.get(slot, (patch_ + 1) * filters_);
    T* bias = weight + patch_ * filters_;
    if (!first) {
      return {weight, bias};
    }
    for (std::size_t k = 0; k < patch_; ++k) {
      T* row = weight + k * filters_;
      std::copy_n(w.weight + k * layer_.filters, layer_.filters, row);
      std::fill(row + layer_.filters, row + filters_, T(0));
    }
    std::copy_n(w.bias, layer_.filters, bias);
    std::fill(bias + layer_.filters, bias + filters_, T(0));
    return {weight, bias};
  }

  // [kernel y, in spread_order_][filter][kernel x, channel], the last padded with zeros.
  Packed transpose(const T* weight, bool first, Scratch<T>& scratch, std::size_t slot) const {
    T* out = scratch.get(slot + 1, layer_.kernel[0] * layer_.filters * padded<T>(run_));
    if (first) {
      transpose_to(out, weight);
    }
    const Packed packed{.weight = out};
    return with_tails(packed, spreading(packed), first, scratch, slot);
  }
  void transpose_to(T* row, const T* weight) const {
    const std::size_t width = padded<T>(run_);
    for (const std::size_t y : spread_order_) {
      for (std::size_t f = 0; f < layer_.filters; ++f) {
        for (std::size_t k = 0; k < run_; ++k) {
          row[k] = weight[(y * run_ + k) * layer_.filters + f];
        }
        std::fill(row + run_, row + width, T(0));
        row += width;
      }
    }
  }

  // A filter's weights in a row, its runs padded with zeros.
  const T* by_filter(const T* weight, bool first, Scratch<T>& scratch, std::size_t slot) const {
    T* out = scratch.get(slot, layer_.filters * router_.row());
    if (!first) {
      return out;
    }
    std::fill_n(out, layer_.filters * router_.row(), T(0));
    for (std::size_t k = 0; k < patch_; ++k) {
      for (std::size_t f = 0; f < layer_.filters; ++f) {
        out[f * router_.row() + in_filter(k)] = weight[k * layer_.filters + f];
      }
    }
    return out;
  }
  [[nodiscard]] std::size_t in_filter(std::size_t k) const { return k / run_ * padded<T>(run_) + k % run_; }

  [[nodiscard]] bool has_border() const { return image_.size() != input_.size(); }

  const T* with_border(const T* x, Scratch<T>& scratch, std::size_t slot) const {
    return has_border() ? copied(x, scratch, slot) : x;
  }
  // The same, where registers may read a little over its end.
  const T* readable_image(const T* x, Scratch<T>& scratch) const {
    return has_border() || run_ != padded<T>(run_) ? copied(x, scratch, image_slot) : x;
  }
  const T* copied(const T* x, Scratch<T>& scratch, std::size_t slot) const {
    T* image = scratch.get(slot, image_.size());
    std::fill_n(image, image_.size(), T(0));
    const std::size_t row = input_.width * input_.channels;
    for (std::size_t y = 0; y < input_.height; ++y) {
      std::copy_n(x + y * row, row, image + inner(y));
    }
    return image;
  }
  // Where row y of the input begins in the image with its border.
  [[nodiscard]] std::size_t inner(std::size_t y) const {
    return ((y + layer_.padding[0]) * image_.width + layer_.padding[1]) * image_.channels;
  }

  [[nodiscard]] Product<T> convolution(const Packed& weights) const {
    return {.rows = corners_.size(),
            .columns = layer_.filters,
            .a_rows = corners_.data(),
            .num_runs = layer_.kernel[0],
            .run_stride = image_.width * image_.channels,
            .run_length = run_,
            .b = weights.weight,
            .b_stride = filters_,
            .tails = weights.tails,
            .c_stride = filters_};
  }

  void convolve(const T* image, const Packed& weights, const T* bias, T* plane, bool add) const {
    Product<T> product = convolution(weights);
    product.a = image;
    product.bias = bias;
    product.c = plane;
    product.add = add;
    kernels<T>().multiply(product);
  }

  // In one go where windows do not overlap, as then no sum is needed twice.
  void convolve_and_pool(const T* image, const Packed& weights, T* plane, T* y, Source* sources) const {
    const bool fits =
        filters_ == layer_.filters && weights.tails == nullptr && patch_ * filters_ <= most_weights_to_pool;
    if (router_.apart() && fits && (router_.places() == 4 || router_.places() == 1)) {
      Product<T> product = convolution(weights);
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
    kernels<T>().outer_products({.points = corners_.size(),
                                 .columns = layer_.filters,
                                 .a = image,
                                 .a_points = corners_.data(),
                                 .num_runs = layer_.kernel[0],
                                 .run_stride = image_.width * image_.channels,
                                 .run_length = run_,
                                 .d = plane,
                                 .d_stride = filters_,
                                 .c = gradient,
                                 .c_stride = filters_});
  }

  // The gradient of the input: each pixel of a plane, times the filters, is added to the patch it came from.
  // Row by row of the image: all rows of the plane that it is seen by are the runs of one product.
  [[nodiscard]] Product<T> spreading(const Packed& weights) const {
    return {.rows = plane_.width,
            .columns = run_,
            .a_stride = filters_,
            .num_runs = layer_.kernel[0],
            .run_stride = plane_.width * filters_,
            .run_length = layer_.filters,
            .b = weights.weight,
            .b_stride = padded<T>(run_),
            .tails = weights.tails,
            .c_rows = corners_.data(),
            .add = true};
  }
  struct Term {
    const T* plane;
    const Packed& transposed;
  };
  void spread(std::initializer_list<Term> terms, T* dx, Scratch<T>& scratch) const {
    write_image(dx, scratch, [&](T* image) { spread_rows(terms, image); });
  }
  void spread_rows(std::initializer_list<Term> terms, T* image) const {
    const std::size_t stride = layer_.stride[0];
    for (std::size_t y = 0; y < image_.height; ++y) {
      // Plane row r sees it in row y - r * stride of its patch: from the largest such row down, as in
      // spread_order_.
      const std::size_t highest = layer_.kernel[0] - 1;
      const std::size_t first = y > highest ? (y - highest + stride - 1) / stride : 0;
      const std::size_t end = std::min(y / stride + 1, plane_.height);
      if (first >= end) {
        continue;
      }
      const std::size_t run = static_cast<std::size_t>(std::ranges::find(spread_order_, y - first * stride) -
                                                       spread_order_.begin());
      for (const Term& term : terms) {
        Product<T> product = spreading(term.transposed);
        product.a = term.plane + first * product.run_stride;
        product.num_runs = end - first;
        product.b += run * product.run_length * product.b_stride;
        if (product.tails != nullptr) {
          product.tails += run * term.transposed.tail_numbers;
        }
        product.c = image + y * image_.width * image_.channels;
        kernels<T>().multiply(product);
      }
    }
  }

  // Calls add(image) with zeros in place of the image's gradient, and puts that, without its border, to dx. A
  // padded run of a patch may reach a little over the image's end.
  template <class Add>
  void write_image(T* dx, Scratch<T>& scratch, const Add& add) const {
    T* image = has_border() ? scratch.get(spread_slot, image_.size() + padding<T>) : dx;
    std::fill_n(image, image_.size(), T(0));
    add(image);
    if (has_border()) {
      const std::size_t row = input_.width * input_.channels;
      for (std::size_t y = 0; y < input_.height; ++y) {
        std::copy_n(image + inner(y), row, dx + y * row);
      }
    }
  }

  Shape input_;
  Convolution layer_;
  Shape image_;  // the input with its border of zeros
  Shape plane_;  // what the convolution gives
  std::size_t run_;
  std::size_t patch_;
  std::size_t filters_;  // padded
  Pool<T> pool_;
  std::vector<Offset> corners_;  // of each patch, in the image
  Router<T> router_;
  std::vector<std::size_t> spread_order_;  // rows of the kernel: those that an image's row meets are in a row
};

}  // namespace

template <class T>
std::unique_ptr<Operation<T>> make_convolution(const ConvolutionBlock& block) {
  return std::make_unique<ConvolutionOperation<T>>(block);
}

template std::unique_ptr<Operation<float>> make_convolution(const ConvolutionBlock&);
template std::unique_ptr<Operation<double>> make_convolution(const ConvolutionBlock&);

}  // namespace skein::nn
