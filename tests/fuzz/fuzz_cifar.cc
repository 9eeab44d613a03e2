// The first byte is the number of images asked for.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "skein/base/input_fault.h"
#include "skein/data/cifar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  skein::Dataset dataset{.name = "fuzz", .class_names = {"a", "b", "c"}};
  dataset.mean.assign(3, 0.5F);
  dataset.deviation.assign(3, 0.5F);
  try {
    skein::append_cifar_batch(bytes, "batch", data[0], dataset);
    std::vector<float> sample(skein::cifar_image_bytes);
    for (std::size_t i = 0; i < dataset.size(); ++i) {
      dataset.read(i, sample);
    }
  } catch (const skein::InputError&) {
  }
  return 0;
}
