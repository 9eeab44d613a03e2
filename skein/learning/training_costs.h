// What training costs a world: time on the clock, and energy by kind.
//
// Swarm u trains above its first cluster, with the data already on its workers, as in the paper's proof of
// concept (section VI-A), so nothing is gathered. In a local round every worker processes its data at its
// least clock and sends its model to the leader, who broadcasts the average (section IV-A). At the end of a
// global round the leader flies to its access point and back. Swarms wait for one another: a global round
// lasts as long as the slowest of them, and all UAVs hover for all of it, leaders but for their trips. Models
// between leader and access point count nothing, as in the paper.
//
// Energy is counted, not limited: batteries are the simulation's matter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/learning/trainer.h"
#include "skein/world/ledger.h"
#include "skein/world/links.h"
#include "skein/world/timing.h"
#include "skein/world/world.h"

namespace skein {

class TrainingCosts {
 public:
  // The world must outlive it.
  TrainingCosts(const World& world, DataSize model_size);

  struct Round {
    std::size_t local_period = 1;            // tau_L
    std::size_t num_local_aggregations = 1;  // tau_G
    bool visits_access_point = true;
  };
  // The workers of an update are those of the world's swarm of that number, in order.
  void book(std::span<const SwarmUpdate> updates, const Round& round);

  [[nodiscard]] Time elapsed() const { return clock_.now(); }
  [[nodiscard]] Energy spent_on(EnergyKind kind) const { return to_energy(ledger_.spent_on(kind)); }
  [[nodiscard]] Energy total() const { return to_energy(ledger_.total_spent()); }

 private:
  // Books what a swarm's local rounds cost; returns how long they take.
  Time book_local_rounds(const SwarmUpdate& update, const Round& round);
  [[nodiscard]] AccessPointTrips trips(std::size_t swarm, const Round& round) const;

  const World& world_;
  DataSize model_size_;
  std::vector<SwarmLinks> links_;
  Clock clock_;
  Ledger ledger_;  // an account per UAV
};

}  // namespace skein
