#include "skein/offloading/offloader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace skein {

std::string_view name_of(OffloadStatus status) {
  switch (status) {
    case OffloadStatus::solved:
      return "solved";
    case OffloadStatus::feasible:
      return "feasible";
    case OffloadStatus::infeasible:
      return "infeasible";
  }
  return "";
}

double OffloadResult::objective() const {
  double sum = 0.0;
  for (const OffloadEvaluation& evaluation : evaluations) {
    sum += evaluation.objective;
  }
  return sum;
}

std::string culprit_of(std::span<const OffloadingInstance> rounds) {
  const OffloadingInstance& first = rounds.front();
  const std::size_t workers = first.num_workers();
  for (std::size_t u = 0; u < first.num_uavs(); ++u) {
    const double budget = first.energy_budget[u];
    const bool is_worker = u < workers;
    // A worker must process something; a coordinator need not relay.
    if (budget < 0.0 || (is_worker && budget == 0.0)) {
      return fmt::format("{} {}: hovering and models alone {} ({:.3g} J too much)",
                         is_worker ? "worker" : "coordinator", is_worker ? u + 1 : u - workers + 1,
                         budget < 0.0 ? "exceed the battery" : "use up the battery", -budget);
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
    for (std::size_t j = 0; j < workers; ++j) {
      if (!(round.buffer[j] > 0.0)) {
        return fmt::format("worker {}: its buffer holds no data point", j + 1);
      }
    }
  }
  return "";
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
