// The learning algorithms: each is a choice of local update and of who averages with whom.
#pragma once

#include <string_view>

#include "skein/learning/options.h"
#include "skein/learning/trainer.h"

namespace skein {

enum class Topology {
  hierarchy,  // workers average in their swarm every tau_L iterations, swarms with equal weight every tau_L
              // tau_G
  star,       // all workers, weighted by data, every tau_L tau_G iterations; nothing in between
  swarms,     // workers average in their swarm; swarms learn alone
  pooled,     // one worker has the data of all
};

struct Algorithm {
  std::string_view name;   // as in scenarios
  std::string_view title;  // for people
  bool meta = false;       // local updates are meta-gradient steps, or plain gradient steps
  Topology topology = Topology::hierarchy;
};

const Algorithm& algorithm(LearningAlgorithm which);

}  // namespace skein
