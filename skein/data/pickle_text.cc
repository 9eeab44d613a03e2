#include "skein/data/pickle_text.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace skein {
namespace {

// The number that exactly `count` hexadecimal digits at `place` stand for.
std::uint32_t hexadecimal(std::string_view text, std::size_t place, std::size_t count,
                          const PickleContext& context) {
  const std::string_view digits = text.substr(place, count);
  std::uint32_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != count || status != std::errc{} || end != digits.data() + digits.size()) {
    context.fail("a string has an escape that is cut short");
  }
  return value;
}

char simple_escape(char letter, const PickleContext& context) {
  switch (letter) {
    case '\\':
    case '\'':
    case '"':
      return letter;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      context.fail("a string has an unknown escape");
  }
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

void append_utf8(std::string& text, std::uint32_t point, const PickleContext& context) {
  const auto append = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point > 0x10ffff) {
    context.fail("a string has a character beyond Unicode");
  }
  if (point < 0x80) {
    append(point);
  } else if (point < 0x800) {
    append(0xc0U | point >> 6U);
    append(0x80U | (point & 0x3fU));
  } else if (point < 0x10000) {
    append(0xe0U | point >> 12U);
    append(0x80U | (point >> 6U & 0x3fU));
    append(0x80U | (point & 0x3fU));
  } else {
    append(0xf0U | point >> 18U);
    append(0x80U | (point >> 12U & 0x3fU));
    append(0x80U | (point >> 6U & 0x3fU));
    append(0x80U | (point & 0x3fU));
  }
}

}  // namespace

std::string unquote_pickle_string(std::string line, const PickleContext& context) {
  if (line.size() < 2 || (line.front() != '\'' && line.front() != '"') || line.back() != line.front()) {
    context.fail("a string is not in quotes");
  }
  const std::size_t end = line.size() - 1;
  std::size_t written = 0;
  std::size_t i = 1;
  while (i < end) {
    if (line[i] != '\\') {
      line[written++] = line[i++];
      continue;
    }
    if (i + 1 == end) {
      context.fail("a string has an escape that is cut short");
    }
    if (line[i + 1] == 'x') {
      line[written++] =
          static_cast<char>(hexadecimal(std::string_view(line).substr(0, end), i + 2, 2, context));
      i += 4;
    } else if (is_octal(line[i + 1])) {
      unsigned value = 0;
      std::size_t digits = 0;
      for (++i; i < end && digits < 3 && is_octal(line[i]); ++i, ++digits) {
        value = value * 8 + static_cast<unsigned>(line[i] - '0');
      }
      line[written++] = static_cast<char>(value);
    } else {
      line[written++] = simple_escape(line[i + 1], context);
      i += 2;
    }
  }
  line.resize(written);
  return line;
}

std::string unescape_pickle_unicode(const std::string& line, const PickleContext& context) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t i = 0; i < line.size();) {
    const char kind = line[i] == '\\' && i + 1 < line.size() ? line[i + 1] : '\0';
    if (kind == 'u' || kind == 'U') {
      const std::size_t digits = kind == 'u' ? 4 : 8;
      append_utf8(text, hexadecimal(line, i + 2, digits, context), context);
      i += 2 + digits;
    } else {
      append_utf8(text, static_cast<unsigned char>(line[i]), context);
      ++i;
    }
  }
  return text;
}

}  // namespace skein
