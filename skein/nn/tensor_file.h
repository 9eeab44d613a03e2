// Files of named tensors in the safetensors format, 32-bit floats only.
//
// Eight bytes hold the header's length, little-endian; the header is JSON and gives each tensor's type, shape
// and place in the bytes that follow it, which the tensors fill without gap or overlap:
//
//   {"__metadata__": {"key": "text"}, "fc1.bias": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]}}
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skein::nn {

struct StoredTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> values;  // the last dimension innermost
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;
};

std::string to_bytes(const TensorFile& content);

// Throws InputError, naming `file`, with every fault. Numbers that are not finite are faults as well.
TensorFile parse_tensor_file(std::string_view bytes, const std::string& file);

}  // namespace skein::nn
