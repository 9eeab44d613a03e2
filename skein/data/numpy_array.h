// What of NumPy's arrays we read: little-endian numbers of five types, C order (last index fastest).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skein {

enum class NumpyType { float32, float64, int32, int64, uint8 };

// From NumPy's short form, with or without a byte order: "f4", "<f4", "|u1". Nothing for any other type, or
// for big-endian numbers.
std::optional<NumpyType> numpy_type(std::string_view description);

std::size_t size_of(NumpyType type);

struct NumpyArray {
  std::vector<std::size_t> shape;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>,
               std::vector<std::uint8_t>>
      values;
};

// The number of values of an array; nothing if it does not fit a size_t.
std::optional<std::size_t> num_elements(std::span<const std::size_t> shape);

// "(4000, 2, 128)"
std::string shape_text(std::span<const std::size_t> shape);

// `bytes` has size_of(type) for each value of the shape.
NumpyArray decode_numpy(NumpyType type, std::vector<std::size_t> shape, std::string_view bytes);

// The place of the first NaN or infinity.
std::optional<std::size_t> first_not_finite(const NumpyArray& array);

// The values if they are floating-point numbers (rounded to float), else nothing.
std::optional<std::vector<float>> to_floats(NumpyArray array);
// The values if all are whole numbers, of whatever type, else nothing.
std::optional<std::vector<std::int64_t>> to_integers(const NumpyArray& array);

}  // namespace skein
