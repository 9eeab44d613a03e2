// Who decides where swarms fly, who recharges and how long they train: all that the simulation sees of
// planning.
#pragma once

#include <cstdint>
#include <vector>

#include "skein/planning/plan.h"

namespace skein {

class Planner {
 public:
  Planner() = default;
  virtual ~Planner() = default;
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;
  Planner(Planner&&) = delete;
  Planner& operator=(Planner&&) = delete;

  // A new mission: forgets what it saw of the last one. Random decisions come from streams of this seed.
  virtual void begin(std::uint64_t seed) = 0;
  // A legal plan: no two swarms at one site, all within reach. Observations come in the order of sequences.
  virtual Plan choose(const Observation& observation) = 0;
  // What it weighed for its last choice, the best few first; nothing from a planner that gives no values.
  [[nodiscard]] virtual std::vector<Alternative> alternatives() const { return {}; }
};

}  // namespace skein
