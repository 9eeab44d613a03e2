// A linear layer: y = x W + b.

#include <algorithm>
#include <array>

#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"

namespace skein::nn {
namespace {

template <class T>
class LinearOperation final : public Operation<T> {
 public:
  LinearOperation(std::size_t inputs, std::size_t outputs) : inputs_(inputs), outputs_(outputs) {}

  [[nodiscard]] std::size_t num_weights() const override { return inputs_ * outputs_; }
  [[nodiscard]] std::size_t num_biases() const override { return outputs_; }
  [[nodiscard]] std::size_t linear_outputs() const override { return outputs_; }

  void forward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, Scratch<T>& scratch) const override {
    m.zeros = share_of_zeros(m);
    fill_rows(m.y, m.size, w.bias);
    const Rows<T> tangents{m.y.row(m.size), m.y.stride};
    if (v != nullptr) {
      fill_rows(tangents, m.size, v->bias);
    }
    apply(w, m.x, m.y, m.x_rows(), is_sparse(m), scratch);
    if (v != nullptr) {
      apply(*v, m.x, tangents, m.size, is_sparse(m), scratch);
    }
  }

  // One sweep over the weights: a block is read once, for the gradient of x, and written, for the step.
  void backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                Scratch<T>& scratch) const override {
    const Rows<const T> tangent_dy{m.dy.row(m.size), m.dy.stride};
    const bool wants_dx = m.dx.data != nullptr;
    for (std::size_t k = 0; k < inputs_; k += block) {
      const std::size_t rows = std::min(block, inputs_ - k);
      if (wants_dx && v == nullptr && backward_in_one_go(m, w, sink, k, rows)) {
        continue;
      }
      if (wants_dx) {
        const Rows<T> tangent_dx{m.dx.row(m.size), m.dx.stride};
        if (is_sparse(m) && asks_nothing_of_zeros(m)) {
          apply_transposed_where(m.x, w.weight, m.dy, m.dx, m.size, k, rows, false);
          if (v != nullptr) {
            apply_transposed_where(m.x, w.weight, tangent_dy, tangent_dx, m.size, k, rows, false);
            apply_transposed_where(m.x, v->weight, m.dy, tangent_dx, m.size, k, rows, true);
          }
        } else {
          apply_transposed(w.weight, m.dy, m.dx, m.rows(), k, rows, false, scratch);
          if (v != nullptr) {
            apply_transposed(v->weight, m.dy, tangent_dx, m.size, k, rows, true, scratch);
          }
        }
      }
      if (sink.weight.target == nullptr) {
        continue;
      }
      const T* base = sink.weight.base;
      const auto add = [&](const LowRank<T>& term) {
        if (term.rank != 0) {
          update(term, base, sink.weight.target, k, rows, is_sparse(m));
          base = sink.weight.target;
        }
      };
      if (v == nullptr) {
        add({m.x, m.dy, m.size, sink.factor});
      } else {
        add({m.x, tangent_dy, m.size, sink.factor});
        if (m.x_tangent) {
          add({{m.x.row(m.size), m.x.stride}, m.dy, m.size, sink.factor});
        }
      }
      add(sink.more[0]);
      add(sink.more[1]);
    }
    if (wants_dx) {
      apply_low_rank_transposed(w.low_rank, m.dy, m.dx, m.rows(), scratch);
      if (v != nullptr) {
        apply_low_rank_transposed(v->low_rank, m.dy, {m.dx.row(m.size), m.dx.stride}, m.size, scratch);
      }
    }
    T* sum = scratch.get(0, outputs_);
    std::fill_n(sum, outputs_, T(0));
    const Rows<const T>& dy = v == nullptr ? m.dy : tangent_dy;
    for (std::size_t b = 0; b < m.size; ++b) {
      for (std::size_t n = 0; n < outputs_; ++n) {
        sum[n] += dy.row(b)[n];
      }
    }
    pour(sum, outputs_, 0, sink.bias, sink.factor);
  }

 private:
  // Rows of weights that stay in the first cache between their uses.
  static constexpr std::size_t block = 32;
  static constexpr std::size_t fewest_rows_to_transpose = 24;
  static constexpr std::size_t longest_to_transpose = 256;
  static constexpr std::size_t least_sparse_weights = 16384;
  // Up to so many, passing over zeros takes longer than multiplying by them; in one go, it pays earlier.
  static constexpr double most_zeros_of_dense = 0.5;
  static constexpr double most_zeros_of_dense_in_one_go = 0.15;

  // How much of x is zero, as far as one row tells: what is done with zeros changes no result.
  [[nodiscard]] double share_of_zeros(const Memory<T>& m) const {
    if (num_weights() < least_sparse_weights) {
      return 0.0;
    }
    const T* row = m.x.row(m.size / 2);
    return static_cast<double>(std::count(row, row + inputs_, T(0))) / static_cast<double>(inputs_);
  }
  [[nodiscard]] static bool is_sparse(const Memory<T>& m) { return m.zeros > most_zeros_of_dense; }

  void fill_rows(Rows<T> rows, std::size_t count, const T* values) const {
    for (std::size_t b = 0; b < count; ++b) {
      std::copy_n(values, outputs_, rows.row(b));
    }
  }

  // Whether dx is wanted only where x is not zero; many rows are faster as a product.
  [[nodiscard]] static bool asks_nothing_of_zeros(const Memory<T>& m) {
    return m.dead_zeros && m.rows() < fewest_rows_to_transpose;
  }

  // The gradient of x and the step, for inputs k to k + count, if there are kernels for that.
  bool backward_in_one_go(const Memory<T>& m, const Weights<T>& w, const Sink<T>& sink, std::size_t k,
                          std::size_t count) const {
    const bool steps = sink.weight.target != nullptr;
    if (m.zeros <= most_zeros_of_dense_in_one_go || !asks_nothing_of_zeros(m) || w.weight == nullptr ||
        (steps && sink.weight.base != w.weight) || sink.more[0].rank != 0 || sink.more[1].rank != 0) {
      return false;
    }
    return kernels<T>().backward_sparse({.rows = count,
                                         .columns = outputs_,
                                         .rank = m.size,
                                         .x = m.x.data + k,
                                         .x_stride = m.x.stride,
                                         .d = m.dy.data,
                                         .d_stride = m.dy.stride,
                                         .factor = sink.factor,
                                         .base = w.weight + k * outputs_,
                                         .target = steps ? sink.weight.target + k * outputs_ : nullptr,
                                         .stride = outputs_},
                                        m.dx.data + k, m.dx.stride);
  }

  // y += x W
  void apply(const Weights<T>& w, Rows<const T> x, Rows<T> y, std::size_t rows, bool sparse,
             Scratch<T>& scratch) const {
    if (w.weight != nullptr) {
      (sparse ? kernels<T>().multiply_sparse : kernels<T>().multiply)({.rows = rows,
                                                                       .columns = outputs_,
                                                                       .a = x.data,
                                                                       .a_stride = x.stride,
                                                                       .run_length = inputs_,
                                                                       .b = w.weight,
                                                                       .b_stride = outputs_,
                                                                       .c = y.data,
                                                                       .c_stride = y.stride,
                                                                       .add = true});
    }
    const LowRank<T>& low = w.low_rank;
    if (low.rank != 0) {
      // x (f X' D) = f (x X') D
      T* gram = scratch.get(1, rows * low.rank);
      kernels<T>().dot_products({.a_count = rows,
                                 .b_count = low.rank,
                                 .length = inputs_,
                                 .a = x.data,
                                 .a_stride = x.stride,
                                 .b = low.x.data,
                                 .b_stride = low.x.stride,
                                 .c = gram,
                                 .c_stride = low.rank});
      scale(gram, rows * low.rank, low.factor);
      kernels<T>().multiply({.rows = rows,
                             .columns = outputs_,
                             .a = gram,
                             .a_stride = low.rank,
                             .run_length = low.rank,
                             .b = low.d.data,
                             .b_stride = low.d.stride,
                             .c = y.data,
                             .c_stride = y.stride,
                             .add = true});
    }
  }

  // dx = dy W' for inputs k to k + count.
  void apply_transposed(const T* weight, Rows<const T> dy, Rows<T> dx, std::size_t rows, std::size_t k,
                        std::size_t count, bool add, Scratch<T>& scratch) const {
    if (weight == nullptr) {
      return;
    }
    // Short dot products spend their time on adding up registers. With enough rows, it pays to transpose.
    if (rows >= fewest_rows_to_transpose && outputs_ <= longest_to_transpose && count == block) {
      constexpr std::size_t stride = block + padding<T>;  // no power of two, which caches don't like
      T* transposed = scratch.get(2, outputs_ * stride);
      kernels<T>().transpose(weight + k * outputs_, block, outputs_, outputs_, transposed, stride);
      kernels<T>().multiply({.rows = rows,
                             .columns = block,
                             .a = dy.data,
                             .a_stride = dy.stride,
                             .run_length = outputs_,
                             .b = transposed,
                             .b_stride = stride,
                             .c = dx.data + k,
                             .c_stride = dx.stride,
                             .add = add,
                             .fetch = weight + (k + block) * outputs_});
      return;
    }
    kernels<T>().dot_products(transposed_product(weight, dy, dx, rows, k, count, add));
  }
  // The same, only where x is not zero.
  void apply_transposed_where(Rows<const T> x, const T* weight, Rows<const T> dy, Rows<T> dx,
                              std::size_t rows, std::size_t k, std::size_t count, bool add) const {
    if (weight != nullptr) {
      kernels<T>().dot_products_where(transposed_product(weight, dy, dx, rows, k, count, add), x.data + k,
                                      x.stride);
    }
  }
  DotProducts<T> transposed_product(const T* weight, Rows<const T> dy, Rows<T> dx, std::size_t rows,
                                    std::size_t k, std::size_t count, bool add) const {
    return {.a_count = rows,
            .b_count = count,
            .length = outputs_,
            .a = dy.data,
            .a_stride = dy.stride,
            .b = weight + k * outputs_,
            .b_stride = outputs_,
            .c = dx.data + k,
            .c_stride = dx.stride,
            .add = add,
            .zero_padded = true,
            .streams = num_weights() > (std::size_t{1} << 17U)};
  }

  // dx += dy (f X' D)' = f (dy D') X
  void apply_low_rank_transposed(const LowRank<T>& low, Rows<const T> dy, Rows<T> dx, std::size_t rows,
                                 Scratch<T>& scratch) const {
    if (low.rank == 0) {
      return;
    }
    T* gram = scratch.get(1, rows * low.rank);
    kernels<T>().dot_products({.a_count = rows,
                               .b_count = low.rank,
                               .length = outputs_,
                               .a = dy.data,
                               .a_stride = dy.stride,
                               .b = low.d.data,
                               .b_stride = low.d.stride,
                               .c = gram,
                               .c_stride = low.rank,
                               .zero_padded = true});
    scale(gram, rows * low.rank, low.factor);
    kernels<T>().multiply({.rows = rows,
                           .columns = inputs_,
                           .a = gram,
                           .a_stride = low.rank,
                           .run_length = low.rank,
                           .b = low.x.data,
                           .b_stride = low.x.stride,
                           .c = dx.data,
                           .c_stride = dx.stride,
                           .add = true});
    for (std::size_t b = 0; b < rows; ++b) {
      std::fill(dx.row(b) + inputs_, dx.row(b) + padded<T>(inputs_), T(0));
    }
  }

  // The kernel's last register may reach over the last row: what is there belongs to others.
  void update(const LowRank<T>& term, const T* base, T* target, std::size_t k, std::size_t rows,
              bool sparse) const {
    std::array<T, padding<T>> beyond;
    T* end = target + (k + rows) * outputs_;
    std::copy_n(end, padding<T>, beyond.begin());
    (sparse ? kernels<T>().rank_update_sparse
            : kernels<T>().rank_update)({.rows = rows,
                                         .columns = outputs_,
                                         .rank = term.rank,
                                         .x = term.x.data + k,
                                         .x_stride = term.x.stride,
                                         .d = term.d.data,
                                         .d_stride = term.d.stride,
                                         .factor = term.factor,
                                         .base = base != nullptr ? base + k * outputs_ : nullptr,
                                         .target = target + k * outputs_,
                                         .stride = outputs_});
    std::ranges::copy(beyond, end);
  }

  static void scale(T* values, std::size_t count, T factor) {
    for (std::size_t i = 0; i < count; ++i) {
      values[i] *= factor;
    }
  }

  std::size_t inputs_;
  std::size_t outputs_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation<T>> make_linear(std::size_t inputs, std::size_t outputs) {
  return std::make_unique<LinearOperation<T>>(inputs, outputs);
}

template std::unique_ptr<Operation<float>> make_linear(std::size_t, std::size_t);
template std::unique_ptr<Operation<double>> make_linear(std::size_t, std::size_t);

}  // namespace skein::nn
