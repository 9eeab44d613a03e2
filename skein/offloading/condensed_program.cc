#include "skein/offloading/condensed_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace skein {

using gp::Monomial;
using gp::Posynomial;

CondensedProgram::CondensedProgram(const OffloadingInstance& instance, double least_share)
    : instance_(instance),
      devices_(instance.num_devices()),
      workers_(instance.num_workers()),
      coordinators_(instance.num_coordinators()),
      uavs_(instance.num_uavs()) {
  add_variables(least_share);
  add_constraints();
  add_objective();
  add_denominators();
}

void CondensedProgram::add_variables(double least_share) {
  const auto add = [&](const char* kind, std::size_t a, std::size_t b, double low, double high) {
    return program_.add_variable(fmt::format("{}[{}][{}]", kind, a, b), low, high);
  };
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t u = 0; u < uavs_; ++u) {
      add("rho", i, u, least_share, 1.0);
    }
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    for (std::size_t j = 0; j < workers_; ++j) {
      add("varrho", h, j, least_share, 1.0);
    }
  }
  first_alpha_ = program_.variables.size();
  for (std::size_t j = 0; j < workers_; ++j) {
    for (std::size_t n = 0; n < 3; ++n) {
      add("alpha", j, n, least_share, 1.0);
    }
  }
  for (std::size_t j = 0; j < workers_; ++j) {
    add("g", j, 0, instance_.least_clock[j], instance_.most_clock[j]);
  }
  most_data_ = program_.variables.size();
  for (std::size_t u = 0; u < uavs_; ++u) {
    add("most data", u, 0, 0.0, instance_.buffer[u]);
  }
  most_ratio_ = program_.variables.size();
  for (std::size_t j = 0; j < workers_; ++j) {
    add("most ratio", j, 0, 0.0, HUGE_VAL);
  }
  least_data_ = program_.variables.size();
  for (std::size_t u = 0; u < uavs_; ++u) {
    add("least data", u, 0, 0.0, HUGE_VAL);
  }
  least_ratio_ = program_.variables.size();
  for (std::size_t j = 0; j < workers_; ++j) {
    add("least ratio", j, 0, 0.0, HUGE_VAL);
  }
  delta_ = add("processed", 0, 0, 0.0, HUGE_VAL);
  if (instance_.prices_time()) {
    time_ = add("time", 0, 0, 0.0, instance_.local_time_limit);
  }
}

void CondensedProgram::add_constraints() {
  const OffloadingInstance& p = instance_;
  const auto x = [](std::size_t variable) { return Monomial::of(variable); };
  const auto constrain = [&](const char* kind, std::size_t index, Posynomial left) {
    program_.constraints.push_back({fmt::format("{} {}", kind, index + 1), std::move(left)});
  };
  for (std::size_t u = 0; u < uavs_; ++u) {
    Posynomial data;
    for (std::size_t i = 0; i < devices_; ++i) {
      if (p.device_data[i] > 0.0) {
        data += x(rho(i, u)) * Monomial(p.device_data[i]);
      }
    }
    for (std::size_t h = 0; h < coordinators_ && u < workers_; ++h) {
      data += x(varrho(h, u)) * x(most_data_ + workers_ + h);
    }
    constrain("data", u, data / x(most_data_ + u));
  }
  for (std::size_t j = 0; j < workers_; ++j) {
    constrain("ratio", j,
              (Posynomial(x(alpha(j, 0))) + Posynomial(x(alpha(j, 1))) + Posynomial(x(alpha(j, 2)))) /
                  x(most_ratio_ + j));
  }
  first_share_ = program_.constraints.size();
  for (std::size_t i = 0; i < devices_; ++i) {
    Posynomial sent;
    for (std::size_t u = 0; u < uavs_; ++u) {
      sent += x(rho(i, u));
    }
    constrain("share of device", i, sent);
  }
  first_relay_ = program_.constraints.size();
  for (std::size_t h = 0; h < coordinators_; ++h) {
    Posynomial sent;
    for (std::size_t j = 0; j < workers_; ++j) {
      sent += x(varrho(h, j));
    }
    constrain("relayed by coordinator", h, sent);
  }
  first_time_ = program_.constraints.size();
  // Of the limit, or of what the round lasts where that has a price.
  const double limit = p.prices_time() ? 1.0 : p.local_time_limit;
  for (std::size_t u = 0; u < uavs_; ++u) {
    Posynomial time;
    for (std::size_t i = 0; i < devices_; ++i) {
      if (p.device_data[i] > 0.0) {
        time += x(rho(i, u)) * Monomial(p.device_data[i] * p.point_bits / (p.device_rate(i, u) * limit));
      }
    }
    if (u < workers_) {
      for (std::size_t h = 0; h < coordinators_; ++h) {
        time += x(varrho(h, u)) * x(most_data_ + workers_ + h) *
                Monomial(p.point_bits / (p.coordinator_rate(h, u) * limit));
      }
      time += x(most_ratio_ + u) * x(most_data_ + u) / x(clock(u)) *
              Monomial(p.local_period * p.cycles[u] / limit);
    }
    constrain("time of UAV", u, p.prices_time() ? time / x(time_) : time);
  }
  first_energy_ = program_.constraints.size();
  for (std::size_t u = 0; u < uavs_; ++u) {
    Posynomial energy;
    if (u < workers_) {
      energy = x(most_ratio_ + u) * x(most_data_ + u) * Monomial::of(clock(u), 2.0) *
               Monomial(p.local_period * p.capacitance_cycles[u] / 2.0 / p.energy_budget[u]);
    } else {
      const std::size_t h = u - workers_;
      for (std::size_t j = 0; j < workers_; ++j) {
        energy +=
            x(varrho(h, j)) * x(most_data_ + u) *
            Monomial(p.point_bits * p.coordinator_power[h] / (p.coordinator_rate(h, j) * p.energy_budget[u]));
      }
    }
    if (p.hover_power_of(u) > 0.0) {
      energy += x(time_) * Monomial(p.hover_power_of(u) / p.energy_budget[u]);
    }
    constrain("battery of UAV", u, energy);
  }
}

void CondensedProgram::add_learning(std::size_t j) {
  const OffloadingInstance& p = instance_;
  const auto x = [](std::size_t variable) { return Monomial::of(variable); };
  const auto add = [&](double coefficient, const Monomial& term) {
    if (coefficient > 0.0) {
      program_.objective += term * Monomial(coefficient);
    }
  };
  const Monomial weight = x(most_ratio_ + j) / x(delta_);
  if (p.accuracy) {
    const AccuracyLoss& k = *p.accuracy;
    const double q = k.training_exponent;
    const double factor = p.weight_of_learning() * k.training_loss / 3.0 *
                          std::pow(k.training_points / (3.0 * p.local_rounds * p.local_period), q);
    for (std::size_t n = 0; n < 3; ++n) {
      add(factor, weight * Monomial::of(most_data_ + j, 1.0 - q) * Monomial::of(alpha(j, n), -q));
    }
    add(p.weight_of_learning() * k.data_loss * std::pow(k.data_points, k.data_exponent),
        weight * Monomial::of(most_data_ + j, 1.0 - k.data_exponent));
    return;
  }
  const SwarmBoundCoefficients& k = p.bound;
  const double s1 = p.weight_of_learning() * k.gradient_error_weight;
  const double s2 = p.weight_of_learning() * k.mismatch_weight;
  const Monomial few = weight / x(least_data_ + j);
  const Monomial a1 = x(alpha(j, 0));
  const Monomial a2 = x(alpha(j, 1));
  const Monomial a3 = x(alpha(j, 2));
  add(s1 * k.a, weight / a3);
  add(s1 * k.d, weight / a2);
  add(s1 * k.d * k.c, weight / a1);
  add(s1 * k.b, few / (a2 * a3));
  add(s1 * k.b * k.c, few / (a1 * a3));
  add(s2 * (k.a + k.d * (1.0 + k.c)), weight);
  add(s2 * k.b * (1.0 + k.c), few);
}

void CondensedProgram::add_objective() {
  const OffloadingInstance& p = instance_;
  const auto x = [](std::size_t variable) { return Monomial::of(variable); };
  Posynomial& objective = program_.objective;
  const auto add = [&](double coefficient, const Monomial& term) {
    if (coefficient > 0.0) {
      objective += term * Monomial(coefficient);
    }
  };
  const double cost = p.weight_of_energy();
  for (std::size_t j = 0; j < workers_; ++j) {
    add_learning(j);
    add(cost * p.local_period * p.capacitance_cycles[j] / 2.0,
        x(most_ratio_ + j) * x(most_data_ + j) * Monomial::of(clock(j), 2.0));
  }
  if (p.prices_time()) {
    add(cost * p.whole_hover_power(), x(time_));
  }
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t u = 0; u < uavs_; ++u) {
      add(cost * p.device_data[i] * p.point_bits * p.device_power[i] / p.device_rate(i, u), x(rho(i, u)));
    }
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    for (std::size_t j = 0; j < workers_; ++j) {
      add(cost * p.point_bits * p.coordinator_power[h] / p.coordinator_rate(h, j),
          x(varrho(h, j)) * x(most_data_ + workers_ + h));
    }
  }
}

void CondensedProgram::add_denominators() {
  const auto x = [](std::size_t variable) { return Monomial::of(variable); };
  const auto add = [&](std::size_t variable, Posynomial meaning) {
    denominators_.push_back(std::move(meaning));
    condensed_variables_.push_back(variable);
    program_.equalities.push_back({program_.variables[variable].name, Monomial()});
  };
  for (std::size_t u = 0; u < uavs_; ++u) {
    Posynomial data;
    for (std::size_t i = 0; i < devices_; ++i) {
      if (instance_.device_data[i] > 0.0) {
        data += x(rho(i, u)) * Monomial(instance_.device_data[i]);
      }
    }
    for (std::size_t h = 0; h < coordinators_ && u < workers_; ++h) {
      data += x(varrho(h, u)) * x(least_data_ + workers_ + h);
    }
    add(least_data_ + u, data);
  }
  Posynomial processed;
  for (std::size_t j = 0; j < workers_; ++j) {
    add(least_ratio_ + j,
        Posynomial(x(alpha(j, 0))) + Posynomial(x(alpha(j, 1))) + Posynomial(x(alpha(j, 2))));
    processed += x(least_ratio_ + j) * x(least_data_ + j);
  }
  add(delta_, processed);
}

std::vector<Monomial> CondensedProgram::condensed(std::span<const double> values) const {
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [](double value) { return std::log(value); });
  std::vector<Monomial> result;
  for (std::size_t i = 0; i < denominators_.size(); ++i) {
    result.push_back(gp::condense(denominators_[i], logs) / Monomial::of(condensed_variables_[i]));
  }
  return result;
}

void CondensedProgram::condense_at(std::span<const double> values) {
  const std::vector<Monomial> monomials = condensed(values);
  for (std::size_t i = 0; i < monomials.size(); ++i) {
    program_.equalities[i].left = monomials[i];
  }
}

std::vector<double> CondensedProgram::point_of(const OffloadDecision& decision) const {
  std::vector<double> values(program_.variables.size(), 1.0);
  const auto put = [&](std::size_t variable, double value) {
    values[variable] =
        std::clamp(value, program_.variables[variable].lower, program_.variables[variable].upper);
  };
  std::vector<double> data(uavs_, 0.0);
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t u = 0; u < uavs_; ++u) {
      put(rho(i, u), decision.rho(i, u));
      data[u] += values[rho(i, u)] * instance_.device_data[i];
    }
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    for (std::size_t j = 0; j < workers_; ++j) {
      put(varrho(h, j), decision.varrho(h, j));
      data[j] += values[varrho(h, j)] * data[workers_ + h];
    }
  }
  double processed = 0.0;
  for (std::size_t j = 0; j < workers_; ++j) {
    double sum = 0.0;
    for (std::size_t n = 0; n < 3; ++n) {
      put(alpha(j, n), decision.alpha[j][n]);
      sum += values[alpha(j, n)];
    }
    put(clock(j), decision.clock[j]);
    values[most_ratio_ + j] = values[least_ratio_ + j] = sum;
    processed += sum * data[j];
  }
  for (std::size_t u = 0; u < uavs_; ++u) {
    values[most_data_ + u] = values[least_data_ + u] = data[u];
  }
  values[delta_] = processed;
  if (instance_.prices_time()) {
    put(time_, evaluate(instance_, decision).round_time);
  }
  return values;
}

OffloadDecision CondensedProgram::decision_of(std::span<const double> values) const {
  OffloadDecision decision;
  decision.rho = Table<double>(devices_, uavs_);
  decision.varrho = Table<double>(coordinators_, workers_);
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t u = 0; u < uavs_; ++u) {
      decision.rho(i, u) = values[rho(i, u)];
    }
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    for (std::size_t j = 0; j < workers_; ++j) {
      decision.varrho(h, j) = values[varrho(h, j)];
    }
  }
  for (std::size_t j = 0; j < workers_; ++j) {
    decision.alpha.push_back({values[alpha(j, 0)], values[alpha(j, 1)], values[alpha(j, 2)]});
    decision.clock.push_back(values[clock(j)]);
  }
  return decision;
}

LimitMultipliers CondensedProgram::multipliers_of(const gp::Solution& solution,
                                                  const OffloadEvaluation& evaluation) const {
  LimitMultipliers multipliers;
  // There are none before the first solution.
  const auto of = [](const std::vector<double>& list, std::size_t i) { return list.empty() ? 0.0 : list[i]; };
  for (std::size_t i = 0; i < devices_; ++i) {
    multipliers.device_share.push_back(of(solution.sensitivities, first_share_ + i));
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    const double held = evaluation.data[workers_ + h] / instance_.total_data();
    multipliers.relay.push_back(held > 0.0 ? of(solution.sensitivities, first_relay_ + h) / held : 0.0);
  }
  for (std::size_t u = 0; u < uavs_; ++u) {
    multipliers.buffer.push_back(of(solution.inner.upper_multipliers, most_data_ + u));
    multipliers.time.push_back(of(solution.sensitivities, first_time_ + u));
    multipliers.energy.push_back(of(solution.sensitivities, first_energy_ + u));
  }
  return multipliers;
}

}  // namespace skein
