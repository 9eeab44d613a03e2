// Random instances of problem P: sizes, weights, data, radio, processors; batteries, buffers and time from
// ample to impossible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "skein/base/random.h"
#include "skein/offloading/instance.h"

namespace skein {

struct RandomInstanceOptions {
  std::size_t least_devices = 1, most_devices = 12;
  std::size_t least_workers = 1, most_workers = 3;
  std::size_t most_coordinators = 3;
  // Shares of instances and UAVs whose limits are tight, or leave nothing at all.
  double tight = 0.3;
  double impossible = 0.0;
  // Where time has a price, of instances whose batteries last for hardly any hovering, or for none at all.
  double nearly_empty = 0.0;
};

inline OffloadingInstance random_instance(std::uint64_t seed, const RandomInstanceOptions& options = {}) {
  RandomStream random(seed, "random instance");
  const auto between = [&](std::size_t low, std::size_t high) { return low + random.below(high - low + 1); };
  const auto log_uniform = [&](double low, double high) {
    return low * std::exp(random.uniform() * std::log(high / low));
  };
  OffloadingInstance p;
  p.name = "random " + std::to_string(seed);
  const std::size_t devices = between(options.least_devices, options.most_devices);
  const std::size_t workers = between(options.least_workers, options.most_workers);
  const std::size_t coordinators = between(0, options.most_coordinators);
  const std::size_t uavs = workers + coordinators;
  const std::vector<double> weights{0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99};
  p.learning_weight = random.choice(weights);
  // The published study's constants, times a factor now and then.
  const bool published = random.bernoulli(0.7);
  const auto varied = [&](double value) { return published ? value : value * log_uniform(0.1, 10.0); };
  p.bound.a = varied(37.5);
  p.bound.b = varied(7.5e-3);
  p.bound.c = varied(1e-4);
  p.bound.d = varied(600.0);
  p.bound.gradient_error_weight = varied(2.34);
  p.bound.mismatch_weight = varied(1.0);
  p.point_bits = log_uniform(2e4, 2e5);
  p.local_period = static_cast<double>(between(1, 5));
  const bool short_time = random.bernoulli(options.tight);
  p.local_time_limit = short_time ? log_uniform(0.01, 1.0) : random.uniform(3.0, 7.0);
  if (random.bernoulli(options.impossible / 4.0)) {
    p.local_time_limit = -random.uniform();
  }
  p.device_rate = Table<double>(devices, uavs);
  for (std::size_t i = 0; i < devices; ++i) {
    p.device_data.push_back(random.bernoulli(0.03) ? 0.0 : std::max(20.0, random.normal(500.0, 150.0)));
    p.device_power.push_back(random.uniform(0.2, 0.32));
    for (std::size_t u = 0; u < uavs; ++u) {
      p.device_rate(i, u) = log_uniform(4e7, 2e8);
    }
  }
  p.coordinator_rate = Table<double>(coordinators, workers);
  for (std::size_t h = 0; h < coordinators; ++h) {
    p.coordinator_power.push_back(random.uniform(0.05, 0.2));
    for (std::size_t j = 0; j < workers; ++j) {
      p.coordinator_rate(h, j) = log_uniform(4e7, 4e8);
    }
  }
  for (std::size_t j = 0; j < workers; ++j) {
    const double cycles = log_uniform(5e3, 5e4);
    p.cycles.push_back(cycles);
    p.capacitance_cycles.push_back(cycles * log_uniform(1e-28, 4e-28));
    p.least_clock.push_back(1e7);
    p.most_clock.push_back(random.uniform(1e9, 2.3e9));
  }
  const bool small_batteries = random.bernoulli(options.tight);
  const bool small_buffers = random.bernoulli(options.tight);
  for (std::size_t u = 0; u < uavs; ++u) {
    p.energy_budget.push_back(small_batteries ? log_uniform(1e-4, 1.0) : log_uniform(10.0, 1e4));
    p.buffer.push_back(small_buffers ? log_uniform(20.0, 600.0) : random.uniform(2e3, 1e5));
    if (random.bernoulli(options.impossible / static_cast<double>(uavs))) {
      p.energy_budget.back() = random.bernoulli(0.3) ? 0.0 : -random.exponential();
    }
    if (random.bernoulli(options.impossible / 3.0 / static_cast<double>(uavs))) {
      p.buffer.back() = 0.0;
    }
  }
  return p;
}

// The same with a price of time; in half of the instances batteries pay for hovering too, and last for it
// from hardly at all to amply.
inline OffloadingInstance random_priced_instance(std::uint64_t seed,
                                                 const RandomInstanceOptions& options = {}) {
  OffloadingInstance p = random_instance(seed, options);
  RandomStream random(seed, "hover power");
  const auto log_uniform = [&](double low, double high) {
    return low * std::exp(random.uniform() * std::log(high / low));
  };
  p.hover_power = log_uniform(10.0, 1000.0);
  const bool batteries_pay = random.bernoulli(0.5);
  for (std::size_t u = 0; u < p.num_uavs() && batteries_pay; ++u) {
    const double power = log_uniform(10.0, 1000.0);
    p.uav_hover_power.push_back(power);
    p.energy_budget[u] += p.energy_budget[u] > 0.0 ? power * log_uniform(0.01, 10.0) : 0.0;
  }
  if (random.bernoulli(options.nearly_empty)) {
    p.uav_hover_power.assign(p.num_uavs(), 100.0);
    for (double& budget : p.energy_budget) {
      budget = budget > 0.0 ? 100.0 * log_uniform(1e-6, 0.1) : budget;
    }
  }
  return p;
}

// The same with a prediction of accuracy in the bound's place, with the sizes of the default mission.
inline OffloadingInstance with_accuracy(OffloadingInstance p) {
  p.accuracy = AccuracyLoss{};
  p.local_period = 256.0;
  p.point_bits = 6.3e3;
  for (std::size_t j = 0; j < p.num_workers(); ++j) {
    p.capacitance_cycles[j] *= 750e3 / p.cycles[j];
    p.cycles[j] = 750e3;
  }
  p.local_time_limit = p.local_time_limit > 0.0 ? 60.0 : p.local_time_limit;
  p.learning_weight = 0.98;
  return p;
}

// Where time has a price: less than a point could reach the workers until some worker's battery, or the time,
// is used up. A coordinator that cannot hover so long relays nothing.
inline bool ends_before_a_point(const OffloadingInstance& p) {
  const auto longest = [&](std::size_t u) {
    return p.hover_power_of(u) > 0.0 ? p.energy_budget[u] / p.hover_power_of(u) : HUGE_VAL;
  };
  const auto points_per_second = [&](auto relays) {
    double sum = 0.0;
    for (std::size_t j = 0; j < p.num_workers(); ++j) {
      double rate = 0.0;
      for (std::size_t i = 0; i < p.num_devices(); ++i) {
        rate = std::max(rate, p.device_rate(i, j));
      }
      for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
        rate = relays(h) ? std::max(rate, p.coordinator_rate(h, j)) : rate;
      }
      sum += rate / p.point_bits;
    }
    return sum;
  };
  const double most = points_per_second([](std::size_t) { return true; });
  const double open = points_per_second([&](std::size_t h) {
    return longest(p.num_workers() + h) * most >= 1.0 && p.buffer[p.num_workers() + h] > 0.0;
  });
  double seconds = p.local_time_limit;
  for (std::size_t j = 0; j < p.num_workers(); ++j) {
    seconds = std::min(seconds, longest(j));
  }
  return p.prices_time() && seconds * open < 1.0;
}

// From its numbers alone: is there anything left to decide?
inline bool is_impossible(const OffloadingInstance& p) {
  bool impossible = !(p.local_time_limit > 0.0) || !(p.total_data() > 0.0);
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    const bool worker = u < p.num_workers();
    impossible = impossible || (worker ? p.energy_budget[u] <= 0.0 : p.energy_budget[u] < 0.0) ||
                 (worker && p.buffer[u] <= 0.0);
  }
  return impossible || ends_before_a_point(p);
}

}  // namespace skein
