// The repository's text must hold on every machine: no path of one machine, no package registry's host.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Forbidden {
  std::string text;
  bool whole_word;  // neither preceded nor followed by a letter, digit or underscore
};

// Put together here, so that this file does not contain them.
const std::vector<Forbidden>& forbidden() {
  static const std::vector<Forbidden> list = [] {
    std::vector<Forbidden> all;
    for (const char* top : {"work", "root", "home", "tmp"}) {
      all.push_back({fmt::format("/{}", top), true});
    }
    for (const char* host : {"deb.debian", "security.debian", "registry.npmjs", "pypi", "crates", "docker",
                             "ghcr", "conda.anaconda"}) {
      for (const char* domain : {"org", "io"}) {
        all.push_back({fmt::format("{}.{}", host, domain), false});
      }
    }
    return all;
  }();
  return list;
}

// "file:line: text" for everything forbidden under `root`. Build trees, results and binary files are left
// out.
std::vector<std::string> findings(const fs::path& root) {
  static const std::set<std::string> not_ours = {".git", "build",        "runs",
                                                 "data", "node_modules", "__pycache__"};
  constexpr std::size_t max_bytes = 64 << 20;
  std::vector<std::string> found;
  fs::recursive_directory_iterator entry(root);
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename();
    const bool at_root = entry.depth() == 0;
    if (entry->is_directory() &&
        ((at_root && not_ours.contains(name)) || name == "node_modules" || name == "__pycache__")) {
      entry.disable_recursion_pending();
    }
    if (!entry->is_regular_file()) {
      continue;
    }
    const std::string text = read_file(entry->path(), max_bytes);
    if (text.find('\0') != std::string::npos) {
      continue;
    }
    for (const Forbidden& word : forbidden()) {
      for (std::size_t at = text.find(word.text); at != std::string::npos;
           at = text.find(word.text, at + 1)) {
        const std::size_t end = at + word.text.size();
        const bool begins = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != '}');
        const bool ends = end == text.size() || !is_word(text[end]);
        if (!word.whole_word || (begins && ends)) {
          const auto line =
              1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
          found.push_back(
              fmt::format("{}:{}: {}", fs::relative(entry->path(), root).generic_string(), line, word.text));
        }
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(Text, HoldsOnEveryMachine) { EXPECT_THAT(findings(SKEIN_SOURCE_DIR), testing::IsEmpty()); }

TEST(Text, PlantedFaultsAreFound) {
  const TemporaryDirectory directory;
  const std::string path = std::string("/ro") + "ot/key";
  const std::string host = std::string("pyp") + "i.org";
  write_file(directory.path() / "README.md", "first\nsee " + path + "\n");
  write_file(directory.path() / "docs/a.md", "from https://" + host + "/x\n");
  write_file(directory.path() / "docs/fine.md", "net" + path + " frame" + path.substr(0, 5) + "s\n");
  write_file(directory.path() / "build/log.txt", path);
  write_file(directory.path() / "docs/binary", std::string("\0", 1) + path);
  EXPECT_THAT(findings(directory.path()),
              testing::ElementsAre("README.md:2: " + path.substr(0, 5), "docs/a.md:1: " + host));
}

}  // namespace
}  // namespace skein
