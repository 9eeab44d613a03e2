#include "skein/nn/architecture.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "skein/base/expect.h"

namespace skein::nn {
namespace {

// Of values of one sample after a layer, and of all parameters.
constexpr std::size_t most_values = std::size_t{1} << 31;
constexpr std::size_t most_padding = 1 << 20;
// Dropout rounds its probability to a multiple of 2^-16 and must keep something.
constexpr double most_dropout = 65535.0 / 65536.0;
// A pool notes the place in its window that an output came from in 16 bits.
constexpr std::size_t most_places = 65535;

// More than most_values stays more than that, and never wraps around.
std::size_t capped_product(std::initializer_list<std::size_t> factors) {
  std::size_t product = 1;
  for (const std::size_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product) || product > most_values) {
      product = most_values + 1;
    }
  }
  return product;
}

std::size_t positions(std::size_t input, std::size_t kernel, std::size_t stride, std::size_t padding) {
  return (input + 2 * padding - kernel) / stride + 1;
}

std::string text(const HeightWidth& sizes) { return fmt::format("{}x{}", sizes[0], sizes[1]); }
std::string text(const Shape& shape) {
  return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

// What is wrong with a layer wherever it stands.
std::vector<std::string> own_faults(const Layer& layer) {
  std::vector<std::string> faults;
  const auto require = [&](bool holds, std::string message) {
    if (!holds) {
      faults.push_back(std::move(message));
    }
  };
  const auto in_range = [](std::size_t value) { return value >= 1 && value <= most_values; };
  const auto require_positive = [&](const HeightWidth& sizes, std::string_view what) {
    require(in_range(sizes[0]) && in_range(sizes[1]),
            fmt::format("{} {} must be at least 1x1 and at most {}", what, text(sizes), most_values));
  };
  const auto require_count = [&](std::size_t value, std::string_view what) {
    require(in_range(value),
            fmt::format("{} {} must be at least 1 and at most {}", value, what, most_values));
  };
  std::visit(Overload{[&](const Convolution& l) {
                        require_count(l.filters, "filters");
                        require_positive(l.kernel, "kernel");
                        require_positive(l.stride, "stride");
                        require(l.padding[0] <= most_padding && l.padding[1] <= most_padding,
                                fmt::format("padding {} must be at most {}", text(l.padding), most_padding));
                      },
                      [&](const MaxPool& l) {
                        require_positive(l.kernel, "kernel");
                        require_positive(l.stride, "stride");
                      },
                      [&](const Linear& l) { require_count(l.outputs, "outputs"); },
                      [&](const Lstm& l) { require_count(l.hidden, "hidden values"); },
                      [&](const Dropout& l) {
                        require(
                            l.probability >= 0.0 && l.probability <= most_dropout,
                            fmt::format("dropout probability {:g} must be in [0, 1), and keep at least 1 in "
                                        "65536 values",
                                        l.probability));
                      },
                      [](const auto&) {}},
             layer);
  return faults;
}

// What is wrong with a layer, in itself without faults, that is given samples of this shape.
std::optional<std::string> misfit(const Layer& layer, const Shape& input) {
  const auto fits = [&](const HeightWidth& kernel, const HeightWidth& padding) {
    return kernel[0] <= input.height + 2 * padding[0] && kernel[1] <= input.width + 2 * padding[1];
  };
  return std::visit(
      Overload{[&](const Convolution& l) -> std::optional<std::string> {
                 if (!fits(l.kernel, l.padding)) {
                   return fmt::format("kernel {} is larger than its input {} with padding {}", text(l.kernel),
                                      text(input), text(l.padding));
                 }
                 if (capped_product({input.height + 2 * l.padding[0], input.width + 2 * l.padding[1],
                                     input.channels}) > most_values) {
                   return fmt::format("input {} with padding {} has more than {} values", text(input),
                                      text(l.padding), most_values);
                 }
                 return std::nullopt;
               },
               [&](const MaxPool& l) -> std::optional<std::string> {
                 if (!fits(l.kernel, {0, 0})) {
                   return fmt::format("kernel {} is larger than its input {}", text(l.kernel), text(input));
                 }
                 if (capped_product({l.kernel[0], l.kernel[1]}) >= most_places) {
                   return fmt::format("kernel {} has {} places or more", text(l.kernel), most_places);
                 }
                 return std::nullopt;
               },
               [&](const Softmax&) -> std::optional<std::string> {
                 if (input.height != 1 || input.width != 1) {
                   return fmt::format(
                       "softmax runs over all values of a sample without place: after a linear layer or an "
                       "lstm, not on {}",
                       text(input));
                 }
                 return std::nullopt;
               },
               [](const auto&) -> std::optional<std::string> { return std::nullopt; }},
      layer);
}

// The layer must fit.
Shape shape_after(const Layer& layer, const Shape& input) {
  return std::visit(
      Overload{[&](const Convolution& l) {
                 return Shape{positions(input.height, l.kernel[0], l.stride[0], l.padding[0]),
                              positions(input.width, l.kernel[1], l.stride[1], l.padding[1]), l.filters};
               },
               [&](const MaxPool& l) {
                 return Shape{positions(input.height, l.kernel[0], l.stride[0], 0),
                              positions(input.width, l.kernel[1], l.stride[1], 0), input.channels};
               },
               [](const Linear& l) {
                 return Shape{1, 1, l.outputs};
               },
               [&](const Lstm& l) {
                 return l.sequence ? Shape{input.height, 1, l.hidden} : Shape{1, 1, l.hidden};
               },
               [&](const auto&) { return input; }},
      layer);
}

struct TensorSize {
  std::string_view name;
  std::size_t size;
  std::size_t fan_in;
};

std::vector<TensorSize> tensor_sizes(const Layer& layer, const Shape& input) {
  return std::visit(
      Overload{
          [&](const Convolution& l) -> std::vector<TensorSize> {
            const std::size_t fan_in = capped_product({l.kernel[0], l.kernel[1], input.channels});
            return {{"weight", capped_product({fan_in, l.filters}), fan_in}, {"bias", l.filters, fan_in}};
          },
          [&](const Linear& l) -> std::vector<TensorSize> {
            const std::size_t fan_in = input.size();
            return {{"weight", capped_product({fan_in, l.outputs}), fan_in}, {"bias", l.outputs, fan_in}};
          },
          [&](const Lstm& l) -> std::vector<TensorSize> {
            // All of PyTorch's LSTM starts by the number of hidden values, whatever the fan in.
            const std::size_t gates = capped_product({4, l.hidden});
            const std::size_t features = input.width * input.channels;
            return {{"weight_ih_l0", capped_product({features, gates}), l.hidden},
                    {"weight_hh_l0", capped_product({l.hidden, gates}), l.hidden},
                    {"bias_ih_l0", gates, l.hidden},
                    {"bias_hh_l0", gates, l.hidden}};
          },
          [](const auto&) -> std::vector<TensorSize> { return {}; }},
      layer);
}

}  // namespace

std::vector<std::string> faults_of(const Architecture& architecture) {
  std::vector<std::string> faults;
  if (architecture.layers.empty()) {
    faults.emplace_back("a network needs at least one layer");
  }
  Shape shape = architecture.input;
  const std::size_t inputs = capped_product({shape.height, shape.width, shape.channels});
  bool shape_known = inputs >= 1 && inputs <= most_values;
  if (!shape_known) {
    faults.push_back(fmt::format("the samples' shape {} must have at least 1 and at most {} values",
                                 text(shape), most_values));
  }
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < architecture.layers.size(); ++i) {
    const Layer& layer = architecture.layers[i];
    std::vector<std::string> found = own_faults(layer);
    if (found.empty() && shape_known) {
      if (const std::optional<std::string> message = misfit(layer, shape)) {
        found.push_back(*message);
      } else {
        for (const TensorSize& tensor : tensor_sizes(layer, shape)) {
          parameters += tensor.size;
        }
        shape = shape_after(layer, shape);
        if (capped_product({shape.height, shape.width, shape.channels}) > most_values) {
          found.push_back(fmt::format("gives samples of {}, more than {} values", text(shape), most_values));
        }
        if (parameters > most_values) {
          found.push_back(fmt::format("brings the network to more than {} parameters", most_values));
        }
      }
    }
    shape_known = shape_known && found.empty();
    for (const std::string& message : found) {
      faults.push_back(fmt::format("layer {}: {}", i + 1, message));
    }
  }
  return faults;
}

std::vector<Shape> shapes(const Architecture& architecture) {
  expect(faults_of(architecture).empty(), "an architecture with faults has no shapes");
  std::vector<Shape> result;
  Shape shape = architecture.input;
  for (const Layer& layer : architecture.layers) {
    shape = shape_after(layer, shape);
    result.push_back(shape);
  }
  return result;
}

std::vector<Tensor> tensors(const Architecture& architecture) {
  expect(faults_of(architecture).empty(), "an architecture with faults has no tensors");
  std::vector<Tensor> result;
  Shape shape = architecture.input;
  std::size_t offset = 0;
  std::size_t convolutions = 0;
  std::size_t linears = 0;
  std::size_t lstms = 0;
  for (std::size_t i = 0; i < architecture.layers.size(); ++i) {
    const Layer& layer = architecture.layers[i];
    const std::string name =
        std::visit(Overload{[&](const Convolution&) { return fmt::format("conv{}", ++convolutions); },
                            [&](const Linear&) { return fmt::format("fc{}", ++linears); },
                            [&](const Lstm&) { return fmt::format("lstm{}", ++lstms); },
                            [](const auto&) { return std::string(); }},
                   layer);
    for (const TensorSize& tensor : tensor_sizes(layer, shape)) {
      result.push_back({.name = fmt::format("{}.{}", name, tensor.name),
                        .layer = i,
                        .offset = offset,
                        .size = tensor.size,
                        .bound = 1.0 / std::sqrt(static_cast<double>(tensor.fan_in))});
      offset += tensor.size;
    }
    shape = shape_after(layer, shape);
  }
  return result;
}

std::size_t num_parameters(const Architecture& architecture) {
  const std::vector<Tensor> all = tensors(architecture);
  return all.empty() ? 0 : all.back().offset + all.back().size;
}

double forward_operations(const Architecture& architecture) {
  const std::vector<Shape> after = shapes(architecture);
  double products = 0.0;
  for (const Tensor& tensor : tensors(architecture)) {
    if (tensor.name.find("weight") == std::string::npos) {
      continue;
    }
    // A weight is used at every place of a convolution's output, and at every moment that an LSTM sees.
    const Layer& layer = architecture.layers[tensor.layer];
    const Shape& before = tensor.layer == 0 ? architecture.input : after[tensor.layer - 1];
    const std::size_t uses = std::holds_alternative<Convolution>(layer)
                                 ? after[tensor.layer].height * after[tensor.layer].width
                             : std::holds_alternative<Lstm>(layer) ? before.height
                                                                   : 1;
    products += static_cast<double>(tensor.size) * static_cast<double>(uses);
  }
  return 2.0 * products;
}

}  // namespace skein::nn
