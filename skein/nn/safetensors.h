// Networks as safetensors files, which PyTorch reads as well.
//
// Tensors have the names of `tensors` and PyTorch's layout, so that a module whose layers are called conv1,
// fc1, lstm1 and so on loads them with load_state_dict:
//   convolution  weight [channel out][channel in][kernel y][kernel x]
//   linear       weight [out][in]; `in` runs over (c, y, x) as torch.flatten does with images, and over
//   (time,
//                hidden) after an LSTM
//   lstm         weight_ih [4 hidden][feature], weight_hh [4 hidden][hidden]; a moment's features run over
//                (x, c)
// The metadata has the samples' shape ("network.input": "28x28x1"), the layers ("network.layers": "conv 16
// 2x2; relu; linear 10") and whatever notes are added.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "skein/nn/architecture.h"
#include "skein/nn/vector.h"

namespace skein::nn {

using Notes = std::map<std::string, std::string>;

struct SavedNetwork {
  Architecture architecture;
  Vector<float> parameters;
  Notes notes;  // keys do not begin with "network."
};

std::string to_safetensors(const SavedNetwork& network);
// Throws InputError, naming `file`, with every fault.
SavedNetwork parse_safetensors(std::string_view bytes, const std::string& file);

void save_network(const std::filesystem::path& file, const SavedNetwork& network);
SavedNetwork load_network(const std::filesystem::path& file);

// The parameters for a network that is known, from a file of any origin: it must have tensors of just these
// names and shapes; what its metadata says does not count.
Vector<float> load_parameters(const std::filesystem::path& file, const Architecture& architecture);

// The parameters that PyTorch gives to modules of these layers, made in their order right after
// torch.manual_seed(seed): the same bits. Numbers come from a Mersenne twister, 24 bits each, tensor by
// tensor.
Vector<float> pytorch_parameters(const Architecture& architecture, std::uint32_t seed);

// Where training starts: "torch.manual_seed(N)" is the latter, anything else a file.
Vector<float> starting_parameters(const std::filesystem::path& start, const Architecture& architecture);

}  // namespace skein::nn
