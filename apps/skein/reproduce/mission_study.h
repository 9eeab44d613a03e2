// The study of whole missions: rows of scenarios and settings, each flown with the same seeds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/skein/reproduce/reproduce.h"
#include "skein/mission/sweep.h"

namespace skein::app {

// A mission that is compared with others.
struct MissionRow {
  std::string name;
  std::string scenario;                 // below scenarios/
  std::vector<std::string> settings{};  // as --set has them
};

// A table: the first row is what the others are compared with, seed by seed.
struct MissionPart {
  std::string name;
  std::string title;
  std::string about;  // what is in it, in a sentence or two
  std::vector<MissionRow> rows;
  bool quick = false;  // --quick flies it without being asked for it: it needs the default data set alone
};

const std::vector<MissionPart>& mission_parts();
// Those, and every planner and offloader.
inline constexpr const char* mission_blocks = "blocks";
std::vector<std::string> mission_part_names();

// Flies all rows and writes the part's tables and picture into the directory, which keeps the missions. What
// it found, in Markdown.
std::string reproduce_mission_part(const MissionPart& part, const ReproduceOptions& options,
                                   const std::filesystem::path& directory);

// Points that were not flown to their end, with the reason, as a list; and then the command's answer is no.
std::string failures_of(const SweepTable& table);

// Every planner with the optimizer and every offloader, in the paper's mission or the scenario that is given;
// likewise.
std::string reproduce_mission_blocks(const ReproduceOptions& options, const std::filesystem::path& directory);

}  // namespace skein::app
