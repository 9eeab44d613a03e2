#include "skein/nn/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein::nn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> faults(Shape input, std::vector<Layer> layers) {
  return faults_of({.input = input, .layers = std::move(layers)});
}

TEST(Architecture, ShapesByHand) {
  const Architecture network{
      .input = {28, 20, 3},
      .layers = {
          Convolution{.filters = 8, .kernel = {5, 4}, .stride = {2, 3}, .padding = {1, 2}},
          Relu{},
          MaxPool{.kernel = {3, 2}, .stride = {1, 2}},
          Dropout{.probability = 0.25},
          Lstm{.hidden = 7, .sequence = true},
          Lstm{.hidden = 5},
          Linear{.outputs = 9},
          Softmax{},
      }};
  ASSERT_THAT(faults_of(network), IsEmpty());
  // floor((28 + 2 - 5) / 2) + 1 = 13, floor((20 + 4 - 4) / 3) + 1 = 7; pooled: 11, floor(5 / 2) + 1 = 3.
  EXPECT_THAT(shapes(network), ElementsAre(Shape{13, 7, 8}, Shape{13, 7, 8}, Shape{11, 3, 8}, Shape{11, 3, 8},
                                           Shape{11, 1, 7}, Shape{1, 1, 5}, Shape{1, 1, 9}, Shape{1, 1, 9}));
}

TEST(Architecture, TensorsByHand) {
  const Architecture network{
      .input = {6, 5, 2},
      .layers = {Convolution{.filters = 3, .kernel = {2, 4}}, Tanh{}, Convolution{.filters = 4},
                 Lstm{.hidden = 6}, Linear{.outputs = 10}, Sigmoid{}, Linear{.outputs = 1}}};
  struct Expected {
    std::string name;
    std::size_t layer;
    std::size_t size;
    std::size_t fan_in;
  };
  // After the convolutions a sample is 5x2x4: 5 moments of 8 features. Weights are 2 * 4 * 2 * 3, 3 * 4,
  // 8 * 24, 6 * 24, 6 * 10 and 10.
  const std::vector<Expected> expected{
      {"conv1.weight", 0, 48, 16},    {"conv1.bias", 0, 3, 16},          {"conv2.weight", 2, 12, 3},
      {"conv2.bias", 2, 4, 3},        {"lstm1.weight_ih_l0", 3, 192, 6}, {"lstm1.weight_hh_l0", 3, 144, 6},
      {"lstm1.bias_ih_l0", 3, 24, 6}, {"lstm1.bias_hh_l0", 3, 24, 6},    {"fc1.weight", 4, 60, 6},
      {"fc1.bias", 4, 10, 6},         {"fc2.weight", 6, 10, 10},         {"fc2.bias", 6, 1, 10}};
  const std::vector<Tensor> found = tensors(network);
  ASSERT_THAT(found, SizeIs(expected.size()));
  std::size_t offset = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_EQ(found[i].layer, expected[i].layer);
    EXPECT_EQ(found[i].size, expected[i].size) << found[i].name;
    EXPECT_EQ(found[i].offset, offset) << found[i].name;
    EXPECT_DOUBLE_EQ(found[i].bound, 1.0 / std::sqrt(static_cast<double>(expected[i].fan_in)));
    offset += expected[i].size;
  }
  EXPECT_EQ(num_parameters(network), offset);
}

TEST(Architecture, LayersWithoutParameters) {
  const Architecture network{.input = {4, 4, 1}, .layers = {MaxPool{}, Relu{}}};
  EXPECT_THAT(faults_of(network), IsEmpty());
  EXPECT_THAT(tensors(network), IsEmpty());
  EXPECT_EQ(num_parameters(network), 0);
}

TEST(Architecture, FaultsOfSingleLayers) {
  const Shape image{8, 8, 1};
  EXPECT_THAT(faults(image, {}), ElementsAre("a network needs at least one layer"));
  EXPECT_THAT(faults({0, 8, 1}, {Relu{}}), ElementsAre(HasSubstr("0x8x1")));
  EXPECT_THAT(faults(image, {Convolution{.filters = 0}}), ElementsAre(HasSubstr("layer 1: 0 filters")));
  EXPECT_THAT(faults(image, {Convolution{.kernel = {0, 1}}}), ElementsAre(HasSubstr("kernel 0x1")));
  EXPECT_THAT(faults(image, {Convolution{.stride = {1, 0}}}), ElementsAre(HasSubstr("stride 1x0")));
  EXPECT_THAT(faults(image, {Convolution{.kernel = {3, 3}, .padding = {2, 5}}}), IsEmpty());
  EXPECT_THAT(faults(image, {Convolution{.kernel = {3, 3}, .padding = {2, 3000000}}}),
              ElementsAre(HasSubstr("padding 2x3000000 must be at most 1048576")));
  EXPECT_THAT(faults(image, {Convolution{.kernel = {3, 3}, .padding = {1000000, 1000000}}}),
              ElementsAre(HasSubstr("with padding 1000000x1000000 has more than")));
  EXPECT_THAT(faults({256, 256, 1}, {MaxPool{.kernel = {255, 255}}}), IsEmpty());
  EXPECT_THAT(faults({256, 256, 1}, {MaxPool{.kernel = {256, 256}}}), ElementsAre(HasSubstr("65535 places")));
  EXPECT_THAT(faults(image, {MaxPool{.kernel = {0, 0}}}), ElementsAre(HasSubstr("kernel 0x0")));
  EXPECT_THAT(faults(image, {MaxPool{.stride = {0, 1}}}), ElementsAre(HasSubstr("stride 0x1")));
  EXPECT_THAT(faults(image, {Linear{.outputs = 0}}), ElementsAre(HasSubstr("0 outputs")));
  EXPECT_THAT(faults(image, {Lstm{.hidden = 0}}), ElementsAre(HasSubstr("0 hidden values")));
  for (const double probability : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(faults(image, {Dropout{probability}}), ElementsAre(HasSubstr("must be in [0, 1)")));
  }
  EXPECT_THAT(faults(image, {Dropout{0.0}, Dropout{0.999}}), IsEmpty());
}

TEST(Architecture, KernelsMustFit) {
  // Exactly the padded input fits; one more does not.
  EXPECT_THAT(faults({3, 4, 1}, {Convolution{.kernel = {5, 8}, .padding = {1, 2}}}), IsEmpty());
  EXPECT_THAT(faults({3, 4, 1}, {Convolution{.kernel = {6, 8}, .padding = {1, 2}}}),
              ElementsAre(AllOf(HasSubstr("kernel 6x8"), HasSubstr("3x4x1"), HasSubstr("padding 1x2"))));
  EXPECT_THAT(faults({3, 4, 1}, {MaxPool{.kernel = {3, 4}}}), IsEmpty());
  EXPECT_THAT(faults({3, 4, 1}, {MaxPool{.kernel = {3, 5}}}),
              ElementsAre(HasSubstr("kernel 3x5 is larger than its input 3x4x1")));
}

TEST(Architecture, SoftmaxNeedsAFlatSample) {
  EXPECT_THAT(faults({1, 1, 5}, {Softmax{}}), IsEmpty());
  EXPECT_THAT(faults({2, 1, 5}, {Softmax{}}), ElementsAre(HasSubstr("2x1x5")));
  EXPECT_THAT(faults({2, 1, 5}, {Lstm{.hidden = 3, .sequence = true}, Softmax{}}),
              ElementsAre(HasSubstr("layer 2: softmax")));
}

TEST(Architecture, AllFaultsAtOnce) {
  // What follows a misfit has no known input, but still its own faults.
  EXPECT_THAT(faults({4, 4, 1}, {MaxPool{.kernel = {5, 5}}, MaxPool{.kernel = {9, 9}}, Linear{.outputs = 0},
                                 Dropout{1.0}}),
              ElementsAre(HasSubstr("layer 1:"), HasSubstr("layer 3:"), HasSubstr("layer 4:")));
}

TEST(Architecture, HugeNumbersDoNotWrapAround) {
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t limit = std::size_t{1} << 31;
  for (const std::size_t big : {huge, huge / 2 + 1, std::size_t{1} << 32, limit + 1}) {
    EXPECT_THAT(faults({big, 1, 1}, {Relu{}}), SizeIs(1)) << big;
    EXPECT_THAT(faults({big, big, big}, {Relu{}}), SizeIs(1)) << big;
    EXPECT_THAT(faults({8, 8, 1}, {Convolution{.filters = big}}), SizeIs(1)) << big;
    EXPECT_THAT(faults({8, 8, 1}, {Convolution{.kernel = {big, 1}}}), SizeIs(1)) << big;
    EXPECT_THAT(faults({8, 8, 1}, {Convolution{.padding = {big - 1, 0}}}), SizeIs(1));
    EXPECT_THAT(faults({8, 8, 1}, {MaxPool{.stride = {big, 1}}}), SizeIs(1)) << big;
    EXPECT_THAT(faults({8, 8, 1}, {Linear{.outputs = big}}), SizeIs(1)) << big;
    EXPECT_THAT(faults({8, 8, 1}, {Lstm{.hidden = big}}), SizeIs(1)) << big;
  }
  // 2^16 * 2^15 = 2^31 weights would do, but not with the biases.
  EXPECT_THAT(faults({1, 1, std::size_t{1} << 16}, {Linear{.outputs = std::size_t{1} << 15}}),
              ElementsAre(HasSubstr("parameters")));
  EXPECT_THAT(faults({1, 1, (std::size_t{1} << 16) - 1}, {Linear{.outputs = std::size_t{1} << 15}}),
              IsEmpty());
  EXPECT_THAT(faults({1, 1, 1}, {Lstm{.hidden = limit}}), ElementsAre(HasSubstr("parameters")));
  // Values of a sample: 2^11 * 2^11 * 2^9.
  EXPECT_THAT(faults({2048, 2048, 1}, {Convolution{.filters = 512}}), IsEmpty());
  EXPECT_THAT(faults({2048, 2048, 1}, {Convolution{.filters = 513}}), ElementsAre(HasSubstr("values")));
  // Padding widens: 1 + 2 * 99999 both ways.
  EXPECT_THAT(faults({1, 1, 1}, {Convolution{.kernel = {100000, 100000}, .padding = {99999, 99999}}}),
              ElementsAre(HasSubstr("with padding 99999x99999 has more than")));
}

TEST(Architecture, FaultyOnesAreRefused) {
  const Architecture none{};
  EXPECT_THROW(shapes(none), ProgrammingError);
  EXPECT_THROW(tensors(none), ProgrammingError);
  EXPECT_THROW(num_parameters(none), ProgrammingError);
}

// Counts the places of a kernel by sliding it.
std::size_t slide(std::size_t input, std::size_t kernel, std::size_t stride, std::size_t padding) {
  std::size_t places = 0;
  for (std::size_t start = 0; start + kernel <= input + 2 * padding; start += stride) {
    ++places;
  }
  return places;
}

TEST(Architecture, ShapesAreThoseOfASlidingKernel) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream stream(seed, "architecture test");
    const auto draw = [&](std::size_t most) { return 1 + static_cast<std::size_t>(stream.below(most)); };
    const Shape input{draw(20), draw(20), draw(4)};
    Convolution convolution{.filters = draw(5), .kernel = {draw(6), draw(6)}, .stride = {draw(4), draw(4)}};
    convolution.padding = {static_cast<std::size_t>(stream.below(convolution.kernel[0])),
                           static_cast<std::size_t>(stream.below(convolution.kernel[1]))};
    const MaxPool pool{.kernel = {draw(3), draw(3)}, .stride = {draw(3), draw(3)}};
    const Shape first{
        slide(input.height, convolution.kernel[0], convolution.stride[0], convolution.padding[0]),
        slide(input.width, convolution.kernel[1], convolution.stride[1], convolution.padding[1]),
        convolution.filters};
    const Shape second{slide(first.height, pool.kernel[0], pool.stride[0], 0),
                       slide(first.width, pool.kernel[1], pool.stride[1], 0), first.channels};
    const Architecture network{.input = input, .layers = {convolution, pool}};
    const bool fits = first.size() > 0 && second.size() > 0;
    ASSERT_EQ(faults_of(network).empty(), fits) << seed;
    if (fits) {
      EXPECT_THAT(shapes(network), ElementsAre(first, second)) << seed;
    }
  }
}

}  // namespace
}  // namespace skein::nn
