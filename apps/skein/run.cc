#include <fmt/format.h>

#include "command.h"
#include "progress.h"
#include "ranks.h"
#include "skein/mission/headline_numbers.h"
#include "skein/mission/mission_run.h"
#include "skein/mission/page.h"
#include "skein/simulation/mission_files.h"
#include "text_table.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

void print_headline(const MissionRun& mission, const fs::path& directory) {
  const Headline headline = mission.headline();
  const Scenario& scenario = mission.scenario();
  TextTable table({"<headline", "value", "<unit"});
  for (const HeadlineLine& line : headline_lines(headline)) {
    table.add({line.line, line.value, line.unit});
  }
  fmt::print("{}, seed {}: {} training sequences, planner {}\n\n{}", scenario.run.name, scenario.run.seed,
             headline.sequences, scenario.planning.planner, table.text());
  fmt::print(
      "\nWrote scenario.toml, sequences.csv, clusters.csv, swarms.csv, energy.csv, events.jsonl,\n"
      "trajectory.geojson, summary.json, manifest.json, models and a checkpoint to {}\n",
      directory.string());
  if (const fs::path report = directory / mission_file::report; fs::exists(report)) {
    fmt::print("See it: open {} in a browser\n", report.string());
  } else {
    fmt::print("No report.html: {}\n", page_missing);
  }
}

// From the start or from the last checkpoint, as `fly` says; the first process alone has the results.
void run_mission(const CommonOptions& options, const Scenario& scenario, const fs::path& directory,
                 void (MissionRun::*fly)()) {
  with_file_named(options, [&] {
    Progress progress(options, scenario.run.name);
    MissionRun mission(scenario, directory,
                       {.num_threads = options.threads, .crew = crew(), .progress = progress.listener()});
    (mission.*fly)();
    if (!crew().is_first()) {
      return;
    }
    if (options.json()) {
      nlohmann::ordered_json summary = summary_of(scenario, mission.headline());
      summary["directory"] = directory.string();
      fmt::print("{}\n", summary.dump(1));
    } else if (options.talks()) {
      print_headline(mission, directory);
    }
  });
}

void run(const CommonOptions& options) {
  const Scenario scenario = load(options);
  run_mission(options, scenario, output_directory(options, scenario), &MissionRun::run);
}

struct MissionOptions {
  CommonOptions common;
  bool oracle = false;
};

struct ResumeOptions {
  CommonOptions common;
  std::string directory;
};

void resume(const ResumeOptions& options) {
  const fs::path directory = options.directory;
  const fs::path scenario = directory / mission_file::scenario;
  if (!options.common.out.empty()) {
    throw InputError({"", "--out", options.common.out,
                      "a mission goes on in its own directory, " + directory.string() +
                          ": to have it elsewhere, copy that one first"});
  }
  if (crew().is_first() && !fs::exists(directory / mission_file::checkpoint)) {
    throw InputError({directory.string(), "", "",
                      fs::exists(scenario)
                          ? "has no checkpoint yet: start again with `skein run " + scenario.string() + "`"
                          : "is not the directory of a mission, or one that has no checkpoint yet"});
  }
  CommonOptions common = options.common;
  common.scenario = scenario.string();
  run_mission(common, with_file_named(common, [&] { return load(common); }), directory, &MissionRun::resume);
}

}  // namespace

void add_run_command(Command& program) {
  auto options = std::make_shared<MissionOptions>();
  Command* command = program.add_subcommand("run", "Run a mission: plan, fly, offload, train, recharge");
  add_scenario(*command, options->common);
  command->add_flag("--oracle", options->oracle,
                    "Show what accuracy is possible, beside the mission's: run.oracle=true");
  add_common_options(*command, options->common, "skein run scenarios/smoke.toml --set run.sequences=5");
  command->callback([options] {
    if (options->oracle) {
      options->common.settings.emplace_back("run.oracle=true");
    }
    run(options->common);
  });
}

void add_resume_command(Command& program) {
  auto options = std::make_shared<ResumeOptions>();
  Command* command =
      program.add_subcommand("resume", "Continue a mission from its last checkpoint, to the same end");
  command->add_option("run", options->directory, "The mission's directory")->required()->type_name("RUN");
  add_common_options(*command, options->common, "skein resume runs/mission");
  command->callback([options] { resume(*options); });
}

}  // namespace skein::app
