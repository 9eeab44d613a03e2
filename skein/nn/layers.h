// The layers at work: forward, backward, and the tangent of both.
//
// A batch is rows, one per sample. With a tangent (Pearlmutter's R-operator: the derivative of everything
// along a direction v of the parameters) the rows of values are followed by as many rows of tangents, so that
// products with the same weights are one product. The network's input has no tangent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "skein/base/random.h"
#include "skein/nn/architecture.h"
#include "skein/nn/routing.h"
#include "skein/nn/vector.h"

namespace skein::nn {

template <class T>
struct Rows {
  T* data = nullptr;
  std::size_t stride = 0;
  std::size_t first = 0;  // whose row is at data

  [[nodiscard]] T* row(std::size_t i) const { return data + (i - first) * stride; }
};

// The matrix factor * X' D: what one batch adds to a linear layer's weights, from the rows that went in and
// the gradients that came back, without ever being formed.
template <class T>
struct LowRank {
  Rows<const T> x;
  Rows<const T> d;
  std::size_t rank = 0;  // 0: nothing
  T factor = T(1);
};

// The parameters of a layer, as it is to see them. Only linear layers have a low-rank part; their dense part
// may then be missing (nullptr).
template <class T>
struct Weights {
  const T* weight = nullptr;
  const T* bias = nullptr;
  LowRank<T> low_rank{};
};

// Where a layer's gradient goes: target = base + factor * gradient (base nullptr: from zero).
template <class T>
struct Sink {
  struct Place {
    const T* base = nullptr;
    T* target = nullptr;  // nullptr: nowhere, for whoever calls keeps a linear layer's as a LowRank
  };
  Place weight;
  Place bias;
  T factor = T(1);
  // For a linear layer: also added to its weights.
  LowRank<T> more[2] = {};
};

// What a layer keeps of a batch, from forward to backward.
template <class T>
struct Memory {
  std::size_t size = 0;  // of the batch
  // Samples at work now: operations that work on each sample alone are given a few at a time.
  std::size_t begin = 0;
  std::size_t end = 0;
  bool tangent = false;
  bool x_tangent = false;   // x has tangents too: not so at the network's input
  bool dead_zeros = false;  // nobody asks for dx where x is zero
  double zeros = 0.0;       // of a linear layer: how much of x is zero, of all
  Rows<const T> x;
  Rows<T> y;
  Rows<const T> dy;
  Rows<T> dx;  // data nullptr: not wanted
  std::vector<std::uint16_t>* sources = nullptr;
  Vector<T> values{};
  std::vector<std::uint16_t> drawn{};  // of a dropout: a random number for each value

  [[nodiscard]] bool starts() const { return begin == 0; }
  [[nodiscard]] bool ends() const { return end == size; }
  [[nodiscard]] std::size_t rows() const { return tangent ? 2 * size : size; }
  [[nodiscard]] std::size_t x_rows() const { return tangent && x_tangent ? 2 * size : size; }
};

// Buffers of an operation that live until all samples are through.
template <class T>
class Scratch {
 public:
  // At least `size` numbers; of any value, or as they were left for as long as nobody asks for more.
  T* get(std::size_t slot, std::size_t size) {
    if (slot >= buffers_.size()) {
      buffers_.resize(slot + 1);
    }
    if (buffers_[slot].size() < size) {
      buffers_[slot] = Vector<T>(size);
    }
    return buffers_[slot].data();
  }
  RouteBuffers routes;

 private:
  std::vector<Vector<T>> buffers_;
};

template <class T>
class Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  Operation(Operation&&) = delete;
  Operation& operator=(Operation&&) = delete;

  [[nodiscard]] virtual std::size_t num_weights() const { return 0; }
  [[nodiscard]] virtual std::size_t num_biases() const { return 0; }
  // Outputs of a linear layer; 0 for others.
  [[nodiscard]] virtual std::size_t linear_outputs() const { return 0; }
  [[nodiscard]] virtual bool is_dropout() const { return false; }
  // Whether it ends with a ReLU: an output of zero passes no gradient back.
  [[nodiscard]] virtual bool ends_with_relu() const { return false; }
  // Whether it can be given a part of the batch, from Memory's begin to its end, part after part.
  [[nodiscard]] virtual bool by_sample() const { return false; }
  // Whether backward reads y.
  [[nodiscard]] virtual bool needs_outputs() const { return false; }

  // y from x. `v` is the direction's part for this layer; nullptr without tangents.
  virtual void forward(Memory<T>& memory, const Weights<T>& w, const Weights<T>* v,
                       Scratch<T>& scratch) const = 0;
  // dx from dy, and the gradient of the parameters. With `v`, the sink gets the gradient's tangent instead.
  virtual void backward(Memory<T>& memory, const Weights<T>& w, const Weights<T>* v, const Sink<T>& sink,
                        Scratch<T>& scratch) const = 0;
  // Dropout's masks for the batch.
  virtual void draw(Memory<T>& memory, RandomStream& stream) const;
};

// Convolution, then ReLU and max-pooling if they follow.
struct ConvolutionBlock {
  Shape input;
  Convolution convolution;
  bool relu = false;
  MaxPool pool{.kernel = {1, 1}, .stride = {1, 1}};
};

template <class T>
std::unique_ptr<Operation<T>> make_convolution(const ConvolutionBlock& block);
template <class T>
std::unique_ptr<Operation<T>> make_pool(const Shape& input, const MaxPool& pool);
template <class T>
std::unique_ptr<Operation<T>> make_linear(std::size_t inputs, std::size_t outputs);
template <class T>
std::unique_ptr<Operation<T>> make_relu(std::size_t size);
template <class T>
std::unique_ptr<Operation<T>> make_tanh(std::size_t size);
template <class T>
std::unique_ptr<Operation<T>> make_sigmoid(std::size_t size);
template <class T>
std::unique_ptr<Operation<T>> make_softmax(std::size_t size);
template <class T>
std::unique_ptr<Operation<T>> make_dropout(std::size_t size, double probability);
template <class T>
std::unique_ptr<Operation<T>> make_lstm(const Shape& input, const Lstm& lstm);

// Writes `count` numbers of a gradient that was summed apart, from place `offset` on.
template <class T>
void pour(const T* gradient, std::size_t count, std::size_t offset, const typename Sink<T>::Place& place,
          T factor) {
  for (std::size_t i = 0; i < count; ++i) {
    const T start = place.base != nullptr ? place.base[offset + i] : T(0);
    place.target[offset + i] = start + factor * gradient[i];
  }
}

}  // namespace skein::nn
