#include "skein/offloading/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace skein {
namespace {

// How far a projected step along -gradient moves a variable within [low, high].
double projected_step(double value, double low, double high, double gradient) {
  return std::abs(std::clamp(value - gradient, low, high) - value);
}

// What is no number is as bad as can be.
void worsen(double& worst, double value) { worst = std::isnan(value) ? HUGE_VAL : std::max(worst, value); }

}  // namespace

std::string limit_name(LimitKind kind, std::size_t index, std::size_t num_workers) {
  const auto uav = [&] {
    return index < num_workers ? fmt::format("worker {}", index + 1)
                               : fmt::format("coordinator {}", index - num_workers + 1);
  };
  switch (kind) {
    case LimitKind::device_share:
      return fmt::format("device {}: its data", index + 1);
    case LimitKind::relay_share:
      return fmt::format("coordinator {}: its data", index + 1);
    case LimitKind::buffer:
      return uav() + ": buffer";
    case LimitKind::time:
      return uav() + ": time";
    case LimitKind::energy:
      return uav() + ": battery";
  }
  return "";
}

OffloadCertificate certify(std::span<const OffloadingInstance> rounds,
                           std::span<const OffloadDecision> decisions,
                           std::span<const LimitMultipliers> multipliers,
                           const OffloadRestrictions& restrictions) {
  OffloadCertificate result;
  std::vector<OffloadEvaluation> evaluations;
  double objective = 0.0;
  const std::size_t workers = rounds.front().num_workers();
  const std::size_t coordinators = rounds.front().num_coordinators();
  const std::size_t uavs = workers + coordinators;
  std::vector<double> energy(uavs, 0.0);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    evaluations.push_back(evaluate(rounds[r], decisions[r]));
    objective += evaluations[r].objective;
    for (std::size_t u = 0; u < uavs; ++u) {
      energy[u] += evaluations[r].uav_energy[u];
    }
  }
  const std::vector<double>& budget = rounds.front().energy_budget;
  constexpr double tight = 1e-6;
  const auto bound = [&](const LimitUse& use, double multiplier) {
    worsen(result.complementarity, multiplier * std::abs(1.0 - use.used));
    worsen(result.kkt_residual, -multiplier);
    if (use.used > 1.0 - tight && multiplier > tight) {
      add_binding(use, result);
    }
  };
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const OffloadingInstance& p = rounds[r];
    const OffloadDecision& x = decisions[r];
    const OffloadEvaluation& e = evaluations[r];
    const LimitMultipliers& m = multipliers[r];
    const SwarmBoundCoefficients& k = p.bound;
    const double total = p.total_data();
    const double weight = p.learning_weight / objective;
    const double cost = (1.0 - p.learning_weight) / objective;
    const double limit = p.local_time_limit;
    double delta = 0.0;
    for (const double processed : e.processed) {
      delta += processed;
    }
    // Of the Lagrangian by a worker's data, and by its own variables.
    std::vector<double> by_data(workers, 0.0);
    for (std::size_t j = 0; j < workers; ++j) {
      const std::array<double, 3>& alpha = x.alpha[j];
      const double all = alpha[0] + alpha[1] + alpha[2];
      if (all == 0.0) {
        continue;
      }
      const double data = e.data[j];
      const double clock = x.clock[j];
      const double batches = 1.0 / alpha[1] + k.c / alpha[0];
      const double few = k.b > 0.0 ? k.b / data : 0.0;
      const double bracket = k.gradient_error_weight * (k.a / alpha[2] + batches * (few / alpha[2] + k.d)) +
                             k.mismatch_weight * (k.a + (1.0 + k.c) * (k.d + few));
      const double bracket_by_data =
          -few / data * (k.gradient_error_weight * batches / alpha[2] + k.mismatch_weight * (1.0 + k.c));
      const double joules = p.local_period * p.capacitance_cycles[j] / 2.0 * clock * clock;  // of a point
      const double seconds = p.local_period * p.cycles[j] / clock;
      const double per_point =
          cost * joules + m.time[j] * seconds / limit + m.energy[j] * joules / std::max(budget[j], 1e-300);
      by_data[j] = weight * (all / delta * bracket_by_data - e.learning / delta * all) + all * per_point +
                   m.buffer[j] / p.buffer[j];
      // By alpha: of A_j times the bracket, less what more data processed brings.
      const double s1 = k.gradient_error_weight;
      const double inner[3] = {-s1 * k.c / (alpha[0] * alpha[0]) * (few / alpha[2] + k.d),
                               -s1 / (alpha[1] * alpha[1]) * (few / alpha[2] + k.d),
                               -s1 / (alpha[2] * alpha[2]) * (k.a + batches * few)};
      for (std::size_t n = 0; n < 3; ++n) {
        const double gradient =
            weight / delta * (bracket + all * inner[n] - e.learning * data) + data * per_point;
        worsen(result.kkt_residual, projected_step(alpha[n], restrictions.least_alpha, 1.0, gradient));
      }
      if (!restrictions.full_clock) {
        const double points = all * data;
        const double most = p.most_clock[j];
        const double gradient =
            most / clock *
            (points * (2.0 * cost * joules + 2.0 * m.energy[j] * joules / std::max(budget[j], 1e-300) -
                       m.time[j] * seconds / limit));
        worsen(result.kkt_residual, projected_step(clock / most, p.least_clock[j] / most, 1.0, gradient));
      }
    }
    ReducedCosts& reduced = result.reduced_costs.emplace_back(no_reduced_costs(p));
    // A coordinator without data has no multiplier of its own: the least that keeps its relays at zero
    // serves.
    std::vector<double> relay = m.relay;
    for (std::size_t h = 0; h < coordinators; ++h) {
      const std::size_t u = workers + h;
      if (e.data[u] > 0.0) {
        continue;
      }
      relay[h] = 0.0;
      for (std::size_t j = 0; j < workers && budget[u] > 0.0; ++j) {
        const double seconds = p.point_bits / p.coordinator_rate(h, j);
        const double joules = seconds * p.coordinator_power[h];
        relay[h] = std::max(relay[h], -total * (cost * joules + by_data[j] + m.time[j] * seconds / limit +
                                                m.energy[u] * joules / budget[u]));
      }
    }
    for (std::size_t i = 0; i < p.num_devices() && !restrictions.even_rho; ++i) {
      if (p.device_data[i] == 0.0) {
        continue;
      }
      for (std::size_t u = 0; u < uavs; ++u) {
        if (p.buffer[u] == 0.0) {
          continue;
        }
        const double seconds = p.point_bits / p.device_rate(i, u);
        double by_point = seconds * (cost * p.device_power[i] + m.time[u] / limit);
        by_point += u < workers ? by_data[u] : m.buffer[u] / p.buffer[u] - relay[u - workers] / total;
        if (u < workers && x.alpha[u][0] == 0.0) {
          continue;  // not used: it stays out
        }
        const double gradient = p.device_data[i] * by_point + m.device_share[i];
        worsen(result.kkt_residual, projected_step(x.rho(i, u), 0.0, 1.0, gradient));
        if (x.rho(i, u) == 0.0) {
          reduced.rho(i, u) = gradient;
        }
      }
    }
    for (std::size_t h = 0; h < coordinators; ++h) {
      const std::size_t u = workers + h;
      if (budget[u] <= 0.0 || p.buffer[u] == 0.0) {
        continue;
      }
      double relayed = 0.0;
      for (std::size_t j = 0; j < workers; ++j) {
        const double seconds = p.point_bits / p.coordinator_rate(h, j);
        const double joules = seconds * p.coordinator_power[h];
        const double flow = x.varrho(h, j) * e.data[u] / total;
        relayed += flow;
        if (x.alpha[j][0] == 0.0) {
          continue;
        }
        const double gradient = total * (cost * joules + by_data[j] + m.time[j] * seconds / limit +
                                         m.energy[u] * joules / budget[u]) +
                                relay[h];
        const double even = e.data[u] / total;
        const double low = even * restrictions.least_varrho(p);
        const double high = restrictions.relays == OffloadRestrictions::Relays::even ? low : 1.0;
        worsen(result.kkt_residual, projected_step(flow, low, high, gradient));
        if (flow == 0.0 && low == 0.0) {
          reduced.relay(h, j) = gradient;
        }
      }
      worsen(result.kkt_residual, -relay[h]);
      worsen(result.complementarity, relay[h] * std::abs(e.data[u] / total - relayed));
    }
    for (const LimitUse& use : e.limits) {
      switch (use.kind) {
        case LimitKind::device_share:
          bound(use, m.device_share[use.index]);
          break;
        case LimitKind::relay_share:
          if (use.used > 1.0 - tight && relay[use.index] > tight) {
            add_binding(use, result);
          }
          break;
        case LimitKind::buffer:
          bound(use, m.buffer[use.index]);
          break;
        case LimitKind::time:
          bound(use, m.time[use.index]);
          break;
        case LimitKind::energy:
          break;  // of all rounds together, below
      }
      if (use.kind != LimitKind::energy) {
        worsen(result.violation, use.used - 1.0);
      }
    }
  }
  for (std::size_t u = 0; u < uavs; ++u) {
    const double used = energy[u] == 0.0 ? 0.0 : energy[u] / budget[u];
    bound({LimitKind::energy, u, used}, multipliers.front().energy[u]);
    worsen(result.violation, used - 1.0);
  }
  for (const ReducedCosts& costs : result.reduced_costs) {
    for (const Table<double>* table : {&costs.rho, &costs.relay}) {
      for (const double cost : table->values) {
        result.least_reduced_cost = std::min(result.least_reduced_cost, cost);  // keeps it if not a number
      }
    }
  }
  return result;
}

void polish(const OffloadingInstance& p, const OffloadRestrictions& restrictions, OffloadDecision& x) {
  const std::size_t workers = p.num_workers();
  const auto scale_down = [](double* first, std::size_t count) {
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += first[i];
    }
    if (sum > 1.0) {
      for (std::size_t i = 0; i < count; ++i) {
        first[i] /= sum;
      }
    }
  };
  std::vector<double> data(p.num_uavs(), 0.0);
  for (std::size_t i = 0; i < p.num_devices(); ++i) {
    for (std::size_t u = 0; u < p.num_uavs(); ++u) {
      double& rho = x.rho(i, u);
      rho = std::clamp(rho, 0.0, 1.0);
    }
    scale_down(&x.rho(i, 0), p.num_uavs());
    for (std::size_t u = 0; u < p.num_uavs(); ++u) {
      data[u] += x.rho(i, u) * p.device_data[i];
    }
  }
  for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
    for (std::size_t j = 0; j < workers; ++j) {
      double& varrho = x.varrho(h, j);
      varrho = std::clamp(varrho, 0.0, 1.0);
    }
    if (workers > 0) {
      scale_down(&x.varrho(h, 0), workers);
    }
    // What is received and not relayed is sent for nothing.
    double relayed = 0.0;
    for (std::size_t j = 0; j < workers; ++j) {
      relayed += x.varrho(h, j);
    }
    if (relayed == 0.0 && !restrictions.even_rho) {
      for (std::size_t i = 0; i < p.num_devices(); ++i) {
        x.rho(i, workers + h) = 0.0;
      }
    }
  }
  // Processors: as fast as the time asks and no faster, since that costs energy and brings nothing.
  for (int pass = 0; pass < 2; ++pass) {
    const OffloadEvaluation e = evaluate(p, x);
    for (std::size_t j = 0; j < workers; ++j) {
      const double left = p.local_time_limit - e.gathering_time[j];
      const double needed = left > 0.0 ? e.processing_time[j] * x.clock[j] / left : p.most_clock[j];
      if (!restrictions.full_clock) {
        x.clock[j] = std::clamp(needed, p.least_clock[j], p.most_clock[j]);
      }
      for (double& alpha : x.alpha[j]) {
        alpha = std::clamp(alpha, restrictions.least_alpha, 1.0);
      }
    }
  }
}

}  // namespace skein
