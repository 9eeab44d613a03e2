#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "skein/mission/world_files.h"
#include "skein/world/world_json.h"
#include "world_view.h"

namespace skein::app {
namespace {

void print_files(const std::filesystem::path& directory) {
  fmt::print("\nWrote scenario.toml, world.json, world.geojson and world.svg (the map) to {}\n",
             directory.string());
}

void show_world(const CommonOptions& options) {
  const Scenario scenario = load(options);
  const SampledWorld sampled = sample(scenario, options);
  const std::filesystem::path directory = output_directory(options, scenario);
  write_world(sampled.world, sampled.links, scenario, directory);
  if (options.json()) {
    fmt::print("{}", world_json(sampled.world, sampled.links));
  } else if (options.talks()) {
    fmt::print(
        "{}, seed {}\n\n{}\nSites\n{}\nSwarms\n{}\nLinks above the first clusters\n{}\nEnergy of a whole "
        "swarm\n{}",
        scenario.run.name, scenario.run.seed, terminal_map(sampled), site_tables(sampled.world),
        swarm_table(sampled), link_table(sampled), energy_table(sampled, scenario));
    print_files(directory);
  }
}

}  // namespace

void add_world_command(Command& program) {
  auto options = std::make_shared<CommonOptions>();
  Command* command =
      program.add_subcommand("world", "Sample a scenario's world: tables, JSON, GeoJSON and a map");
  add_scenario(*command, *options);
  add_common_options(*command, *options, "skein world scenarios/default.toml --seed 7 --out runs/seven");
  command->callback([options] { show_world(*options); });
}

}  // namespace skein::app
