#include "skein/world/gathering.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "skein/base/expect.h"

namespace skein {
namespace {

std::vector<Time> receiving_times(DataSize datapoint_size,
                                  const std::vector<std::vector<DataShare>>& receivers) {
  std::vector<Time> times;
  times.reserve(receivers.size());
  for (const std::vector<DataShare>& shares : receivers) {
    times.push_back(serial_transfer_time(datapoint_size, shares));
  }
  return times;
}

struct Relay {
  Time start;  // at the earliest, as known when it was queued
  Time duration;
  std::size_t coordinator = 0;
  std::size_t worker = 0;
};

// For a queue whose top is the relay to start next.
bool starts_after(const Relay& a, const Relay& b) {
  return std::tuple(a.start, -a.duration, a.coordinator, a.worker) >
         std::tuple(b.start, -b.duration, b.coordinator, b.worker);
}

// Every relay that carries something, with its duration.
std::vector<Relay> relays_of(const Gathering& gathering) {
  expect(gathering.relay.size() == gathering.to_coordinator.size(), "relay needs one row per coordinator");
  std::vector<Relay> relays;
  for (std::size_t coordinator = 0; coordinator < gathering.relay.size(); ++coordinator) {
    const std::vector<DataShare>& row = gathering.relay[coordinator];
    expect(row.size() == gathering.to_worker.size(), "relay needs one column per worker");
    for (std::size_t worker = 0; worker < row.size(); ++worker) {
      const Time duration =
          transfer_time(row[worker].num_datapoints * gathering.datapoint_size, row[worker].rate);
      if (duration > Time(0.0)) {
        relays.push_back({.duration = duration, .coordinator = coordinator, .worker = worker});
      }
    }
  }
  return relays;
}

}  // namespace

GatheringTimes paper_gathering_times(const Gathering& gathering) {
  GatheringTimes times{.coordinators = receiving_times(gathering.datapoint_size, gathering.to_coordinator),
                       .workers = receiving_times(gathering.datapoint_size, gathering.to_worker)};
  for (const Relay& relay : relays_of(gathering)) {
    times.workers[relay.worker] += relay.duration;
  }
  return times;
}

// A relay's earliest start only moves later while others are placed. So the queue may hold old starts: one
// that is out of date when it comes to the top is queued again with its new start.
GatheringSchedule schedule_gathering(const Gathering& gathering) {
  GatheringSchedule schedule{
      .times = {.coordinators = receiving_times(gathering.datapoint_size, gathering.to_coordinator),
                .workers = receiving_times(gathering.datapoint_size, gathering.to_worker)},
      .relays = {}};
  std::vector<Time> sender_free = schedule.times.coordinators;
  std::vector<Time>& receiver_free = schedule.times.workers;
  const auto earliest_start = [&](const Relay& relay) {
    return std::max(sender_free[relay.coordinator], receiver_free[relay.worker]);
  };

  std::priority_queue<Relay, std::vector<Relay>, decltype(&starts_after)> waiting(&starts_after);
  for (Relay relay : relays_of(gathering)) {
    relay.start = earliest_start(relay);
    waiting.push(relay);
  }
  while (!waiting.empty()) {
    Relay next = waiting.top();
    waiting.pop();
    if (const Time start = earliest_start(next); start > next.start) {
      next.start = start;
      waiting.push(next);
      continue;
    }
    const Time end = next.start + next.duration;
    sender_free[next.coordinator] = end;
    receiver_free[next.worker] = end;
    schedule.relays.push_back(
        {.coordinator = next.coordinator, .worker = next.worker, .start = next.start, .end = end});
  }
  return schedule;
}

}  // namespace skein
