// Names of the files in a mission's run directory: those that more than one part of Skein knows.
#pragma once

namespace skein::mission_file {

inline constexpr const char* scenario = "scenario.toml";  // resolved, with every default
inline constexpr const char* world = "world.json";
inline constexpr const char* sequences = "sequences.csv";
inline constexpr const char* clusters = "clusters.csv";
inline constexpr const char* swarms = "swarms.csv";
inline constexpr const char* energy = "energy.csv";
inline constexpr const char* events = "events.jsonl";
inline constexpr const char* summary = "summary.json";  // of a finished mission
inline constexpr const char* manifest = "manifest.json";
inline constexpr const char* checkpoint = "checkpoint.bin";
inline constexpr const char* report = "report.html";

}  // namespace skein::mission_file
