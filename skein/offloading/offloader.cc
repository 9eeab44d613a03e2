#include "skein/offloading/offloader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace skein {

double OffloadResult::objective() const {
  double sum = 0.0;
  for (const OffloadEvaluation& evaluation : evaluations) {
    sum += evaluation.objective;
  }
  return sum;
}

void add_binding(const LimitUse& use, OffloadCertificate& certificate) {
  const auto same = [&](const LimitUse& other) { return other.kind == use.kind && other.index == use.index; };
  if (std::ranges::none_of(certificate.binding, same)) {
    certificate.binding.push_back(use);
  }
}

ReducedCosts no_reduced_costs(const OffloadingInstance& instance) {
  ReducedCosts costs{.rho = Table<double>(instance.num_devices(), instance.num_uavs()),
                     .relay = Table<double>(instance.num_coordinators(), instance.num_workers())};
  std::ranges::fill(costs.rho.values, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(costs.relay.values, std::numeric_limits<double>::quiet_NaN());
  return costs;
}

namespace {

// Points that can reach all workers together in so many seconds, at most.
double most_points(const OffloadingInstance& p, double seconds) {
  double sum = 0.0;
  for (std::size_t j = 0; j < p.num_workers(); ++j) {
    double fastest = 0.0;
    for (std::size_t i = 0; i < p.num_devices(); ++i) {
      fastest = std::max(fastest, p.device_rate(i, j));
    }
    for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
      fastest = std::max(fastest, p.coordinator_rate(h, j));
    }
    sum += seconds * fastest / p.point_bits;
  }
  return sum;
}

// How long its battery lets it hover, s.
double longest_hovering(const OffloadingInstance& p, std::size_t uav) {
  return p.hover_power_of(uav) > 0.0 ? p.energy_budget[uav] / p.hover_power_of(uav) : HUGE_VAL;
}

// A round that ends before a point is sent is none, though P would divide points.
std::string culprit_of_hovering(const OffloadingInstance& p) {
  for (std::size_t j = 0; j < p.num_workers(); ++j) {
    if (const double seconds = longest_hovering(p, j); most_points(p, seconds) < 1.0) {
      return fmt::format("worker {}: its battery lets it hover for {:.3g} s, less than a data point takes",
                         j + 1, seconds);
    }
  }
  if (most_points(p, p.local_time_limit) < 1.0) {
    return fmt::format("time: {:.3g} s are left for gathering and processing, less than a data point takes",
                       p.local_time_limit);
  }
  return "";
}

}  // namespace

std::string culprit_of(std::span<const OffloadingInstance> rounds) {
  const OffloadingInstance& first = rounds.front();
  const std::size_t workers = first.num_workers();
  for (std::size_t u = 0; u < first.num_uavs(); ++u) {
    const double budget = first.energy_budget[u];
    const bool is_worker = u < workers;
    // A worker must process something; a coordinator need not relay.
    if (budget < 0.0 || (is_worker && budget == 0.0)) {
      return fmt::format(
          "{} {}: hovering and models alone {}", is_worker ? "worker" : "coordinator",
          is_worker ? u + 1 : u - workers + 1,
          budget < 0.0 ? fmt::format("exceed the battery by {:.3g} J", -budget) : "use up the battery");
    }
  }
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const OffloadingInstance& round = rounds[r];
    if (!(round.local_time_limit > 0.0)) {
      return fmt::format("time: {:.3g} s are left for gathering and processing", round.local_time_limit);
    }
    if (!(round.total_data() > 0.0)) {
      return "devices: none has any data";
    }
    const SwarmBoundCoefficients& k = round.bound;
    const double learning = round.accuracy
                                ? round.accuracy->training_loss
                                : (k.gradient_error_weight + k.mismatch_weight) * (k.a + k.b + k.d);
    if (!(round.learning_weight * learning > 0.0)) {
      return "learning: it has no weight in the objective, so that less data is always better";
    }
    for (std::size_t j = 0; j < workers; ++j) {
      if (!(round.buffer[j] > 0.0)) {
        return fmt::format("worker {}: its buffer holds no data point", j + 1);
      }
    }
  }
  return first.prices_time() ? culprit_of_hovering(first) : "";
}

void put_among_all_uavs(std::span<const OffloadingInstance> rounds, const std::vector<std::size_t>& workers,
                        const std::vector<std::size_t>& coordinators, OffloadResult& result) {
  const std::size_t num_workers = rounds.front().num_workers();
  const auto uav = [&](std::size_t u) {
    return u < workers.size() ? workers[u] : num_workers + coordinators[u - workers.size()];
  };
  for (std::size_t r = 0; r < result.decisions.size(); ++r) {
    result.decisions[r] = among_all_uavs(rounds[r], workers, coordinators, result.decisions[r]);
    result.evaluations[r] = evaluate(rounds[r], result.decisions[r]);
    const ReducedCosts some = std::move(result.certificate.reduced_costs[r]);
    ReducedCosts& all = result.certificate.reduced_costs[r] = no_reduced_costs(rounds[r]);
    for (std::size_t i = 0; i < some.rho.rows; ++i) {
      for (std::size_t u = 0; u < some.rho.columns; ++u) {
        all.rho(i, uav(u)) = some.rho(i, u);
      }
    }
    for (std::size_t h = 0; h < some.relay.rows; ++h) {
      for (std::size_t j = 0; j < some.relay.columns; ++j) {
        all.relay(coordinators[h], workers[j]) = some.relay(h, j);
      }
    }
  }
  for (LimitUse& use : result.certificate.binding) {
    switch (use.kind) {
      case LimitKind::device_share:
        break;
      case LimitKind::relay_share:
        use.index = coordinators[use.index];
        break;
      case LimitKind::buffer:
      case LimitKind::time:
      case LimitKind::energy:
        use.index = uav(use.index);
        break;
    }
  }
}

std::vector<std::size_t> open_coordinators(std::span<const OffloadingInstance> rounds) {
  const OffloadingInstance& first = rounds.front();
  std::vector<std::size_t> open;
  for (std::size_t h = 0; h < first.num_coordinators(); ++h) {
    const std::size_t u = first.num_workers() + h;
    if (first.energy_budget[u] > 0.0 && most_points(first, longest_hovering(first, u)) >= 1.0 &&
        std::ranges::any_of(rounds, [&](const OffloadingInstance& round) { return round.buffer[u] > 0.0; })) {
      open.push_back(h);
    }
  }
  return open;
}

OffloadResult solve_without_closed(const Offloader& offloader, std::span<const OffloadingInstance> rounds,
                                   const std::vector<std::size_t>& open) {
  const std::vector<std::size_t> workers = all_indices(rounds.front().num_workers());
  std::vector<OffloadingInstance> smaller;
  for (const OffloadingInstance& round : rounds) {
    smaller.push_back(with_uavs(round, workers, open));
  }
  OffloadResult result = offloader.solve(smaller, nullptr);
  put_among_all_uavs(rounds, workers, open, result);
  result.coordinators = open;
  return result;
}

OffloadResult solve_split(const Offloader& offloader, std::span<const OffloadingInstance> rounds,
                          const OffloadResult* previous) {
  OffloadResult all;
  OffloadResult last;
  for (const OffloadingInstance& round : rounds) {
    OffloadingInstance part = round;
    for (std::size_t u = 0; u < part.energy_budget.size(); ++u) {
      part.energy_budget[u] = rounds.front().energy_budget[u] / static_cast<double>(rounds.size());
    }
    OffloadResult one = offloader.solve({&part, 1}, previous);
    if (one.status == OffloadStatus::infeasible) {
      return one;
    }
    if (all.decisions.empty()) {
      all = one;
    } else {
      all.decisions.push_back(one.decisions.front());
      all.evaluations.push_back(one.evaluations.front());
      all.iterations += one.iterations;
      all.condensations += one.condensations;
      all.increases += one.increases;
      all.certificate.kkt_residual = std::max(all.certificate.kkt_residual, one.certificate.kkt_residual);
      all.certificate.violation = std::max(all.certificate.violation, one.certificate.violation);
      all.certificate.complementarity =
          std::max(all.certificate.complementarity, one.certificate.complementarity);
      all.certificate.least_reduced_cost =
          std::min(all.certificate.least_reduced_cost, one.certificate.least_reduced_cost);
      all.certificate.reduced_costs.push_back(one.certificate.reduced_costs.front());
      for (const LimitUse& use : one.certificate.binding) {
        add_binding(use, all.certificate);
      }
      all.status = one.status == OffloadStatus::solved ? all.status : one.status;
    }
    last = std::move(one);
    previous = &last;  // the next round starts where this one ended
  }
  return all;
}

std::vector<OffloadResult> solve_all(const Offloader& offloader,
                                     std::span<const std::vector<OffloadingInstance>> problems,
                                     ThreadPool& pool) {
  std::vector<OffloadResult> results(problems.size());
  pool.parallel_for(problems.size(),
                    [&](std::size_t i) { results[i] = offloader.solve(problems[i], nullptr); });
  return results;
}

}  // namespace skein
