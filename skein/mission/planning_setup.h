// The planner's environment of a scenario: the one place where it is put together.
//
// All throw InputError; faults of the scenario's own have no file, which is the caller's to add.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/environment.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// Where tables of what training costs and brings come from if the scenario gives no file of them.
enum class MissingTables { closed_form, solved };

// Of the scenario's world. Tables that are solved are so by the crew, each part of it with a pool; large ones
// as entries are asked for, with the same numbers, unless the planner learns. The pool must outlive those.
Environment build_environment(const Scenario& scenario, const World& world, MissingTables missing,
                              ThreadPool& pool, Crew& crew, FractionListener progress);

// Where tables are solved on demand: the entries that a search at a mission's start asks for.
void solve_first_choices(const Environment& environment, const World& world);

struct EnvironmentOptions {
  std::filesystem::path file{};         // a JSON environment instead of the scenario's world
  std::optional<double> threshold_j{};  // overrides every swarm's
};

// To plan without a mission: tables are the file's, the scenario's or a closed form. Of an environment in a
// file, the scenario says what the paper leaves open. Refuses one where no plan could work.
std::shared_ptr<const Environment> build_environment(const Scenario& scenario,
                                                     const EnvironmentOptions& options, ThreadPool& pool);

// The same environment with its sites placed anew; 0: itself. Refuses one where no plan could work.
std::shared_ptr<const Environment> geometry_of(const std::shared_ptr<const Environment>& environment,
                                               std::size_t geometry);

}  // namespace skein
