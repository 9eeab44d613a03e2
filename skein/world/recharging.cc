#include "skein/world/recharging.h"

#include <algorithm>

#include "skein/base/expect.h"

namespace skein {
namespace {

void check(const Charger& charger, Energy missing) {
  expect(isfinite(missing) && missing >= Energy(0.0), "missing energy must be finite and >= 0");
  expect(isfinite(charger.swap_time) && charger.swap_time >= Time(0.0), "swap time must be finite and >= 0");
  expect(charger.swap_time > Time(0.0) || (isfinite(charger.power) && charger.power > Power(0.0)),
         "charging needs a power > 0");
}

}  // namespace

Time recharge_time(const Charger& charger, Energy missing) {
  check(charger, missing);
  if (missing == Energy(0.0)) {
    return Time(0.0);
  }
  return charger.swap_time > Time(0.0) ? charger.swap_time : missing / charger.power;
}

Energy recharged_energy(const Charger& charger, Energy missing, Time available) {
  check(charger, missing);
  expect(isfinite(available) && available >= Time(0.0), "charging time must be finite and >= 0");
  if (available >= recharge_time(charger, missing)) {
    return missing;
  }
  return charger.swap_time > Time(0.0) ? Energy(0.0) : std::min(missing, charger.power * available);
}

}  // namespace skein
