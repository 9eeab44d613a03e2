// What a network is: the shape of a sample and a list of layers.
//
// Samples and activations are stored channels innermost: value (y, x, c) is at (y * width + x) * channels +
// c. The parameters of a network are one flat vector, layer after layer, weights then biases:
//   convolution  weight [kernel y][kernel x][channel in][channel out], bias [channel out]
//   linear       weight [in][out], bias [out]; `in` runs over (y, x, c) as the activations do
//   lstm         input weight [feature][4 hidden], hidden weight [hidden][4 hidden], input bias, hidden bias
//                [4 hidden] each; gates in the order input, forget, cell, output
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace skein::nn {

struct Shape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;

  [[nodiscard]] std::size_t size() const { return height * width * channels; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

using HeightWidth = std::array<std::size_t, 2>;

struct Convolution {
  std::size_t filters = 1;
  HeightWidth kernel{1, 1};
  HeightWidth stride{1, 1};
  HeightWidth padding{0, 0};  // zeros on each side
};
struct MaxPool {
  HeightWidth kernel{2, 2};
  HeightWidth stride{2, 2};
};
struct Linear {
  std::size_t outputs = 1;
};
struct Relu {};
struct Tanh {};
struct Sigmoid {};
struct Softmax {};
// In training a value becomes 0 with this probability, or else is divided by 1 - probability.
struct Dropout {
  double probability = 0.5;
};
// Time runs along the sample's height; its width * channels values are the features of a moment. Gives the
// last hidden state, or with `sequence` all of them.
struct Lstm {
  std::size_t hidden = 1;
  bool sequence = false;
};

using Layer = std::variant<Convolution, MaxPool, Linear, Relu, Tanh, Sigmoid, Softmax, Dropout, Lstm>;

struct Architecture {
  Shape input;
  std::vector<Layer> layers;
};

// A tensor of a network's parameters.
struct Tensor {
  std::string name;        // conv1.weight, fc2.bias, lstm1.weight_ih_l0
  std::size_t layer = 0;   // of the list
  std::size_t offset = 0;  // in the flat vector
  std::size_t size = 0;
  double bound = 0.0;  // starts uniform in [-bound, bound], as in PyTorch
};

// What is wrong with each layer ("layer 3: ..."); empty if nothing.
std::vector<std::string> faults_of(const Architecture& architecture);
// The shape of a sample after each layer; the architecture must be without faults.
std::vector<Shape> shapes(const Architecture& architecture);
// In the flat vector's order.
std::vector<Tensor> tensors(const Architecture& architecture);
std::size_t num_parameters(const Architecture& architecture);
// Floating-point operations of one sample, forwards: two for each product of a weight and a value. All else
// is small beside them.
double forward_operations(const Architecture& architecture);

}  // namespace skein::nn
