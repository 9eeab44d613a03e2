// A scenario: everything that describes a mission, composed of each module's own options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/input_fault.h"
#include "skein/data/data_drift.h"
#include "skein/data/data_source.h"
#include "skein/data/partition.h"
#include "skein/learning/options.h"
#include "skein/offloading/options.h"
#include "skein/planning/options.h"
#include "skein/simulation/faults.h"
#include "skein/world/channel.h"
#include "skein/world/options.h"

namespace skein {

struct RunOptions {
  std::string name = "mission";
  std::size_t seed = 1;
  // It ends after so many sequences, or when the clock has passed so many hours; 0: that does not end it.
  std::size_t sequences = 20;
  double hours = 0.0;
  bool oracle = false;  // beside the mission: what accuracy is possible
};

// Where data comes from, who collects which part of it, and how much a device keeps.
struct DataOptions {
  DataSourceOptions source{};
  PartitionOptions partition{.quantity = {constant(500), unit::number, whole_positive}};
  Distribution<double> buffer{constant(1000), unit::number, whole_positive};
  Distribution<double> arrivals{constant(100), unit::number, whole_number};         // in a sequence
  Distribution<double> arrivals_per_hour{constant(0), unit::number, non_negative};  // beside them
};

struct Scenario {
  RunOptions run{};
  WorldOptions world{};
  SwarmOptions swarms{};
  RadioOptions radio{};
  DataOptions data{};
  DriftOptions drift{.label_mix = {.start = {uniform(0.02, 0.16), unit::number, ratio}}};
  LearningOptions learning{};
  OffloadingOptions offloading{};
  PlanningOptions planning{};
  FaultOptions faults{};
};

struct LoadOptions {
  std::vector<std::string> settings{};  // "a.b=c", each overriding the file
};

// Reads a file, the files it is based on, and the settings. What none of them has, and all that a base by the
// name of "paper" has, are the defaults of the options: the paper's world and policy. Throws InputError with
// every fault at once.
Scenario load_scenario(const std::filesystem::path& file, const LoadOptions& options = {});
// The same for a text; `name` stands for the file in messages, `directory` is where `base` is looked for.
Scenario parse_scenario(const std::string& text, const std::string& name, const LoadOptions& options = {},
                        const std::filesystem::path& directory = ".");

// Combinations that no single key shows to be wrong.
std::vector<InputFault> impossible_combinations(const Scenario& scenario);

// With every default written out, and sizes that follow from network and data: it reads back to the same run.
std::string resolved_scenario(const Scenario& scenario);
// The same with a comment on every key.
std::string starter_scenario(const Scenario& scenario);

}  // namespace skein
