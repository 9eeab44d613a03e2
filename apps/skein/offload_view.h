// A leader's decision for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "skein/offloading/swarm_problem.h"

namespace skein::app {

struct TimedOffload {
  OffloadResult result;
  double milliseconds = 0.0;
};

// All of it: decision, evaluation with every limit, certificate with every reduced cost.
nlohmann::ordered_json json_of(const OffloadingProblem& problem, const TimedOffload& timed);
// Who sends how much where, what UAVs do, the certificate, what binds.
void print(const OffloadingProblem& problem, const TimedOffload& timed);

}  // namespace skein::app
