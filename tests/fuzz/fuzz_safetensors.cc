// What is read as a network is written back to the same network.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "skein/base/input_fault.h"
#include "skein/nn/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const skein::nn::SavedNetwork network =
        skein::nn::parse_safetensors({reinterpret_cast<const char*>(data), size}, "file");
    const std::string written = skein::nn::to_safetensors(network);
    const skein::nn::SavedNetwork back = skein::nn::parse_safetensors(written, "written");
    if (!std::ranges::equal(back.parameters, network.parameters) ||
        skein::nn::to_safetensors(back) != written) {
      std::abort();
    }
  } catch (const skein::InputError&) {
  }
  return 0;
}
