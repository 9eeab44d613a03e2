// From a scenario to its planner: the only list of planners' names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skein/planning/environment.h"
#include "skein/planning/evaluation.h"
#include "skein/planning/q_learning.h"

namespace skein {

// guided, learned, beam, myopic, sequential, sequential_best, ...
std::vector<std::string_view> planner_names();
// One line for people.
std::string_view planner_description(std::string_view name);
// Whether it needs an agent.
bool needs_agent(std::string_view name);

// Makes planners by name; `agent` only for those that need one, trained for an environment of this size.
PlannerFactory planner_factory(std::string_view name, std::shared_ptr<const Environment> environment,
                               const PlanningOptions& options, std::shared_ptr<const Agent> agent);

}  // namespace skein
