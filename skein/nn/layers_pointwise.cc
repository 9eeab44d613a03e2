// Layers without parameters that work on each number, or on a row, alone.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "skein/base/expect.h"
#include "skein/nn/dual.h"
#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"

namespace skein::nn {

template <class T>
void Operation<T>::draw(Memory<T>& /*memory*/, RandomStream& /*stream*/) const {}

template class Operation<float>;
template class Operation<double>;

namespace {

struct ReluRule;

// Rule has forward(x row, y row, size) and backward(x row, y row, dy row, dx row, size), written for any kind
// of row, and says whether the latter needs y.
template <class T, class Rule>
class RowByRow final : public Operation<T> {
 public:
  explicit RowByRow(std::size_t size) : size_(size) {}

  [[nodiscard]] bool by_sample() const override { return true; }
  [[nodiscard]] bool needs_outputs() const override { return Rule::needs_outputs; }
  [[nodiscard]] bool ends_with_relu() const override { return std::is_same_v<Rule, ReluRule>; }

  void forward(Memory<T>& m, const Weights<T>& /*w*/, const Weights<T>* /*v*/,
               Scratch<T>& /*scratch*/) const override {
    for (std::size_t b = m.begin; b < m.end; ++b) {
      if (m.tangent) {
        Rule::forward(dual(m.x, b, m.size), dual(m.y, b, m.size), size_);
      } else {
        Rule::forward(plain(m.x, b), plain(m.y, b), size_);
      }
    }
  }

  void backward(Memory<T>& m, const Weights<T>& /*w*/, const Weights<T>* /*v*/, const Sink<T>& /*sink*/,
                Scratch<T>& /*scratch*/) const override {
    if (m.dx.data == nullptr) {
      return;
    }
    for (std::size_t b = m.begin; b < m.end; ++b) {
      if (m.tangent) {
        Rule::backward(dual(m.x, b, m.size), dual(m.y, b, m.size), dual(m.dy, b, m.size),
                       dual(m.dx, b, m.size), size_);
      } else {
        Rule::backward(plain(m.x, b), plain(m.y, b), plain(m.dy, b), plain(m.dx, b), size_);
      }
    }
  }

 private:
  template <class U>
  static PlainRow<U> plain(const Rows<U>& rows, std::size_t b) {
    return {rows.row(b)};
  }
  template <class U>
  static DualRow<U> dual(const Rows<U>& rows, std::size_t b, std::size_t size) {
    return {rows.row(b), rows.row(size + b)};
  }

  std::size_t size_;
};

struct ReluRule {
  static constexpr bool needs_outputs = false;

  static void forward(const auto& x, const auto& y, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto in = x.get(i);
      y.set(i, value_of(in) > 0 ? in : decltype(in){});
    }
  }
  static void backward(const auto& x, const auto& /*y*/, const auto& dy, const auto& dx, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto in = dy.get(i);
      dx.set(i, value_of(x.get(i)) > 0 ? in : decltype(in){});
    }
  }
};

struct TanhRule {
  static constexpr bool needs_outputs = true;

  static void forward(const auto& x, const auto& y, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      y.set(i, hyperbolic_tangent(x.get(i)));
    }
  }
  static void backward(const auto& /*x*/, const auto& y, const auto& dy, const auto& dx, std::size_t size) {
    using Number = decltype(dx.get(0));
    for (std::size_t i = 0; i < size; ++i) {
      dx.set(i, dy.get(i) * (Number(1) - y.get(i) * y.get(i)));
    }
  }
};

struct SigmoidRule {
  static constexpr bool needs_outputs = true;

  static void forward(const auto& x, const auto& y, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      y.set(i, logistic(x.get(i)));
    }
  }
  static void backward(const auto& /*x*/, const auto& y, const auto& dy, const auto& dx, std::size_t size) {
    using Number = decltype(dx.get(0));
    for (std::size_t i = 0; i < size; ++i) {
      dx.set(i, dy.get(i) * y.get(i) * (Number(1) - y.get(i)));
    }
  }
};

struct SoftmaxRule {
  static constexpr bool needs_outputs = true;

  static void forward(const auto& x, const auto& y, std::size_t size) {
    using Number = decltype(y.get(0));
    auto largest = value_of(x.get(0));
    for (std::size_t i = 1; i < size; ++i) {
      largest = std::max(largest, value_of(x.get(i)));
    }
    Number sum{};
    for (std::size_t i = 0; i < size; ++i) {
      y.set(i, exponential(x.get(i) - Number(largest)));
      sum += y.get(i);
    }
    for (std::size_t i = 0; i < size; ++i) {
      y.set(i, y.get(i) / sum);
    }
  }
  // dx_i = y_i (dy_i - sum_j y_j dy_j)
  static void backward(const auto& /*x*/, const auto& y, const auto& dy, const auto& dx, std::size_t size) {
    decltype(dx.get(0)) sum{};
    for (std::size_t i = 0; i < size; ++i) {
      sum += y.get(i) * dy.get(i);
    }
    for (std::size_t i = 0; i < size; ++i) {
      dx.set(i, y.get(i) * (dy.get(i) - sum));
    }
  }
};

// Masks are drawn 16 bits a value, so the probability is rounded to a multiple of 2^-16.
template <class T>
class DropoutOperation final : public Operation<T> {
 public:
  DropoutOperation(std::size_t size, double probability)
      : size_(size),
        dropped_(static_cast<std::uint32_t>(std::lround(probability * 65536.0))),
        scale_(static_cast<T>(65536.0 / (65536.0 - dropped_))) {
    expect(dropped_ < 65536, "dropout keeps something");
  }

  [[nodiscard]] bool is_dropout() const override { return true; }
  [[nodiscard]] bool by_sample() const override { return true; }

  void draw(Memory<T>& m, RandomStream& stream) const override {
    m.drawn.resize(m.size * size_);
    stream.fill(m.drawn);
  }

  void forward(Memory<T>& m, const Weights<T>& /*w*/, const Weights<T>* /*v*/,
               Scratch<T>& /*scratch*/) const override {
    mask(m, m.x, m.y);
  }

  void backward(Memory<T>& m, const Weights<T>& /*w*/, const Weights<T>* /*v*/, const Sink<T>& /*sink*/,
                Scratch<T>& /*scratch*/) const override {
    if (m.dx.data != nullptr) {
      mask(m, m.dy, m.dx);
    }
  }

 private:
  void mask(const Memory<T>& m, Rows<const T> from, Rows<T> to) const {
    for (std::size_t b = m.begin; b < m.end; ++b) {
      const std::uint16_t* drawn = m.drawn.data() + b * size_;
      kernels<T>().drop({dropped_, scale_}, from.row(b), drawn, size_, to.row(b));
      if (m.tangent) {
        kernels<T>().drop({dropped_, scale_}, from.row(m.size + b), drawn, size_, to.row(m.size + b));
      }
    }
  }
  std::size_t size_;
  std::uint32_t dropped_;
  T scale_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation<T>> make_relu(std::size_t size) {
  return std::make_unique<RowByRow<T, ReluRule>>(size);
}
template <class T>
std::unique_ptr<Operation<T>> make_tanh(std::size_t size) {
  return std::make_unique<RowByRow<T, TanhRule>>(size);
}
template <class T>
std::unique_ptr<Operation<T>> make_sigmoid(std::size_t size) {
  return std::make_unique<RowByRow<T, SigmoidRule>>(size);
}
template <class T>
std::unique_ptr<Operation<T>> make_softmax(std::size_t size) {
  return std::make_unique<RowByRow<T, SoftmaxRule>>(size);
}
template <class T>
std::unique_ptr<Operation<T>> make_dropout(std::size_t size, double probability) {
  return std::make_unique<DropoutOperation<T>>(size, probability);
}

template std::unique_ptr<Operation<float>> make_relu(std::size_t);
template std::unique_ptr<Operation<double>> make_relu(std::size_t);
template std::unique_ptr<Operation<float>> make_tanh(std::size_t);
template std::unique_ptr<Operation<double>> make_tanh(std::size_t);
template std::unique_ptr<Operation<float>> make_sigmoid(std::size_t);
template std::unique_ptr<Operation<double>> make_sigmoid(std::size_t);
template std::unique_ptr<Operation<float>> make_softmax(std::size_t);
template std::unique_ptr<Operation<double>> make_softmax(std::size_t);
template std::unique_ptr<Operation<float>> make_dropout(std::size_t, double);
template std::unique_ptr<Operation<double>> make_dropout(std::size_t, double);

}  // namespace skein::nn
