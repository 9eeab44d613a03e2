#include "command.h"

#include "default_mission.h"
#include "tools.h"

namespace skein::app {
namespace {

bool said_no = false;

}  // namespace

void leave_with(Exit code) { throw Leave{code}; }

void answer_no() { said_no = true; }

bool answered_no() { return said_no; }

void add_common_options(Command& command, CommonOptions& options, const std::string& example) {
  command.add_option("--set", options.settings, "Override a key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Override run.seed")->type_name("N");
  command
      .add_option("--threads", options.threads, "Threads to use; 0: all cores. Results do not depend on it")
      ->type_name("N")
      ->check(within(0, 1024));
  command.add_option("--out", options.out, "Write results to exactly this directory; default runs/NAME")
      ->type_name("DIR");
  add_output_options(command, options, example);
}

void add_output_options(Command& command, CommonOptions& options, const std::string& example) {
  command.add_flag("--quiet", options.quiet, "Print nothing but errors");
  command.add_option("--format", options.format, "text for people, json for programs")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  command.footer("Example:\n  " + example);
}

void add_scenario(Command& command, CommonOptions& options) {
  command.add_option("SCENARIO", options.scenario, "A scenario file; without one, the default mission");
}

std::string scenario_name(const CommonOptions& options) {
  return options.scenario.empty() ? "the default mission" : options.scenario;
}

ScenarioSource source_of(const CommonOptions& options) {
  return {.file = options.scenario,
          .text = default_mission,
          .text_name = "the default mission",
          .settings = options.settings,
          .seed = options.seed};
}

Scenario load(const CommonOptions& options) { return load_scenario(source_of(options)); }

std::filesystem::path output_directory(const CommonOptions& options, const Scenario& scenario) {
  return options.out.empty() ? std::filesystem::path("runs") / scenario.run.name
                             : std::filesystem::path(options.out);
}

}  // namespace skein::app
