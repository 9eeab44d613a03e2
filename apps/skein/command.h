// What all commands share: their options, and how they find a scenario.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "skein/base/thread_pool.h"
#include "skein/base/with_file_named.h"
#include "skein/scenario/scenario.h"
#include "skein/scenario/scenario_source.h"

namespace skein::app {

// 0: done. 1: done, and the answer is no. 2: the input is wrong. 3: training diverged. 70: a fault of Skein's
// own.
enum class Exit { done = 0, answer_is_no = 1, bad_input = 2, diverged = 3, internal_error = 70 };

struct CommonOptions {
  std::string scenario;                 // a file; empty: the default mission
  std::vector<std::string> settings{};  // --set a.b=c
  std::optional<std::size_t> seed{};
  std::size_t threads = 0;  // 0: all cores
  std::string out{};        // results go to exactly this directory
  bool quiet = false;
  std::string format = "text";

  [[nodiscard]] bool json() const { return format == "json"; }
  // Tables for people are printed unless something else is wanted of standard output.
  [[nodiscard]] bool talks() const { return !quiet && !json(); }
};

// Adds --set, --seed, --threads, --out, --quiet and --format. An example ends the command's help.
void add_common_options(Command& command, CommonOptions& options, const std::string& example);
// Adds the SCENARIO argument; without one, the default mission.
void add_scenario(Command& command, CommonOptions& options);

// With --set and --seed.
ScenarioSource source_of(const CommonOptions& options);
// Throws InputError.
Scenario load(const CommonOptions& options);
// --out, or runs/NAME.
std::filesystem::path output_directory(const CommonOptions& options, const Scenario& scenario);

// How messages call the scenario.
std::string scenario_name(const CommonOptions& options);
// Does the work; a fault it throws without a file is the scenario's.
template <class Work>
auto with_file_named(const CommonOptions& options, const Work& work) {
  return skein::with_file_named(scenario_name(options), work);
}

// Ends a command at once.
struct Leave {
  Exit code;
};
[[noreturn]] void leave_with(Exit code);
// For a command that goes on: it ends with Exit::answer_is_no.
void answer_no();
bool answered_no();

// Each adds its command to the program.
void add_bounds_command(Command& program);
void add_check_command(Command& program);
void add_data_command(Command& program);
void add_gradcheck_command(Command& program);
void add_gp_command(Command& program);
void add_new_command(Command& program);
void add_optimize_command(Command& program);
void add_plan_command(Command& program);
void add_reproduce_command(Command& program);
void add_resume_command(Command& program);
void add_run_command(Command& program);
void add_train_command(Command& program);
void add_world_command(Command& program);

}  // namespace skein::app
