#include "skein/nn/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skein/base/expect.h"
#include "skein/nn/layer_text.h"

namespace skein::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Shape grey{28, 28, 1};
constexpr Shape colour{32, 32, 3};
constexpr Shape waveform{2, 128, 1};

Architecture network(std::string_view name, Shape input, std::size_t num_classes) {
  return {.input = input, .layers = preset(name, num_classes)};
}

std::vector<std::string> texts(std::string_view name, std::size_t num_classes) {
  std::vector<std::string> result;
  for (const Layer& layer : preset(name, num_classes)) {
    result.push_back(to_text(layer));
  }
  return result;
}

TEST(Presets, ThePublishedStudysParameterCounts) {
  EXPECT_EQ(num_parameters(network("mnist_cnn", grey, 10)), 2362874);
  EXPECT_EQ(num_parameters(network("mnist_cnn_published", grey, 10)), 2362874);
  EXPECT_EQ(num_parameters(network("cifar10_cnn", colour, 10)), 657080);
  EXPECT_EQ(num_parameters(network("radioml_cnn", waveform, 4)), 498516);
  EXPECT_EQ(num_parameters(network("radioml_cnn_published", waveform, 4)), 498516);
}

TEST(Presets, TheOthersByHand) {
  // Convolutions 80 and 2080; 28 -> 27 -> 13 -> 12 -> 6: 1152 -> 128 -> 10.
  EXPECT_EQ(num_parameters(network("mnist_cnn_stride2", grey, 10)),
            80 + 2080 + (1152 * 128 + 128) + (128 * 10 + 10));
  EXPECT_EQ(num_parameters(network("mlp", grey, 7)), (784 * 128 + 128) + (128 * 7 + 7));
}

// Places of an output times the weights that each needs, twice: a product and a sum.
TEST(Presets, OperationsByHand) {
  EXPECT_EQ(forward_operations(network("mnist_cnn_stride2", grey, 10)),
            2 * (27 * 27 * 16 * 4 + 12 * 12 * 32 * (16 * 4) + 1152 * 128 + 128 * 10));
  // 28 moments of 28 features, 8 hidden values: four gates from the features and from the last hidden values.
  EXPECT_EQ(forward_operations({.input = grey, .layers = {Lstm{.hidden = 8}, Linear{3}}}),
            2 * (28 * 4 * 8 * (28 + 8) + 8 * 3));
}

TEST(Presets, ShapesBeforeTheLinearLayers) {
  EXPECT_EQ(shapes(network("mnist_cnn", grey, 10))[5], (Shape{24, 24, 32}));
  EXPECT_EQ(shapes(network("cifar10_cnn", colour, 10))[5], (Shape{5, 5, 50}));
  EXPECT_EQ(shapes(network("radioml_cnn", waveform, 4))[3], (Shape{1, 121, 32}));
}

TEST(Presets, LayersAsTheStudyHasThem) {
  EXPECT_THAT(texts("mnist_cnn", 10),
              ElementsAre("conv 16 2x2", "relu", "pool 2x2 stride 1", "conv 32 2x2", "relu",
                          "pool 2x2 stride 1", "linear 128", "relu", "linear 10"));
  EXPECT_THAT(texts("mnist_cnn_published", 10),
              ElementsAre("conv 16 2x2", "relu", "pool 2x2 stride 1", "dropout 0.25", "conv 32 2x2", "relu",
                          "pool 2x2 stride 1", "dropout 0.5", "linear 128", "relu", "linear 10", "softmax"));
  EXPECT_THAT(texts("mnist_cnn_stride2", 10),
              ElementsAre("conv 16 2x2", "relu", "pool 2x2", "conv 32 2x2", "relu", "pool 2x2", "linear 128",
                          "relu", "linear 10"));
  EXPECT_THAT(texts("cifar10_cnn", 10), ElementsAre("conv 20 5x5", "relu", "pool 2x2", "conv 50 5x5", "relu",
                                                    "pool 2x2", "linear 500", "relu", "linear 10"));
  EXPECT_THAT(texts("radioml_cnn", 4),
              ElementsAre("conv 16 2x5", "relu", "conv 32 1x4", "relu", "linear 128", "relu", "linear 4"));
  EXPECT_THAT(texts("radioml_cnn_published", 4), ElementsAre("conv 16 2x5", "relu", "conv 32 1x4", "relu",
                                                             "linear 128", "relu", "linear 4", "softmax"));
  EXPECT_THAT(texts("mlp", 3), ElementsAre("linear 128", "relu", "linear 3"));
}

TEST(Presets, EveryNameIsAPreset) {
  EXPECT_EQ(preset_names().size(), 7);
  for (const std::string_view name : preset_names()) {
    for (const std::size_t num_classes : {1, 4, 10, 256}) {
      const Shape input = name.starts_with("cifar10")   ? colour
                          : name.starts_with("radioml") ? waveform
                                                        : grey;
      const Architecture found = network(name, input, num_classes);
      EXPECT_THAT(faults_of(found), IsEmpty()) << name;
      EXPECT_EQ(shapes(found).back(), (Shape{1, 1, num_classes})) << name;
    }
  }
  EXPECT_THROW(preset("automatic", 10), ProgrammingError);
  EXPECT_THROW(preset("", 10), ProgrammingError);
}

}  // namespace
}  // namespace skein::nn
