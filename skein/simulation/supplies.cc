#include "skein/simulation/supplies.h"

#include <algorithm>

#include "skein/world/state.h"

namespace skein {

bool Supplies::is_lost(std::size_t swarm) const { return !faults_.members(world_, swarm, now_).can_train(); }

std::vector<std::size_t> Supplies::flying(std::size_t swarm) const {
  const Swarm& members = world_.swarms[swarm];
  std::vector<std::size_t> ids;
  for (std::size_t id = members.leader; id < members.coordinators.end(); ++id) {
    if (!faults_.has_crashed(world_, id, now_)) {
      ids.push_back(id);
    }
  }
  return ids;
}

double Supplies::least_battery(std::size_t swarm) const {
  double least = world_.uavs[world_.swarms[swarm].leader].battery.si();
  for (const std::size_t id : flying(swarm)) {
    least = std::min(least, ledger_.level(State::account_of_uav(id)).si());
  }
  return least;
}

double Supplies::least_margin(std::size_t swarm) const {
  const Uav& leader = world_.uavs[world_.swarms[swarm].leader];
  double least = (leader.battery - leader.battery_threshold).si();
  for (const std::size_t id : flying(swarm)) {
    const double level = ledger_.level(State::account_of_uav(id)).si();
    least = std::min(least, level - world_.uavs[id].battery_threshold.si());
  }
  return least;
}

Energy Supplies::spend(std::size_t uav, EnergyKind kind, Energy energy) {
  const Ledger::Id account = State::account_of_uav(uav);
  const Booking booking = ledger_.book(account, kind, energy);
  const double factor = faults_.factor(FaultKind::battery, uav, now_);
  if (factor > 1.0) {
    ledger_.book(account, EnergyKind::leakage, (factor - 1.0) * energy);
  }
  return to_energy(booking.paid);
}

void Supplies::book(const std::vector<EnergyUse>& uses) {
  for (const EnergyUse& use : uses) {
    if (use.is_device) {
      ledger_.book(State::account_of_device(world_, use.index), use.kind, Energy(use.joules));
    } else {
      spend(use.index, use.kind, Energy(use.joules));
    }
  }
}

}  // namespace skein
