#include "skein/offloading/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/base/expect.h"

namespace skein {

double OffloadingInstance::total_data() const {
  return std::accumulate(device_data.begin(), device_data.end(), 0.0);
}

double OffloadingInstance::whole_hover_power() const {
  return std::accumulate(uav_hover_power.begin(), uav_hover_power.end(), hover_power);
}

LearningBracket learning_bracket(const OffloadingInstance& p, const std::array<double, 3>& alpha,
                                 double data) {
  const auto [a1, a2, a3] = alpha;
  if (p.accuracy) {
    // Times D_j, which Delta_j has. Without data there is nothing to weigh.
    const AccuracyLoss& k = *p.accuracy;
    const double q = k.training_exponent;
    const double kept = std::pow(data, 1.0 - q);
    LearningBracket result;
    for (std::size_t n = 0; n < 3; ++n) {
      const double part = k.training_loss / 3.0 *
                          std::pow(k.training_points / (3.0 * p.local_rounds * p.local_period * alpha[n]), q);
      result.value += part * kept;
      result.by_data += (1.0 - q) * part * std::pow(data, -q);
      result.by_alpha[n] = -q * part * kept / alpha[n];
    }
    const double few = k.data_loss * std::pow(k.data_points, k.data_exponent);
    result.value += few * std::pow(data, 1.0 - k.data_exponent);
    result.by_data += (1.0 - k.data_exponent) * few * std::pow(data, -k.data_exponent);
    return result;
  }
  const SwarmBoundCoefficients& k = p.bound;
  const double s1 = k.gradient_error_weight;
  const double s2 = k.mismatch_weight;
  const double batches = 1.0 / a2 + k.c / a1;
  const double few = k.b > 0.0 ? k.b / data : 0.0;
  return {.value = s1 * (k.a / a3 + batches * (few / a3 + k.d)) + s2 * (k.a + (1.0 + k.c) * (k.d + few)),
          .by_data = -few / data * (s1 * batches / a3 + s2 * (1.0 + k.c)),
          .by_alpha = {-s1 * k.c / (a1 * a1) * (few / a3 + k.d), -s1 / (a2 * a2) * (few / a3 + k.d),
                       -s1 / (a3 * a3) * (k.a + batches * few)}};
}

std::vector<InputFault> faults_of(const OffloadingInstance& instance) {
  InputFaults faults;
  const auto refuse = [&](const std::string& key, double value, const char* allowed) {
    faults.add({"", key, fmt::format("{}", value), allowed});
  };
  const auto number = [&](const char* key, double value, bool above_zero) {
    if (!std::isfinite(value) || (above_zero ? value <= 0.0 : value < 0.0)) {
      refuse(key, value, above_zero ? "must be positive" : "must not be negative");
    }
  };
  const auto list = [&](const char* key, const std::vector<double>& values, std::size_t size, bool above_zero,
                        bool any_sign = false) {
    if (values.size() != size) {
      faults.add({"", key, fmt::format("{} numbers", values.size()), fmt::format("must have {}", size)});
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool right = any_sign ? true : above_zero ? values[i] > 0.0 : values[i] >= 0.0;
      if (!std::isfinite(values[i]) || !right) {
        refuse(fmt::format("{}[{}]", key, i), values[i],
               any_sign     ? "must be finite"
               : above_zero ? "must be positive"
                            : "must not be negative");
      }
    }
  };
  const std::size_t devices = instance.num_devices();
  const std::size_t workers = instance.num_workers();
  const std::size_t coordinators = instance.num_coordinators();
  const std::size_t uavs = instance.num_uavs();
  if (devices == 0) {
    faults.add({"", "device_data", "", "a swarm needs at least one device"});
  }
  if (workers == 0) {
    faults.add({"", "cycles_per_datum", "", "a swarm needs at least one worker"});
  }
  if (!(instance.learning_weight >= 0.0 && instance.learning_weight <= 1.0)) {
    refuse("learning_weight", instance.learning_weight, "must be from 0 to 1");
  }
  number("bits_per_datum", instance.point_bits, true);
  number("local_period", instance.local_period, true);
  number("local_rounds", instance.local_rounds, true);
  number("hover_power_w", instance.hover_power, false);
  if (!instance.uav_hover_power.empty()) {
    list("uav_hover_power_w", instance.uav_hover_power, uavs, false);
  }
  if (!std::isfinite(instance.local_time_limit)) {
    refuse("local_time_limit_s", instance.local_time_limit, "must be finite");
  }
  number("bound.a", instance.bound.a, false);
  number("bound.b", instance.bound.b, false);
  number("bound.c", instance.bound.c, false);
  number("bound.d", instance.bound.d, false);
  number("gradient_error_weight", instance.bound.gradient_error_weight, false);
  number("mismatch_weight", instance.bound.mismatch_weight, false);
  list("device_data", instance.device_data, devices, false);
  list("device_power_w", instance.device_power, devices, true);
  list("device_rate_bps", instance.device_rate.values, devices * uavs, true);
  list("coordinator_power_w", instance.coordinator_power, coordinators, true);
  list("coordinator_rate_bps", instance.coordinator_rate.values, coordinators * workers, true);
  list("capacitance_times_cycles", instance.capacitance_cycles, workers, true);
  list("cycles_per_datum", instance.cycles, workers, true);
  list("cpu_hz, least", instance.least_clock, workers, true);
  list("cpu_hz, most", instance.most_clock, workers, true);
  for (std::size_t j = 0; j < std::min(instance.least_clock.size(), instance.most_clock.size()); ++j) {
    if (instance.least_clock[j] > instance.most_clock[j]) {
      refuse("cpu_hz", instance.least_clock[j], "must be the least speed, then the most");
    }
  }
  list("energy_budget_j", instance.energy_budget, uavs, false, true);
  list("buffer", instance.buffer, uavs, false);
  return faults.list();
}

namespace {

// What the round lasts, and who hovers so long.
void add_hovering(const OffloadingInstance& p, const OffloadDecision& x, OffloadEvaluation& result) {
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    const double processing = u < p.num_workers() ? result.processing_time[u] : 0.0;
    result.round_time = std::max(result.round_time, result.gathering_time[u] + processing);
  }
  result.hovering_energy = p.hover_power * result.round_time;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    const double own = x.is_idle(u) ? 0.0 : p.hover_power_of(u) * result.round_time;
    result.uav_energy[u] += own;
    result.hovering_energy += own;
  }
}

}  // namespace

OffloadEvaluation evaluate(const OffloadingInstance& p, const OffloadDecision& x) {
  const std::size_t devices = p.num_devices();
  const std::size_t workers = p.num_workers();
  const std::size_t coordinators = p.num_coordinators();
  const std::size_t uavs = p.num_uavs();
  expect(x.rho.rows == devices && x.rho.columns == uavs && x.alpha.size() == workers,
         "a decision fits its problem");

  OffloadEvaluation result;
  result.data.assign(uavs, 0.0);
  result.gathering_time.assign(uavs, 0.0);
  result.uav_energy.assign(uavs, 0.0);
  const auto limit = [&](LimitKind kind, std::size_t index, double used, double allowed) {
    // A limit of nothing is met by using nothing.
    const double share = used == 0.0 ? 0.0 : used / allowed;
    const double counted = allowed > 0.0 || used == 0.0 ? share : HUGE_VAL;
    result.limits.push_back({kind, index, counted});
    result.violation = std::max(result.violation, counted - 1.0);
  };
  for (std::size_t i = 0; i < devices; ++i) {
    double sent = 0.0;
    for (std::size_t u = 0; u < uavs; ++u) {
      const double points = x.rho(i, u) * p.device_data[i];
      const double seconds = points * p.point_bits / p.device_rate(i, u);
      sent += x.rho(i, u);
      result.data[u] += points;
      result.gathering_time[u] += seconds;
      result.device_energy += seconds * p.device_power[i];
    }
    limit(LimitKind::device_share, i, sent, 1.0);
  }
  for (std::size_t h = 0; h < coordinators; ++h) {
    double sent = 0.0;
    for (std::size_t j = 0; j < workers; ++j) {
      const double points = x.varrho(h, j) * result.data[workers + h];
      const double seconds = points * p.point_bits / p.coordinator_rate(h, j);
      sent += x.varrho(h, j);
      result.data[j] += points;
      result.gathering_time[j] += seconds;
      result.uav_energy[workers + h] += seconds * p.coordinator_power[h];
    }
    result.relay_energy += result.uav_energy[workers + h];
    limit(LimitKind::relay_share, h, sent, 1.0);
  }
  double sum = 0.0;
  double delta = 0.0;
  result.processed.assign(workers, 0.0);
  result.processing_time.assign(workers, 0.0);
  for (std::size_t j = 0; j < workers; ++j) {
    const double all = x.alpha[j][0] + x.alpha[j][1] + x.alpha[j][2];
    if (all == 0.0) {
      continue;
    }
    const double data = result.data[j];
    result.processed[j] = all * data;
    result.processing_time[j] = p.local_period * p.cycles[j] * all * data / x.clock[j];
    result.uav_energy[j] =
        p.local_period * p.capacitance_cycles[j] / 2.0 * all * data * x.clock[j] * x.clock[j];
    result.processing_energy += result.uav_energy[j];
    delta += all * data;
    sum += all * learning_bracket(p, x.alpha[j], data).value;
  }
  result.learning = sum / delta;
  add_hovering(p, x, result);
  result.objective = p.weight_of_learning() * result.learning +
                     p.weight_of_energy() * (result.energy() + result.hovering_energy);
  for (std::size_t u = 0; u < uavs; ++u) {
    const double processing = u < workers ? result.processing_time[u] : 0.0;
    limit(LimitKind::buffer, u, result.data[u], p.buffer[u]);
    limit(LimitKind::time, u, result.gathering_time[u] + processing, p.local_time_limit);
    limit(LimitKind::energy, u, result.uav_energy[u], p.energy_budget[u]);
  }
  return result;
}

OffloadingInstance with_uavs(const OffloadingInstance& instance, const std::vector<std::size_t>& workers,
                             const std::vector<std::size_t>& coordinators) {
  OffloadingInstance result = instance;
  const std::size_t devices = instance.num_devices();
  std::vector<std::size_t> uavs = workers;
  for (const std::size_t h : coordinators) {
    uavs.push_back(instance.num_workers() + h);
  }
  const auto pick = [](const std::vector<double>& from, const std::vector<std::size_t>& indices) {
    std::vector<double> picked;
    for (const std::size_t index : indices) {
      picked.push_back(from[index]);
    }
    return picked;
  };
  result.coordinator_power = pick(instance.coordinator_power, coordinators);
  result.capacitance_cycles = pick(instance.capacitance_cycles, workers);
  result.cycles = pick(instance.cycles, workers);
  result.least_clock = pick(instance.least_clock, workers);
  result.most_clock = pick(instance.most_clock, workers);
  result.energy_budget = pick(instance.energy_budget, uavs);
  result.buffer = pick(instance.buffer, uavs);
  if (!instance.uav_hover_power.empty()) {
    result.uav_hover_power = pick(instance.uav_hover_power, uavs);
  }
  result.device_rate = Table<double>(devices, uavs.size());
  for (std::size_t i = 0; i < devices; ++i) {
    for (std::size_t u = 0; u < uavs.size(); ++u) {
      result.device_rate(i, u) = instance.device_rate(i, uavs[u]);
    }
  }
  result.coordinator_rate = Table<double>(coordinators.size(), workers.size());
  for (std::size_t h = 0; h < coordinators.size(); ++h) {
    for (std::size_t j = 0; j < workers.size(); ++j) {
      result.coordinator_rate(h, j) = instance.coordinator_rate(coordinators[h], workers[j]);
    }
  }
  return result;
}

OffloadDecision among_all_uavs(const OffloadingInstance& instance, const std::vector<std::size_t>& workers,
                               const std::vector<std::size_t>& coordinators,
                               const OffloadDecision& decision) {
  const std::size_t devices = instance.num_devices();
  OffloadDecision result;
  result.rho = Table<double>(devices, instance.num_uavs());
  result.varrho = Table<double>(instance.num_coordinators(), instance.num_workers());
  result.alpha.assign(instance.num_workers(), {0.0, 0.0, 0.0});
  result.clock = instance.least_clock;
  result.idle.assign(instance.num_uavs(), true);
  for (std::size_t u = 0; u < workers.size() + coordinators.size(); ++u) {
    const std::size_t uav =
        u < workers.size() ? workers[u] : instance.num_workers() + coordinators[u - workers.size()];
    result.idle[uav] = decision.is_idle(u);
  }
  for (std::size_t i = 0; i < devices; ++i) {
    for (std::size_t j = 0; j < workers.size(); ++j) {
      result.rho(i, workers[j]) = decision.rho(i, j);
    }
    for (std::size_t h = 0; h < coordinators.size(); ++h) {
      result.rho(i, instance.num_workers() + coordinators[h]) = decision.rho(i, workers.size() + h);
    }
  }
  for (std::size_t j = 0; j < workers.size(); ++j) {
    for (std::size_t h = 0; h < coordinators.size(); ++h) {
      result.varrho(coordinators[h], workers[j]) = decision.varrho(h, j);
    }
    result.alpha[workers[j]] = decision.alpha[j];
    result.clock[workers[j]] = decision.clock[j];
  }
  return result;
}

OffloadingInstance with_workers(const OffloadingInstance& instance, const std::vector<std::size_t>& workers) {
  return with_uavs(instance, workers, all_indices(instance.num_coordinators()));
}

std::vector<std::size_t> all_indices(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

}  // namespace skein
