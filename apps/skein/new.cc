#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"

namespace skein::app {

void add_new_command(Command& program) {
  struct Options {
    CommonOptions common;
    bool force = false;
  };
  auto options = std::make_shared<Options>();
  Command* command = program.add_subcommand("new", "Write a starter scenario, every key explained");
  command->add_option("FILE", options->common.scenario, "The file to write")->required();
  command->add_flag("--force", options->force, "Write over an existing file");
  add_common_options(*command, options->common, "skein new my.toml --set swarms.count=4");
  command->callback([options] {
    const std::string file = options->common.scenario;
    if (std::filesystem::exists(file) && !options->force) {
      throw InputError(InputFault{
          .file = file, .key = "", .value = "", .message = "exists already; --force writes over it"});
    }
    CommonOptions defaults = options->common;
    defaults.scenario.clear();
    write_file(file,
               "# A Skein scenario. Leave out what should stay at its default.\n"
               "# `base = \"other.toml\"` before the first section inherits another file.\n\n" +
                   starter_scenario(load(defaults)));
    if (options->common.json()) {
      fmt::print("{}\n", nlohmann::ordered_json{{"file", file}}.dump(1));
    } else if (options->common.talks()) {
      fmt::print("Wrote {}. Next: skein check {}\n", file, file);
    }
  });
}

}  // namespace skein::app
