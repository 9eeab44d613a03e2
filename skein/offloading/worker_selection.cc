#include "skein/offloading/worker_selection.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace skein {
namespace {

using Workers = std::vector<std::size_t>;

class SetSearch {
 public:
  explicit SetSearch(std::span<const OffloadingInstance> rounds) : rounds_(rounds) {}

  [[nodiscard]] std::vector<OffloadingInstance> restricted(const Workers& workers) const {
    std::vector<OffloadingInstance> rounds;
    for (const OffloadingInstance& round : rounds_) {
      rounds.push_back(with_workers(round, workers));
    }
    return rounds;
  }

  // The objective with these workers, from one start; remembered.
  double objective(Workers workers) {
    std::ranges::sort(workers);
    const auto [place, is_new] = known_.try_emplace(workers, HUGE_VAL);
    if (is_new) {
      const OffloadResult result = quick_.solve(restricted(workers), nullptr);
      iterations_ += result.iterations;
      if (result.status != OffloadStatus::infeasible) {
        place->second = result.objective();
      }
    }
    return place->second;
  }

  // The best set known.
  [[nodiscard]] Workers best() const {
    return std::ranges::min_element(known_, {}, [](const auto& entry) { return entry.second; })->first;
  }
  [[nodiscard]] std::size_t iterations() const { return iterations_; }

 private:
  std::span<const OffloadingInstance> rounds_;
  NewtonOffloader quick_{{.several_starts = false, .tolerance = 1e-7}};
  std::map<Workers, double> known_;
  std::size_t iterations_ = 0;
};

void try_all_sets(SetSearch& search, std::size_t num_workers) {
  for (std::size_t set = 1; set < (std::size_t{1} << num_workers); ++set) {
    Workers workers;
    for (std::size_t j = 0; j < num_workers; ++j) {
      if ((set >> j & 1U) != 0) {
        workers.push_back(j);
      }
    }
    search.objective(workers);
  }
}

void improve_step_by_step(SetSearch& search, std::size_t num_workers) {
  for (std::size_t j = 0; j < num_workers; ++j) {
    search.objective({j});
  }
  for (Workers base = search.best();;) {
    for (std::size_t j = 0; j < num_workers; ++j) {
      Workers changed = base;
      if (const auto found = std::ranges::find(changed, j); found != changed.end()) {
        changed.erase(found);
      } else {
        changed.push_back(j);
        for (std::size_t i = 0; i < base.size(); ++i) {  // in exchange for one
          Workers exchanged = changed;
          exchanged.erase(exchanged.begin() + static_cast<std::ptrdiff_t>(i));
          search.objective(exchanged);
        }
      }
      if (!changed.empty()) {
        search.objective(changed);
      }
    }
    Workers better = search.best();
    if (better == base) {
      return;
    }
    base = std::move(better);
  }
}

}  // namespace

OffloadResult WorkerSelection::solve(std::span<const OffloadingInstance> rounds,
                                     const OffloadResult* previous) const {
  const std::size_t num_workers = rounds.front().num_workers();
  SetSearch search(rounds);
  Workers workers;
  if (previous != nullptr && !previous->decisions.empty()) {
    workers = previous->workers;
  } else {
    if (num_workers <= 4) {
      try_all_sets(search, num_workers);
    } else {
      improve_step_by_step(search, num_workers);
    }
    workers = search.best();
  }
  const std::vector<OffloadingInstance> restricted = search.restricted(workers);
  OffloadResult result = NewtonOffloader().solve(restricted, nullptr);
  result.iterations += search.iterations();
  put_among_all_uavs(rounds, workers, all_indices(rounds.front().num_coordinators()), result);
  result.workers = workers;
  return result;
}

}  // namespace skein
