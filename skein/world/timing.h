// How long things take (section IV-A of the paper), and the virtual clock.
#pragma once

#include <span>

#include "skein/base/quantity.h"

namespace skein {

// Some datapoints over one link. May be a fraction of a datapoint: the optimizer's shares are real numbers.
struct DataShare {
  double num_datapoints = 0.0;
  DataRate rate;
};

// size / rate. Nothing to send takes no time, whatever the rate.
Time transfer_time(DataSize size, DataRate rate);

// One share after another: the sum of num_datapoints datapoint_size / rate.
Time serial_transfer_time(DataSize datapoint_size, std::span<const DataShare> shares);

// What a worker computes between two local aggregations.
struct ProcessingLoad {
  int local_period = 1;               // tau_L: local updates
  double cycles_per_datapoint = 0.0;  // c
  double sampled_ratio = 0.0;   // alpha: the three mini-batches together, over the worker's data; up to 3
  double num_datapoints = 0.0;  // D
  Frequency frequency;          // g
};

// tau_L c alpha D: CPU cycles.
double num_cycles(const ProcessingLoad& load);

// num_cycles / g.
Time processing_time(const ProcessingLoad& load);

// Straight at constant speed.
struct Flight {
  Length distance;
  Speed speed;
};

// distance / speed. Going nowhere takes no time.
Time flight_time(const Flight& flight);

// The leader's visits to its access point, one per global aggregation, there and back.
struct AccessPointTrips {
  int num_aggregations = 0;  // K_G
  Flight one_way;
};

Time access_point_time(const AccessPointTrips& trips);

// A model travels from the leader to all workers at once: the slowest link's M / R. No workers: no time.
Time broadcast_time(DataSize model_size, std::span<const DataRate> to_workers);

struct WorkerTimes {
  Time gathering;
  Time processing;
  Time upload;
};

// One local aggregation round: it is over when the slowest worker has gathered, computed and sent its model,
// and the leader's broadcast has ended. Uploads use orthogonal bands and don't wait for one another.
Time local_round_time(std::span<const WorkerTimes> workers, Time broadcast);

// Virtual seconds since the mission's start. Never goes back.
class Clock {
 public:
  Clock() = default;
  explicit Clock(Time now);

  [[nodiscard]] Time now() const { return now_; }
  void advance(Time duration);
  // `moment` is now or later.
  void advance_to(Time moment);

 private:
  Time now_;
};

}  // namespace skein
