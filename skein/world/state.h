// The state: everything about the world that changes in a run. A plain value: copied, saved, restored.
#pragma once

#include <cstddef>
#include <vector>

#include "skein/world/ledger.h"
#include "skein/world/timing.h"
#include "skein/world/world.h"

namespace skein {

struct State {
  Clock clock{};
  std::size_t sequence = 0;
  std::vector<std::size_t> swarm_sites;  // where each swarm is: a site of the world
  Ledger ledger;                         // accounts: UAVs in the world's order, then devices (on mains)

  static Ledger::Id account_of_uav(std::size_t uav) { return uav; }
  static Ledger::Id account_of_device(const World& world, std::size_t device) {
    return world.uavs.size() + device;
  }
};

// At the start: full batteries, each swarm above its first cluster.
State initial_state(const World& world);

}  // namespace skein
