#include "skein/offloading/newton_offloader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/offloading/certificate.h"
#include "skein/offloading/direct_program.h"

namespace skein {
namespace {

// Where shares are fixed, the least that a method can ask of the limits: relays and mini-batches as small as
// they may be. Processors at their fastest for the time, at what that asks for the battery.
std::string culprit_of_restrictions(std::span<const OffloadingInstance> rounds,
                                    const OffloadRestrictions& restrictions) {
  for (const OffloadingInstance& p : rounds) {
    OffloadDecision least = feasible_start(p, {}, 1.0, restrictions);
    std::ranges::fill(least.varrho.values, restrictions.least_varrho(p));
    least.alpha.assign(p.num_workers(),
                       {restrictions.least_alpha, restrictions.least_alpha, restrictions.least_alpha});
    const OffloadEvaluation e = evaluate(p, least);
    const auto worst = std::ranges::max_element(e.limits, {}, [](const LimitUse& use) { return use.used; });
    if (worst->used > 1.0) {
      return fmt::format("{}: {:.3g} times what is allowed, with every share fixed",
                         limit_name(worst->kind, worst->index, p.num_workers()), worst->used);
    }
  }
  return "";
}

struct Candidate {
  gp::InteriorPointResult result{};
  double objective = HUGE_VAL;
  std::vector<std::size_t> favoured{};
};

// What rounds last from a usual start: of the size of what they will last, as a rule.
std::vector<double> usual_times(std::span<const OffloadingInstance> rounds,
                                const OffloadRestrictions& restrictions) {
  std::vector<double> times;
  for (const OffloadingInstance& p : rounds) {
    const double share = 1.0 / static_cast<double>(rounds.size());
    times.push_back(p.prices_time() ? evaluate(p, feasible_start(p, {}, share, restrictions)).round_time
                                    : p.local_time_limit);
  }
  return times;
}

constexpr const char* not_found = "no decision within the limits was found";

bool is_within_limits(const OffloadResult& result) { return result.certificate.violation <= 1e-9; }

// The search over starts for one problem.
class Search {
 public:
  Search(std::span<const OffloadingInstance> rounds, const NewtonOptions& options)
      : rounds_(rounds),
        options_(options),
        program_(rounds, options.restrictions, usual_times(rounds, options.restrictions)),
        method_(program_) {}

  Candidate from_start(std::span<const std::size_t> favoured) {
    std::vector<OffloadDecision> start;
    double objective = 0.0;
    for (const OffloadingInstance& round : rounds_) {
      start.push_back(
          feasible_start(round, favoured, 1.0 / static_cast<double>(rounds_.size()), options_.restrictions));
      objective += evaluate(round, start.back()).objective;
    }
    program_.set_scale(std::max(objective, 1e-12));
    Candidate candidate;
    candidate.result = method_.solve(program_.point_of(start), rough());
    return judged(std::move(candidate), favoured);
  }

  Candidate from_previous(const OffloadResult& previous) {
    double objective = 0.0;
    std::vector<OffloadDecision> start;
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      start.push_back(previous.decisions[std::min(r, previous.decisions.size() - 1)]);
      objective += evaluate(rounds_[r], start.back()).objective;
    }
    if (!std::isfinite(objective) || !(objective > 0.0)) {
      return {};
    }
    program_.set_scale(objective);
    Candidate candidate;
    gp::InteriorPointOptions options = rough();
    options.first_barrier = 1e-4;
    candidate.result = method_.solve(program_.point_of(start), options);
    return judged(std::move(candidate), {});
  }

  // To full precision, then once more without the shares that turn out to be zero: what is left is inside its
  // bounds. Best first, as a rule.
  std::vector<Candidate> finished(const Candidate& candidate) {
    const Candidate precise = refined(candidate);
    const Candidate more_precise = sharpened(precise);
    program_.fix_ends(precise.result, more_precise.result);
    std::vector<Candidate> results{sharpened(more_precise), more_precise, precise};
    const double limit = precise.objective * (1.0 + 1e-6);
    std::erase_if(results, [&](const Candidate& result) { return !(result.objective <= limit); });
    return results;
  }

  Candidate sharpened(const Candidate& candidate) {
    Candidate sharp;
    // With a price of time ratios and speeds near their ends are more common: these need more.
    const double tolerance = (rounds_.front().prices_time() ? 1e-3 : 1e-2) * options_.tolerance;
    sharp.result = method_.solve(candidate.result,
                                 {.tolerance = tolerance, .max_iterations = 200, .first_barrier = tolerance});
    return judged(std::move(sharp), candidate.favoured);
  }

  Candidate refined(const Candidate& candidate) {
    program_.set_scale(candidate.objective);
    Candidate better;
    better.result = method_.solve(
        candidate.result,
        {.tolerance = options_.tolerance, .max_iterations = options_.max_iterations, .first_barrier = 1e-7});
    better = judged(std::move(better), candidate.favoured);
    if (better.result.status != gp::InteriorPointStatus::solved) {
      Candidate again;
      again.result = method_.solve(candidate.result.x, {.tolerance = options_.tolerance,
                                                        .max_iterations = options_.max_iterations,
                                                        .first_barrier = 1e-3});
      again = judged(std::move(again), candidate.favoured);
      if (again.result.status == gp::InteriorPointStatus::solved || again.objective < better.objective) {
        return again;
      }
    }
    return better;
  }

  // Keeps it if it is the best so far. A little better counts as better only if it is not the same minimum.
  bool consider(Candidate candidate) {
    if (candidate.objective < best_.objective * (1.0 - 1e-7) || best_.result.x.empty()) {
      best_ = std::move(candidate);
      return true;
    }
    return false;
  }

  // Each worker alone; then from the best: one more, one less, until nothing is better.
  void try_sets_of(const std::vector<std::size_t>& workers) {
    for (const std::size_t j : workers) {
      consider(from_start(std::vector<std::size_t>{j}));
    }
    for (bool better = workers.size() > 2; better;) {
      better = false;
      const std::vector<std::size_t> base = best_.favoured.empty() ? workers : best_.favoured;
      for (const std::size_t j : workers) {
        std::vector<std::size_t> changed = base;
        if (const auto found = std::ranges::find(changed, j); found != changed.end()) {
          changed.erase(found);
        } else {
          changed.push_back(j);
        }
        if (!changed.empty() && changed.size() < workers.size()) {
          better = consider(from_start(changed)) || better;
        }
      }
    }
  }

  // A candidate's decisions, made exact, with what its multipliers prove of them.
  [[nodiscard]] OffloadResult certified(const Candidate& candidate) const {
    OffloadResult result;
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      result.decisions.push_back(program_.decision_of(candidate.result.x, r));
      polish(rounds_[r], options_.restrictions, result.decisions.back());
      result.evaluations.push_back(evaluate(rounds_[r], result.decisions.back()));
    }
    // The program's objective is divided by its scale, the certificate's by its value.
    const double factor = program_.scale() / result.objective();
    std::vector<LimitMultipliers> multipliers;
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      multipliers.push_back(program_.multipliers_of(candidate.result, r, factor));
    }
    result.certificate = certify(rounds_, result.decisions, multipliers, options_.restrictions);
    const bool solved = result.certificate.kkt_residual <= 1e-6 && is_within_limits(result);
    result.status = solved ? OffloadStatus::solved : OffloadStatus::feasible;
    return result;
  }

  // What the best candidate ends at: with a certificate, if any end of it has one.
  [[nodiscard]] OffloadResult result() {
    OffloadResult best;
    for (const Candidate& final : finished(best_)) {
      OffloadResult one = certified(final);
      const bool solved = one.status == OffloadStatus::solved;
      if (best.decisions.empty() || solved || one.certificate.kkt_residual < best.certificate.kkt_residual) {
        best = std::move(one);
      }
      if (solved) {
        break;
      }
    }
    return best;
  }

  [[nodiscard]] const Candidate& best() const { return best_; }
  [[nodiscard]] std::size_t iterations() const { return iterations_; }

 private:
  [[nodiscard]] gp::InteriorPointOptions rough() const {
    return {.tolerance = 1e-5, .max_iterations = options_.max_iterations, .first_barrier = 1e-2};
  }

  Candidate judged(Candidate candidate, std::span<const std::size_t> favoured) {
    iterations_ += candidate.result.iterations;
    candidate.favoured.assign(favoured.begin(), favoured.end());
    candidate.objective =
        candidate.result.infeasibility < 1e-4 ? candidate.result.objective * program_.scale() : HUGE_VAL;
    return candidate;
  }

  std::span<const OffloadingInstance> rounds_;
  const NewtonOptions& options_;
  DirectProgram program_;
  gp::InteriorPoint method_;
  Candidate best_{};
  std::size_t iterations_ = 0;
};

// Where time has a price, more is near its end: what rounding has kept from a certificate, other precisions
// bring.
void try_other_precisions(std::span<const OffloadingInstance> rounds, const NewtonOptions& options,
                          OffloadResult& result) {
  for (const double factor : {10.0, 0.1}) {
    if (result.status == OffloadStatus::solved) {
      return;
    }
    NewtonOptions other = options;
    other.tolerance *= factor;
    Search search(rounds, other);
    search.consider(is_within_limits(result) ? search.from_previous(result) : search.from_start({}));
    const std::size_t before = result.iterations;
    if (std::isfinite(search.best().objective)) {
      OffloadResult again = search.result();
      const bool better =
          again.status == OffloadStatus::solved && again.objective() <= result.objective() * (1.0 + 1e-6);
      if (better || is_within_limits(again) > is_within_limits(result)) {
        again.workers = std::move(result.workers);
        again.coordinators = std::move(result.coordinators);
        result = std::move(again);
      }
    }
    result.iterations = before + search.iterations();
  }
}

// Why nothing is decided, where that has no certificate.
std::string culprit_of_result(std::span<const OffloadingInstance> rounds, const OffloadResult& result) {
  if (result.status == OffloadStatus::solved) {
    return "";
  }
  if (!is_within_limits(result)) {
    return not_found;
  }
  double points = 0.0;
  for (const OffloadEvaluation& e : result.evaluations) {
    points += std::accumulate(e.data.begin(),
                              e.data.begin() + static_cast<std::ptrdiff_t>(e.processed.size()), 0.0);
  }
  return points < static_cast<double>(rounds.size())
             ? "learning: it is worth less than the hovering that a data point takes"
             : "";
}

// Workers with any data to speak of. As accuracy is predicted, the others have no part in the objective; a
// point near zero is not quite zero, so the problem is solved without them.
std::vector<std::size_t> busy_workers(std::span<const OffloadingInstance> rounds,
                                      const OffloadResult& result) {
  std::vector<std::size_t> busy;
  for (std::size_t j = 0; j < rounds.front().num_workers(); ++j) {
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      if (result.evaluations[r].data[j] > 1e-6 * rounds[r].total_data()) {
        busy.push_back(j);
        break;
      }
    }
  }
  return busy;
}

}  // namespace

OffloadResult NewtonOffloader::solve(std::span<const OffloadingInstance> rounds,
                                     const OffloadResult* previous) const {
  OffloadResult result;
  result.culprit = culprit_of(rounds);
  if (!result.culprit.empty()) {
    return result;
  }
  if (options_.restrictions.even_rho) {
    result.culprit = culprit_of_restrictions(rounds, options_.restrictions);
    if (!result.culprit.empty()) {
      return result;
    }
  }
  if (const std::vector<std::size_t> open = open_coordinators(rounds);
      rounds.front().prices_time() && open.size() < rounds.front().num_coordinators()) {
    return solve_without_closed(*this, rounds, open);
  }
  Search search(rounds, options_);
  const std::vector<std::size_t> workers = all_indices(rounds.front().num_workers());
  const bool warm =
      previous != nullptr && !previous->decisions.empty() && previous->workers.size() == workers.size();
  if (warm) {
    search.consider(search.from_previous(*previous));
  }
  if (!warm || !std::isfinite(search.best().objective)) {
    if (rounds.size() > 1 && options_.several_starts) {
      // Rounds one by one, each with its own best set of workers: together they can only do better.
      const OffloadResult split = solve_split(*this, rounds, nullptr);
      if (!split.decisions.empty()) {
        search.consider(search.from_previous(split));
      }
    }
    search.consider(search.from_start({}));
    if (options_.several_starts && workers.size() > 1) {
      search.try_sets_of(workers);
    }
  }
  if (!std::isfinite(search.best().objective)) {
    result.status = OffloadStatus::infeasible;
    result.culprit =
        options_.restrictions.even_rho ? "the limits leave no room for what is fixed" : not_found;
    result.iterations = search.iterations();
    return result;
  }
  result = search.result();
  result.iterations = search.iterations();
  result.workers = workers;
  result.coordinators = all_indices(rounds.front().num_coordinators());
  if (rounds.front().accuracy && !options_.restrictions.even_rho) {
    const std::vector<std::size_t> busy = busy_workers(rounds, result);
    if (!busy.empty() && busy.size() < workers.size()) {
      return without_idle(rounds, busy, result.iterations);
    }
  }
  if (rounds.front().prices_time() && options_.several_starts) {
    try_other_precisions(rounds, options_, result);
    if (std::string why = culprit_of_result(rounds, result); !why.empty()) {
      return {.culprit = std::move(why), .iterations = result.iterations};
    }
  }
  return result;
}

OffloadResult NewtonOffloader::without_idle(std::span<const OffloadingInstance> rounds,
                                            const std::vector<std::size_t>& busy,
                                            std::size_t iterations) const {
  std::vector<OffloadingInstance> smaller;
  for (const OffloadingInstance& round : rounds) {
    smaller.push_back(with_workers(round, busy));
  }
  OffloadResult result = solve(smaller, nullptr);
  put_among_all_uavs(rounds, busy, all_indices(rounds.front().num_coordinators()), result);
  std::vector<std::size_t> used;
  for (const std::size_t j : result.workers) {
    used.push_back(busy[j]);
  }
  result.workers = std::move(used);
  result.iterations += iterations;
  return result;
}

}  // namespace skein
