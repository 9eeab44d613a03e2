// How long a file and a function may be. What is longer is two ideas, or a table that is named here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr int most_lines_of_a_file = 450;
constexpr int most_lines_of_a_function = 80;

// "file: function", and why it may be longer.
const std::map<std::string, std::string>& tables() {
  static const std::map<std::string, std::string> known = {
      {"skein/data/pickle.cc: step", "a line for each instruction of the format"},
      {"skein/mission/headline_numbers.cc: headline_numbers", "a row for each number"},
  };
  return known;
}

// The line without its ends' spaces, its comment, and what is in quotes.
std::string code_of(const std::string& line) {
  std::string code;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (line.compare(i, 2, "//") == 0) {
      break;
    }
    const bool separates_digits =
        c == '\'' && !code.empty() && std::isalnum(static_cast<unsigned char>(code.back())) != 0;
    if (c == '"' || (c == '\'' && !separates_digits)) {
      for (++i; i < line.size() && line[i] != c; ++i) {
        i += line[i] == '\\' ? 1 : 0;
      }
    } else if (c != ' ' || !code.empty()) {
      code += c;
    }
  }
  code.erase(code.find_last_not_of(' ') + 1);
  return code;
}

// What stands before a `{`, without the parameters of a template.
std::string without_template(std::string head) {
  while (head.starts_with("template")) {
    std::size_t end = head.find('<');
    for (int open = 1; open > 0 && ++end < head.size();) {
      open += head[end] == '<' ? 1 : head[end] == '>' ? -1 : 0;
    }
    head.erase(0, std::min(end + 2, head.size()));
  }
  return head;
}

bool opens_scope(const std::string& head) {
  return std::ranges::any_of(
      std::array{"namespace ", "namespace{", "class ", "struct ", "enum ", "union ", "extern "},
      [&](const char* word) { return head.starts_with(word); });
}

// "void World::step(int n) {" -> "step"; empty where no function begins.
std::string name_of_function(const std::string& head) {
  const std::string before = head.substr(0, head.find_last_not_of("{ ") + 1);
  if (before.ends_with('=') || before.find('(') == std::string::npos) {
    return "";
  }
  const std::string name = before.substr(0, before.find('('));
  return name.substr(name.find_last_of(" :*&~") + 1);
}

// Calls found(first line, lines, name) for each function, as clang-format lays it out: a body begins with a
// line at the level of a namespace or a class that ends in `{`, and ends where its braces do.
template <class Found>
int scan(const fs::path& file, const Found& found) {
  std::ifstream stream(file);
  int number = 0;
  int begin = 0;
  long depth = 0;  // of braces, in a body
  std::string head;
  std::string name;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::string code = code_of(line);
    if (code.empty() || code.starts_with('#')) {
      continue;
    }
    const long balance = std::ranges::count(code, '{') - std::ranges::count(code, '}');
    if (depth > 0) {
      depth += balance;
      if (depth <= 0 && !name.empty()) {
        found(begin, number - begin + 1, name);
      }
      continue;
    }
    begin = head.empty() ? number : begin;
    head += (head.empty() ? "" : " ") + code;
    if (code.ends_with('{')) {
      const std::string shorter = without_template(head);
      name = name_of_function(shorter);
      depth = opens_scope(shorter) ? 0 : balance;
      head.clear();
    } else if (code.ends_with(';') || code.ends_with('}') || code.ends_with(':')) {
      head.clear();
    }
  }
  return number;
}

// A line for each file and function under `root` that is too long, in order.
std::vector<std::string> too_long(const fs::path& root) {
  std::vector<std::string> all;
  for (const char* top : {"skein", "apps", "adapters", "examples"}) {
    if (!fs::exists(root / top)) {
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") {
        continue;
      }
      const std::string file = fs::relative(entry.path(), root).generic_string();
      const int lines = scan(entry.path(), [&](int begin, int length, const std::string& name) {
        if (length > most_lines_of_a_function && !tables().contains(file + ": " + name)) {
          all.push_back(fmt::format("{}:{}: {} has {} lines", file, begin, name, length));
        }
      });
      if (lines > most_lines_of_a_file) {
        all.push_back(fmt::format("{} has {} lines", file, lines));
      }
    }
  }
  std::ranges::sort(all);
  return all;
}

TEST(Size, FilesAndFunctionsAreShort) { EXPECT_THAT(too_long(SKEIN_SOURCE_DIR), testing::IsEmpty()); }

TEST(Size, EveryTableIsThere) {
  for (const auto& [table, reason] : tables()) {
    const std::size_t colon = table.find(": ");
    const fs::path file = fs::path(SKEIN_SOURCE_DIR) / table.substr(0, colon);
    int longest = 0;
    scan(file, [&](int /*begin*/, int length, const std::string& name) {
      longest = name == table.substr(colon + 2) ? std::max(longest, length) : longest;
    });
    EXPECT_GT(longest, most_lines_of_a_function) << table << ": " << reason;
  }
}

TEST(Size, PlantedLengthsAreFound) {
  const TemporaryDirectory directory;
  const auto body = [](int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) {
      text += "  if (x == '{') { y(\"}}\"); }  // {\n";
    }
    return text;
  };
  const auto plant = [&](const std::string& file, const std::string& text) {
    write_file(directory.path() / file, text);
  };
  plant("skein/base/a.cc",
        "namespace skein {\nint f(int x) {\n" + body(79) + "}\nint g() {\n" + body(78) + "}\n}\n");
  plant("skein/base/b.h",
        "template <class T>\nclass B : C<T> {\n  B(int x)\n      : x_{1},\n        y_(2) {\n" + body(90) +
            "  }\n  int z() { return 1'000; }\n};\nconst int table[] = {\n" + body(90) + "};\n");
  plant("apps/skein/c.cc",
        "template <class A, class B<int>>\nvoid C::run(A a,\n            B b) {\n" + body(77) + "}\n");
  plant("adapters/d.cc", std::string(451, '\n'));
  plant("tests/e.cc", "void f() {\n" + body(500) + "}\n");

  EXPECT_THAT(too_long(directory.path()),
              testing::ElementsAre("adapters/d.cc has 451 lines", "apps/skein/c.cc:1: run has 81 lines",
                                   "skein/base/a.cc:2: f has 81 lines", "skein/base/b.h:3: B has 94 lines"));
}

}  // namespace
}  // namespace skein
