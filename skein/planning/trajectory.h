// A mission in the planner's model, epoch after epoch: as a table and for programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "skein/planning/planner_evaluation.h"

namespace skein {

std::string trajectory_csv(const Environment& environment, std::span<const EpochRecord> records);
// {"planner", "reward", "epochs"}
std::string trajectory_json(std::string_view planner, const Environment& environment,
                            std::span<const EpochRecord> records);

}  // namespace skein
