// A layer as one line of text, as scenarios and saved networks have it.
//
//   conv FILTERS KERNEL [stride S] [padding P]     conv 16 2x5, conv 16 5 stride 2 padding 1
//   pool KERNEL [stride S]                         pool 2x2 stride 1; the stride is the kernel if not given
//   linear OUTPUTS                                 linear 128
//   lstm HIDDEN [sequence]                         lstm 32 sequence
//   dropout PROBABILITY                            dropout 0.25
//   relu, tanh, sigmoid, softmax
//
// A size is HEIGHTxWIDTH, or one number for both.
#pragma once

#include <string>
#include <string_view>

#include "skein/nn/architecture.h"

namespace skein::nn {

// Throws InputError with the text as its value if it is no layer. Whether the numbers make sense is for
// faults_of to say.
Layer parse_layer(std::string_view text);

// parse_layer of it gives the same layer.
std::string to_text(const Layer& layer);

}  // namespace skein::nn
