#include "skein/nn/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/base/random.h"
#include "skein/nn/engine.h"
#include "skein/nn/layer_text.h"
#include "skein/nn/presets.h"
#include "skein/nn/tensor_file.h"
#include "tests/temporary_directory.h"

namespace skein::nn {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Pair;

// The parameters are 0, 1, 2, ...: each says where it comes from.
SavedNetwork numbered(Architecture architecture) {
  Vector<float> parameters(num_parameters(architecture));
  std::iota(parameters.begin(), parameters.end(), 0.0F);
  return {std::move(architecture), std::move(parameters), {}};
}

const StoredTensor& tensor_named(const TensorFile& content, const std::string& name) {
  return *std::ranges::find(content.tensors, name, &StoredTensor::name);
}

// As tests/reference/pytorch_start.py has it.
std::uint64_t digest_of(const std::vector<float>& values) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += (i + 1) * std::uint64_t{std::bit_cast<std::uint32_t>(values[i])};
  }
  return sum;
}

TEST(PytorchParameters, AreThoseOfPytorchToTheBit) {
  const auto reference =
      nlohmann::json::parse(read_file(SKEIN_SOURCE_DIR "/tests/reference/pytorch_start.json", 1 << 20));
  ASSERT_EQ(reference["cases"].size(), 12U);
  for (const auto& c : reference["cases"]) {
    const std::string name = c["network"];
    SCOPED_TRACE(fmt::format("{}, seed {}", name, c["seed"].get<std::uint32_t>()));
    const auto input = c["input"].get<std::array<std::size_t, 3>>();
    Architecture architecture{.input = {input[0], input[1], input[2]},
                              .layers = name.starts_with("lstm")
                                            ? std::vector<Layer>{Lstm{.hidden = 7}, Linear{10}}
                                            : preset(name, name == "radioml_cnn" ? 4 : 10)};
    const std::vector<Tensor> names = tensors(architecture);
    Vector<float> parameters = pytorch_parameters(architecture, c["seed"].get<std::uint32_t>());
    const TensorFile content =
        parse_tensor_file(to_safetensors({std::move(architecture), std::move(parameters), {}}), "");
    ASSERT_EQ(names.size(), c["digests"].size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(fmt::format("{}", digest_of(tensor_named(content, names[i].name).values)), c["digests"][i])
          << names[i].name;
    }
  }
}

TEST(PytorchParameters, AreNamedByTheCallThatMakesThem) {
  const Architecture architecture{.input = {2, 2, 1}, .layers = {Linear{3}}};
  EXPECT_TRUE(std::ranges::equal(starting_parameters("torch.manual_seed(7)", architecture),
                                 pytorch_parameters(architecture, 7)));
  for (const char* wrong : {"torch.manual_seed()", "torch.manual_seed(-1)", "torch.manual_seed(1.5)",
                            "torch.manual_seed(4294967296)"}) {
    EXPECT_THROW(starting_parameters(wrong, architecture), InputError) << wrong;
  }
}

TEST(Safetensors, ConvolutionsByHand) {
  // Ours: [kernel y = 1][kernel x = 2][in = 2][out = 3]; PyTorch's: [out][in][y][x].
  const TensorFile content = parse_tensor_file(
      to_safetensors(numbered({.input = {1, 2, 2}, .layers = {Convolution{.filters = 3, .kernel = {1, 2}}}})),
      "");
  const StoredTensor& weight = tensor_named(content, "conv1.weight");
  EXPECT_THAT(weight.shape, ElementsAre(3, 2, 1, 2));
  EXPECT_THAT(weight.values, ElementsAre(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11));
  EXPECT_THAT(tensor_named(content, "conv1.bias").values, ElementsAre(12, 13, 14));
}

TEST(Safetensors, LinearLayersByHand) {
  // A sample of 2x1x2: ours is (y, x, c) = 00 01 10 11 (y and c), PyTorch's (c, y, x) = 00 10 01 11.
  const TensorFile content = parse_tensor_file(
      to_safetensors(numbered({.input = {2, 1, 2}, .layers = {Linear{2}, Relu{}, Linear{1}}})), "");
  const StoredTensor& weight = tensor_named(content, "fc1.weight");
  EXPECT_THAT(weight.shape, ElementsAre(2, 4));
  EXPECT_THAT(weight.values, ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_THAT(tensor_named(content, "fc1.bias").values, ElementsAre(8, 9));
  EXPECT_THAT(tensor_named(content, "fc2.weight").values, ElementsAre(10, 11));
  EXPECT_THAT(tensor_named(content, "fc2.weight").shape, ElementsAre(1, 2));
}

TEST(Safetensors, LstmsByHand) {
  const TensorFile content = parse_tensor_file(
      to_safetensors(
          numbered({.input = {2, 1, 3}, .layers = {Lstm{.hidden = 1, .sequence = true}, Linear{1}}})),
      "");
  // Ours: [feature = 3][4], [hidden = 1][4].
  const StoredTensor& input = tensor_named(content, "lstm1.weight_ih_l0");
  EXPECT_THAT(input.shape, ElementsAre(4, 3));
  EXPECT_THAT(input.values, ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_THAT(tensor_named(content, "lstm1.weight_hh_l0").shape, ElementsAre(4, 1));
  EXPECT_THAT(tensor_named(content, "lstm1.weight_hh_l0").values, ElementsAre(12, 13, 14, 15));
  EXPECT_THAT(tensor_named(content, "lstm1.bias_ih_l0").values, ElementsAre(16, 17, 18, 19));
  EXPECT_THAT(tensor_named(content, "lstm1.bias_hh_l0").values, ElementsAre(20, 21, 22, 23));
  EXPECT_THAT(tensor_named(content, "fc1.weight").values, ElementsAre(24, 25)) << "moment after moment";
}

TEST(Safetensors, MetadataSaysWhatTheNetworkIs) {
  SavedNetwork network = numbered(
      {.input = {4, 5, 1}, .layers = {MaxPool{.kernel = {2, 2}, .stride = {1, 1}}, Tanh{}, Linear{3}}});
  network.notes = {{"iteration", "40"}, {"swarm", "2"}};
  EXPECT_THAT(parse_tensor_file(to_safetensors(network), "").metadata,
              ElementsAre(Pair("iteration", "40"), Pair("network.input", "4x5x1"),
                          Pair("network.layers", "pool 2x2 stride 1; tanh; linear 3"), Pair("swarm", "2")));
  const SavedNetwork back = parse_safetensors(to_safetensors(network), "");
  EXPECT_EQ(back.notes, network.notes);
  EXPECT_EQ(back.architecture.input, network.architecture.input);
}

TEST(Safetensors, OnlyWholeNetworksAreSaved) {
  SavedNetwork network = numbered({.input = {1, 1, 2}, .layers = {Linear{2}}});
  network.notes = {{"network.layers", "mine"}};
  EXPECT_THROW(to_safetensors(network), ProgrammingError);
  network.notes.clear();
  network.parameters = Vector<float>(5);
  EXPECT_THROW(to_safetensors(network), ProgrammingError);
}

Architecture random_network(RandomStream& stream) {
  const auto draw = [&](std::size_t most) { return 1 + static_cast<std::size_t>(stream.below(most)); };
  Architecture network{.input = {3 + draw(6), 3 + draw(6), draw(3)}};
  Convolution convolution{.filters = draw(4), .kernel = {draw(3), draw(3)}, .stride = {draw(2), draw(2)}};
  convolution.padding = {static_cast<std::size_t>(stream.below(convolution.kernel[0])),
                         static_cast<std::size_t>(stream.below(convolution.kernel[1]))};
  network.layers = {convolution, Relu{}};
  if (stream.bernoulli(0.5)) {
    network.layers.emplace_back(MaxPool{.kernel = {2, 2}, .stride = {1, draw(2)}});
  }
  if (stream.bernoulli(0.5)) {
    network.layers.emplace_back(Dropout{0.25});
    network.layers.emplace_back(Convolution{.filters = draw(5), .kernel = {1, 2}, .padding = {0, 1}});
    network.layers.emplace_back(Tanh{});
  }
  if (stream.bernoulli(0.5)) {
    network.layers.emplace_back(Lstm{.hidden = draw(5), .sequence = true});
  }
  if (stream.bernoulli(0.3)) {
    network.layers.emplace_back(Convolution{.filters = 2, .kernel = {2, 1}, .padding = {1, 0}});
  }
  if (stream.bernoulli(0.3)) {
    network.layers.emplace_back(Lstm{.hidden = draw(5), .sequence = stream.bernoulli(0.5)});
  }
  if (stream.bernoulli(0.5)) {
    network.layers.emplace_back(Linear{draw(6)});
    network.layers.emplace_back(Sigmoid{});
  }
  network.layers.emplace_back(Linear{draw(6)});
  if (stream.bernoulli(0.3)) {
    network.layers.emplace_back(Softmax{});
  }
  return network;
}

SavedNetwork with_random_parameters(const Architecture& architecture, RandomStream& stream) {
  SavedNetwork network{architecture, Vector<float>(num_parameters(architecture)), {}};
  for (const Tensor& tensor : tensors(architecture)) {
    for (std::size_t i = 0; i < tensor.size; ++i) {
      network.parameters[tensor.offset + i] = static_cast<float>(stream.uniform(-tensor.bound, tensor.bound));
    }
  }
  return network;
}

std::vector<std::string> texts(const std::vector<Layer>& layers) {
  std::vector<std::string> result;
  std::ranges::transform(layers, std::back_inserter(result), to_text);
  return result;
}

TEST(Safetensors, RandomNetworksComeBackBitForBit) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "safetensors");
    const Architecture architecture = random_network(stream);
    if (!faults_of(architecture).empty()) {
      continue;
    }
    const SavedNetwork network = with_random_parameters(architecture, stream);
    const SavedNetwork back = parse_safetensors(to_safetensors(network), "");
    EXPECT_EQ(texts(back.architecture.layers), texts(architecture.layers));
    ASSERT_TRUE(std::ranges::equal(back.parameters, network.parameters)) << seed;
    EXPECT_EQ(to_safetensors(back), to_safetensors(network));
  }
}

TEST(Safetensors, FilesComeBack) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "models" / "global.safetensors";
  SavedNetwork network = numbered(
      {.input = {3, 3, 2}, .layers = {Convolution{.filters = 2, .kernel = {2, 2}}, Relu{}, Linear{4}}});
  network.notes = {{"accuracy", "0.5"}};
  save_network(file, network);
  const SavedNetwork back = load_network(file);
  EXPECT_TRUE(std::ranges::equal(back.parameters, network.parameters));
  EXPECT_EQ(back.notes, network.notes);
  EXPECT_TRUE(std::ranges::equal(load_parameters(file, network.architecture), network.parameters));
  EXPECT_THROW(load_network(directory.path() / "none.safetensors"), InputError);
}

TEST(Safetensors, ParametersOfAnyOriginForAKnownNetwork) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "theirs.safetensors";
  TensorFile content{
      .tensors = {{.name = "fc1.bias", .shape = {2}, .values = {5.0F, 6.0F}},
                  {.name = "fc1.weight", .shape = {2, 2}, .values = {1.0F, 2.0F, 3.0F, 4.0F}}}};
  write_file(file, to_bytes(content));
  const Architecture network{.input = {1, 1, 2}, .layers = {Dropout{0.5}, Linear{2}}};
  EXPECT_THAT(load_parameters(file, network).span(), ElementsAre(1, 3, 2, 4, 5, 6));

  content.tensors[0].name = "fc2.bias";
  content.tensors[1].shape = {4, 1};
  write_file(file, to_bytes(content));
  try {
    load_parameters(file, network);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(
        error.faults(),
        ElementsAre(AllOf(Field(&InputFault::key, "fc2.bias"),
                          Field(&InputFault::message, "is no tensor of the network")),
                    AllOf(Field(&InputFault::key, "fc1.weight.shape"), Field(&InputFault::value, "[4, 1]"),
                          Field(&InputFault::message, "must be [2, 2]")),
                    AllOf(Field(&InputFault::key, "fc1.bias"), Field(&InputFault::message, "is missing"))));
    EXPECT_THAT(error.faults()[0].file, HasSubstr("theirs.safetensors"));
  }
}

std::vector<InputFault> faults_with(const std::map<std::string, std::string>& metadata) {
  try {
    parse_safetensors(to_bytes({.metadata = metadata}), "file");
  } catch (const InputError& error) {
    return error.faults();
  }
  return {};
}

auto fault(const std::string& key, const std::string& message) {
  return AllOf(Field(&InputFault::key, key), Field(&InputFault::message, HasSubstr(message)));
}

TEST(Safetensors, FaultsOfTheMetadata) {
  EXPECT_THAT(faults_with({}),
              ElementsAre(fault("network.input", "is missing"), fault("network.layers", "is missing")));
  for (const char* shape : {"", "28", "28x28", "28x28x", "28x28x1x", "28x28x1x1", "x28x1", "28 x 28 x 1",
                            "-1x1x1", "99999999999999999999x1x1"}) {
    EXPECT_THAT(faults_with({{"network.input", shape}, {"network.layers", "relu"}}),
                ElementsAre(fault("network.input", "HEIGHTxWIDTHxCHANNELS")))
        << shape;
  }
  EXPECT_THAT(
      faults_with({{"network.input", "2x2x1"}, {"network.layers", "relu; dense 3; ; linear"}}),
      ElementsAre(AllOf(fault("network.layers", "must be one of"), Field(&InputFault::value, "dense 3")),
                  AllOf(fault("network.layers", "must be one of"), Field(&InputFault::value, "")),
                  AllOf(fault("network.layers", "OUTPUTS"), Field(&InputFault::value, "linear"))));
  EXPECT_THAT(
      faults_with({{"network.input", "2x2x1"}, {"network.layers", "pool 3; dropout 2"}}),
      ElementsAre(fault("network.layers", "layer 1: kernel"), fault("network.layers", "layer 2: dropout")));
  EXPECT_THAT(faults_with({{"network.input", "0x2x1"}, {"network.layers", "relu"}}),
              ElementsAre(fault("network.layers", "0x2x1")));
  // A network of 2^31 parameters without a single number is refused before it is made.
  EXPECT_THAT(faults_with({{"network.input", "1x1x65535"}, {"network.layers", "linear 32768"}}),
              ElementsAre(fault("fc1.weight", "is missing"), fault("fc1.bias", "is missing")));
}

// A python3 that has PyTorch, if there is one.
std::optional<std::string> python_with_torch() {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (std::system((python + " -c 'import torch' > /dev/null 2>&1").c_str()) == 0) {
      return python;
    }
  }
  return std::nullopt;
}

void write_doubles(const std::filesystem::path& file, const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  write_file(file, bytes);
}

std::vector<double> read_doubles(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, std::size_t{1} << 24U);
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

template <class T>
std::vector<double> outputs_of(const SavedNetwork& saved, const std::vector<double>& inputs,
                               std::size_t samples) {
  const Network<T> network(saved.architecture);
  Engine<T> engine(network);
  Vector<T> parameters(saved.parameters.size());
  std::ranges::copy(saved.parameters, parameters.begin());
  Vector<T> features(inputs.size());
  std::ranges::transform(inputs, features.begin(), [](double value) { return static_cast<T>(value); });
  Vector<T> out(samples * network.num_outputs());
  engine.outputs(parameters, features.data(), samples, out.data());
  return {out.begin(), out.end()};
}

// Of the largest of the outputs.
double worst_error(const std::vector<double>& found, const std::vector<double>& expected) {
  double worst = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

TEST(Safetensors, PyTorchReadsThemToTheSameOutputs) {
  const std::optional<std::string> python = python_with_torch();
  if (!python) {
    GTEST_SKIP() << "no python3 with PyTorch here: install python3-torch to run this test";
  }
  struct Case {
    SavedNetwork network;
    std::vector<double> inputs;
  };
  constexpr std::size_t samples = 3;
  std::vector<Case> cases;
  RandomStream stream(1, "safetensors with PyTorch");
  const auto add = [&](const Architecture& architecture) {
    Case added{with_random_parameters(architecture, stream),
               std::vector<double>(samples * architecture.input.size())};
    // Float values, so that both precisions see the same.
    std::ranges::generate(added.inputs, [&] { return static_cast<float>(stream.uniform(-1.0, 1.0)); });
    cases.push_back(std::move(added));
  };
  for (const std::string_view name : preset_names()) {
    const Shape input = name.starts_with("cifar10")   ? Shape{32, 32, 3}
                        : name.starts_with("radioml") ? Shape{2, 128, 1}
                                                      : Shape{28, 28, 1};
    add({.input = input, .layers = preset(name, 10)});
  }
  while (cases.size() < 47) {
    if (const Architecture architecture = random_network(stream); faults_of(architecture).empty()) {
      add(architecture);
    }
  }

  const TemporaryDirectory directory;
  const auto file = [&](std::size_t i, const char* ending) {
    return directory.path() / fmt::format("{}.{}", i, ending);
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    save_network(file(i, "safetensors"), cases[i].network);
    write_doubles(file(i, "inputs"), cases[i].inputs);
  }
  const std::string command =
      fmt::format("{} '" SKEIN_SOURCE_DIR "/tests/reference/read_safetensors.py' '{}'", *python,
                  directory.path().string());
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(texts(cases[i].network.architecture.layers), "; ")));
    const std::vector<double> expected = read_doubles(file(i, "outputs"));
    const std::vector<double> with_doubles = outputs_of<double>(cases[i].network, cases[i].inputs, samples);
    ASSERT_EQ(expected.size(), with_doubles.size());
    EXPECT_LT(worst_error(with_doubles, expected), 1e-12);
    EXPECT_LT(worst_error(outputs_of<float>(cases[i].network, cases[i].inputs, samples), expected), 1e-5);
  }
}

}  // namespace
}  // namespace skein::nn
