// The energies of section IV-A of the paper, one function each.
//
// Of a transfer only the sender pays: the paper counts no energy for receiving.
#pragma once

#include <span>

#include "skein/base/quantity.h"
#include "skein/world/propulsion.h"
#include "skein/world/timing.h"

namespace skein {

// A worker's computing between two local aggregations: tau_L (a c / 2) alpha D g^2 with the chip's effective
// capacitance a. Grows with the square of the frequency g while the time falls as 1 / g.
Energy processing_energy(const ProcessingLoad& load, Capacitance capacitance);

// Data from one sender over several links: P times the sum of num_datapoints datapoint_size / rate. A device
// sends shares rho D~ of its data to UAVs, a coordinator shares varrho D to workers; the formula is the same.
struct DataTransmission {
  Power power;
  DataSize datapoint_size;  // M~ in the paper's text; its notation table swaps M and M~
  std::span<const DataShare> shares;
};
Energy data_transmission_energy(const DataTransmission& transmission);

// Models between workers and leader, once per local aggregation.
struct ModelTransmission {
  int num_aggregations = 1;  // K_L
  DataSize model_size;       // M
  Power power;               // of the sender
};
// A worker to its leader: K_L P M / R.
Energy model_upload_energy(const ModelTransmission& transmission, DataRate to_leader);
// A leader to all its workers at once: K_L P max(M / R). No workers: nothing.
Energy model_broadcast_energy(const ModelTransmission& transmission, std::span<const DataRate> to_workers);

// Staying in the air over one place. The paper multiplies by T_s, which counts local updates; here the time
// is that on the clock.
Energy hovering_energy(const Propulsion& propulsion, Time duration);

// The leader's round trips: 2 K_G psi^M d. The paper adds them to hovering for the whole sequence; whoever
// keeps a clock books hovering only for the time that the leader is not under way.
Energy access_point_energy(const Propulsion& propulsion, const AccessPointTrips& trips);

// Between sites: psi^M d.
Energy travel_energy(const Propulsion& propulsion, const Flight& flight);

}  // namespace skein
