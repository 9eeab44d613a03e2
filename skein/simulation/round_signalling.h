// A swarm's part of a global round, as the protocol sees it: from what was decided to messages on links.
#pragma once

#include "skein/protocol/signalling.h"
#include "skein/simulation/fleet.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// Whether a worker or coordinator of the swarm has nothing to do in the round: nothing was sent to it.
bool is_idle(const World& world, const LeaderTask& task, const LeaderUpdate& update, std::size_t uav);

// With whoever is there; the data of each local round goes out before it. Who is idle hands over no models,
// if they land.
SwarmDescription describe_round(const World& world, const LeaderTask& task, const LeaderUpdate& update,
                                const SwarmLinks& links, DataSize point_size, WaitChoice waiting);

// Energy of making a trained swarm's model its own: one gradient step on each worker's batches of the last
// local round, and the upload of its result.
std::vector<EnergyUse> personalisation_energy(const World& world, const LeaderTask& task,
                                              const LeaderUpdate& update, const SwarmLinks& links,
                                              DataSize model_size);

// Energy of signalling of everyone in the swarm: power times the time on air.
std::vector<EnergyUse> signalling_energy(const World& world, const LeaderTask& task,
                                         const NetworkRecords& records);

}  // namespace skein
