#include <fmt/format.h>

#include "plan.h"
#include "skein/base/file.h"
#include "skein/mission/build.h"
#include "skein/mission/solved_tables.h"
#include "skein/planning/environment_file.h"

namespace skein::app {
namespace {

struct TablesOptions {
  CommonOptions common;
};

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
  const std::string file = tables_json(tables);
  const std::filesystem::path directory = output_directory(options.common, scenario);
  write_file(directory / "tables.json", file);
  if (options.common.json()) {
    fmt::print("{}", file);
  } else if (options.common.talks()) {
    fmt::print(
        "Solved {} timings for {} swarms above {} clusters.\nWrote tables.json to {}: plan with it by --set "
        "planning.tables={}\n",
        tables.timings.size(), tables.num_swarms, tables.num_clusters, directory.string(),
        (directory / "tables.json").string());
  }
}

}  // namespace

void add_plan_tables_command(Command& plan) {
  auto options = std::make_shared<TablesOptions>();
  Command* command = plan.add_subcommand(
      "tables",
      "Solve the leaders' problem for every timing, swarm and cluster: the tables that planners look up");
  add_scenario(*command, options->common);
  add_common_options(*command, options->common, "skein plan tables scenarios/default.toml --out tables");
  command->callback([options] { write_tables(*options); });
}

}  // namespace skein::app
