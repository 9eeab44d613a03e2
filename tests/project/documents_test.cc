// The documents must be true where a program can tell: links lead somewhere, files that are named exist, and
// the walk of a training sequence in docs/architecture.md is the code's.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "tests/project/rooms.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

const fs::path root = SKEIN_SOURCE_DIR;

std::string text_of(const fs::path& file) { return read_file(file, std::size_t{1} << 24U); }

std::vector<fs::path> documents() {
  std::vector<fs::path> files{root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") {
      files.push_back(entry.path());
    }
  }
  return files;
}

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), {}};
}

// Of a heading, as forges make it: "What is checked, and how" -> what-is-checked-and-how
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& document) {
  std::set<std::string> anchors;
  std::istringstream lines(text_of(document));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      anchors.insert(anchor_of(line.substr(line.find_first_not_of("# "))));
    }
  }
  return anchors;
}

TEST(Documents, LinksLeadSomewhere) {
  static const std::regex link(R"(\]\(([^)#\s]*)(?:#([^)\s]*))?\))");
  for (const fs::path& document : documents()) {
    const std::string text = text_of(document);
    for (const std::smatch& match : matches(text, link)) {
      const std::string target = match[1];
      if (target.find("://") != std::string::npos) {
        continue;
      }
      const fs::path file = target.empty() ? document : document.parent_path() / target;
      EXPECT_TRUE(fs::exists(file)) << document << " has a link to " << target;
      if (match[2].length() > 0 && fs::exists(file)) {
        EXPECT_TRUE(anchors_of(file).contains(match[2])) << document << " has a link to " << match[0];
      }
    }
  }
}

// `skein/base/csv.h`, but neither `skein/nn/layers_*.cc` nor what is not of this repository.
TEST(Documents, FilesThatAreNamedExist) {
  static const std::regex path(
      R"(`((?:skein|apps|adapters|examples|scenarios|scripts|tests|benchmarks)/[a-z0-9_./-]+)`)");
  for (const fs::path& document : documents()) {
    const std::string text = text_of(document);
    for (const std::smatch& match : matches(text, path)) {
      EXPECT_TRUE(fs::exists(root / std::string(match[1]))) << document << " names " << match[1];
    }
  }
}

struct Step {
  std::size_t depth = 0;
  std::string function;  // without its class
  std::string file;      // from the root
};

std::vector<Step> walk() {
  static const std::regex line(R"((?:^|\n)( *)- \[`([A-Za-z_:]+)`\]\(\.\./([^)]+)\))");
  const std::string text = text_of(root / "docs/architecture.md");
  std::vector<Step> steps;
  for (const std::smatch& match : matches(text, line)) {
    const std::string name = match[2];
    const std::size_t colon = name.rfind(':');
    steps.push_back({.depth = static_cast<std::size_t>(match[1].length()) / 2,
                     .function = colon == std::string::npos ? name : name.substr(colon + 1),
                     .file = match[3]});
  }
  return steps;
}

// The program stands above all rooms.
std::size_t height_of(const std::string& file) {
  if (file.starts_with("apps/")) {
    return rooms().size();
  }
  const std::string room = file.substr(file.find('/') + 1);
  const auto found = std::ranges::find(rooms(), room.substr(0, room.find('/')), &Room::name);
  EXPECT_NE(found, rooms().end()) << file;
  return static_cast<std::size_t>(found - rooms().begin());
}

// Each step is in its file, is named in the file of who calls it, and stands in no higher room.
TEST(Documents, TheWalkIsTheCodes) {
  const std::vector<Step> steps = walk();
  ASSERT_GT(steps.size(), 40U);
  std::vector<Step> callers;
  for (const Step& step : steps) {
    ASSERT_LE(step.depth, callers.size()) << step.function << " has nobody that calls it";
    callers.resize(step.depth);
    const std::regex name(fmt::format(R"(\b{}\b)", step.function));
    EXPECT_TRUE(std::regex_search(text_of(root / step.file), name)) << step.function << " in " << step.file;
    if (!callers.empty()) {
      const Step& caller = callers.back();
      EXPECT_TRUE(std::regex_search(text_of(root / caller.file), name))
          << caller.file << " does not name " << step.function;
      EXPECT_LE(height_of(step.file), height_of(caller.file)) << step.function << " goes up a room";
    }
    callers.push_back(step);
  }
}

}  // namespace
}  // namespace skein
