// What a visit of a swarm to a cluster takes and leaves, without the way there.
#pragma once

#include <cstddef>

namespace skein {

struct VisitCost {
  bool possible = false;
  double duration_s = 0.0;     // from arrival until the model is handed over, with no other swarm to wait for
  double energy_j = 0.0;       // of all UAVs of the swarm, that are in the air when it begins
  double battery_j = 0.0;      // of the UAV that is left with least
  double accuracy_loss = 0.0;  // percentage points that training leaves to be won, as problem P predicts
};

class VisitCosts {
 public:
  VisitCosts() = default;
  virtual ~VisitCosts() = default;
  VisitCosts(const VisitCosts&) = delete;
  VisitCosts& operator=(const VisitCosts&) = delete;
  VisitCosts(VisitCosts&&) = delete;
  VisitCosts& operator=(VisitCosts&&) = delete;

  // `timing` is a number in the planner's tables. The same numbers whatever was asked before, by any thread.
  [[nodiscard]] virtual VisitCost of(std::size_t timing, std::size_t swarm, std::size_t cluster) const = 0;
};

}  // namespace skein
