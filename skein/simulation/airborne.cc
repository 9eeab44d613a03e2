#include "skein/simulation/airborne.h"

#include "skein/world/energy.h"
#include "skein/world/links.h"

namespace skein {

void Airborne::take_off(std::size_t uav) {
  if (!times_[uav].aloft) {
    times_[uav].aloft = true;
    supplies_.spend(uav, EnergyKind::take_off, world_.uavs[uav].takeoff);
  }
}

void Airborne::fly(std::size_t uav, EnergyKind kind, Energy energy, Time duration) {
  if (duration > Time(0.0)) {
    take_off(uav);
    supplies_.spend(uav, kind, energy);
    go_on(uav, duration);
  }
}

void Airborne::go_on(std::size_t uav, Time duration) {
  if (duration > Time(0.0)) {
    times_[uav].flying_s += duration.si();
  }
}

Energy Airborne::hover(std::size_t uav, Time duration) {
  if (!(duration > Time(0.0))) {
    return {};
  }
  take_off(uav);
  times_[uav].hovering_s += duration.si();
  return supplies_.spend(uav, EnergyKind::hovering, hovering_energy(world_.uavs[uav].propulsion, duration));
}

void Airborne::land(std::size_t uav, Time duration) {
  if (duration > Time(0.0)) {
    times_[uav].aloft = false;
    times_[uav].landed_s += duration.si();
    supplies_.spend(uav, EnergyKind::landed, world_.uavs[uav].landed_power * duration);
  }
}

bool Airborne::lands(std::size_t uav, Time duration) const {
  return landing_pays(waiting_of(world_.uavs[uav], choice_), duration);
}

}  // namespace skein
