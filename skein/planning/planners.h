// From a scenario to its planner: the only list of planners' names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skein/planning/environment.h"
#include "skein/planning/flat_q.h"
#include "skein/planning/planner_evaluation.h"
#include "skein/planning/q_learning.h"

namespace skein {

// guided, learned, beam, myopic, sequential, sequential_best, ...
std::vector<std::string_view> planner_names();
// One line for people.
std::string_view planner_description(std::string_view name);
// What a planner has to be trained for, if anything.
enum class Training { none, recurrent, flat };
Training training_of(std::string_view name);
// Whether it goes by predicted accuracy and the mission's clock: it plans missions only.
bool is_by_the_clock(std::string_view name);

struct Agents {
  std::shared_ptr<const Agent> recurrent{};
  std::shared_ptr<const FlatAgent> flat{};
};

// Makes planners by name; the agent that it needs must be there, trained for an environment of this size.
PlannerFactory planner_factory(std::string_view name, std::shared_ptr<const Environment> environment,
                               const PlanningOptions& options, const Agents& agents);

}  // namespace skein
