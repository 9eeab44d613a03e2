#include "skein/scenario/toml_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace skein {
namespace {

constexpr std::size_t comment_column = 44;

// A basic TOML string.
std::string toml_string(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

bool is_bare(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string list_text(const std::vector<double>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const double value : values) {
    texts.push_back(to_toml(value));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

// The range in a few characters, for a comment; nothing where any number goes.
std::string brief(const Range& allowed) {
  std::string text = to_string(allowed);
  for (const std::string_view plain : {"a whole number", "a number"}) {
    if (text.starts_with(plain)) {
      text = text.substr(plain.size());
      break;
    }
  }
  return text.empty() ? text : text.substr(1);
}

}  // namespace

void TomlWriter::comment(std::string_view text) {
  if (comments_ == Comments::every_key && !text.empty()) {
    text_ += fmt::format("# {}\n", text);
  }
}

void TomlWriter::line(std::string_view key, const std::string& value, std::string_view help,
                      const std::string& allowed) {
  std::string line = fmt::format("{} = {}", key, value);
  if (comments_ == Comments::every_key) {
    line += std::string(line.size() < comment_column ? comment_column - line.size() : 1, ' ');
    line += fmt::format("# {}", help);
    if (!allowed.empty()) {
      line += fmt::format("; {}", allowed);
    }
  }
  text_ += line + '\n';
}

void TomlWriter::section(std::string_view name, std::string_view help, const std::function<void()>& keys,
                         bool counts) {
  if (!counts) {
    return;
  }
  const std::string outer = path_;
  path_ = outer.empty() ? std::string(name) : fmt::format("{}.{}", outer, name);
  text_ += text_.empty() ? "" : "\n";
  comment(help);
  text_ += fmt::format("[{}]\n", path_);
  keys();
  path_ = outer;
}

void TomlWriter::named_sections(std::string_view name, std::string_view help,
                                const std::vector<std::string>& known,
                                const std::function<void(const std::string&)>& keys) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::string part = is_bare(known[i]) ? known[i] : toml_string(known[i]);
    section(
        fmt::format("{}.{}", name, part), i == 0 ? help : "", [&] { keys(known[i]); }, true);
  }
}

void TomlWriter::spread(std::string_view key, Spread& value, const Range& allowed, std::string_view help) {
  line(key, value.to_toml(), help, brief(allowed));
}

void TomlWriter::real(std::string_view key, double& value, const Range& allowed, std::string_view help) {
  line(key, to_toml(value), help, brief(allowed));
}

void TomlWriter::integer(std::string_view key, std::int64_t& value, const Range& allowed,
                         std::string_view help) {
  line(key, fmt::format("{}", value), help, brief(allowed));
}

void TomlWriter::flag(std::string_view key, bool& value, std::string_view help) {
  line(key, value ? "true" : "false", help, "");
}

void TomlWriter::text(std::string_view key, std::string& value, std::string_view help) {
  line(key, toml_string(value), help, "");
}

void TomlWriter::texts(std::string_view key, std::vector<std::string>& values, std::string_view help) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  std::ranges::transform(values, std::back_inserter(texts), toml_string);
  line(key, fmt::format("[{}]", fmt::join(texts, ", ")), help, "");
}

void TomlWriter::one_of(std::string_view key, std::size_t& value, std::span<const std::string_view> names,
                        std::string_view help) {
  line(key, toml_string(names[value]), help, fmt::format("{}", fmt::join(names, " | ")));
}

void TomlWriter::reals(std::string_view key, std::vector<double>& values, const Range& allowed,
                       std::string_view help) {
  line(key, list_text(values), help, brief(allowed));
}

void TomlWriter::fixed_reals(std::string_view key, std::vector<double>& values, std::size_t /*size*/,
                             const Range& allowed, std::string_view help) {
  line(key, list_text(values), help, brief(allowed));
}

void TomlWriter::lists(std::string_view key, std::vector<std::vector<double>>& values, std::size_t /*size*/,
                       const Range& allowed, std::string_view help) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const std::vector<double>& value : values) {
    texts.push_back(list_text(value));
  }
  line(key, fmt::format("[{}]", fmt::join(texts, ", ")), help, brief(allowed));
}

}  // namespace skein
