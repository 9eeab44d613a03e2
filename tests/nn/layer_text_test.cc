#include "skein/nn/layer_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "skein/base/input_fault.h"
#include "skein/base/random.h"

namespace skein::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Kind>
Kind parse_as(std::string_view text) {
  const Layer layer = parse_layer(text);
  EXPECT_TRUE(std::holds_alternative<Kind>(layer)) << text;
  return std::get<Kind>(layer);
}

TEST(LayerText, ReadsConvolutions) {
  const auto plain = parse_as<Convolution>("conv 16 2x5");
  EXPECT_EQ(plain.filters, 16);
  EXPECT_EQ(plain.kernel, (HeightWidth{2, 5}));
  EXPECT_EQ(plain.stride, (HeightWidth{1, 1}));
  EXPECT_EQ(plain.padding, (HeightWidth{0, 0}));
  const auto full = parse_as<Convolution>("  conv\t32 5   stride 2 padding 1x2 ");
  EXPECT_EQ(full.filters, 32);
  EXPECT_EQ(full.kernel, (HeightWidth{5, 5}));
  EXPECT_EQ(full.stride, (HeightWidth{2, 2}));
  EXPECT_EQ(full.padding, (HeightWidth{1, 2}));
  EXPECT_EQ(parse_as<Convolution>("conv 1 3 padding 1").padding, (HeightWidth{1, 1}));
}

TEST(LayerText, ReadsTheOthers) {
  EXPECT_EQ(parse_as<MaxPool>("pool 2x3").stride, (HeightWidth{2, 3}));
  EXPECT_EQ(parse_as<MaxPool>("pool 3").kernel, (HeightWidth{3, 3}));
  EXPECT_EQ(parse_as<MaxPool>("pool 2x3 stride 1x2").stride, (HeightWidth{1, 2}));
  EXPECT_EQ(parse_as<Linear>("linear 128").outputs, 128);
  EXPECT_EQ(parse_as<Lstm>("lstm 32").hidden, 32);
  EXPECT_FALSE(parse_as<Lstm>("lstm 32").sequence);
  EXPECT_TRUE(parse_as<Lstm>("lstm 32 sequence").sequence);
  EXPECT_EQ(parse_as<Dropout>("dropout 0.25").probability, 0.25);
  parse_as<Relu>("relu");
  parse_as<Tanh>("tanh");
  parse_as<Sigmoid>("sigmoid");
  parse_as<Softmax>("softmax");
}

TEST(LayerText, WritesTheShortForm) {
  for (const char* text :
       {"conv 16 2x2", "conv 16 5x5 stride 2 padding 1", "conv 16 2x5 stride 1x2", "conv 1 3x3 padding 0x1",
        "pool 2x2", "pool 2x2 stride 1", "pool 2x3 stride 1x2", "linear 128", "relu", "tanh", "sigmoid",
        "softmax", "dropout 0.25", "dropout 0", "lstm 32", "lstm 32 sequence"}) {
    EXPECT_EQ(to_text(parse_layer(text)), text);
  }
  EXPECT_EQ(to_text(parse_layer("conv 16 5 stride 1 padding 0")), "conv 16 5x5");
  EXPECT_EQ(to_text(parse_layer("pool 2 stride 2")), "pool 2x2");
}

std::string message_of(const std::string& text) {
  try {
    parse_layer(text);
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 1);
    EXPECT_EQ(error.faults()[0].value, text);
    return error.faults()[0].message;
  }
  ADD_FAILURE() << text << " was taken";
  return "";
}

TEST(LayerText, SaysWhatIsAllowed) {
  for (const char* text : {"", "   ", "dense 3", "Conv 16 2x2", "conv2d 1 1", "16", "x", "relu6"}) {
    EXPECT_THAT(message_of(text), AllOf(HasSubstr("must be one of"), HasSubstr("linear OUTPUTS"))) << text;
  }
  const std::pair<const char*, const char*> cases[] = {
      {"conv", "FILTERS must be a whole number, not \"\""},
      {"conv x", "FILTERS must be a whole number, not \"x\""},
      {"conv -3 2", "FILTERS must be a whole number, not \"-3\""},
      {"conv 16", "KERNEL must be HEIGHTxWIDTH"},
      {"conv 16 2x", "not \"2x\""},
      {"conv 16 x2", "not \"x2\""},
      {"conv 16 2x2x2", "not \"2x2x2\""},
      {"conv 16 2.5", "not \"2.5\""},
      {"conv 16 2 stride", "the stride must be"},
      {"conv 16 2 padding a", "the padding must be"},
      {"conv 16 2 padding 1 stride 2", "\"stride\" where nothing more"},
      {"conv 16 2 2", "\"2\" where nothing more"},
      {"pool", "KERNEL must be"},
      {"pool 2 padding 1", "\"padding\" where nothing more"},
      {"pool 2 stride -1", "the stride must be"},
      {"linear", "OUTPUTS must be a whole number"},
      {"linear 1e3", "OUTPUTS must be a whole number, not \"1e3\""},
      {"linear 99999999999999999999999", "OUTPUTS must be a whole number"},
      {"linear 10 20", "\"20\" where nothing more"},
      {"lstm sequence", "HIDDEN must be a whole number"},
      {"lstm 3 seq", "\"seq\" where nothing more"},
      {"dropout", "PROBABILITY must be a number"},
      {"dropout 0.5x", "PROBABILITY must be a number, not \"0.5x\""},
      {"relu 3", "\"3\" where nothing more"},
      {"softmax softmax", "nothing more"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(message_of(text), HasSubstr(expected));
  }
}

TEST(LayerText, EveryLayerReadsBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream stream(seed, "layer text");
    const auto draw = [&] { return static_cast<std::size_t>(stream.bits() >> stream.below(64)); };
    const Layer layers[] = {
        Convolution{draw(), {draw(), draw()}, {draw(), draw()}, {draw(), draw()}},
        MaxPool{{draw(), draw()}, {draw(), draw()}},
        Linear{draw()},
        Dropout{stream.uniform() * 0.999},
        Lstm{draw(), stream.bernoulli(0.5)},
    };
    for (const Layer& layer : layers) {
      const Layer back = parse_layer(to_text(layer));
      ASSERT_EQ(back.index(), layer.index());
      ASSERT_EQ(to_text(back), to_text(layer));
      if (const auto* c = std::get_if<Convolution>(&layer)) {
        const auto& found = std::get<Convolution>(back);
        ASSERT_EQ(std::tie(found.filters, found.kernel, found.stride, found.padding),
                  std::tie(c->filters, c->kernel, c->stride, c->padding));
      } else if (const auto* p = std::get_if<MaxPool>(&layer)) {
        const auto& found = std::get<MaxPool>(back);
        ASSERT_EQ(std::tie(found.kernel, found.stride), std::tie(p->kernel, p->stride));
      } else if (const auto* d = std::get_if<Dropout>(&layer)) {
        ASSERT_EQ(std::get<Dropout>(back).probability, d->probability);
      }
    }
  }
}

}  // namespace
}  // namespace skein::nn
