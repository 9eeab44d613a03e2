#include "skein/world/energy.h"

#include "skein/base/expect.h"

namespace skein {
namespace {

void expect_power(Power power) {
  expect(isfinite(power) && power >= Power(0.0), "transmit power must be finite and >= 0");
}

}  // namespace

Energy processing_energy(const ProcessingLoad& load, Capacitance capacitance) {
  expect(isfinite(capacitance) && capacitance >= Capacitance(0.0), "capacitance must be finite and >= 0");
  expect(isfinite(load.frequency) && load.frequency >= Frequency(0.0), "frequency must be finite and >= 0");
  return 0.5 * num_cycles(load) * capacitance * load.frequency * load.frequency;
}

Energy data_transmission_energy(const DataTransmission& transmission) {
  expect_power(transmission.power);
  return transmission.power * serial_transfer_time(transmission.datapoint_size, transmission.shares);
}

Energy model_upload_energy(const ModelTransmission& transmission, DataRate to_leader) {
  return model_broadcast_energy(transmission, std::span(&to_leader, 1));
}

Energy model_broadcast_energy(const ModelTransmission& transmission, std::span<const DataRate> to_workers) {
  expect_power(transmission.power);
  expect(transmission.num_aggregations >= 0, "a number of aggregations must be >= 0");
  return transmission.num_aggregations *
         (transmission.power * broadcast_time(transmission.model_size, to_workers));
}

Energy hovering_energy(const Propulsion& propulsion, Time duration) {
  expect(isfinite(duration) && duration >= Time(0.0), "a duration must be finite and >= 0");
  return propulsion.hover_power() * duration;
}

Energy access_point_energy(const Propulsion& propulsion, const AccessPointTrips& trips) {
  expect(trips.num_aggregations >= 0, "a number of aggregations must be >= 0");
  return 2.0 * trips.num_aggregations * travel_energy(propulsion, trips.one_way);
}

Energy travel_energy(const Propulsion& propulsion, const Flight& flight) {
  const Time duration = flight_time(flight);
  return duration == Time(0.0) ? Energy(0.0) : propulsion.power(flight.speed) * duration;
}

}  // namespace skein
