#include "skein/offloading/direct_program.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace skein {
namespace {

// Entry (a, b), b <= a, of a dense lower triangle.
std::size_t triangle(std::size_t a, std::size_t b) { return a * (a + 1) / 2 + b; }

// A term of Q_j / A: its value, and the exponents of (D, alpha1, alpha2, alpha3).
struct Term {
  double value;
  double exponents[4];
};

// At most seven; those that are missing are worth nothing.
struct Terms {
  std::array<Term, 7> list{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const Term> all() const { return {list.data(), count}; }
};

Terms accuracy_terms(const OffloadingInstance& p, double data, const double (&alpha)[3]) {
  const AccuracyLoss& k = *p.accuracy;
  const double q = k.training_exponent;
  const double factor = k.training_loss / 3.0 *
                        std::pow(k.training_points / (3.0 * p.local_rounds * p.local_period), q) *
                        std::pow(data, 1.0 - q);
  return {.list = {{
              {factor * std::pow(alpha[0], -q), {1.0 - q, -q, 0, 0}},
              {factor * std::pow(alpha[1], -q), {1.0 - q, 0, -q, 0}},
              {factor * std::pow(alpha[2], -q), {1.0 - q, 0, 0, -q}},
              {k.data_loss * std::pow(k.data_points, k.data_exponent) * std::pow(data, 1.0 - k.data_exponent),
               {1.0 - k.data_exponent, 0, 0, 0}},
          }},
          .count = 4};
}

Terms learning_terms(const OffloadingInstance& p, double data, const double (&alpha)[3]) {
  if (p.accuracy) {
    return accuracy_terms(p, data, alpha);
  }
  const SwarmBoundCoefficients& k = p.bound;
  const double s1 = k.gradient_error_weight;
  const double s2 = k.mismatch_weight;
  const double inverse_data = 1.0 / data;
  return {.list = {{
              {s1 * k.a / alpha[2], {0, 0, 0, -1}},
              {s1 * k.d / alpha[1], {0, 0, -1, 0}},
              {s1 * k.d * k.c / alpha[0], {0, -1, 0, 0}},
              {s1 * k.b * inverse_data / (alpha[1] * alpha[2]), {-1, 0, -1, -1}},
              {s1 * k.b * k.c * inverse_data / (alpha[0] * alpha[2]), {-1, -1, 0, -1}},
              {s2 * (k.a + k.d * (1.0 + k.c)), {0, 0, 0, 0}},
              {s2 * k.b * (1.0 + k.c) * inverse_data, {-1, 0, 0, 0}},
          }},
          .count = 7};
}

}  // namespace

// w Q / Delta with Q = sum_j Q_j, and, where wanted, its derivatives: gradient over the round's core
// variables, and the two parts of the Hessian as lower triangles.
//   Q_j = A [ S1 (a/alpha3 + (1/alpha2 + c/alpha1)(d + b/(alpha3 D))) + S2 (a + d (1 + c) + b (1 + c)/D) ]
// or, as a prediction of accuracy, A [ sum_n (e_n/3) (n_0/(3 K tau alpha_n))^q D^(1-q) + e_d d_0^p D^(1-p) ].
double DirectProgram::learning(std::size_t round, const double* core_values, std::span<double> gradient,
                               std::span<double> convex, std::span<double> concave) const {
  const OffloadingInstance& p = rounds_[round];
  const std::size_t size = core_size * workers_;
  double total = 0.0;                     // Delta, in units of all data
  double sum = 0.0;                       // Q
  std::vector<double> slope(size, 0.0);   // of Q
  std::vector<double> shares(size, 0.0);  // gradient of log Delta
  for (std::size_t j = 0; j < workers_; ++j) {
    const double* y = core_values + j * core_size;
    const double data = std::exp(y[log_data]);
    const double alpha[3] = {std::exp(y[log_alpha]), std::exp(y[log_alpha + 1]), std::exp(y[log_alpha + 2])};
    const double all = alpha[0] + alpha[1] + alpha[2];
    total += all * data;
    const std::size_t base = j * core_size;
    const Terms terms = learning_terms(p, data * total_data_[round], alpha);
    for (const Term& term : terms.all()) {
      for (std::size_t n = 0; n < 3; ++n) {
        const double value = term.value * alpha[n];
        sum += value;
        if (gradient.empty()) {
          continue;
        }
        double exponents[4] = {term.exponents[0], term.exponents[1], term.exponents[2], term.exponents[3]};
        exponents[1 + n] += 1.0;
        for (std::size_t a = 0; a < 4; ++a) {
          slope[base + a] += value * exponents[a];
          for (std::size_t b = 0; b <= a; ++b) {
            convex[triangle(base + a, base + b)] += value * exponents[a] * exponents[b];
          }
        }
      }
    }
    if (!gradient.empty()) {
      shares[base + log_data] = all * data;
      for (std::size_t n = 0; n < 3; ++n) {
        shares[base + log_alpha + n] = alpha[n] * data;
      }
    }
  }
  const double factor = p.weight_of_learning() / (total * total_data_[round]);
  if (gradient.empty()) {
    return factor * sum;
  }
  for (double& share : shares) {
    share /= total;
  }
  // Hessian of Q exp(-L), L = log Delta: Q'' - Q' L' - L' Q' + Q L' L', and -Q L'' apart.
  for (std::size_t a = 0; a < size; ++a) {
    gradient[a] = factor * (slope[a] - sum * shares[a]);
    for (std::size_t b = 0; b <= a; ++b) {
      double& entry = convex[triangle(a, b)];
      entry = factor * (entry - slope[a] * shares[b] - shares[a] * slope[b] + sum * shares[a] * shares[b]);
      concave[triangle(a, b)] = factor * sum * shares[a] * shares[b];
    }
  }
  for (std::size_t j = 0; j < workers_; ++j) {
    const std::size_t base = j * core_size;
    concave[triangle(base + log_data, base + log_data)] -= factor * sum * shares[base + log_data];
    for (std::size_t n = log_alpha; n < log_alpha + 3; ++n) {
      concave[triangle(base + n, base + n)] -= factor * sum * shares[base + n];
      concave[triangle(base + n, base + log_data)] -= factor * sum * shares[base + n];
    }
  }
  return factor * sum;
}

double DirectProgram::values(std::span<const double> x, std::span<double> constraints) {
  for (std::size_t row = 0; row < constraints.size(); ++row) {
    constraints[row] = -row_offsets_[row];
  }
  for (std::size_t e = 0; e < first_curved_; ++e) {
    constraints[jacobian_[e].row] += linear_values_[e] * x[jacobian_[e].column];
  }
  double objective = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    objective += linear_objective_[i] * x[i];
  }
  const std::size_t first = num_equalities();
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const OffloadingInstance& p = rounds_[r];
    objective += learning(r, x.data() + core(r, 0), {}, {}, {});
    for (std::size_t j = 0; j < workers_; ++j) {
      const double* y = x.data() + core(r, j);
      const double data = std::exp(y[log_data]);
      const double all = std::exp(y[log_alpha]) + std::exp(y[log_alpha + 1]) + std::exp(y[log_alpha + 2]);
      const double clock = std::exp(y[log_clock]) * p.most_clock[j];
      const double points = all * data * total_data_[r] * p.local_period;
      const double energy = points * p.capacitance_cycles[j] / 2.0 * clock * clock;
      constraints[r * workers_ + j] += data;
      constraints[first + time_row(r, j)] += points * p.cycles[j] / (clock * time_unit_[r]);
      constraints[first + energy_row(j)] += energy / rounds_.front().energy_budget[j];
      objective += p.weight_of_energy() * energy;
    }
  }
  return objective / scale_;
}

void DirectProgram::derivatives(std::span<const double> x, std::span<const double> multipliers,
                                const Derivatives& result) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.gradient[i] = linear_objective_[i] / scale_;
  }
  std::ranges::copy(linear_values_, result.jacobian.begin());
  std::ranges::fill(result.hessian, 0.0);
  std::ranges::fill(result.concave, 0.0);
  const std::size_t first = num_equalities();
  const std::size_t size = core_size * workers_;
  const std::size_t block = size * (size + 1) / 2;
  std::vector<double> slope(size);
  std::size_t entry = first_curved_;
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const OffloadingInstance& p = rounds_[r];
    const std::span<double> convex = result.hessian.subspan(r * block, block);
    const std::span<double> concave = result.concave.subspan(r * block, block);
    learning(r, x.data() + core(r, 0), slope, convex, concave);
    for (std::size_t a = 0; a < size; ++a) {
      result.gradient[core(r, 0) + a] += slope[a] / scale_;
    }
    for (std::size_t a = 0; a < block; ++a) {
      convex[a] /= scale_;
      concave[a] /= scale_;
    }
    for (std::size_t j = 0; j < workers_; ++j) {
      const double* y = x.data() + core(r, j);
      const std::size_t base = j * core_size;
      const double data = std::exp(y[log_data]);
      result.jacobian[entry++] = data;
      // The equality may bend either way.
      const double bend = multipliers[r * workers_ + j] * data;
      (bend > 0.0 ? convex : concave)[triangle(base + log_data, base + log_data)] += bend;

      const double clock = std::exp(y[log_clock]) * p.most_clock[j];
      double* const time = result.jacobian.data() + entry;
      double* const energy = time + core_size;
      entry += 2 * core_size;
      std::fill(time, time + 2 * core_size, 0.0);
      const double time_multiplier = multipliers[first + time_row(r, j)];
      const double energy_multiplier = multipliers[first + energy_row(j)];
      for (std::size_t n = 0; n < 3; ++n) {
        const double points = std::exp(y[log_alpha + n]) * data * total_data_[r] * p.local_period;
        const double time_term = points * p.cycles[j] / (clock * time_unit_[r]);
        const double joules = points * p.capacitance_cycles[j] / 2.0 * clock * clock;
        const double energy_term = joules / rounds_.front().energy_budget[j];
        const double cost = p.weight_of_energy() * joules / scale_;
        const std::size_t variables[3] = {log_data, log_alpha + n, log_clock};
        const double time_exponents[3] = {1.0, 1.0, -1.0};
        const double energy_exponents[3] = {1.0, 1.0, 2.0};
        for (std::size_t a = 0; a < 3; ++a) {
          time[variables[a]] += time_term * time_exponents[a];
          energy[variables[a]] += energy_term * energy_exponents[a];
          result.gradient[core(r, j) + variables[a]] += cost * energy_exponents[a];
          for (std::size_t b = 0; b <= a; ++b) {
            convex[triangle(base + variables[a], base + variables[b])] +=
                time_multiplier * time_term * time_exponents[a] * time_exponents[b] +
                (energy_multiplier * energy_term + cost) * energy_exponents[a] * energy_exponents[b];
          }
        }
      }
    }
  }
}

void DirectProgram::fix_ends(const gp::InteriorPointResult& rough, const gp::InteriorPointResult& precise) {
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    for (std::size_t i = rho(r, 0, 0); i < core(r, 0); ++i) {
      if (lower_[i] == 0.0 && precise.x[i] < 1e-3 && precise.x[i] < 0.3 * rough.x[i]) {
        upper_[i] = 0.0;
      }
    }
    // Whole mini-batches likewise, and processors at either end where time has a price.
    for (std::size_t j = 0; j < workers_; ++j) {
      const std::size_t clock = core(r, j) + log_clock;
      for (std::size_t i = core(r, j) + log_alpha; i < clock + (prices_time_ ? 1 : 0); ++i) {
        if (precise.x[i] > -1e-3 && precise.x[i] > 0.3 * rough.x[i]) {
          lower_[i] = upper_[i];
        }
      }
      const double above = precise.x[clock] - lower_[clock];
      if (prices_time_ && above < 1e-3 && above < 0.3 * (rough.x[clock] - lower_[clock])) {
        upper_[clock] = lower_[clock];
      }
    }
    // A coordinator that receives nothing relays nothing, and the other way round; its limit is met with
    // nothing left over, which no interior point is: it goes.
    for (std::size_t h = 0; h < coordinators_; ++h) {
      std::vector<std::size_t> received;
      std::vector<std::size_t> relayed;
      for (std::size_t i = 0; i < devices_; ++i) {
        received.push_back(rho(r, i, workers_ + h));
      }
      for (std::size_t j = 0; j < workers_; ++j) {
        relayed.push_back(relay(r, h, j));
      }
      const auto all_zero = [&](const std::vector<std::size_t>& variables) {
        return std::ranges::all_of(variables, [&](std::size_t i) { return upper_[i] == 0.0; });
      };
      if (all_zero(received) || all_zero(relayed)) {
        for (const std::vector<std::size_t>* variables : {&received, &relayed}) {
          for (const std::size_t i : *variables) {
            upper_[i] = lower_[i];
          }
        }
        row_offsets_[num_equalities() + relay_row(r, h)] = 1.0;
      }
    }
  }
}

std::vector<double> DirectProgram::point_of(std::span<const OffloadDecision> decisions) const {
  std::vector<double> x(lower_.size());
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const OffloadingInstance& p = rounds_[r];
    const OffloadDecision& decision = decisions[r];
    std::vector<double> data(uavs_, 0.0);
    for (std::size_t i = 0; i < devices_; ++i) {
      for (std::size_t u = 0; u < uavs_; ++u) {
        x[rho(r, i, u)] = decision.rho(i, u);
        data[u] += decision.rho(i, u) * p.device_data[i] / total_data_[r];
      }
    }
    for (std::size_t h = 0; h < coordinators_; ++h) {
      for (std::size_t j = 0; j < workers_; ++j) {
        const double flow = decision.varrho(h, j) * data[workers_ + h];
        x[relay(r, h, j)] = flow;
        data[j] += flow;
      }
    }
    for (std::size_t j = 0; j < workers_; ++j) {
      const std::size_t at = core(r, j);
      x[at + log_data] = std::log(std::max(data[j], 1e-12));
      for (std::size_t n = 0; n < 3; ++n) {
        x[at + log_alpha + n] = std::log(std::max(decision.alpha[j][n], 1e-12));
      }
      x[at + log_clock] = std::log(decision.clock[j] / p.most_clock[j]);
    }
    if (prices_time_) {
      x[time(r)] = std::min(1.05 * evaluate(p, decision).round_time / time_unit_[r], upper_[time(r)]);
    }
  }
  return x;
}

OffloadDecision DirectProgram::decision_of(std::span<const double> x, std::size_t round) const {
  const OffloadingInstance& p = rounds_[round];
  OffloadDecision decision;
  decision.rho = Table<double>(devices_, uavs_);
  decision.varrho = Table<double>(coordinators_, workers_);
  std::vector<double> held(coordinators_, 0.0);
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t u = 0; u < uavs_; ++u) {
      decision.rho(i, u) = x[rho(round, i, u)];
      if (u >= workers_) {
        held[u - workers_] += decision.rho(i, u) * p.device_data[i] / total_data_[round];
      }
    }
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    for (std::size_t j = 0; j < workers_; ++j) {
      decision.varrho(h, j) = held[h] > 0.0 ? x[relay(round, h, j)] / held[h] : 0.0;
    }
  }
  for (std::size_t j = 0; j < workers_; ++j) {
    const double* y = x.data() + core(round, j);
    decision.alpha.push_back(
        {std::exp(y[log_alpha]), std::exp(y[log_alpha + 1]), std::exp(y[log_alpha + 2])});
    decision.clock.push_back(std::exp(y[log_clock]) * p.most_clock[j]);
  }
  return decision;
}

LimitMultipliers DirectProgram::multipliers_of(const gp::InteriorPointResult& result, std::size_t round,
                                               double factor) const {
  LimitMultipliers multipliers;
  const double* const inequality = result.multipliers.data() + num_equalities();
  const double lasts = prices_time_ ? result.x[time(round)] : 1.0;  // in the rows' unit
  for (std::size_t i = 0; i < devices_; ++i) {
    multipliers.device_share.push_back(factor * inequality[share_row(round, i)]);
  }
  for (std::size_t h = 0; h < coordinators_; ++h) {
    multipliers.relay.push_back(factor * inequality[relay_row(round, h)]);
  }
  for (std::size_t u = 0; u < uavs_; ++u) {
    multipliers.buffer.push_back(factor * (u < workers_ ? result.upper_multipliers[core(round, u) + log_data]
                                                        : inequality[buffer_row(round, u - workers_)]));
    multipliers.time.push_back(factor * lasts * inequality[time_row(round, u)]);
    multipliers.energy.push_back(factor * inequality[energy_row(u)]);
  }
  return multipliers;
}

}  // namespace skein
