// Commands around a mission.
#pragma once

#include "command.h"

namespace skein::app {

// Only --quiet, --format and the example, for commands that take no scenario.
void add_output_options(CLI::App& command, CommonOptions& options, const std::string& example);

void add_compare_command(CLI::App& program);
void add_dimension_command(CLI::App& program);
void add_sweep_command(CLI::App& program);

}  // namespace skein::app
