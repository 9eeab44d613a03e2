#include "skein/data/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace skein {
namespace {

constexpr std::size_t magic_bytes = 4;
constexpr std::size_t size_bytes = 4;

std::uint8_t byte_at(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint8_t>(bytes[offset]);
}

std::uint32_t big_endian(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    value = value << 8U | byte_at(bytes, offset + i);
  }
  return value;
}

IdxArray parse_plain_idx(std::string_view bytes, std::string_view file) {
  if (bytes.size() < magic_bytes) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()), "is too short for an IDX file");
  }
  const std::uint32_t magic = big_endian(bytes, 0);
  const std::size_t dimensions = magic & 0xffU;
  if (magic != 0x801 && magic != 0x803) {
    throw_data_fault(file, "magic number", fmt::format("{:#010x}", magic),
                     "is not an IDX file of unsigned bytes (0x00000801 for labels, 0x00000803 for images)");
  }
  const std::size_t header_bytes = magic_bytes + dimensions * size_bytes;
  if (bytes.size() < header_bytes) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     fmt::format("the IDX header ends too early; it has {} bytes", header_bytes));
  }
  IdxArray array;
  const std::size_t length = bytes.size() - header_bytes;
  std::size_t expected = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::uint32_t size = big_endian(bytes, magic_bytes + d * size_bytes);
    if (size == 0) {
      throw_data_fault(file, fmt::format("size {}", d + 1), "0",
                       "the file has no values; sizes are at least 1");
    }
    array.sizes.push_back(size);
    if (__builtin_mul_overflow(expected, std::size_t{size}, &expected)) {
      throw_data_fault(file, fmt::format("size {}", d + 1), fmt::format("{}", size),
                       "the sizes are impossibly large");
    }
  }
  if (length < expected) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     fmt::format("the file is cut short: its sizes ask for {} bytes of values, it has {}",
                                 expected, length));
  }
  if (length > expected) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     fmt::format("{} bytes follow the {} values", length - expected, expected));
  }
  const std::string_view values = bytes.substr(header_bytes);
  array.values.assign(values.begin(), values.end());
  return array;
}

void check_dimensions(const IdxArray& array, std::size_t expected, const std::filesystem::path& file,
                      std::string_view what, InputFaults& faults) {
  if (array.sizes.size() != expected) {
    faults.add({.file = file.string(),
                .key = "dimensions",
                .value = fmt::format("{}", array.sizes.size()),
                .message = fmt::format("a file of {} has {}", what, expected)});
  }
}

}  // namespace

IdxArray parse_idx(std::string_view bytes, std::string_view file, std::size_t max_bytes) {
  if (is_gzip(bytes)) {
    return parse_plain_idx(gunzip(bytes, file, max_bytes), file);
  }
  return parse_plain_idx(bytes, file);
}

IdxArray read_idx(const std::filesystem::path& path) {
  return parse_plain_idx(read_data_file(path), path.string());
}

Dataset combine_idx(IdxArray images, IdxArray labels, const IdxFiles& files, Dataset description) {
  InputFaults faults;
  check_dimensions(images, 3, files.images, "images", faults);
  check_dimensions(labels, 1, files.labels, "labels", faults);
  faults.throw_if_any();

  if (images.sizes[0] != labels.sizes[0]) {
    faults.add({.file = files.labels.string(),
                .key = "labels",
                .value = fmt::format("{}", labels.sizes[0]),
                .message = fmt::format("{} has {} images", files.images.string(), images.sizes[0])});
  }
  const auto wrong = std::find_if(labels.values.begin(), labels.values.end(),
                                  [&](std::uint8_t label) { return label >= description.num_classes(); });
  if (wrong != labels.values.end()) {
    faults.add({.file = files.labels.string(),
                .key = fmt::format("label {}", wrong - labels.values.begin()),
                .value = fmt::format("{}", *wrong),
                .message = fmt::format("labels are below {}", description.num_classes())});
  }
  faults.throw_if_any();

  description.shape = {.height = images.sizes[1], .width = images.sizes[2], .channels = 1};
  description.labels = std::move(labels.values);
  description.features = std::move(images.values);
  return description;
}

Dataset read_idx_images(const IdxFiles& files, const Dataset& description) {
  InputFaults faults;
  std::optional<IdxArray> images = read_or_note(faults, [&] { return read_idx(files.images); });
  std::optional<IdxArray> labels = read_or_note(faults, [&] { return read_idx(files.labels); });
  faults.throw_if_any();
  return combine_idx(std::move(*images), std::move(*labels), files, description);
}

}  // namespace skein
