// What there is of a mission's swarms at a moment, and what they spend: batteries under faults.
#pragma once

#include <cstddef>
#include <vector>

#include "skein/simulation/faults.h"
#include "skein/simulation/fleet.h"
#include "skein/world/ledger.h"
#include "skein/world/world.h"

namespace skein {

// Refers to all that it is made of.
class Supplies {
 public:
  Supplies(const World& world, const FaultSchedule& faults, const FaultSchedule::Moment& now, Ledger& ledger)
      : world_(world), faults_(faults), now_(now), ledger_(ledger) {}

  // Nobody is left to lead the swarm, or to train.
  [[nodiscard]] bool is_lost(std::size_t swarm) const;
  // UAVs that have not crashed.
  [[nodiscard]] std::vector<std::size_t> flying(std::size_t swarm) const;
  // In joules, of the UAV that has least; a swarm of which nobody is left never lacks anything.
  [[nodiscard]] double least_battery(std::size_t swarm) const;
  // The same above each UAV's threshold.
  [[nodiscard]] double least_margin(std::size_t swarm) const;

  // Of this UAV's battery; a faulty one loses more. What it had for this use.
  Energy spend(std::size_t uav, EnergyKind kind, Energy energy);
  void book(const std::vector<EnergyUse>& uses);

 private:
  const World& world_;
  const FaultSchedule& faults_;
  FaultSchedule::Moment now_;
  Ledger& ledger_;
};

}  // namespace skein
