#include "skein/nn/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/nn/layer_text.h"
#include "skein/nn/tensor_file.h"

namespace skein::nn {
namespace {

constexpr std::string_view input_key = "network.input";
constexpr std::string_view layers_key = "network.layers";
constexpr std::string_view layer_separator = "; ";
constexpr std::size_t most_file_bytes = std::size_t{1} << 34U;

// A tensor as PyTorch has it, and where each of its numbers is in ours: the loops over `sizes`, the last one
// innermost, go through PyTorch's order, and a loop's next number is `strides` further on in ours.
struct Layout {
  std::vector<std::size_t> shape;
  std::array<std::size_t, 4> sizes{1, 1, 1, 1};
  std::array<std::size_t, 4> strides{0, 0, 0, 0};
};

Layout plain(std::size_t size) {
  return {.shape = {size}, .sizes = {1, 1, 1, size}, .strides = {0, 0, 0, 1}};
}

// [rows][columns] there, [columns][rows] here.
Layout transposed(std::size_t rows, std::size_t columns) {
  return {.shape = {rows, columns}, .sizes = {1, 1, rows, columns}, .strides = {0, 0, 1, rows}};
}

Layout convolution_weight(const Convolution& layer, std::size_t channels) {
  const auto [height, width] = layer.kernel;
  const std::size_t filters = layer.filters;
  return {.shape = {filters, channels, height, width},
          .sizes = {filters, channels, height, width},
          .strides = {1, filters, width * channels * filters, channels * filters}};
}

Layout linear_weight(const Linear& layer, const Shape& input) {
  const std::size_t outputs = layer.outputs;
  return {.shape = {outputs, input.size()},
          .sizes = {outputs, input.channels, input.height, input.width},
          .strides = {1, outputs, input.width * input.channels * outputs, input.channels * outputs}};
}

// In the order of `tensors`.
std::vector<Layout> layouts(const Architecture& architecture) {
  std::vector<Layout> result;
  const std::vector<Shape> outputs = shapes(architecture);
  bool is_sequence = false;  // an LSTM's, which PyTorch has as [time][hidden]
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Shape& input = i == 0 ? architecture.input : outputs[i - 1];
    const Layer& layer = architecture.layers[i];
    if (const auto* convolution = std::get_if<Convolution>(&layer)) {
      result.push_back(convolution_weight(*convolution, input.channels));
      result.push_back(plain(convolution->filters));
      is_sequence = false;
    } else if (std::holds_alternative<MaxPool>(layer)) {
      is_sequence = false;
    } else if (const auto* linear = std::get_if<Linear>(&layer)) {
      result.push_back(is_sequence ? transposed(linear->outputs, input.size())
                                   : linear_weight(*linear, input));
      result.push_back(plain(linear->outputs));
    } else if (const auto* lstm = std::get_if<Lstm>(&layer)) {
      const std::size_t gates = 4 * lstm->hidden;
      result.push_back(transposed(gates, input.width * input.channels));
      result.push_back(transposed(gates, lstm->hidden));
      result.push_back(plain(gates));
      result.push_back(plain(gates));
      is_sequence = true;
    }
  }
  return result;
}

// Calls visit(place in ours) in PyTorch's order.
template <class Visit>
void for_each_place(const Layout& layout, const Visit& visit) {
  const auto& [n0, n1, n2, n3] = layout.sizes;
  const auto& [s0, s1, s2, s3] = layout.strides;
  for (std::size_t i0 = 0; i0 < n0; ++i0) {
    for (std::size_t i1 = 0; i1 < n1; ++i1) {
      for (std::size_t i2 = 0; i2 < n2; ++i2) {
        for (std::size_t i3 = 0; i3 < n3; ++i3) {
          visit(i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3);
        }
      }
    }
  }
}

// Ours from the file's, which must have just the tensors of this network.
Vector<float> read_parameters(const TensorFile& content, const Architecture& architecture,
                              const std::string& file) {
  InputFaults faults;
  const std::vector<Tensor> expected = tensors(architecture);
  const std::vector<Layout> expected_layouts = layouts(architecture);
  for (const StoredTensor& stored : content.tensors) {
    if (std::ranges::find(expected, stored.name, &Tensor::name) == expected.end()) {
      faults.add({.file = file, .key = stored.name, .message = "is no tensor of the network"});
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto stored = std::ranges::find(content.tensors, expected[i].name, &StoredTensor::name);
    if (stored == content.tensors.end()) {
      faults.add({.file = file, .key = expected[i].name, .message = "is missing"});
    } else if (stored->shape != expected_layouts[i].shape) {
      faults.add({.file = file,
                  .key = expected[i].name + ".shape",
                  .value = fmt::format("[{}]", fmt::join(stored->shape, ", ")),
                  .message = fmt::format("must be [{}]", fmt::join(expected_layouts[i].shape, ", "))});
    }
  }
  faults.throw_if_any();

  Vector<float> parameters(num_parameters(architecture));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto stored = std::ranges::find(content.tensors, expected[i].name, &StoredTensor::name);
    auto next = stored->values.begin();
    for_each_place(expected_layouts[i],
                   [&](std::size_t place) { parameters[expected[i].offset + place] = *next++; });
  }
  return parameters;
}

// "28x28x1"
std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  const char* next = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t* size : {&shape.height, &shape.width, &shape.channels}) {
    if (size != &shape.height && (next == end || *next++ != 'x')) {
      return std::nullopt;
    }
    const auto [after, error] = std::from_chars(next, end, *size);
    if (error != std::errc()) {
      return std::nullopt;
    }
    next = after;
  }
  return next == end ? std::optional(shape) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + separator.size());
  }
}

Architecture read_architecture(const Notes& metadata, const std::string& file) {
  InputFaults faults;
  const auto fault = [&](std::string_view key, std::string value, std::string message) {
    faults.add(
        {.file = file, .key = std::string(key), .value = std::move(value), .message = std::move(message)});
  };
  Architecture architecture;
  if (const auto input = metadata.find(std::string(input_key)); input == metadata.end()) {
    fault(input_key, "", "is missing in the metadata; it must be HEIGHTxWIDTHxCHANNELS");
  } else if (const std::optional<Shape> shape = parse_shape(input->second)) {
    architecture.input = *shape;
  } else {
    fault(input_key, input->second, "must be HEIGHTxWIDTHxCHANNELS");
  }
  if (const auto layers = metadata.find(std::string(layers_key)); layers == metadata.end()) {
    fault(layers_key, "",
          "is missing in the metadata; it must be a list such as conv 16 2x2; relu; linear 10");
  } else {
    for (const std::string_view text : split(layers->second, layer_separator)) {
      try {
        architecture.layers.push_back(parse_layer(text));
      } catch (const InputError& error) {
        for (const InputFault& found : error.faults()) {
          fault(layers_key, found.value, found.message);
        }
      }
    }
  }
  if (faults.empty()) {
    for (const std::string& message : faults_of(architecture)) {
      fault(layers_key, "", message);
    }
  }
  faults.throw_if_any();
  return architecture;
}

}  // namespace

std::string to_safetensors(const SavedNetwork& network) {
  const Architecture& architecture = network.architecture;
  expect(network.parameters.size() == num_parameters(architecture),
         "a network is saved with all of its parameters");
  expect(std::ranges::none_of(network.notes,
                              [](const auto& note) { return note.first.starts_with("network."); }),
         "notes do not say what the network is");
  TensorFile content{.metadata = network.notes};
  const Shape& input = architecture.input;
  std::vector<std::string> layers;
  std::ranges::transform(architecture.layers, std::back_inserter(layers), to_text);
  content.metadata[std::string(input_key)] =
      fmt::format("{}x{}x{}", input.height, input.width, input.channels);
  content.metadata[std::string(layers_key)] = fmt::format("{}", fmt::join(layers, layer_separator));

  const std::vector<Tensor> all = tensors(architecture);
  const std::vector<Layout> all_layouts = layouts(architecture);
  for (std::size_t i = 0; i < all.size(); ++i) {
    StoredTensor stored{.name = all[i].name, .shape = all_layouts[i].shape};
    stored.values.reserve(all[i].size);
    for_each_place(all_layouts[i], [&](std::size_t place) {
      stored.values.push_back(network.parameters[all[i].offset + place]);
    });
    content.tensors.push_back(std::move(stored));
  }
  return to_bytes(content);
}

SavedNetwork parse_safetensors(std::string_view bytes, const std::string& file) {
  TensorFile content = parse_tensor_file(bytes, file);
  Architecture architecture = read_architecture(content.metadata, file);
  Vector<float> parameters = read_parameters(content, architecture, file);
  std::erase_if(content.metadata, [](const auto& entry) { return entry.first.starts_with("network."); });
  return {std::move(architecture), std::move(parameters), std::move(content.metadata)};
}

void save_network(const std::filesystem::path& file, const SavedNetwork& network) {
  write_file(file, to_safetensors(network));
}

SavedNetwork load_network(const std::filesystem::path& file) {
  return parse_safetensors(read_file(file, most_file_bytes), file.string());
}

Vector<float> load_parameters(const std::filesystem::path& file, const Architecture& architecture) {
  return read_parameters(parse_tensor_file(read_file(file, most_file_bytes), file.string()), architecture,
                         file.string());
}

Vector<float> pytorch_parameters(const Architecture& architecture, std::uint32_t seed) {
  constexpr std::uint32_t mantissa = (1U << 24U) - 1U;
  std::mt19937 generator(seed);
  Vector<float> parameters(num_parameters(architecture));
  const std::vector<Tensor> all = tensors(architecture);
  const std::vector<Layout> all_layouts = layouts(architecture);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto bound = static_cast<float>(all[i].bound);
    for_each_place(all_layouts[i], [&](std::size_t place) {
      const float uniform = static_cast<float>(generator() & mantissa) * 0x1p-24F;
      parameters[all[i].offset + place] = std::fma(uniform, 2.0F * bound, -bound);
    });
  }
  return parameters;
}

Vector<float> starting_parameters(const std::filesystem::path& start, const Architecture& architecture) {
  constexpr std::string_view call = "torch.manual_seed(";
  const std::string text = start.string();
  std::uint32_t seed = 0;
  if (text.starts_with(call) && text.ends_with(')')) {
    const char* const end = text.data() + text.size() - 1;
    if (const auto [after, error] = std::from_chars(text.data() + call.size(), end, seed);
        error == std::errc() && after == end) {
      return pytorch_parameters(architecture, seed);
    }
    throw InputError(InputFault{"", "initial model", text, "must have a whole number from 0 to 4294967295"});
  }
  return load_parameters(start, architecture);
}

}  // namespace skein::nn
