// What no schedule of a problem can be worth more than.
//
// Swarms' time has a price (a Lagrange multiplier), and each cluster by itself buys the visits that are best
// for it: not before anybody can have come, with the cheapest flight from another site, or by a swarm that
// stays there from the visit before. Of all prices that with the least bound is taken; each gives a valid
// one. Batteries, and that a swarm is at one place at a time, count as time alone. Visits of a cluster are
// found by dynamic programming on a grid of moments: one in (t, t + step] leaves its model at t and lets it
// age from t + step, which is kinder than it is.
#pragma once

#include "skein/planning/schedule.h"

namespace skein {

struct ScheduleBound {
  double value = 0.0;       // of any schedule, at most
  double time_price = 0.0;  // accuracy-seconds per second of a swarm
};

ScheduleBound schedule_bound(const std::shared_ptr<const ScheduleProblem>& problem, double step_s);

}  // namespace skein
