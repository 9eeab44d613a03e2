// What a method that decides on offloading may not choose freely: greedy offloading and maximum processing
// are problem P with some of it fixed.
#pragma once

#include "skein/offloading/instance.h"

namespace skein {

struct OffloadRestrictions {
  enum class Relays {
    free,
    at_least_even,  // varrho >= 1 / number of UAVs; with even_rho only
    even,           // varrho = 1 / number of workers; with even_rho only
  };
  bool even_rho = false;  // rho = 1 / number of UAVs
  Relays relays = Relays::free;
  double least_alpha = 1e-6;
  bool full_clock = false;  // g at its most

  [[nodiscard]] double least_varrho(const OffloadingInstance& instance) const;
};
OffloadRestrictions greedy_offloading();
OffloadRestrictions maximum_processing();

}  // namespace skein
