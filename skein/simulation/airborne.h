// Where UAVs are in a training sequence: under way, over a place, or on the ground, and what that costs.
//
// A sequence begins on the ground, where the one before has ended, but for those under way. Whoever flies or
// hovers gets into the air first if it is not there.
#pragma once

#include <cstddef>
#include <vector>

#include "skein/simulation/records.h"
#include "skein/simulation/supplies.h"
#include "skein/world/options.h"
#include "skein/world/world.h"

namespace skein {

// Refers to all that it is made of.
class Airborne {
 public:
  // `times` has an entry for every UAV, of the sequence so far.
  Airborne(const World& world, WaitChoice choice, Supplies supplies, std::vector<UavTimes>& times)
      : world_(world), choice_(choice), supplies_(supplies), times_(times) {}

  void fly(std::size_t uav, EnergyKind kind, Energy energy, Time duration);
  // The rest of a flight that has begun, and was paid for, in an earlier sequence.
  void go_on(std::size_t uav, Time duration);
  // What its battery had for it.
  Energy hover(std::size_t uav, Time duration);
  void land(std::size_t uav, Time duration);
  // Whether it should land for a wait of so long in the air, after which it is needed there again.
  [[nodiscard]] bool lands(std::size_t uav, Time duration) const;

 private:
  void take_off(std::size_t uav);

  const World& world_;
  WaitChoice choice_;
  Supplies supplies_;
  std::vector<UavTimes>& times_;
};

}  // namespace skein
