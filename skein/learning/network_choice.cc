#include "skein/learning/network_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "skein/nn/layer_text.h"
#include "skein/nn/presets.h"

namespace skein {
namespace {

constexpr std::string_view automatic = "automatic";
constexpr std::string_view given_layers = "layers";

// Leaves out what is no layer.
std::vector<nn::Layer> read_layers(const std::vector<std::string>& texts, InputFaults& faults) {
  std::vector<nn::Layer> layers;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    try {
      layers.push_back(nn::parse_layer(texts[i]));
    } catch (const InputError& error) {
      for (const InputFault& fault : error.faults()) {
        faults.add({.key = "learning.network.layers",
                    .value = fmt::format("\"{}\"", fault.value),
                    .message = fmt::format("layer {}: {}", i + 1, fault.message)});
      }
    }
  }
  return layers;
}

// The network and what is wrong with it.
nn::Architecture read_network(const NetworkOptions& options, const DataSourceOptions& source,
                              InputFaults& faults) {
  const SampleShape sample = sample_shape(source);
  const std::size_t classes = num_classes(source);
  const bool is_given = options.preset == given_layers;
  nn::Architecture network{
      .input = {.height = sample.height, .width = sample.width, .channels = sample.channels}};

  if (!is_given && !options.layers.empty()) {
    faults.add({.key = "learning.network.layers",
                .value = fmt::format(R"(["{}"])", fmt::join(options.layers, R"(", ")")),
                .message = fmt::format("needs preset = \"layers\"; it is \"{}\"", options.preset)});
  }
  if (is_given) {
    network.layers = read_layers(options.layers, faults);
    if (network.layers.size() < options.layers.size()) {
      return network;
    }
  } else {
    network.layers =
        nn::preset(options.preset == automatic ? data_source(source.name).network : options.preset, classes);
  }

  const auto misfit = [&](std::string message) {
    faults.add({.key = is_given ? "learning.network.layers" : "learning.network.preset",
                .value = is_given ? "" : fmt::format("\"{}\"", options.preset),
                .message = std::move(message)});
  };
  const std::string samples =
      fmt::format("samples of {} are {}x{}x{}", source.name, sample.height, sample.width, sample.channels);
  const std::vector<std::string> messages = nn::faults_of(network);
  for (const std::string& message : messages) {
    misfit(fmt::format("{} ({})", message, samples));
  }
  if (messages.empty()) {
    if (const std::size_t outputs = nn::shapes(network).back().size(); outputs != classes) {
      misfit(fmt::format("ends with {} outputs; {} has {} classes", outputs, source.name, classes));
    }
    if (nn::num_parameters(network) == 0) {
      misfit("has nothing to learn: a network needs a convolution, a linear layer or an LSTM");
    }
  }
  return network;
}

}  // namespace

std::vector<std::string_view> network_names() {
  std::vector<std::string_view> names{automatic};
  for (const std::string_view preset : nn::preset_names()) {
    names.push_back(preset);
  }
  names.push_back(given_layers);
  return names;
}

nn::Architecture build_architecture(const NetworkOptions& options, const DataSourceOptions& source) {
  InputFaults faults;
  nn::Architecture network = read_network(options, source, faults);
  faults.throw_if_any();
  return network;
}

void check_fit(const DataSourceOptions& source, const Dataset& data) {
  const SampleShape shape = sample_shape(source);
  const std::size_t classes = num_classes(source);
  if (data.shape != shape || data.num_classes() != classes) {
    throw InputError(
        {.key = "data.path",
         .value = source.path.string(),
         .message = fmt::format("has samples of {}x{}x{} in {} classes; the network is for {}x{}x{} in {}",
                                data.shape.height, data.shape.width, data.shape.channels, data.num_classes(),
                                shape.height, shape.width, shape.channels, classes)});
  }
}

std::vector<InputFault> network_faults(const NetworkOptions& options, const DataSourceOptions& source) {
  InputFaults faults;
  read_network(options, source, faults);
  return faults.list();
}

}  // namespace skein
