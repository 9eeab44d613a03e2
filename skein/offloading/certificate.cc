#include "skein/offloading/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace skein {
namespace {

// How far a projected step along -gradient moves a variable within [low, high].
double projected_step(double value, double low, double high, double gradient) {
  return std::abs(std::clamp(value - gradient, low, high) - value);
}

// What is no number is as bad as can be.
void worsen(double& worst, double value) { worst = std::isnan(value) ? HUGE_VAL : std::max(worst, value); }

constexpr double tight = 1e-6;

// A limit with its multiplier.
void check_limit(const LimitUse& use, double multiplier, OffloadCertificate& result) {
  worsen(result.complementarity, multiplier * std::abs(1.0 - use.used));
  worsen(result.kkt_residual, -multiplier);
  if (use.used > 1.0 - tight && multiplier > tight) {
    add_binding(use, result);
  }
}

// What is known of a round.
struct Round {
  const OffloadingInstance& instance;
  const OffloadDecision& decision;
  const OffloadEvaluation& evaluation;
  const LimitMultipliers& multipliers;
};

// What all rounds share.
struct Whole {
  const OffloadRestrictions& restrictions;
  const std::vector<double>& budget;  // J
  double objective;                   // of all rounds: gradients are relative to it
};

// The Lagrangian's gradient by each variable of a round, and the round's limits.
class RoundCheck {
 public:
  RoundCheck(const Round& round, const Whole& whole, OffloadCertificate& result)
      : p_(round.instance),
        x_(round.decision),
        e_(round.evaluation),
        m_(round.multipliers),
        restrictions_(whole.restrictions),
        budget_(whole.budget),
        result_(result),
        workers_(p_.num_workers()),
        uavs_(p_.num_uavs()),
        total_(p_.total_data()),
        weight_(p_.weight_of_learning() / whole.objective),
        cost_(p_.weight_of_energy() / whole.objective),
        limit_(p_.prices_time() ? e_.round_time : p_.local_time_limit),
        delta_(std::accumulate(e_.processed.begin(), e_.processed.end(), 0.0)),
        by_data_(workers_, 0.0),
        relay_(m_.relay),
        reduced_(no_reduced_costs(p_)) {}

  void run() {
    for (std::size_t j = 0; j < workers_; ++j) {
      if (x_.alpha[j][0] + x_.alpha[j][1] + x_.alpha[j][2] != 0.0) {
        check_worker(j);
      }
    }
    for (std::size_t u = workers_; u < uavs_; ++u) {
      if (!(e_.data[u] > 0.0)) {
        relay_[u - workers_] = least_relay_multiplier(u);
      }
    }
    for (std::size_t i = 0; i < p_.num_devices() && !restrictions_.even_rho; ++i) {
      if (p_.device_data[i] != 0.0) {
        check_device(i);
      }
    }
    for (std::size_t u = workers_; u < uavs_; ++u) {
      if (budget_[u] > 0.0 && p_.buffer[u] != 0.0) {
        check_coordinator(u);
      }
    }
    if (p_.prices_time()) {
      check_round_time();
    }
    for (const LimitUse& use : e_.limits) {
      check_limit_of_round(use);
    }
    result_.reduced_costs.push_back(std::move(reduced_));
  }

 private:
  // A worker's mini-batches and its processor; leaves the gradient by its data.
  void check_worker(std::size_t j) {
    const std::array<double, 3>& alpha = x_.alpha[j];
    const double all = alpha[0] + alpha[1] + alpha[2];
    const double data = e_.data[j];
    const double clock = x_.clock[j];
    const LearningBracket bracket = learning_bracket(p_, alpha, data);
    const double joules = p_.local_period * p_.capacitance_cycles[j] / 2.0 * clock * clock;  // of a point
    const double seconds = p_.local_period * p_.cycles[j] / clock;
    const double per_point =
        cost_ * joules + m_.time[j] * seconds / limit_ + m_.energy[j] * joules / std::max(budget_[j], 1e-300);
    by_data_[j] = weight_ * (all / delta_ * bracket.by_data - e_.learning / delta_ * all) + all * per_point +
                  m_.buffer[j] / p_.buffer[j];
    // By alpha: of A_j times the bracket, less what more data processed brings.
    for (std::size_t n = 0; n < 3; ++n) {
      const double gradient =
          weight_ / delta_ * (bracket.value + all * bracket.by_alpha[n] - e_.learning * data) +
          data * per_point;
      worsen(result_.kkt_residual, projected_step(alpha[n], restrictions_.least_alpha, 1.0, gradient));
    }
    if (!restrictions_.full_clock) {
      const double points = all * data;
      const double most = p_.most_clock[j];
      const double gradient =
          most / clock *
          (points * (2.0 * cost_ * joules + 2.0 * m_.energy[j] * joules / std::max(budget_[j], 1e-300) -
                     m_.time[j] * seconds / limit_));
      worsen(result_.kkt_residual, projected_step(clock / most, p_.least_clock[j] / most, 1.0, gradient));
    }
  }

  // By data that a coordinator relays to a worker, without its own limit.
  [[nodiscard]] double by_relayed(std::size_t u, std::size_t j) const {
    const std::size_t h = u - workers_;
    const double seconds = p_.point_bits / p_.coordinator_rate(h, j);
    const double joules = seconds * p_.coordinator_power[h];
    return total_ * (cost_ * joules + by_data_[j] + m_.time[j] * seconds / limit_ +
                     m_.energy[u] * joules / budget_[u]);
  }

  // A coordinator without data has no multiplier of its own: the least that keeps its relays at zero serves.
  [[nodiscard]] double least_relay_multiplier(std::size_t u) const {
    double least = 0.0;
    for (std::size_t j = 0; j < workers_ && budget_[u] > 0.0; ++j) {
      least = std::max(least, -by_relayed(u, j));
    }
    return least;
  }

  void check_device(std::size_t i) {
    for (std::size_t u = 0; u < uavs_; ++u) {
      if (p_.buffer[u] == 0.0) {
        continue;
      }
      const double seconds = p_.point_bits / p_.device_rate(i, u);
      double by_point = seconds * (cost_ * p_.device_power[i] + m_.time[u] / limit_);
      by_point += u < workers_ ? by_data_[u] : m_.buffer[u] / p_.buffer[u] - relay_[u - workers_] / total_;
      if (u < workers_ && x_.alpha[u][0] == 0.0) {
        continue;  // not used: it stays out
      }
      const double gradient = p_.device_data[i] * by_point + m_.device_share[i];
      worsen(result_.kkt_residual, projected_step(x_.rho(i, u), 0.0, 1.0, gradient));
      if (x_.rho(i, u) == 0.0) {
        reduced_.rho(i, u) = gradient;
      }
    }
  }

  void check_coordinator(std::size_t u) {
    const std::size_t h = u - workers_;
    const double even = e_.data[u] / total_;
    const double low = even * restrictions_.least_varrho(p_);
    const double high = restrictions_.relays == OffloadRestrictions::Relays::even ? low : 1.0;
    double relayed = 0.0;
    for (std::size_t j = 0; j < workers_; ++j) {
      const double flow = x_.varrho(h, j) * e_.data[u] / total_;
      relayed += flow;
      if (x_.alpha[j][0] == 0.0) {
        continue;
      }
      const double gradient = by_relayed(u, j) + relay_[h];
      worsen(result_.kkt_residual, projected_step(flow, low, high, gradient));
      if (flow == 0.0 && low == 0.0) {
        reduced_.relay(h, j) = gradient;
      }
    }
    worsen(result_.kkt_residual, -relay_[h]);
    worsen(result_.complementarity, relay_[h] * std::abs(e_.data[u] / total_ - relayed));
  }

  // By what the round lasts, in units of it: hovering costs, and everybody has more time.
  void check_round_time() {
    double power = p_.hover_power;
    double batteries = 0.0;
    for (std::size_t u = 0; u < uavs_; ++u) {
      const double own = x_.is_idle(u) ? 0.0 : p_.hover_power_of(u);
      power += own;
      batteries += own > 0.0 ? m_.energy[u] * own / std::max(budget_[u], 1e-300) : 0.0;
    }
    const double gradient =
        limit_ * (cost_ * power + batteries) - std::accumulate(m_.time.begin(), m_.time.end(), 0.0);
    const double longest = p_.local_time_limit / limit_;
    worsen(result_.kkt_residual, projected_step(1.0, 0.0, longest, gradient));
    at_time_limit_ = longest < 1.0 + tight && gradient < -tight;
  }

  // Who takes as long as the round lasts has no slack; the limit binds where the round could last longer.
  void check_time(const LimitUse& use, double multiplier) {
    const double of_round = use.used * p_.local_time_limit / limit_;
    worsen(result_.complementarity, multiplier * std::abs(1.0 - of_round));
    worsen(result_.kkt_residual, -multiplier);
    if (at_time_limit_ && of_round > 1.0 - tight && multiplier > tight) {
      add_binding(use, result_);
    }
  }

  void check_limit_of_round(const LimitUse& use) {
    switch (use.kind) {
      case LimitKind::device_share:
        check_limit(use, m_.device_share[use.index], result_);
        break;
      case LimitKind::relay_share:
        if (use.used > 1.0 - tight && relay_[use.index] > tight) {
          add_binding(use, result_);
        }
        break;
      case LimitKind::buffer:
        check_limit(use, m_.buffer[use.index], result_);
        break;
      case LimitKind::time:
        if (p_.prices_time()) {
          check_time(use, m_.time[use.index]);
        } else {
          check_limit(use, m_.time[use.index], result_);
        }
        break;
      case LimitKind::energy:
        return;  // of all rounds together
    }
    worsen(result_.violation, use.used - 1.0);
  }

  const OffloadingInstance& p_;
  const OffloadDecision& x_;
  const OffloadEvaluation& e_;
  const LimitMultipliers& m_;
  const OffloadRestrictions& restrictions_;
  const std::vector<double>& budget_;
  OffloadCertificate& result_;
  std::size_t workers_;
  std::size_t uavs_;
  double total_;                 // points of all devices
  double weight_;                // of learning
  double cost_;                  // of a joule
  double limit_;                 // s: of the time limits, or what the round lasts where that has a price
  double delta_;                 // points that are processed
  std::vector<double> by_data_;  // the gradient by each worker's data
  std::vector<double> relay_;    // each coordinator's multiplier
  bool at_time_limit_ = false;   // the round would better last longer
  ReducedCosts reduced_;
};

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
  const std::size_t uavs = rounds.front().num_uavs();
  std::vector<double> energy(uavs, 0.0);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    evaluations.push_back(evaluate(rounds[r], decisions[r]));
    objective += evaluations[r].objective;
    for (std::size_t u = 0; u < uavs; ++u) {
      energy[u] += evaluations[r].uav_energy[u];
    }
  }
  const std::vector<double>& budget = rounds.front().energy_budget;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    RoundCheck({.instance = rounds[r],
                .decision = decisions[r],
                .evaluation = evaluations[r],
                .multipliers = multipliers[r]},
               {.restrictions = restrictions, .budget = budget, .objective = objective}, result)
        .run();
  }
  for (std::size_t u = 0; u < uavs; ++u) {
    const double used = energy[u] == 0.0 ? 0.0 : energy[u] / budget[u];
    check_limit({LimitKind::energy, u, used}, multipliers.front().energy[u], result);
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
  // Processors: as fast as the time asks and no faster, since that costs energy and brings nothing. Where
  // time has a price the method has weighed that, too.
  for (int pass = 0; pass < 2; ++pass) {
    const OffloadEvaluation e = evaluate(p, x);
    for (std::size_t j = 0; j < workers; ++j) {
      const double left = p.local_time_limit - e.gathering_time[j];
      const double needed = left > 0.0 ? e.processing_time[j] * x.clock[j] / left : p.most_clock[j];
      if (!restrictions.full_clock) {
        x.clock[j] = std::clamp(p.prices_time() ? std::max(needed, x.clock[j]) : needed, p.least_clock[j],
                                p.most_clock[j]);
      }
      for (double& alpha : x.alpha[j]) {
        alpha = std::clamp(alpha, restrictions.least_alpha, 1.0);
      }
    }
  }
}

}  // namespace skein
