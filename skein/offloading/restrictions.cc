#include "skein/offloading/restrictions.h"

namespace skein {

double OffloadRestrictions::least_varrho(const OffloadingInstance& instance) const {
  switch (relays) {
    case Relays::free:
      return 0.0;
    case Relays::at_least_even:
      return 1.0 / static_cast<double>(instance.num_uavs());
    case Relays::even:
      return 1.0 / static_cast<double>(instance.num_workers());
  }
  return 0.0;
}

OffloadRestrictions greedy_offloading() {
  return {.even_rho = true, .relays = OffloadRestrictions::Relays::at_least_even};
}

OffloadRestrictions maximum_processing() {
  return {.even_rho = true,
          .relays = OffloadRestrictions::Relays::even,
          .least_alpha = 0.995,
          .full_clock = true};
}

}  // namespace skein
