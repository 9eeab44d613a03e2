// Run directories as the page reads them: the texts of a mission's files, taken as they are. What they mean
// is the page's to say, so that a damaged one is a message on it.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "skein/simulation/mission_files.h"

namespace skein {

// What the page is made of. manifest.json is not among it: it has timings, and a report has none.
inline constexpr std::array<std::string_view, 8> run_file_names{
    mission_file::scenario, mission_file::world,  mission_file::sequences, mission_file::clusters,
    mission_file::swarms,   mission_file::energy, mission_file::events,    mission_file::summary};

struct RunFiles {
  std::string name;                          // empty: what the scenario calls itself
  std::map<std::string, std::string> files;  // those that are there
  std::vector<std::string> faults;           // files that are there but cannot be read, and why

  // {"name", "files", "faults"}; bytes that are no UTF-8 are replaced.
  [[nodiscard]] nlohmann::ordered_json json() const;
};

// Only regular files are read, no links, none above a limit.
RunFiles read_run(const std::filesystem::path& directory, std::string name);
// One of `find_runs`, by its name. No directory below `root` may be a link, whatever has happened meanwhile.
RunFiles read_run_below(const std::filesystem::path& root, const std::string& name);

bool is_run(const std::filesystem::path& directory);
bool is_finished(const std::filesystem::path& directory);  // has a summary

// Runs at `root` and some levels below, by name (the path from root, "." for itself), without following
// links. At most some hundreds.
std::map<std::string, std::filesystem::path> find_runs(const std::filesystem::path& root);

// A JSON value as text that may stand anywhere in HTML and in a script, in one line.
std::string safe_text(const nlohmann::ordered_json& json);

}  // namespace skein
