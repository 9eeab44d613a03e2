// Two bytes say how long the images' file is; the labels' file follows it.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "skein/base/input_fault.h"
#include "skein/data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t length = data[0] + 256U * data[1];
  if (length > bytes.size()) {
    return 0;
  }
  constexpr std::size_t max_bytes = 1 << 20;
  try {
    skein::IdxArray images = skein::parse_idx(bytes.substr(0, length), "images", max_bytes);
    skein::IdxArray labels = skein::parse_idx(bytes.substr(length), "labels", max_bytes);
    const skein::Dataset description{
        .name = "fuzz", .class_names = {"a", "b", "c"}, .mean = {0.0F}, .deviation = {1.0F}};
    const skein::Dataset dataset = skein::combine_idx(std::move(images), std::move(labels),
                                                      {.images = "images", .labels = "labels"}, description);
    std::vector<float> sample(dataset.shape.size());
    dataset.read(dataset.size() - 1, sample);
  } catch (const skein::InputError&) {
  }
  return 0;
}
