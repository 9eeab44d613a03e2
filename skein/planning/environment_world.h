// A planning environment from a world, and worlds that differ from it in their geometry alone.
#pragma once

#include <cstdint>

#include "skein/planning/environment.h"
#include "skein/world/world.h"

namespace skein {

// A swarm pays for a flight what its most expensive UAV needs per metre, and its battery is the least of its
// UAVs', as the paper's E_u. Tables: of the options' file, or a closed form. Throws InputError with the
// scenario's keys where no plan could work.
Environment planning_environment(const World& world, const PlanningOptions& options);

// The same but for its sites, which are placed anew with all distances in [500, 2000] m. `geometry` 0 is the
// environment itself.
Environment with_geometry(const Environment& environment, std::size_t geometry);

}  // namespace skein
