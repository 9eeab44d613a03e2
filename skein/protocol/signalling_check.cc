// What can be wrong in the description of a sequence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "skein/base/input_fault.h"
#include "skein/protocol/signalling.h"

namespace skein {

namespace {

template <class T>
bool has_shape(const Table<T>& table, std::size_t rows, std::size_t columns) {
  return (table.rows == rows && table.columns == columns && table.values.size() == rows * columns) ||
         (rows * columns == 0 && table.values.empty());
}

bool is_rate(double rate) { return std::isfinite(rate) && rate >= 0.0; }

// Collects what is wrong with a swarm's description.
class SwarmCheck {
 public:
  SwarmCheck(const SwarmDescription& swarm, InputFaults& faults) : swarm_(swarm), faults_(faults) {}

  void run(std::size_t num_rounds, std::size_t global_period) {
    const std::size_t uavs = num_uavs();
    require(swarm_.num_workers > 0, "num_workers", "at least 1");
    require(swarm_.rounds.size() == 1 || swarm_.rounds.size() == num_rounds, "rounds",
            "one, or one for each global round");
    require(swarm_.later_rounds.empty() || swarm_.later_rounds.size() + 1 == global_period, "later_rounds",
            "none, or one for each local round but the first");
    for (const auto* list : {&swarm_.rounds, &swarm_.later_rounds}) {
      std::ranges::for_each(*list, [&](const auto& round) { check_shares(round); });
    }
    require(swarm_.model_from.empty() || swarm_.model_from.size() == swarm_.num_devices, "model_from",
            "one UAV for each device, or empty");
    require(std::ranges::all_of(swarm_.model_from, [&](std::uint32_t uav) { return uav <= uavs; }),
            "model_from", "a UAV, or the number of UAVs for none");
    check_rates();
    for (const double time : {swarm_.flight_time, swarm_.ready_time, swarm_.scatter_time,
                              swarm_.access_point_flight_time, swarm_.decide_time, swarm_.aggregate_time}) {
      require(is_rate(time), "time", "at least 0 s");
    }
    check_list(swarm_.compute_time, "compute_time");
    check_list(swarm_.personalise_time, "personalise_time");
    require(swarm_.positions.empty() || swarm_.positions.size() == uavs, "positions",
            "one for each UAV, or empty");
  }

 private:
  [[nodiscard]] std::uint32_t num_uavs() const { return swarm_.num_workers + swarm_.num_coordinators; }
  void require(bool condition, std::string_view key, std::string_view allowed) {
    if (!condition) {
      faults_.add({.key = fmt::format("swarm {}: {}", swarm_.swarm, key), .message = std::string(allowed)});
    }
  }
  void check_shares(const SwarmDescription::RoundShares& round) {
    const bool fits = has_shape(round.device_to_uav, swarm_.num_devices, num_uavs()) &&
                      has_shape(round.coordinator_to_worker, swarm_.num_coordinators, swarm_.num_workers);
    require(fits, "rounds", "tables of devices x UAVs and coordinators x workers");
    require(round.keeps.empty() || round.keeps.size() == swarm_.num_workers, "keeps",
            "one for each worker, or empty");
    if (!fits || round.coordinator_to_worker.values.empty()) {
      return;
    }
    for (std::uint32_t h = 0; h < swarm_.num_coordinators; ++h) {
      std::uint64_t in = 0;
      std::uint64_t out = 0;
      for (std::uint32_t i = 0; i < swarm_.num_devices; ++i) {
        in += round.device_to_uav(i, swarm_.num_workers + h);
      }
      for (std::uint32_t j = 0; j < swarm_.num_workers; ++j) {
        out += round.coordinator_to_worker(h, j);
      }
      require(out <= in, fmt::format("coordinator {} relays {} bit", h, out),
              fmt::format("at most the {} bit that it gets", in));
    }
  }
  void check_rates() {
    require(has_shape(swarm_.device_to_uav_rate, swarm_.num_devices, num_uavs()) &&
                has_shape(swarm_.coordinator_to_worker_rate, swarm_.num_coordinators, swarm_.num_workers) &&
                swarm_.worker_to_leader_rate.size() == swarm_.num_workers &&
                swarm_.leader_to_worker_rate.size() == swarm_.num_workers,
            "rates", "one for each link");
    for (const std::vector<double>* rates :
         {&swarm_.device_to_uav_rate.values, &swarm_.coordinator_to_worker_rate.values,
          &swarm_.worker_to_leader_rate, &swarm_.leader_to_worker_rate}) {
      require(std::ranges::all_of(*rates, is_rate), "rates", "finite, at least 0 bit/s");
    }
    require(is_rate(swarm_.leader_to_access_point_rate) && is_rate(swarm_.control_rate), "rates",
            "finite, at least 0 bit/s");
  }
  void check_list(const std::vector<double>& times, std::string_view key) {
    require(times.empty() || times.size() == swarm_.num_workers, key, "one for each worker, or empty");
    require(std::ranges::all_of(times, is_rate), key, "at least 0 s");
  }

  const SwarmDescription& swarm_;
  InputFaults& faults_;
};

}  // namespace

void check_description(const SequenceDescription& d) {
  InputFaults faults;
  const auto require = [&](bool condition, std::string key, std::string allowed) {
    if (!condition) {
      faults.add({.key = std::move(key), .message = std::move(allowed)});
    }
  };
  require(!d.swarms.empty(), "swarms", "at least one");
  require(d.local_period >= 1 && d.global_period >= 1, "periods", "at least 1");
  require(d.first_round < d.end_round && d.end_round <= d.num_rounds, "first_round, end_round",
          "first_round < end_round <= num_rounds");
  require(is_rate(d.backhaul_rate) && d.backhaul_rate > 0.0, "backhaul_rate", "above 0 bit/s");
  require(is_rate(d.merge_time), "merge_time", "at least 0 s");
  const LinkFaults& f = d.network.faults;
  for (const double p : {f.loss, f.corruption, f.duplication, f.delay, f.garbage}) {
    require(p >= 0.0 && p <= 1.0, "network.faults", "probabilities from 0 to 1");
  }
  require(is_rate(f.most_delay) && is_rate(d.network.latency) && is_rate(d.network.watchdog) &&
              std::isfinite(d.network.timeout) && d.network.timeout > 0.0,
          "network", "times of at least 0 s, and a timeout above");
  require(d.network.max_attempts >= 1, "network.max_attempts", "at least 1");
  std::set<std::uint32_t> swarms;
  for (const SwarmDescription& swarm : d.swarms) {
    require(swarms.insert(swarm.swarm).second, fmt::format("swarm {}", swarm.swarm), "listed once");
    if (d.first_round < d.end_round) {
      SwarmCheck(swarm, faults).run(d.end_round - d.first_round, d.global_period);
    }
  }
  faults.throw_if_any();
}

}  // namespace skein
