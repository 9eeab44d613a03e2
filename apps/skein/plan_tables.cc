#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plan.h"
#include "skein/base/file.h"
#include "skein/mission/build.h"
#include "skein/mission/prepare_mission.h"

namespace skein::app {
namespace {

using Json = nlohmann::ordered_json;

struct TablesOptions {
  CommonOptions common;
};

// Timing x swarm x cluster.
Json nested(const SolvedTables& tables, const std::vector<double>& values) {
  Json all = Json::array();
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    Json swarms = Json::array();
    for (std::size_t u = 0; u < tables.num_swarms; ++u) {
      Json clusters = Json::array();
      for (std::size_t c = 0; c < tables.num_clusters; ++c) {
        clusters.push_back(values[tables.index(t, u, c)]);
      }
      swarms.push_back(std::move(clusters));
    }
    all.push_back(std::move(swarms));
  }
  return all;
}

void write_tables(const TablesOptions& options) {
  const Scenario scenario = load(options.common);
  ThreadPool pool(options.common.threads);
  SolvedTables tables;
  with_file_named(options.common, [&] {
    Progress progress(options.common, "plan tables");
    tables = solve_tables(scenario, build_world(scenario, pool), pool, crew(),
                          [&](double fraction) { progress.show("solving problem P", fraction); });
  });
  if (!crew().is_first()) {
    return;
  }
  Json timings = Json::array();
  for (const Timing& timing : tables.timings) {
    timings.push_back({timing.duration, timing.local_period, timing.global_period});
  }
  const Json file{{"timings", std::move(timings)},
                  {"objective", nested(tables, tables.objective)},
                  {"training_energy_j", nested(tables, tables.training_energy_j)}};
  const std::filesystem::path directory = output_directory(options.common, scenario);
  std::filesystem::create_directories(directory);
  write_file(directory / "tables.json", file.dump() + "\n");
  if (options.common.json()) {
    fmt::print("{}\n", file.dump());
  } else if (options.common.talks()) {
    fmt::print(
        "Solved {} timings for {} swarms above {} clusters.\nWrote tables.json to {}: plan with it by --set "
        "planning.tables={}\n",
        tables.timings.size(), tables.num_swarms, tables.num_clusters, directory.string(),
        (directory / "tables.json").string());
  }
}

}  // namespace

void add_plan_tables_command(CLI::App& plan) {
  auto options = std::make_shared<TablesOptions>();
  CLI::App* command = plan.add_subcommand(
      "tables",
      "Solve the leaders' problem for every timing, swarm and cluster: the tables that planners look up");
  add_scenario(*command, options->common);
  add_common_options(*command, options->common, "skein plan tables scenarios/default.toml --out tables");
  command->callback([options] { write_tables(*options); });
}

}  // namespace skein::app
