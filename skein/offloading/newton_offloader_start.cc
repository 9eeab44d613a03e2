// Where Newton's method begins, and Algorithm 1: a decision in closed form.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/offloading/newton_offloader.h"

namespace skein {
namespace {

// Within the instance's own time limit.
OffloadDecision start_within_limit(const OffloadingInstance& p, std::span<const std::size_t> favoured,
                                   double budget_share, const OffloadRestrictions& restrictions) {
  const std::size_t workers = p.num_workers();
  const std::size_t uavs = p.num_uavs();
  // With a price of time workers share the work as a rule, so that the others are not left with nothing.
  const double others = p.prices_time() && !p.accuracy ? 0.2 : 0.02;
  std::vector<double> preference(workers, favoured.empty() ? 1.0 : others);
  for (const std::size_t j : favoured) {
    preference[j] = 1.0;
  }
  const double preferences = std::accumulate(preference.begin(), preference.end(), 0.0);
  OffloadDecision x;
  x.rho = Table<double>(p.num_devices(), uavs);
  x.varrho = Table<double>(p.num_coordinators(), workers);
  x.alpha.assign(workers, {0.6, 0.6, 0.6});
  if (restrictions.least_alpha > 0.5) {
    x.alpha.assign(workers, {1.0, 1.0, 1.0});
  }
  x.clock = p.most_clock;
  // A coordinator that cannot relay anything is sent nothing: else no share would be small enough.
  std::vector<double> receives(uavs, 1.0);
  for (std::size_t u = workers; u < uavs; ++u) {
    receives[u] = p.energy_budget[u] > 0.0 && p.buffer[u] > 0.0 ? 1.0 : 0.0;
  }
  const double open = std::accumulate(receives.begin(), receives.end(), -static_cast<double>(workers));
  const double relayed = open / (static_cast<double>(workers) + open);
  for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
    for (std::size_t j = 0; j < workers; ++j) {
      x.varrho(h, j) = (restrictions.even_rho ? 1.0 : 0.9) * preference[j] / preferences;
      if (restrictions.even_rho) {
        x.varrho(h, j) = std::max(x.varrho(h, j), restrictions.least_varrho(p));
      }
    }
  }
  double level = 0.9;
  for (int attempt = 0; attempt < 60; ++attempt) {
    for (std::size_t i = 0; i < p.num_devices(); ++i) {
      for (std::size_t u = 0; u < uavs; ++u) {
        if (restrictions.even_rho) {
          x.rho(i, u) = 1.0 / static_cast<double>(uavs);
        } else {
          x.rho(i, u) = level * (u < workers ? (1.0 - relayed) * preference[u] / preferences
                                             : receives[u] / (static_cast<double>(workers) + open));
        }
      }
    }
    if (!restrictions.full_clock) {
      x.clock = p.most_clock;
      const OffloadEvaluation fastest = evaluate(p, x);
      for (std::size_t j = 0; j < workers; ++j) {
        const double left = 0.9 * p.local_time_limit - fastest.gathering_time[j];
        const double needed =
            left > 0.0 ? fastest.processing_time[j] * p.most_clock[j] / left : p.most_clock[j];
        x.clock[j] = std::clamp(needed, p.least_clock[j], p.most_clock[j]);
      }
    }
    if (restrictions.even_rho) {
      return x;
    }
    const OffloadEvaluation e = evaluate(p, x);
    double worst = 0.0;
    for (const LimitUse& use : e.limits) {
      const double used = use.kind == LimitKind::energy ? use.used / budget_share : use.used;
      worst = std::max(worst, used);
    }
    if (worst <= 0.95) {
      return x;
    }
    level *= 0.6;
  }
  return x;
}

}  // namespace

OffloadDecision feasible_start(const OffloadingInstance& p, std::span<const std::size_t> favoured,
                               double budget_share, const OffloadRestrictions& restrictions) {
  if (!p.prices_time()) {
    return start_within_limit(p, favoured, budget_share, restrictions);
  }
  OffloadingInstance hasty = p;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    if (p.hover_power_of(u) > 0.0) {  // hovering takes half of a battery at most
      hasty.local_time_limit =
          std::min(hasty.local_time_limit, 0.5 * budget_share * p.energy_budget[u] / p.hover_power_of(u));
    }
  }
  OffloadDecision best;
  double violation = HUGE_VAL;
  double objective = HUGE_VAL;
  for (int misses = 0; misses < 3; hasty.local_time_limit /= 3.0) {
    OffloadDecision start = start_within_limit(hasty, favoured, budget_share, restrictions);
    const OffloadEvaluation e = evaluate(p, start);
    ++misses;
    if (e.violation < violation || (e.violation == violation && e.objective < objective)) {
      best = std::move(start);
      violation = e.violation;
      objective = e.objective;
      misses = 0;
    }
  }
  return best;
}

}  // namespace skein
