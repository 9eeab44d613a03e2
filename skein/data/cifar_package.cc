#include "skein/data/cifar_package.h"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/data/cifar.h"
#include "skein/data/data_file.h"

namespace skein {
namespace {

constexpr std::size_t classes = 10;
constexpr std::size_t pixels = cifar_side * cifar_side;

// The rows of a picture, red, green and blue of each pixel together.
std::vector<std::uint8_t> read_picture(const std::filesystem::path& path, std::size_t width,
                                       std::size_t height) {
  png_image picture{};
  picture.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> ending(&picture, png_image_free);
  const auto fail = [&] {
    throw_data_fault(path.string(), "", "",
                     fmt::format("is not a PNG picture that can be read: {}", picture.message));
  };
  if (png_image_begin_read_from_file(&picture, path.c_str()) == 0) {
    fail();
  }
  if (picture.width != width || picture.height != height) {
    throw_data_fault(path.string(), "size", fmt::format("{} x {}", picture.width, picture.height),
                     fmt::format("should be {} x {}", width, height));
  }
  picture.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> values(PNG_IMAGE_SIZE(picture));
  if (png_image_finish_read(&picture, nullptr, values.data(), 0, nullptr) == 0) {
    fail();
  }
  return values;
}

}  // namespace

std::vector<std::uint8_t> read_label_list(const std::filesystem::path& path, std::size_t per_class) {
  const nlohmann::json list = nlohmann::json::parse(read_file(path, max_data_file_bytes), nullptr, false);
  if (!list.is_array() || list.size() != classes * per_class) {
    throw_data_fault(path.string(), "", "", fmt::format("is not a list of {} labels", classes * per_class));
  }
  std::vector<std::uint8_t> labels;
  std::array<std::size_t, classes> counts{};
  for (const nlohmann::json& entry : list) {
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() >= classes) {
      throw_data_fault(path.string(), fmt::format("label {}", labels.size()), entry.dump().substr(0, 40),
                       fmt::format("labels are below {}", classes));
    }
    labels.push_back(entry.get<std::uint8_t>());
    ++counts[labels.back()];
  }
  for (std::size_t label = 0; label < classes; ++label) {
    if (counts[label] != per_class) {
      throw_data_fault(path.string(), fmt::format("images of class {}", label),
                       fmt::format("{}", counts[label]), fmt::format("should be {}", per_class));
    }
  }
  return labels;
}

std::string convert_cifar_picture(const std::filesystem::path& picture, std::size_t images,
                                  const std::vector<std::uint8_t>& labels, std::size_t first) {
  expect(first + images <= labels.size(), "every image has a label");
  const std::vector<std::uint8_t> values = read_picture(picture, pixels, images);
  std::string bytes;
  bytes.reserve(images * cifar_record_bytes);
  for (std::size_t i = 0; i < images; ++i) {
    bytes += static_cast<char>(labels[first + i]);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t p = 0; p < pixels; ++p) {
        bytes += static_cast<char>(values[(i * pixels + p) * 3 + c]);
      }
    }
  }
  return bytes;
}

}  // namespace skein
