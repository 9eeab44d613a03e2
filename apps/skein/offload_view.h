// A leader's decision for people.
#pragma once

#include "skein/mission/offloading_study.h"

namespace skein::app {

// Who sends how much where, what UAVs do, the certificate, what binds.
void print(const OffloadingProblem& problem, const TimedOffload& timed);

}  // namespace skein::app
