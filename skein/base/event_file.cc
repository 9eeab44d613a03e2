#include "skein/base/event_file.h"

#include <array>
#include <bit>

namespace skein {
namespace {

template <class T>
std::string little_endian(T number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
  return bytes;
}

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80U; number >>= 7U) {
    bytes += static_cast<char>(static_cast<unsigned char>(number | 0x80U));
  }
  return bytes + static_cast<char>(number);
}

// The wire format of protocol buffers: a key of field number and kind, then the value.
enum class Wire { varint = 0, eight_bytes = 1, text = 2, four_bytes = 5 };
std::string key(unsigned field, Wire kind) { return varint(field << 3U | static_cast<unsigned>(kind)); }
std::string number_field(unsigned field, double value) {
  return key(field, Wire::eight_bytes) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string number_field(unsigned field, float value) {
  return key(field, Wire::four_bytes) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string text_field(unsigned field, std::string_view text) {
  return key(field, Wire::text) + varint(text.size()) + std::string(text);
}

std::string check_sum(std::string_view data) {
  return little_endian(std::rotr(crc32c(data), 15) + 0xa282ead8U);
}

std::string record(const std::string& data) {
  const std::string length = little_endian(std::uint64_t{data.size()});
  return length + check_sum(length) + data + check_sum(data);
}

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1U) != 0 ? value >> 1U ^ 0x82f63b78U : value >> 1U;  // Castagnoli, reflected
    }
    table[i] = value;
  }
  return table;
}

}  // namespace

std::uint32_t crc32c(std::string_view data) {
  static constexpr std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t value = ~0U;
  for (const char c : data) {
    value = table[(value ^ static_cast<unsigned char>(c)) & 0xffU] ^ value >> 8U;
  }
  return ~value;
}

std::string event_file_start() { return record(number_field(1, 0.0) + text_field(3, "brain.Event:2")); }

std::string event_record(double seconds, std::int64_t step, std::span<const Scalar> scalars) {
  std::string values;
  for (const auto& [name, value] : scalars) {
    values += text_field(1, text_field(1, name) + number_field(2, static_cast<float>(value)));
  }
  return record(number_field(1, seconds) + key(2, Wire::varint) + varint(static_cast<std::uint64_t>(step)) +
                text_field(5, values));
}

}  // namespace skein
