// What a convolution's products read and write: images with their border, patches, and filters in the forms
// that products want.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "skein/nn/architecture.h"
#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"
#include "skein/nn/vector.h"

namespace skein::nn {

template <class T>
struct ConvolutionFrame {
  ConvolutionFrame(const Shape& from, const Convolution& convolution)
      : input(from),
        layer(convolution),
        image{input.height + 2 * layer.padding[0], input.width + 2 * layer.padding[1], input.channels},
        plane{(image.height - layer.kernel[0]) / layer.stride[0] + 1,
              (image.width - layer.kernel[1]) / layer.stride[1] + 1, layer.filters},
        run(layer.kernel[1] * input.channels),
        patch(layer.kernel[0] * run),
        filters(padded<T>(layer.filters)) {
    for (std::size_t y = 0; y < plane.height; ++y) {
      for (std::size_t x = 0; x < plane.width; ++x) {
        corners.push_back(
            static_cast<Offset>((y * layer.stride[0] * image.width + x * layer.stride[1]) * image.channels));
      }
    }
    for (std::size_t phase = 0; phase < layer.stride[0]; ++phase) {
      for (std::size_t y = layer.kernel[0]; y-- > 0;) {
        if (y % layer.stride[0] == phase) {
          spread_order.push_back(y);
        }
      }
    }
  }

  // Of an operation's scratch.
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

  // ---- filters

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
    if (filters == layer.filters) {
      return {w.weight, w.bias};
    }
    T* weight = scratch.get(slot, (patch + 1) * filters);
    T* bias = weight + patch * filters;
    if (!first) {
      return {weight, bias};
    }
    for (std::size_t k = 0; k < patch; ++k) {
      T* row = weight + k * filters;
      std::copy_n(w.weight + k * layer.filters, layer.filters, row);
      std::fill(row + layer.filters, row + filters, T(0));
    }
    std::copy_n(w.bias, layer.filters, bias);
    std::fill(bias + layer.filters, bias + filters, T(0));
    return {weight, bias};
  }

  // [kernel y, in spread_order][filter][kernel x, channel], the last padded with zeros.
  Packed transpose(const T* weight, bool first, Scratch<T>& scratch, std::size_t slot) const {
    T* out = scratch.get(slot + 1, layer.kernel[0] * layer.filters * padded<T>(run));
    if (first) {
      transpose_to(out, weight);
    }
    const Packed packed{.weight = out};
    return with_tails(packed, spreading(packed), first, scratch, slot);
  }
  void transpose_to(T* row, const T* weight) const {
    const std::size_t width = padded<T>(run);
    for (const std::size_t y : spread_order) {
      for (std::size_t f = 0; f < layer.filters; ++f) {
        for (std::size_t k = 0; k < run; ++k) {
          row[k] = weight[(y * run + k) * layer.filters + f];
        }
        std::fill(row + run, row + width, T(0));
        row += width;
      }
    }
  }

  // ---- products

  [[nodiscard]] Product<T> convolution(const Packed& weights) const {
    return {.rows = corners.size(),
            .columns = layer.filters,
            .a_rows = corners.data(),
            .num_runs = layer.kernel[0],
            .run_stride = image.width * image.channels,
            .run_length = run,
            .b = weights.weight,
            .b_stride = filters,
            .tails = weights.tails,
            .c_stride = filters};
  }

  // The gradient of the input: each pixel of a plane, times the filters, is added to the patch it came from.
  // Row by row of the image: all rows of the plane that it is seen by are the runs of one product.
  [[nodiscard]] Product<T> spreading(const Packed& weights) const {
    return {.rows = plane.width,
            .columns = run,
            .a_stride = filters,
            .num_runs = layer.kernel[0],
            .run_stride = plane.width * filters,
            .run_length = layer.filters,
            .b = weights.weight,
            .b_stride = padded<T>(run),
            .tails = weights.tails,
            .c_rows = corners.data(),
            .add = true};
  }

  // ---- images

  [[nodiscard]] bool has_border() const { return image.size() != input.size(); }

  const T* with_border(const T* x, Scratch<T>& scratch, std::size_t slot) const {
    return has_border() ? copied(x, scratch, slot) : x;
  }
  // The same, where registers may read a little over its end.
  const T* readable_image(const T* x, Scratch<T>& scratch) const {
    return has_border() || run != padded<T>(run) ? copied(x, scratch, image_slot) : x;
  }
  const T* copied(const T* x, Scratch<T>& scratch, std::size_t slot) const {
    T* bordered = scratch.get(slot, image.size());
    std::fill_n(bordered, image.size(), T(0));
    const std::size_t row = input.width * input.channels;
    for (std::size_t y = 0; y < input.height; ++y) {
      std::copy_n(x + y * row, row, bordered + inner(y));
    }
    return bordered;
  }
  // Where row y of the input begins in the image with its border.
  [[nodiscard]] std::size_t inner(std::size_t y) const {
    return ((y + layer.padding[0]) * image.width + layer.padding[1]) * image.channels;
  }

  // Calls add(bordered) with zeros in place of the image's gradient, and puts that, without its border, to
  // dx. A padded run of a patch may reach a little over the image's end.
  template <class Add>
  void write_image(T* dx, Scratch<T>& scratch, const Add& add) const {
    T* bordered = has_border() ? scratch.get(spread_slot, image.size() + padding<T>) : dx;
    std::fill_n(bordered, image.size(), T(0));
    add(bordered);
    if (has_border()) {
      const std::size_t row = input.width * input.channels;
      for (std::size_t y = 0; y < input.height; ++y) {
        std::copy_n(bordered + inner(y), row, dx + y * row);
      }
    }
  }

  Shape input;
  Convolution layer;
  Shape image;  // the input with its border of zeros
  Shape plane;  // what the convolution gives
  std::size_t run;
  std::size_t patch;
  std::size_t filters;            // padded
  std::vector<Offset> corners{};  // of each patch, in the image
  // Rows of the kernel: those that an image's row meets are in a row.
  std::vector<std::size_t> spread_order{};
};

}  // namespace skein::nn
