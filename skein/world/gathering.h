// When a swarm's data has arrived: devices send to coordinators and workers, coordinators forward to workers.
//
// The paper's gathering time of a worker is the sum of the durations of all its incoming transfers. It leaves
// out that a coordinator cannot forward what it has not yet received, and that a coordinator with several
// workers to serve makes some of them wait. The schedule here has both; no worker is done earlier than the
// paper says.
//
// As in the paper, links use orthogonal bands, and a device may send to several UAVs at once.
#pragma once

#include <cstddef>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/world/timing.h"

namespace skein {

struct Gathering {
  DataSize datapoint_size;
  std::vector<std::vector<DataShare>> to_coordinator;  // [coordinator]: from the devices
  std::vector<std::vector<DataShare>> to_worker;       // [worker]: from the devices
  std::vector<std::vector<DataShare>> relay;           // [coordinator][worker]
};

struct GatheringTimes {
  std::vector<Time> coordinators;  // [coordinator]: all has arrived from the devices
  std::vector<Time> workers;       // [worker]: all has arrived, from devices and coordinators
};

// The paper's: one transfer after another at each receiver, with no waiting for senders.
GatheringTimes paper_gathering_times(const Gathering& gathering);

struct RelayTransfer {
  std::size_t coordinator = 0;
  std::size_t worker = 0;
  Time start;
  Time end;
};

struct GatheringSchedule {
  GatheringTimes times;
  std::vector<RelayTransfer> relays;  // in order of their start
};

// Store and forward. A coordinator receives everything from its devices before it forwards, and sends to one
// worker at a time; a worker receives one transfer at a time, those of its devices first. Of all waiting
// relays the one that can start first starts; if several can, the longest, then the lowest coordinator and
// worker. The last worker is done at most as late as (the latest that any UAV has its device data) + (the
// longest forwarding of one coordinator) + (the longest receiving from coordinators of one worker).
GatheringSchedule schedule_gathering(const Gathering& gathering);

}  // namespace skein
