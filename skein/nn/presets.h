// Networks by name.
//
//   mnist_cnn              the paper's, for 28x28 grey images: two convolutions, pools of stride 1
//   mnist_cnn_stride2      the same with pools of stride 2: a sixteenth of the parameters
//   cifar10_cnn            the paper's, for 32x32 colour images
//   radioml_cnn            the paper's, for waveforms of 2x128
//   mnist_cnn_published    as the published study trains it: with dropout, and softmax before the loss
//   radioml_cnn_published  likewise; it has no dropout
//   mlp                    a hidden layer of 128, for samples of any shape
//
// The published CIFAR-10 network has neither dropout nor softmax: it is cifar10_cnn.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "skein/nn/architecture.h"

namespace skein::nn {

std::vector<std::string_view> preset_names();

// The layers, the last linear one with an output per class. The name must be one of preset_names().
std::vector<Layer> preset(std::string_view name, std::size_t num_classes);

}  // namespace skein::nn
