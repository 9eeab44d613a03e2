// A long short-term memory layer (Hochreiter and Schmidhuber, with forget gates), as in PyTorch:
//
//   i, f, o = sigmoid(x W + h U + b + c),  g = tanh(likewise)
//   c' = f c + i g,   h' = o tanh(c')
//
// starting from h = c = 0 at a sample's first row.

#include <algorithm>

#include "skein/nn/dual.h"
#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"

namespace skein::nn {
namespace {

template <class T>
class LstmOperation final : public Operation<T> {
 public:
  LstmOperation(const Shape& input, const Lstm& lstm)
      : steps_(input.height),
        features_(input.width * input.channels),
        hidden_(lstm.hidden),
        sequence_(lstm.sequence),
        gates_(padded<T>(4 * hidden_)),
        states_(padded<T>(hidden_)) {}

  [[nodiscard]] std::size_t num_weights() const override { return (features_ + hidden_) * 4 * hidden_; }
  [[nodiscard]] std::size_t num_biases() const override { return 8 * hidden_; }

  void forward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v,
               Scratch<T>& /*scratch*/) const override {
    if (m.values.size() < m.rows() * row_size()) {
      m.values = Vector<T>(m.rows() * row_size());
    }
    for (std::size_t t = 0; t < steps_; ++t) {
      sum_gates(m, t, w, 0, 0, m.size, true);
      if (v != nullptr) {
        sum_gates(m, t, *v, 0, m.size, m.size, true);
        sum_gates(m, t, w, m.size, m.size, m.size, false);
      }
      for (std::size_t b = 0; b < m.size; ++b) {
        if (v == nullptr) {
          step(plain(m, b), t);
        } else {
          step(dual(m, b), t);
        }
      }
    }
    for (std::size_t b = 0; b < m.rows(); ++b) {
      for (std::size_t t = sequence_ ? 0 : steps_ - 1; t < steps_; ++t) {
        std::copy_n(m.values.data() + hidden_at(b, t), hidden_, m.y.row(b) + (sequence_ ? t * hidden_ : 0));
      }
    }
  }

  void backward(Memory<T>& m, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                Scratch<T>& scratch) const override {
    const std::size_t count = m.rows();
    // The gradients of gates before their nonlinearity, of h and of c.
    T* da = scratch.get(0, count * steps_ * gates_);
    T* dh = scratch.get(1, count * states_);
    T* dc = scratch.get(2, count * states_);
    std::fill_n(da, count * steps_ * gates_, T(0));
    std::fill_n(dh, count * states_, T(0));
    std::fill_n(dc, count * states_, T(0));
    const std::size_t second = 4 * hidden_ * features_;
    for (std::size_t t = steps_; t-- > 0;) {
      for (std::size_t b = 0; b < count; ++b) {
        if (sequence_ || t + 1 == steps_) {
          const T* dy = m.dy.row(b) + (sequence_ ? t * hidden_ : 0);
          for (std::size_t i = 0; i < hidden_; ++i) {
            dh[b * states_ + i] += dy[i];
          }
        }
      }
      for (std::size_t b = 0; b < m.size; ++b) {
        T* a = da + (b * steps_ + t) * gates_;
        T* h = dh + b * states_;
        T* c = dc + b * states_;
        if (v == nullptr) {
          step_back(plain(m, b), t, PlainRow<T>{a}, PlainRow<T>{h}, PlainRow<T>{c});
        } else {
          step_back(dual(m, b), t, DualRow<T>{a, a + m.size * steps_ * gates_},
                    DualRow<T>{h, h + m.size * states_}, DualRow<T>{c, c + m.size * states_});
        }
      }
      const Rows<const T> rows{da + t * gates_, steps_ * gates_};
      const Rows<T> before{dh, states_};
      transposed(w.weight + second, hidden_, rows, before, count, false);
      if (v != nullptr) {
        transposed(v->weight + second, hidden_, rows, {before.row(m.size), states_}, m.size, true);
      }
      if (m.dx.data != nullptr) {
        const Rows<T> dx{m.dx.data + t * features_, m.dx.stride};
        transposed(w.weight, features_, rows, dx, count, false);
        if (v != nullptr) {
          transposed(v->weight, features_, rows, {dx.row(m.size), dx.stride}, m.size, true);
        }
      }
    }
    T* gradient = scratch.get(3, num_weights() + num_biases());
    sum_gradient(m, {da, steps_ * gates_}, v != nullptr, gradient);
    pour(gradient, num_weights(), 0, sink.weight, sink.factor);
    pour(gradient + num_weights(), num_biases(), 0, sink.bias, sink.factor);
  }

 private:
  // Of each row of the batch and each step: the gates, the cell and the hidden state.
  [[nodiscard]] std::size_t row_size() const { return steps_ * (gates_ + 2 * states_); }
  [[nodiscard]] std::size_t gates_at(std::size_t b, std::size_t t) const {
    return b * row_size() + t * gates_;
  }
  [[nodiscard]] std::size_t cell_at(std::size_t b, std::size_t t) const {
    return b * row_size() + steps_ * gates_ + t * states_;
  }
  [[nodiscard]] std::size_t hidden_at(std::size_t b, std::size_t t) const {
    return b * row_size() + steps_ * (gates_ + states_) + t * states_;
  }

  PlainRow<T> plain(Memory<T>& m, std::size_t b) const { return {m.values.data() + b * row_size()}; }
  DualRow<T> dual(Memory<T>& m, std::size_t b) const {
    return {m.values.data() + b * row_size(), m.values.data() + (m.size + b) * row_size()};
  }

  // Adds x W + h U of `count` rows from `from` to the gates from `to`; the first adds the biases to nothing.
  void sum_gates(Memory<T>& m, std::size_t t, const Weights<T>& w, std::size_t from, std::size_t to,
                 std::size_t count, bool first) const {
    if (first) {
      for (std::size_t b = 0; b < count; ++b) {
        T* gates = m.values.data() + gates_at(to + b, t);
        for (std::size_t i = 0; i < 4 * hidden_; ++i) {
          gates[i] = w.bias[i] + w.bias[4 * hidden_ + i];
        }
      }
    }
    Product<T> product{.rows = count,
                       .columns = 4 * hidden_,
                       .b_stride = 4 * hidden_,
                       .c = m.values.data() + gates_at(to, t),
                       .c_stride = row_size(),
                       .add = true};
    if (from == 0 || m.x_tangent) {
      product.a = m.x.row(from) + t * features_;
      product.a_stride = m.x.stride;
      product.run_length = features_;
      product.b = w.weight;
      kernels<T>().multiply(product);
    }
    if (t > 0) {
      product.a = m.values.data() + hidden_at(from, t - 1);
      product.a_stride = row_size();
      product.run_length = hidden_;
      product.b = w.weight + 4 * hidden_ * features_;
      kernels<T>().multiply(product);
    }
  }

  // `row` is a row of the batch's memory, plain or with tangents.
  void step(const auto& row, std::size_t t) const {
    using Number = typename std::remove_cvref_t<decltype(row)>::Number;
    for (std::size_t i = 0; i < hidden_; ++i) {
      const std::size_t gates = gates_at(0, t) + i;
      const Number in = logistic(row.get(gates));
      const Number forget = logistic(row.get(gates + hidden_));
      const Number content = hyperbolic_tangent(row.get(gates + 2 * hidden_));
      const Number out = logistic(row.get(gates + 3 * hidden_));
      const Number before = t > 0 ? row.get(cell_at(0, t - 1) + i) : Number{};
      const Number cell = forget * before + in * content;
      row.set(gates, in);
      row.set(gates + hidden_, forget);
      row.set(gates + 2 * hidden_, content);
      row.set(gates + 3 * hidden_, out);
      row.set(cell_at(0, t) + i, cell);
      row.set(hidden_at(0, t) + i, out * hyperbolic_tangent(cell));
    }
  }

  // From dh and dc of this step to da, and to dc of the step before.
  void step_back(const auto& row, std::size_t t, const auto& da, const auto& dh, const auto& dc) const {
    using Number = typename std::remove_cvref_t<decltype(row)>::Number;
    const Number one(1);
    for (std::size_t i = 0; i < hidden_; ++i) {
      const std::size_t gates = gates_at(0, t) + i;
      const Number in = row.get(gates);
      const Number forget = row.get(gates + hidden_);
      const Number content = row.get(gates + 2 * hidden_);
      const Number out = row.get(gates + 3 * hidden_);
      const Number before = t > 0 ? row.get(cell_at(0, t - 1) + i) : Number{};
      const Number squashed = hyperbolic_tangent(row.get(cell_at(0, t) + i));
      const Number cell = dc.get(i) + dh.get(i) * out * (one - squashed * squashed);
      da.set(i, cell * content * in * (one - in));
      da.set(hidden_ + i, cell * before * forget * (one - forget));
      da.set(2 * hidden_ + i, cell * in * (one - content * content));
      da.set(3 * hidden_ + i, dh.get(i) * squashed * out * (one - out));
      dc.set(i, cell * forget);
    }
  }

  // to = rows W', for W with `inputs` rows.
  void transposed(const T* weight, std::size_t inputs, Rows<const T> rows, Rows<T> to, std::size_t count,
                  bool add) const {
    kernels<T>().dot_products({.a_count = count,
                               .b_count = inputs,
                               .length = 4 * hidden_,
                               .a = rows.data,
                               .a_stride = rows.stride,
                               .b = weight,
                               .b_stride = 4 * hidden_,
                               .c = to.data,
                               .c_stride = to.stride,
                               .add = add,
                               .zero_padded = true});
  }

  void sum_gradient(Memory<T>& m, Rows<const T> da, bool tangent, T* gradient) const {
    std::fill_n(gradient, num_weights() + num_biases(), T(0));
    T* second = gradient + 4 * hidden_ * features_;
    T* bias = gradient + num_weights();
    // A row's register may reach over its end into what follows, with zeros: it must be there already.
    const auto add = [&](std::size_t t, std::size_t x_from, std::size_t d_from) {
      RankUpdate<T> update{.columns = 4 * hidden_,
                           .rank = m.size,
                           .d = da.row(d_from) + t * gates_,
                           .d_stride = da.stride,
                           .stride = 4 * hidden_};
      if (x_from == 0 || m.x_tangent) {
        update.rows = features_;
        update.x = m.x.row(x_from) + t * features_;
        update.x_stride = m.x.stride;
        update.base = update.target = gradient;
        kernels<T>().rank_update(update);
      }
      if (t > 0) {
        update.rows = hidden_;
        update.x = m.values.data() + hidden_at(x_from, t - 1);
        update.x_stride = row_size();
        update.base = update.target = second;
        kernels<T>().rank_update(update);
      }
    };
    for (std::size_t t = 0; t < steps_; ++t) {
      if (tangent) {
        add(t, 0, m.size);
        add(t, m.size, 0);
      } else {
        add(t, 0, 0);
      }
      for (std::size_t b = 0; b < m.size; ++b) {
        const T* d = da.row(tangent ? m.size + b : b) + t * gates_;
        for (std::size_t i = 0; i < 4 * hidden_; ++i) {
          bias[i] += d[i];
        }
      }
    }
    std::copy_n(bias, 4 * hidden_, bias + 4 * hidden_);
  }

  std::size_t steps_;
  std::size_t features_;
  std::size_t hidden_;
  bool sequence_;
  std::size_t gates_;   // padded
  std::size_t states_;  // padded
};

}  // namespace

template <class T>
std::unique_ptr<Operation<T>> make_lstm(const Shape& input, const Lstm& lstm) {
  return std::make_unique<LstmOperation<T>>(input, lstm);
}

template std::unique_ptr<Operation<float>> make_lstm(const Shape&, const Lstm&);
template std::unique_ptr<Operation<double>> make_lstm(const Shape&, const Lstm&);

}  // namespace skein::nn
