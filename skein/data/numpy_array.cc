#include "skein/data/numpy_array.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "skein/base/expect.h"

namespace skein {
namespace {

template <class Value>
std::vector<Value> copy_values(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little, "data files are little-endian");
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

}  // namespace

std::optional<NumpyType> numpy_type(std::string_view description) {
  if (description.size() == 3) {
    const char order = description.front();
    description.remove_prefix(1);
    if (order != '<' && !(order == '|' && description == "u1")) {
      return std::nullopt;
    }
  }
  if (description == "f4") {
    return NumpyType::float32;
  }
  if (description == "f8") {
    return NumpyType::float64;
  }
  if (description == "i4") {
    return NumpyType::int32;
  }
  if (description == "i8") {
    return NumpyType::int64;
  }
  if (description == "u1") {
    return NumpyType::uint8;
  }
  return std::nullopt;
}

std::size_t size_of(NumpyType type) {
  switch (type) {
    case NumpyType::float32:
    case NumpyType::int32:
      return 4;
    case NumpyType::float64:
    case NumpyType::int64:
      return 8;
    case NumpyType::uint8:
      return 1;
  }
  expect(false, "a NumPy type is one of five");
  return 0;
}

std::optional<std::size_t> num_elements(std::span<const std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::string shape_text(std::span<const std::size_t> shape) {
  std::string text = "(";
  for (const std::size_t size : shape) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return text + ")";
}

NumpyArray decode_numpy(NumpyType type, std::vector<std::size_t> shape, std::string_view bytes) {
  const std::optional<std::size_t> count = num_elements(shape);
  expect(count.has_value() && bytes.size() / size_of(type) == *count && bytes.size() % size_of(type) == 0,
         "an array's bytes fit its shape");
  NumpyArray array{.shape = std::move(shape), .values = {}};
  switch (type) {
    case NumpyType::float32:
      array.values = copy_values<float>(bytes);
      break;
    case NumpyType::float64:
      array.values = copy_values<double>(bytes);
      break;
    case NumpyType::int32:
      array.values = copy_values<std::int32_t>(bytes);
      break;
    case NumpyType::int64:
      array.values = copy_values<std::int64_t>(bytes);
      break;
    case NumpyType::uint8:
      array.values = copy_values<std::uint8_t>(bytes);
      break;
  }
  return array;
}

std::optional<std::size_t> first_not_finite(const NumpyArray& array) {
  return std::visit(
      [](const auto& values) -> std::optional<std::size_t> {
        if constexpr (std::is_floating_point_v<typename std::decay_t<decltype(values)>::value_type>) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i])) {
              return i;
            }
          }
        }
        return std::nullopt;
      },
      array.values);
}

std::optional<std::vector<float>> to_floats(NumpyArray array) {
  if (auto* floats = std::get_if<std::vector<float>>(&array.values)) {
    return std::move(*floats);
  }
  if (const auto* doubles = std::get_if<std::vector<double>>(&array.values)) {
    std::vector<float> floats;
    floats.reserve(doubles->size());
    for (const double value : *doubles) {
      floats.push_back(static_cast<float>(value));
    }
    return floats;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> to_integers(const NumpyArray& array) {
  return std::visit(
      [](const auto& values) -> std::optional<std::vector<std::int64_t>> {
        std::vector<std::int64_t> integers;
        integers.reserve(values.size());
        for (const auto value : values) {
          if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>) {
            constexpr double largest = 0x1p53;
            if (!(std::abs(value) <= largest && std::trunc(value) == value)) {
              return std::nullopt;
            }
          }
          integers.push_back(static_cast<std::int64_t>(value));
        }
        return integers;
      },
      array.values);
}

}  // namespace skein
