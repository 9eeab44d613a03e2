// What happened in a training sequence, event by event, and as TensorBoard shows it.
#pragma once

#include <string>

#include "skein/simulation/records.h"
#include "skein/world/state.h"
#include "skein/world/world.h"

namespace skein {

// Lines of events.jsonl: what the planner weighed, what each swarm did, what was measured, what went wrong.
std::string events_of(const World& world, const SequenceRecord& record);

// A moment of simulated time in an event file. Energies are since the start.
std::string scalars_of(const World& world, const SequenceRecord& record, const State& state);

}  // namespace skein
