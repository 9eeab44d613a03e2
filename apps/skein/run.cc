#include <fmt/format.h>

#include "mission_run.h"
#include "page.h"
#include "text_table.h"
#include "world_view.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string percent(double share) { return fmt::format("{:.1f}", 100.0 * share); }

void print_headline(const Headline& h) {
  TextTable table({"<headline", "value", "<unit"});
  table.add({"accuracy of clusters' models, mean over time", percent(h.mean_accuracy), "%"});
  table.add({"of the worst cluster", percent(h.worst_accuracy), "%"});
  table.add({"at the end", percent(h.last_accuracy), "%"});
  table.add({"age of models, mean", fmt::format("{:.2f}", h.mean_age), "sequences"});
  table.add({"energy", fmt::format("{:.1f}", h.energy_j / 1e3), "kJ"});
  for (const auto& [kind, joules] : h.energy_by_kind_j) {
    table.add({"  " + kind,
               joules < 100.0 ? fmt::format("{:.4f}", joules / 1e3) : fmt::format("{:.1f}", joules / 1e3),
               "kJ"});
  }
  table.add({"visits to clusters", fmt::format("{}", h.visits), ""});
  table.add({"visits to stations", fmt::format("{}", h.recharges), ""});
  table.add({"flown by swarms", fmt::format("{:.1f}", h.distance_m / 1e3), "km"});
  table.add({"data sent", fmt::format("{:.1f}", h.data_bits / 8e6), "MB"});
  table.add({"models sent", fmt::format("{:.1f}", h.model_bits / 8e6), "MB"});
  table.add({"simulated time", fmt::format("{:.0f}", h.duration_s), "s"});
  table.add({"swarms below their threshold", fmt::format("{}", h.below_threshold), ""});
  if (h.faults > 0) {
    table.add({"faults and their consequences (events.jsonl)", fmt::format("{}", h.faults), ""});
    table.add({"models rejected by the core network", fmt::format("{}", h.rejected_updates), ""});
    table.add({"models that found no access point", fmt::format("{}", h.unreachable_updates), ""});
    table.add({"visits without training", fmt::format("{}", h.idle_visits), ""});
  }
  fmt::print("{}", table.text());
}

// By the first process, which alone has the results.
void report(const CommonOptions& options, const MissionRun& mission, const fs::path& directory) {
  if (!crew().is_first()) {
    return;
  }
  if (options.json()) {
    Json summary = summary_of(mission.scenario(), mission.headline());
    summary["directory"] = directory.string();
    fmt::print("{}\n", summary.dump(1));
  } else if (options.talks()) {
    fmt::print("{}, seed {}: {} training sequences, planner {}\n\n", mission.scenario().run.name,
               mission.scenario().run.seed, mission.headline().sequences,
               mission.scenario().planning.planner);
    print_headline(mission.headline());
    fmt::print(
        "\nWrote scenario.toml, sequences.csv, clusters.csv, swarms.csv, energy.csv, events.jsonl,\n"
        "trajectory.geojson, summary.json, manifest.json, models and a checkpoint to {}\n",
        directory.string());
    if (fs::exists(directory / "report.html")) {
      fmt::print("See it: open {} in a browser\n", (directory / "report.html").string());
    } else {
      fmt::print("No report.html: {}\n", page_missing);
    }
  }
}

void run(const CommonOptions& options) {
  const Scenario scenario = load(options);
  const fs::path directory = output_directory(options, scenario);
  with_file_named(options, [&] {
    // Refuses what is wrong before anything is written.
    MissionRun mission(options, scenario, directory, crew());
    if (crew().is_first()) {
      write_world(sample(scenario, options), scenario, directory);
    }
    mission.run(false);
    report(options, mission, directory);
  });
}

struct ResumeOptions {
  CommonOptions common;
  std::string directory;
};

void resume(const ResumeOptions& options) {
  const fs::path directory = options.directory;
  if (!options.common.out.empty()) {
    throw InputError({"", "--out", options.common.out,
                      "a mission goes on in its own directory, " + directory.string() +
                          ": to have it elsewhere, copy that one first"});
  }
  if (crew().is_first() && !fs::exists(directory / "checkpoint.bin")) {
    const fs::path scenario = directory / "scenario.toml";
    throw InputError({directory.string(), "", "",
                      fs::exists(scenario)
                          ? "has no checkpoint yet: start again with `skein run " + scenario.string() + "`"
                          : "is not the directory of a mission, or one that has no checkpoint yet"});
  }
  CommonOptions common = options.common;
  common.scenario = (directory / "scenario.toml").string();
  with_file_named(common, [&] {
    MissionRun mission(common, load(common), directory, crew());
    mission.run(true);
    report(common, mission, directory);
  });
}

}  // namespace

void add_run_command(CLI::App& program) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command = program.add_subcommand("run", "Run a mission: plan, fly, offload, train, recharge");
  add_scenario(*command, *options);
  add_common_options(*command, *options, "skein run scenarios/smoke.toml --set run.sequences=5");
  command->callback([options] { run(*options); });
}

void add_resume_command(CLI::App& program) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* command =
      program.add_subcommand("resume", "Continue a mission from its last checkpoint, to the same end");
  command->add_option("run", options->directory, "The mission's directory")->required()->type_name("RUN");
  add_common_options(*command, options->common, "skein resume runs/mission");
  command->callback([options] { resume(*options); });
}

}  // namespace skein::app
