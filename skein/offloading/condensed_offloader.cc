#include "skein/offloading/condensed_offloader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/offloading/certificate.h"
#include "skein/offloading/newton_offloader.h"

namespace skein {

using gp::Monomial;
using gp::Posynomial;

namespace {

// Those with some battery and buffer; of others there is no logarithm.
std::vector<std::size_t> open_coordinators(const OffloadingInstance& instance) {
  std::vector<std::size_t> open;
  for (std::size_t h = 0; h < instance.num_coordinators(); ++h) {
    const std::size_t u = instance.num_workers() + h;
    if (instance.energy_budget[u] > 0.0 && instance.buffer[u] > 0.0) {
      open.push_back(h);
    }
  }
  return open;
}

// Polished; shares at their least stand for zero, unless a worker needs them: its bound knows no zero.
OffloadDecision without_floors(const OffloadingInstance& instance, const OffloadRestrictions& restrictions,
                               double least_share, OffloadDecision decision) {
  OffloadDecision snapped = decision;
  for (std::vector<double>* shares : {&snapped.rho.values, &snapped.varrho.values}) {
    for (double& share : *shares) {
      share = share < 10.0 * least_share ? 0.0 : share;
    }
  }
  polish(instance, restrictions, decision);
  polish(instance, restrictions, snapped);
  return evaluate(instance, snapped).objective <= evaluate(instance, decision).objective ? snapped : decision;
}

}  // namespace

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
  for (std::size_t u = 0; u < uavs_; ++u) {
    Posynomial time;
    for (std::size_t i = 0; i < devices_; ++i) {
      if (p.device_data[i] > 0.0) {
        time += x(rho(i, u)) *
                Monomial(p.device_data[i] * p.point_bits / (p.device_rate(i, u) * p.local_time_limit));
      }
    }
    if (u < workers_) {
      for (std::size_t h = 0; h < coordinators_; ++h) {
        time += x(varrho(h, u)) * x(most_data_ + workers_ + h) *
                Monomial(p.point_bits / (p.coordinator_rate(h, u) * p.local_time_limit));
      }
      time += x(most_ratio_ + u) * x(most_data_ + u) / x(clock(u)) *
              Monomial(p.local_period * p.cycles[u] / p.local_time_limit);
    }
    constrain("time of UAV", u, time);
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
    constrain("battery of UAV", u, energy);
  }
}

void CondensedProgram::add_objective() {
  const OffloadingInstance& p = instance_;
  const SwarmBoundCoefficients& k = p.bound;
  const auto x = [](std::size_t variable) { return Monomial::of(variable); };
  Posynomial& objective = program_.objective;
  const auto add = [&](double coefficient, const Monomial& term) {
    if (coefficient > 0.0) {
      objective += term * Monomial(coefficient);
    }
  };
  const double s1 = p.learning_weight * k.gradient_error_weight;
  const double s2 = p.learning_weight * k.mismatch_weight;
  const double cost = 1.0 - p.learning_weight;
  for (std::size_t j = 0; j < workers_; ++j) {
    const Monomial weight = x(most_ratio_ + j) / x(delta_);
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
    add(cost * p.local_period * p.capacitance_cycles[j] / 2.0,
        x(most_ratio_ + j) * x(most_data_ + j) * Monomial::of(clock(j), 2.0));
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

OffloadResult CondensedOffloader::solve_without_closed(const OffloadingInstance& instance,
                                                       const std::vector<std::size_t>& open) const {
  const std::vector<std::size_t> workers = all_indices(instance.num_workers());
  const OffloadingInstance smaller = with_uavs(instance, workers, open);
  OffloadResult result = solve({&smaller, 1}, nullptr);
  put_among_all_uavs({&instance, 1}, workers, open, result);
  return result;
}

OffloadResult CondensedOffloader::solve(std::span<const OffloadingInstance> rounds,
                                        const OffloadResult* previous) const {
  if (rounds.size() > 1) {
    return solve_split(*this, rounds, previous);
  }
  OffloadResult result;
  result.culprit = culprit_of(rounds);
  if (!result.culprit.empty()) {
    return result;
  }
  const OffloadingInstance& instance = rounds.front();
  if (const std::vector<std::size_t> open = open_coordinators(instance);
      open.size() < instance.num_coordinators()) {
    return solve_without_closed(instance, open);
  }
  const OffloadRestrictions restrictions{.least_alpha = options_.least_share};
  const bool warm = previous != nullptr && !previous->decisions.empty();
  OffloadDecision decision =
      warm ? previous->decisions.back() : feasible_start(instance, {}, 1.0, restrictions);
  CondensedProgram condensed(instance, options_.least_share);
  std::vector<double> point = condensed.point_of(decision);
  condensed.condense_at(point);
  gp::Solver solver(condensed.program());
  gp::Solution solution;
  double objective = evaluate(instance, condensed.decision_of(point)).objective;
  for (std::size_t m = 0; m < options_.max_condensations; ++m) {
    if (m > 0) {
      const std::vector<Monomial> equalities = condensed.condensed(point);
      for (std::size_t i = 0; i < equalities.size(); ++i) {
        solver.replace_equality(i, equalities[i]);
      }
    }
    gp::Solution next = m == 0 ? solver.solve_from(point) : solver.solve_from(solution);
    result.iterations += next.iterations;
    ++result.condensations;
    if (next.status == gp::Status::infeasible && m == 0) {
      result.culprit = fmt::format("{}, with every share at least {:g}: limits {:.3g} times as wide would do",
                                   next.culprit, options_.least_share, next.factor);
      return result;
    }
    if (next.status != gp::Status::solved) {
      break;  // what was found before stays
    }
    solution = std::move(next);
    decision = condensed.decision_of(solution.values);
    point = condensed.point_of(decision);
    const double lower = evaluate(instance, decision).objective;
    const double change = objective - lower;
    result.increases += change < -1e-8 * objective ? 1 : 0;
    objective = lower;
    if (std::abs(change) <= options_.tolerance * objective) {
      break;
    }
  }
  decision = without_floors(instance, restrictions, options_.least_share, std::move(decision));
  LimitMultipliers multipliers;
  const auto of = [](const std::vector<double>& list, std::size_t i) { return list.empty() ? 0.0 : list[i]; };
  const OffloadEvaluation evaluation = evaluate(instance, decision);
  for (std::size_t i = 0; i < instance.num_devices(); ++i) {
    multipliers.device_share.push_back(of(solution.sensitivities, condensed.share_constraint(i)));
  }
  for (std::size_t h = 0; h < instance.num_coordinators(); ++h) {
    const double held = evaluation.data[instance.num_workers() + h] / instance.total_data();
    multipliers.relay.push_back(held > 0.0 ? of(solution.sensitivities, condensed.relay_constraint(h)) / held
                                           : 0.0);
  }
  for (std::size_t u = 0; u < instance.num_uavs(); ++u) {
    multipliers.buffer.push_back(of(solution.inner.upper_multipliers, condensed.data_variable(u)));
    multipliers.time.push_back(of(solution.sensitivities, condensed.time_constraint(u)));
    multipliers.energy.push_back(of(solution.sensitivities, condensed.energy_constraint(u)));
  }
  result.decisions.push_back(decision);
  result.evaluations.push_back(evaluation);
  result.certificate = certify(rounds, result.decisions, {&multipliers, 1}, restrictions);
  result.status = result.certificate.kkt_residual <= 1e-6 && result.certificate.violation <= 1e-9
                      ? OffloadStatus::solved
                      : OffloadStatus::feasible;
  for (std::size_t j = 0; j < instance.num_workers(); ++j) {
    result.workers.push_back(j);
  }
  return result;
}

}  // namespace skein
