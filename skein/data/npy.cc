#include "skein/data/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "skein/data/data_file.h"

namespace skein {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_dimensions = 32;  // NumPy's own limit

struct Header {
  std::optional<std::string> type;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (4000, 2, 128), } and nothing else.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Header read() {
    Header header;
    require('{');
    while (!accept('}')) {
      const std::string key = quoted();
      require(':');
      if (key == "descr" && !header.type) {
        header.type = quoted();
      } else if (key == "fortran_order" && !header.fortran_order) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !header.shape) {
        header.shape = sizes();
      } else {
        fail("has an unknown or repeated key");
      }
      if (!accept(',')) {
        require('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) {
      fail("goes on after its dictionary");
    }
    if (!header.type || !header.fortran_order || !header.shape) {
      fail("has to have descr, fortran_order and shape");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw_data_fault(
        file_, "npy header", "",
        fmt::format("{} (at its byte {}); only plain arrays of numbers can be read", what, position_));
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  bool accept(char expected) {
    skip_space();
    if (position_ < text_.size() && text_[position_] == expected) {
      ++position_;
      return true;
    }
    return false;
  }

  void require(char expected) {
    if (!accept(expected)) {
      fail(fmt::format("lacks a '{}'", expected));
    }
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.substr(position_).starts_with(word)) {
      position_ += word.size();
      return true;
    }
    return false;
  }

  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') {
      require('\'');
    }
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos || end - position_ > 64) {
      fail("has a string that does not end");
    }
    std::string content(text_.substr(position_, end - position_));
    position_ = end + 1;
    return content;
  }

  bool boolean() {
    if (accept_word("True")) {
      return true;
    }
    if (!accept_word("False")) {
      fail("lacks True or False");
    }
    return false;
  }

  std::vector<std::size_t> sizes() {
    std::vector<std::size_t> values;
    require('(');
    while (!accept(')')) {
      skip_space();
      std::size_t value = 0;
      const auto [end, status] =
          std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
      if (status != std::errc{} || values.size() == max_dimensions) {
        fail("has a shape that is not a short list of sizes");
      }
      position_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // Python 2's long integers
      values.push_back(value);
      if (!accept(',')) {
        require(')');
        break;
      }
    }
    return values;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t position_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

// The header's text, and what follows it.
std::pair<std::string_view, std::string_view> split_file(std::string_view bytes, std::string_view file) {
  if (!bytes.starts_with(magic)) {
    throw_data_fault(file, "", "", "is not a NumPy .npy file");
  }
  std::string_view rest = bytes.substr(magic.size());
  if (rest.size() < 2) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     "the .npy file is cut short in its header");
  }
  const int major = static_cast<unsigned char>(rest[0]);
  const int minor = static_cast<unsigned char>(rest[1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw_data_fault(file, "npy version", fmt::format("{}.{}", major, minor), "allowed are 1.0, 2.0 and 3.0");
  }
  rest.remove_prefix(2);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t header_bytes = little_endian(rest.substr(0, length_bytes));
  if (rest.size() < length_bytes || rest.size() - length_bytes < header_bytes) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     "the .npy file is cut short in its header");
  }
  rest.remove_prefix(length_bytes);
  return {rest.substr(0, header_bytes), rest.substr(header_bytes)};
}

}  // namespace

NumpyArray parse_npy(std::string_view bytes, std::string_view file) {
  const auto [text, values] = split_file(bytes, file);
  Header header = HeaderReader(text, file).read();
  const std::optional<NumpyType> type = header.type->size() == 3 ? numpy_type(*header.type) : std::nullopt;
  if (!type) {
    throw_data_fault(file, "npy descr", *header.type, "allowed are <f4, <f8, <i4, <i8 and |u1");
  }
  if (*header.fortran_order) {
    throw_data_fault(file, "npy fortran_order", "True", "only C order can be read");
  }
  const std::optional<std::size_t> count = num_elements(*header.shape);
  if (!count || values.size() % size_of(*type) != 0 || values.size() / size_of(*type) != *count) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     fmt::format("shape {} of {} does not fit the {} bytes of values",
                                 shape_text(*header.shape), *header.type, values.size()));
  }
  NumpyArray array = decode_numpy(*type, std::move(*header.shape), values);
  if (const std::optional<std::size_t> place = first_not_finite(array)) {
    throw_data_fault(file, fmt::format("value {}", *place), "", "is NaN or infinite");
  }
  return array;
}

NumpyArray read_npy(const std::filesystem::path& path) {
  return parse_npy(read_data_file(path), path.string());
}

}  // namespace skein
