// How far a leader flies towards an access point before it exchanges models with the core network.
//
// The paper's leader flies all the way. But a radio that reaches the access point from afar sends a model in
// seconds, while the flight takes minutes in which all others wait. Flying x of the distance d takes
//   t(x) = 2 x / v + 2 M / R(d - x)
// with the speed v, the model's size M and the rate R at what is left of the way. The choice minimises
//   E(x) + W(t(x)) + price t(x)
// E: the leader's energy, of flying there and back, hovering while models go up and down, and sending.
// W: of those who wait: each hovers or lands, whichever takes less.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "skein/base/quantity.h"

namespace skein {

// A UAV that waits somewhere in the air, and is needed in the air afterwards.
struct Waiter {
  Power hover{};
  Power landed{};
  Energy takeoff{};
  bool may_land = false;
};
// Landed for all of that time and up again takes less than hovering.
bool landing_pays(const Waiter& who, Time duration);
Energy waiting_energy(const Waiter& who, Time duration);

struct WayProblem {
  Length distance{};  // to above the access point
  Speed speed{};
  Power cruise{};    // of the leader at that speed
  Power hover{};     // of the leader
  Power transmit{};  // of the leader's radio
  DataSize model{};
  std::vector<Waiter> others{};
  Power time_price{};
  Energy most{std::numeric_limits<double>::infinity()};  // of the leader, for this way
};

struct Way {
  Length flown{};  // one way
  Time duration{};
  Energy leader{};
  double cost = 0.0;  // J
};

// The rate at so much of the way that is left; it never falls as that shrinks.
using RateAt = std::function<DataRate(Length)>;

Way way_of(const WayProblem& problem, const RateAt& rate, Length flown);
// Above the limit of the leader's battery, what it takes counts, and nothing else.
bool is_better(const Way& a, const Way& b, Energy most);
// The best, staying and flying all the way among the candidates. If the leader's battery allows none: the one
// that takes least of it.
Way best_way(const WayProblem& problem, const RateAt& rate);

}  // namespace skein
