#include <utility>

#include "skein/base/expect.h"
#include "skein/nn/network_layout.h"

namespace skein::nn {
namespace {

template <class T>
std::unique_ptr<Operation<T>> make(const MaxPool& layer, const Shape& input) {
  return make_pool<T>(input, layer);
}
template <class T>
std::unique_ptr<Operation<T>> make(const Linear& layer, const Shape& input) {
  return make_linear<T>(input.size(), layer.outputs);
}
template <class T>
std::unique_ptr<Operation<T>> make(const Relu& /*layer*/, const Shape& input) {
  return make_relu<T>(input.size());
}
template <class T>
std::unique_ptr<Operation<T>> make(const Tanh& /*layer*/, const Shape& input) {
  return make_tanh<T>(input.size());
}
template <class T>
std::unique_ptr<Operation<T>> make(const Sigmoid& /*layer*/, const Shape& input) {
  return make_sigmoid<T>(input.size());
}
template <class T>
std::unique_ptr<Operation<T>> make(const Softmax& /*layer*/, const Shape& input) {
  return make_softmax<T>(input.size());
}
template <class T>
std::unique_ptr<Operation<T>> make(const Dropout& layer, const Shape& input) {
  return make_dropout<T>(input.size(), layer.probability);
}
template <class T>
std::unique_ptr<Operation<T>> make(const Lstm& layer, const Shape& input) {
  return make_lstm<T>(input, layer);
}
template <class T>
std::unique_ptr<Operation<T>> make(const Convolution& layer, const Shape& input) {
  return make_convolution<T>({.input = input, .convolution = layer});
}

// Makes the operation of layer `i`, and of those after it that it takes in; returns how many layers that are.
template <class T>
std::size_t make_from(const std::vector<Layer>& layers, std::size_t i, const Shape& input,
                      std::unique_ptr<Operation<T>>& out) {
  const auto* convolution = std::get_if<Convolution>(&layers[i]);
  if (convolution == nullptr) {
    out = std::visit([&](const auto& layer) { return make<T>(layer, input); }, layers[i]);
    return 1;
  }
  ConvolutionBlock block{.input = input, .convolution = *convolution};
  std::size_t taken = 1;
  if (i + taken < layers.size() && std::holds_alternative<Relu>(layers[i + taken])) {
    block.relu = true;
    ++taken;
  }
  if (i + taken < layers.size() && std::holds_alternative<MaxPool>(layers[i + taken])) {
    block.pool = std::get<MaxPool>(layers[i + taken]);
    ++taken;
  }
  out = make_convolution<T>(block);
  return taken;
}

}  // namespace

template <class T>
Network<T>::Network(Architecture architecture) {
  expect(faults_of(architecture).empty(), "a network's architecture has no faults");
  auto layout = std::make_unique<Layout>();
  layout->num_inputs = architecture.input.size();
  const std::vector<Shape> after = shapes(architecture);
  const std::vector<Layer>& layers = architecture.layers;
  std::size_t place = 0;
  for (std::size_t i = 0; i < layers.size();) {
    typename Layout::Step step;
    i += make_from(layers, i, i == 0 ? architecture.input : after[i - 1], step.operation);
    step.size = after[i - 1].size();
    step.weight = place;
    step.bias = step.weight + step.operation->num_weights();
    step.end = step.bias + step.operation->num_biases();
    place = step.end;
    layout->steps.push_back(std::move(step));
  }
  layout->num_parameters = place;
  expect(place == nn::num_parameters(architecture), "the layout has every parameter");
  layout->architecture = std::move(architecture);
  layout_ = std::move(layout);
}

template <class T>
Network<T>::~Network() = default;
template <class T>
Network<T>::Network(Network&&) noexcept = default;
template <class T>
Network<T>& Network<T>::operator=(Network&&) noexcept = default;

template <class T>
const Architecture& Network<T>::architecture() const {
  return layout_->architecture;
}
template <class T>
std::size_t Network<T>::num_parameters() const {
  return layout_->num_parameters;
}
template <class T>
std::size_t Network<T>::num_inputs() const {
  return layout_->num_inputs;
}
template <class T>
std::size_t Network<T>::num_outputs() const {
  return layout_->steps.back().size;
}

template <class T>
Vector<T> Network<T>::initial_parameters(RandomStream& stream) const {
  Vector<T> w(num_parameters());
  for (const Tensor& tensor : tensors(architecture())) {
    for (std::size_t i = 0; i < tensor.size; ++i) {
      w[tensor.offset + i] = static_cast<T>(stream.uniform(-tensor.bound, tensor.bound));
    }
  }
  return w;
}

template class Network<float>;
template class Network<double>;

}  // namespace skein::nn
