// Recharging: a charger of constant power, or a full battery in exchange for the used one.
//
// The paper sends a whole swarm to a station when one of its batteries is low and gives no time for it. Here
// every UAV of a swarm has a place of its own at the station.
#pragma once

#include "skein/base/quantity.h"

namespace skein {

struct Charger {
  Power power;     // into one battery
  Time swap_time;  // 0: batteries are charged; otherwise swapped for full ones in this time
};

// Until a battery that lacks `missing` is full: missing / power, or the time of a swap. A full battery takes
// no time.
Time recharge_time(const Charger& charger, Energy missing);

// What a battery that lacks `missing` has gained after `available`: power times that, at most what is
// missing. A swap that is not finished gains nothing.
Energy recharged_energy(const Charger& charger, Energy missing, Time available);

}  // namespace skein
