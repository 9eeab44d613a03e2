#include "skein/world/timing.h"

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"

namespace skein {
namespace {

void expect_duration(Time time) {
  expect(isfinite(time) && time >= Time(0.0), "a duration must be finite and >= 0");
}

}  // namespace

Time transfer_time(DataSize size, DataRate rate) {
  expect(isfinite(size) && size >= DataSize(0.0), "a size must be finite and >= 0");
  if (size == DataSize(0.0)) {
    return Time(0.0);
  }
  expect(rate > DataRate(0.0), "a transfer needs a rate > 0");
  return size / rate;
}

Time serial_transfer_time(DataSize datapoint_size, std::span<const DataShare> shares) {
  Time sum;
  for (const DataShare& share : shares) {
    sum += transfer_time(share.num_datapoints * datapoint_size, share.rate);
  }
  return sum;
}

double num_cycles(const ProcessingLoad& load) {
  const double cycles =
      load.local_period * load.cycles_per_datapoint * load.sampled_ratio * load.num_datapoints;
  expect(std::isfinite(cycles) && cycles >= 0.0, "a processing load must be finite and >= 0");
  return cycles;
}

Time processing_time(const ProcessingLoad& load) {
  const double cycles = num_cycles(load);
  if (cycles == 0.0) {
    return Time(0.0);
  }
  expect(isfinite(load.frequency) && load.frequency > Frequency(0.0), "processing needs a frequency > 0");
  return cycles / load.frequency;
}

Time flight_time(const Flight& flight) {
  expect(isfinite(flight.distance) && flight.distance >= Length(0.0), "a flight needs a distance >= 0");
  if (flight.distance == Length(0.0)) {
    return Time(0.0);
  }
  expect(isfinite(flight.speed) && flight.speed > Speed(0.0), "a flight needs a speed > 0");
  return flight.distance / flight.speed;
}

Time access_point_time(const AccessPointTrips& trips) {
  expect(trips.num_aggregations >= 0, "a number of aggregations must be >= 0");
  return 2.0 * trips.num_aggregations * flight_time(trips.one_way);
}

Time broadcast_time(DataSize model_size, std::span<const DataRate> to_workers) {
  Time slowest;
  for (const DataRate rate : to_workers) {
    slowest = std::max(slowest, transfer_time(model_size, rate));
  }
  return slowest;
}

Time local_round_time(std::span<const WorkerTimes> workers, Time broadcast) {
  Time slowest;
  for (const WorkerTimes& worker : workers) {
    const Time total = worker.gathering + worker.processing + worker.upload;
    expect_duration(total);
    slowest = std::max(slowest, total);
  }
  expect_duration(broadcast);
  return slowest + broadcast;
}

Clock::Clock(Time now) : now_(now) { expect_duration(now); }

void Clock::advance(Time duration) {
  expect_duration(duration);
  now_ += duration;
}

void Clock::advance_to(Time moment) {
  expect(isfinite(moment) && moment >= now_, "the clock does not go back");
  now_ = moment;
}

}  // namespace skein
