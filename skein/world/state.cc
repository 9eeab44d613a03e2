#include "skein/world/state.h"

namespace skein {

State initial_state(const World& world) {
  State state;
  for (const Swarm& swarm : world.swarms) {
    state.swarm_sites.push_back(swarm.start_cluster);
  }
  for (const Uav& uav : world.uavs) {
    state.ledger.add_battery({.capacity = uav.battery, .level = uav.battery});
  }
  for (std::size_t i = 0; i < world.devices.size(); ++i) {
    state.ledger.add_mains();
  }
  return state;
}

}  // namespace skein
