// An environment as a JSON file, with or without a trace of what must come out: the form of
// tests/reference/planning_environment.json. One flight power and battery for all swarms, distances between
// sites (a positive diagonal is what staying costs), tables as timing x swarm x cluster.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "skein/planning/environment.h"

namespace skein {

struct TraceEpoch {
  std::vector<double> drift;
  std::vector<Site> destinations;
  std::size_t timing = 0;
  double reward = 0.0;
  double learning_objective = 0.0;
  std::size_t below_threshold = 0;
  std::vector<double> battery_j;
  std::vector<double> ages;
};

struct EnvironmentFile {
  Environment environment;
  std::vector<double> start;  // a state
  std::vector<TraceEpoch> trace;
};

// Throws InputError with every fault, naming the file.
EnvironmentFile parse_environment(std::string_view text, const std::string& name);
EnvironmentFile load_environment(const std::filesystem::path& file);

// Tables alone, from a file with "timings", "objective" and "training_energy_j".
SolvedTables load_tables(const std::filesystem::path& file);
std::string tables_json(const SolvedTables& tables);

// The largest deviations of a replay from its trace. `deviation` is |ours - theirs| / max(1, |theirs|) and
// must stay below 1e-6: a trace's numbers are rounded, and batteries add rounding up over hundreds of hops.
struct Replay {
  std::size_t epochs = 0;
  double reward = 0.0;
  double learning_objective = 0.0;
  double battery = 0.0;
  double age = 0.0;
  double battery_j = 0.0;           // not relative
  std::size_t below_threshold = 0;  // epochs in which the number of swarms differs
  std::size_t worst_epoch = 0;      // where `deviation` is
  double deviation = 0.0;

  static constexpr double most_deviation = 1e-6;
  [[nodiscard]] bool fits() const { return deviation <= most_deviation; }
};
Replay replay(const EnvironmentFile& file);
std::string replay_json(const Replay& replay);

}  // namespace skein
