#include "skein/nn/presets.h"

#include <algorithm>
#include <array>

#include "skein/base/expect.h"
#include "skein/base/names.h"

namespace skein::nn {
namespace {

enum class Ends { with_logits, with_softmax };

// A hidden layer and one output per class.
void append_classifier(std::vector<Layer>& layers, std::size_t hidden, std::size_t num_classes, Ends ends) {
  layers.insert(layers.end(), {Linear{hidden}, Relu{}, Linear{num_classes}});
  if (ends == Ends::with_softmax) {
    layers.emplace_back(Softmax{});
  }
}

std::vector<Layer> mnist_cnn(std::size_t num_classes, std::size_t pool_stride) {
  const MaxPool pool{.kernel = {2, 2}, .stride = {pool_stride, pool_stride}};
  std::vector<Layer> layers{Convolution{.filters = 16, .kernel = {2, 2}}, Relu{}, pool,
                            Convolution{.filters = 32, .kernel = {2, 2}}, Relu{}, pool};
  append_classifier(layers, 128, num_classes, Ends::with_logits);
  return layers;
}

std::vector<Layer> mnist_cnn_published(std::size_t num_classes) {
  const MaxPool pool{.kernel = {2, 2}, .stride = {1, 1}};
  std::vector<Layer> layers{Convolution{.filters = 16, .kernel = {2, 2}}, Relu{}, pool, Dropout{0.25},
                            Convolution{.filters = 32, .kernel = {2, 2}}, Relu{}, pool, Dropout{0.5}};
  append_classifier(layers, 128, num_classes, Ends::with_softmax);
  return layers;
}

std::vector<Layer> cifar10_cnn(std::size_t num_classes) {
  std::vector<Layer> layers{Convolution{.filters = 20, .kernel = {5, 5}}, Relu{}, MaxPool{},
                            Convolution{.filters = 50, .kernel = {5, 5}}, Relu{}, MaxPool{}};
  append_classifier(layers, 500, num_classes, Ends::with_logits);
  return layers;
}

std::vector<Layer> radioml_cnn(std::size_t num_classes, Ends ends) {
  std::vector<Layer> layers{Convolution{.filters = 16, .kernel = {2, 5}}, Relu{},
                            Convolution{.filters = 32, .kernel = {1, 4}}, Relu{}};
  append_classifier(layers, 128, num_classes, ends);
  return layers;
}

std::vector<Layer> mlp(std::size_t num_classes) {
  std::vector<Layer> layers;
  append_classifier(layers, 128, num_classes, Ends::with_logits);
  return layers;
}

struct Preset {
  std::string_view name;
  std::vector<Layer> (*layers)(std::size_t num_classes);
};

constexpr std::array presets{
    Preset{"mnist_cnn", [](std::size_t n) { return mnist_cnn(n, 1); }},
    Preset{"mnist_cnn_stride2", [](std::size_t n) { return mnist_cnn(n, 2); }},
    Preset{"cifar10_cnn", cifar10_cnn},
    Preset{"radioml_cnn", [](std::size_t n) { return radioml_cnn(n, Ends::with_logits); }},
    Preset{"mnist_cnn_published", mnist_cnn_published},
    Preset{"radioml_cnn_published", [](std::size_t n) { return radioml_cnn(n, Ends::with_softmax); }},
    Preset{"mlp", mlp},
};

}  // namespace

std::vector<std::string_view> preset_names() { return names_in(presets); }

std::vector<Layer> preset(std::string_view name, std::size_t num_classes) {
  const auto* const found = std::ranges::find(presets, name, &Preset::name);
  expect(found != presets.end(), "no preset has this name");
  return found->layers(num_classes);
}

}  // namespace skein::nn
