// Who may include whom. The folders of skein/ are the architecture (docs/architecture.md); this is its lock.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "tests/project/rooms.h"
#include "tests/project/rooms_svg.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// The file that a line includes, if it does.
std::optional<std::string> included_file(std::string line) {
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
  constexpr std::string_view directive = "#include";
  if (!line.starts_with(directive) || line.size() <= directive.size() + 2) {
    return std::nullopt;
  }
  const char open = line[directive.size()];
  if (open != '"' && open != '<') {
    return std::nullopt;
  }
  const std::size_t begin = directive.size() + 1;
  return line.substr(begin, line.find(open == '"' ? '"' : '>', begin) - begin);
}

std::string first_folder(const std::string& path) { return path.substr(0, path.find('/')); }

// skein/world/channel.h -> world
std::string layer_of(const std::string& path) {
  const std::size_t begin = path.find('/') + 1;
  return path.substr(begin, path.find('/', begin) - begin);
}

// Why `file` must not include `included`, both from the root; empty if it may.
std::string objection(const std::string& file, const std::string& included) {
  // Leaves, and who may see them.
  static const std::map<std::string, std::set<std::string>> leaves = {
      {"apps", {}},
      {"adapters", {"apps", "tests", "benchmarks"}},
      {"web", {}},
      {"tests", {}},
      {"benchmarks", {}}};
  const std::string from = first_folder(file);
  const std::string to = first_folder(included);
  const auto leaf = leaves.find(to);
  if (leaf != leaves.end() && from != to && !leaf->second.contains(from)) {
    return fmt::format("nothing outside {} includes it", to);
  }
  // The version is in no room: all may see it.
  if (from != "skein" || to != "skein" || included == "skein/version.h") {
    return "";
  }
  const std::string layer = layer_of(file);
  const std::string other = layer_of(included);
  const auto room = std::ranges::find(rooms(), layer, &Room::name);
  if (room == rooms().end()) {
    return fmt::format("skein/{} has no place in the order of layers", layer);
  }
  if (other == layer || other == "base" || room->sees.contains(other) || room->headers.contains(included)) {
    return "";
  }
  return fmt::format("{} must not see {}", layer, other);
}

// One line per forbidden include under `root`, in order.
std::vector<std::string> violations(const fs::path& root) {
  std::vector<std::string> found;
  for (const char* top : {"skein", "apps", "adapters", "tests", "benchmarks"}) {
    if (!fs::exists(root / top)) {
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") {
        continue;
      }
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream stream(entry.path());
      int number = 0;
      for (std::string line; std::getline(stream, line);) {
        ++number;
        const std::optional<std::string> included = included_file(line);
        if (!included) {
          continue;
        }
        const bool beside =
            first_folder(file) == "skein" && fs::exists(entry.path().parent_path() / *included);
        const std::string why = beside ? "the library is included from the root, as \"skein/world/channel.h\""
                                       : objection(file, *included);
        if (!why.empty()) {
          found.push_back(fmt::format("{}:{}: {}: {}", file, number, *included, why));
        }
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(Layers, EveryIncludeIsAllowed) { EXPECT_THAT(violations(SKEIN_SOURCE_DIR), testing::IsEmpty()); }

TEST(Layers, TheRepositoryIsWhereTheTestLooks) {
  EXPECT_TRUE(fs::exists(fs::path(SKEIN_SOURCE_DIR) / "skein/base/random.h"));
}

// Every folder is a room, every room a folder.
TEST(Layers, RoomsAreTheFolders) {
  std::set<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(SKEIN_SOURCE_DIR) / "skein")) {
    if (entry.is_directory()) {
      folders.insert(entry.path().filename());
    }
  }
  std::set<std::string> names;
  for (const Room& room : rooms()) {
    for (const std::string& below : room.sees) {
      EXPECT_TRUE(names.contains(below)) << room.name << " stands before " << below << ", which it sees";
    }
    names.insert(room.name);
  }
  EXPECT_EQ(folders, names);
}

// With SKEIN_RENEW set, the picture is drawn again.
TEST(Layers, ThePictureInTheDocumentsIsThatOfTheRooms) {
  const fs::path picture = fs::path(SKEIN_SOURCE_DIR) / "docs/rooms.svg";
  if (std::getenv("SKEIN_RENEW") != nullptr) {
    write_file(picture, rooms_svg());
  }
  EXPECT_EQ(read_file(picture, 1 << 20U), rooms_svg())
      << "SKEIN_RENEW=1 build/release/tests/test_project draws it again";
}

TEST(Layers, PlantedViolationsAreFound) {
  const TemporaryDirectory directory;
  const auto plant = [&](const std::string& file, std::string_view text) {
    write_file(directory.path() / file, text);
  };
  plant("skein/base/a.h", "#include <vector>\n#include \"skein/world/world.h\"\n");
  plant("skein/world/b.cc", "  #  include <skein/data/dataset.h>\n");
  plant("skein/world/channel.h", "#include \"skein/base/quantity.h\"\n");
  plant("skein/world/c.cc", "#include \"channel.h\"\n");
  plant("skein/simulation/d.cc",
        "#include \"skein/planning/planner.h\"\n#include \"skein/planning/look_ahead.h\"\n");
  plant("skein/scenario/e.cc", "#include \"skein/gp/solver.h\"\n#include \"apps/skein/command.h\"\n");
  plant("skein/extra/f.h", "#include \"skein/base/input_fault.h\"\n");
  plant("apps/skein/g.cc", "#include \"skein/gp/solver.h\"\n#include \"tests/project/x.h\"\n");
  plant("apps/skein/i.cc", "#include \"adapters/mpi/mpi_crew.h\"\n");
  plant("skein/scenario/j.cc", "#include \"adapters/mpi/mpi_crew.h\"\n");
  plant("tests/world/h_test.cc", "#include \"skein/world/channel.h\"\n#include \"tests/project/x.h\"\n");

  EXPECT_THAT(
      violations(directory.path()),
      testing::ElementsAre(
          "apps/skein/g.cc:2: tests/project/x.h: nothing outside tests includes it",
          "skein/base/a.h:2: skein/world/world.h: base must not see world",
          "skein/extra/f.h:1: skein/base/input_fault.h: skein/extra has no place in the order of layers",
          "skein/scenario/e.cc:2: apps/skein/command.h: nothing outside apps includes it",
          "skein/scenario/j.cc:1: adapters/mpi/mpi_crew.h: nothing outside adapters includes it",
          "skein/simulation/d.cc:2: skein/planning/look_ahead.h: simulation must not see planning",
          "skein/world/b.cc:1: skein/data/dataset.h: world must not see data",
          "skein/world/c.cc:1: channel.h: the library is included from the root, as "
          "\"skein/world/channel.h\""));
}

}  // namespace
}  // namespace skein
