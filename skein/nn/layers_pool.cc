// Max-pooling where no convolution is before it.

#include <algorithm>

#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"
#include "skein/nn/pooling.h"

namespace skein::nn {
namespace {

template <class T>
class PoolOperation final : public Operation<T> {
 public:
  PoolOperation(const Shape& input, const MaxPool& pool)
      : input_(input),
        pool_(pool_of<T>(input, input.channels, pool, false)),
        padded_pool_(pool_of<T>(input, padded<T>(input.channels), pool, false)) {}

  [[nodiscard]] bool by_sample() const override { return true; }

  void forward(Memory<T>& m, const Weights<T>& /*w*/, const Weights<T>* /*v*/,
               Scratch<T>& /*scratch*/) const override {
    m.sources->resize(m.size * sources_of(pool_) + padding<T>);
    for (std::size_t b = m.begin; b < m.end; ++b) {
      Source* sources = m.sources->data() + b * sources_of(pool_);
      kernels<T>().pool(pool_, m.x.row(b), m.y.row(b), sources);
      if (m.tangent) {
        kernels<T>().pool_tangent(pool_, m.x.row(m.size + b), sources, m.y.row(m.size + b));
      }
    }
  }

  void backward(Memory<T>& m, const Weights<T>& /*w*/, const Weights<T>* /*v*/, const Sink<T>& /*sink*/,
                Scratch<T>& scratch) const override {
    if (m.dx.data == nullptr) {
      return;
    }
    for (std::size_t b = m.begin; b < m.end; ++b) {
      const Source* sources = m.sources->data() + b * sources_of(pool_);
      spread(m.dy.row(b), sources, m.dx.row(b), scratch);
      if (m.tangent) {
        spread(m.dy.row(m.size + b), sources, m.dx.row(m.size + b), scratch);
      }
    }
  }

 private:
  void spread(const T* dy, const Source* sources, T* dx, Scratch<T>& scratch) const {
    const std::size_t pixels = input_.height * input_.width;
    const std::size_t stride = padded_pool_.in_stride;
    T* plane = scratch.get(0, pixels * stride);
    std::fill_n(plane, pixels * stride, T(0));
    kernels<T>().pool_backward(padded_pool_, dy, sources, plane);
    for (std::size_t p = 0; p < pixels; ++p) {
      std::copy_n(plane + p * stride, input_.channels, dx + p * input_.channels);
    }
  }

  Shape input_;
  Pool<T> pool_;
  Pool<T> padded_pool_;
};

}  // namespace

template <class T>
std::unique_ptr<Operation<T>> make_pool(const Shape& input, const MaxPool& pool) {
  return std::make_unique<PoolOperation<T>>(input, pool);
}

template std::unique_ptr<Operation<float>> make_pool(const Shape&, const MaxPool&);
template std::unique_ptr<Operation<double>> make_pool(const Shape&, const MaxPool&);

}  // namespace skein::nn
