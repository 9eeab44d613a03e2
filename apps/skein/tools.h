// Commands around a mission.
#pragma once

#include "command.h"

namespace skein::app {

// Only --quiet, --format and the example, for commands that take no scenario.
void add_output_options(Command& command, CommonOptions& options, const std::string& example);

void add_compare_command(Command& program);
void add_dimension_command(Command& program);
void add_sweep_command(Command& program);

}  // namespace skein::app
