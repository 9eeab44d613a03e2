#include "skein/learning/network_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/nn/layer_text.h"
#include "skein/nn/presets.h"
#include "skein/scenario/scenario.h"

namespace skein {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

nn::Architecture network_of(const std::string& text) {
  const Scenario scenario = parse_scenario(text, "test.toml");
  return build_architecture(scenario.learning.network, scenario.data.source);
}

std::vector<std::string> texts(const std::vector<nn::Layer>& layers) {
  std::vector<std::string> result;
  for (const nn::Layer& layer : layers) {
    result.push_back(nn::to_text(layer));
  }
  return result;
}

std::vector<InputFault> faults_in(const std::string& text) {
  try {
    parse_scenario(text, "test.toml");
  } catch (const InputError& error) {
    return error.faults();
  }
  return {};
}

auto fault(const std::string& key, const std::string& message) {
  return AllOf(Field(&InputFault::key, key), Field(&InputFault::message, HasSubstr(message)));
}

TEST(ScenarioNetwork, AutomaticIsThePapersNetworkForTheData) {
  struct Case {
    std::string source;
    std::string preset;
    nn::Shape input;
    std::size_t classes;
  };
  for (const auto& [source, preset, input, classes] :
       {Case{"mnist", "mnist_cnn", {28, 28, 1}, 10}, Case{"fashion-mnist", "mnist_cnn", {28, 28, 1}, 10},
        Case{"cifar10", "cifar10_cnn", {32, 32, 3}, 10}, Case{"radioml", "radioml_cnn", {2, 128, 1}, 4},
        Case{"modulations", "radioml_cnn", {2, 128, 1}, 4}, Case{"synthetic", "mlp", {12, 12, 1}, 10}}) {
    const nn::Architecture network = network_of("[data]\nsource = \"" + source + "\"");
    EXPECT_EQ(network.input, input) << source;
    EXPECT_EQ(texts(network.layers), texts(nn::preset(preset, classes))) << source;
  }
}

TEST(ScenarioNetwork, EverySourceHasTheShapeAndClassesThatItLoads) {
  for (const std::string_view source : {"modulations", "synthetic"}) {
    DataSourceOptions options{.name = std::string(source)};
    options.modulations.waveforms = 5;
    const DataSplit data = load_data(options, 1);
    EXPECT_EQ(data.train.shape, sample_shape(options)) << source;
    EXPECT_EQ(data.train.num_classes(), num_classes(options)) << source;
  }
  for (const std::string_view source : {"fashion-mnist", "mnist", "cifar10", "radioml"}) {
    if (find_data(source)) {
      const DataSourceOptions options{.name = std::string(source)};
      const DataSplit data = load_data(options, 1);
      EXPECT_EQ(data.train.shape, sample_shape(options)) << source;
      EXPECT_EQ(data.train.num_classes(), num_classes(options)) << source;
    }
  }
}

TEST(ScenarioNetwork, SyntheticShapesAndClassesAreTheScenarios) {
  const nn::Architecture network = network_of(
      "[data]\nsource = \"synthetic\"\nlabels_per_cluster = 2\n"
      "[data.synthetic]\nclasses = 3\nheight = 5\nwidth = 6\nchannels = 2");
  EXPECT_EQ(network.input, (nn::Shape{5, 6, 2}));
  EXPECT_THAT(texts(network.layers), ElementsAre("linear 128", "relu", "linear 3"));
}

TEST(ScenarioNetwork, GivenLayersAreTaken) {
  const nn::Architecture network = network_of(
      "[learning.network]\npreset = \"layers\"\n"
      "layers = [\"conv 4 5 stride 2\", \"tanh\", \"lstm 7\", \"linear 10\"]");
  EXPECT_EQ(network.input, (nn::Shape{28, 28, 1}));
  EXPECT_THAT(texts(network.layers), ElementsAre("conv 4 5x5 stride 2", "tanh", "lstm 7", "linear 10"));
}

TEST(ScenarioNetwork, PresetsAreTakenByName) {
  for (const std::string_view name : nn::preset_names()) {
    const std::string source = name.starts_with("cifar10")   ? "cifar10"
                               : name.starts_with("radioml") ? "radioml"
                                                             : "mnist";
    const nn::Architecture network = network_of(
        "[data]\nsource = \"" + source + "\"\n[learning.network]\npreset = \"" + std::string(name) + "\"");
    EXPECT_EQ(texts(network.layers), texts(nn::preset(name, source == "radioml" ? 4 : 10))) << name;
  }
}

TEST(ScenarioNetwork, EveryFaultOfEveryLayer) {
  EXPECT_THAT(faults_in("[learning.network]\npreset = \"layers\"\n"
                        "layers = [\"conv 4\", \"linear 10\", \"dense 3\"]"),
              ElementsAre(AllOf(fault("learning.network.layers", "layer 1: KERNEL must be"),
                                Field(&InputFault::value, "\"conv 4\"")),
                          AllOf(fault("learning.network.layers", "layer 3: must be one of"),
                                Field(&InputFault::value, "\"dense 3\""))));
  EXPECT_THAT(faults_in("[learning.network]\npreset = \"layers\"\n"
                        "layers = [\"pool 29\", \"dropout 1\", \"linear 10\"]"),
              ElementsAre(fault("learning.network.layers", "layer 1: kernel 29x29 is larger"),
                          fault("learning.network.layers", "samples of fashion-mnist are 28x28x1")));
}

TEST(ScenarioNetwork, MustFitTheData) {
  EXPECT_THAT(
      faults_in("[learning.network]\npreset = \"layers\"\nlayers = [\"linear 9\"]"),
      ElementsAre(fault("learning.network.layers", "ends with 9 outputs; fashion-mnist has 10 classes")));
  EXPECT_THAT(
      faults_in("[data]\nsource = \"synthetic\"\n[data.synthetic]\nheight = 2\nwidth = 5\nclasses = 10\n"
                "[learning.network]\npreset = \"layers\"\nlayers = [\"relu\", \"dropout 0.5\"]"),
      ElementsAre(fault("learning.network.layers", "has nothing to learn")));
  EXPECT_THAT(faults_in("[data]\nsource = \"radioml\"\n[learning.network]\npreset = \"cifar10_cnn\""),
              ElementsAre(AllOf(fault("learning.network.preset", "layer 1: kernel 5x5 is larger"),
                                Field(&InputFault::value, "\"cifar10_cnn\""))));
}

TEST(ScenarioNetwork, LayersAndPresetGoTogether) {
  EXPECT_THAT(
      faults_in("[learning.network]\nlayers = [\"linear 10\", \"relu\"]"),
      ElementsAre(AllOf(fault("learning.network.layers", "needs preset = \"layers\"; it is \"automatic\""),
                        Field(&InputFault::value, "[\"linear 10\", \"relu\"]"))));
  EXPECT_THAT(faults_in("[learning.network]\npreset = \"layers\""),
              ElementsAre(fault("learning.network.layers", "at least one layer")));
}

TEST(ScenarioNetwork, AnImpossibleOneIsThrownUnderItsKey) {
  Scenario scenario;
  EXPECT_THAT(network_faults(scenario.learning.network, scenario.data.source), IsEmpty());
  scenario.learning.network = {.preset = "layers", .layers = {"linear 3"}};
  EXPECT_THROW(build_architecture(scenario.learning.network, scenario.data.source), InputError);
}

}  // namespace
}  // namespace skein
