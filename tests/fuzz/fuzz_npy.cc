#include <cstddef>
#include <cstdint>
#include <string_view>

#include "skein/base/input_fault.h"
#include "skein/data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const skein::NumpyArray array = skein::parse_npy({reinterpret_cast<const char*>(data), size}, "file");
    skein::to_floats(array);
    skein::to_integers(array);
  } catch (const skein::InputError&) {
  }
  return 0;
}
