// The planner's tables: what training costs and brings for each timing, swarm and cluster, by solving problem
// P.
#pragma once

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/tables.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// With full batteries and the data of the start: O(s), w times the bound of the mean squared gradient over
// the sequence and 1 - w times the energy of all its local rounds, and what the UAV that is left with least
// has spent on it. Where P is infeasible the energy is that of a full battery, so that no plan goes there.
// The crew's first process has them all, each of the others its part only.
SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          FractionListener progress);

}  // namespace skein
