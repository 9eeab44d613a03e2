#include "skein/offloading/condensed_offloader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/offloading/certificate.h"
#include "skein/offloading/condensed_program.h"
#include "skein/offloading/newton_offloader.h"

namespace skein {
namespace {

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
  // Of those that are closed there is no logarithm.
  if (const std::vector<std::size_t> open = open_coordinators(rounds);
      open.size() < instance.num_coordinators()) {
    return solve_without_closed(*this, rounds, open);
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
      const std::vector<gp::Monomial> equalities = condensed.condensed(point);
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
  result.evaluations.push_back(evaluate(instance, decision));
  result.decisions.push_back(std::move(decision));
  const LimitMultipliers multipliers = condensed.multipliers_of(solution, result.evaluations.front());
  result.certificate = certify(rounds, result.decisions, {&multipliers, 1}, restrictions);
  result.status = result.certificate.kkt_residual <= 1e-6 && result.certificate.violation <= 1e-9
                      ? OffloadStatus::solved
                      : OffloadStatus::feasible;
  result.workers = all_indices(instance.num_workers());
  result.coordinators = all_indices(instance.num_coordinators());
  return result;
}

}  // namespace skein
