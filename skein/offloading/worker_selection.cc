#include "skein/offloading/worker_selection.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>

namespace skein {
namespace {

// Workers and coordinators that stay up.
struct Uavs {
  std::vector<std::size_t> workers, coordinators;

  friend auto operator<=>(const Uavs&, const Uavs&) = default;
};

// With or without one of them.
std::vector<std::size_t> toggled(std::vector<std::size_t> list, std::size_t one) {
  if (const auto found = std::ranges::find(list, one); found != list.end()) {
    list.erase(found);
  } else {
    list.push_back(one);
  }
  return list;
}

// Those of the list that are at these places.
std::vector<std::size_t> picked(const std::vector<std::size_t>& list,
                                const std::vector<std::size_t>& places) {
  std::vector<std::size_t> result;
  for (const std::size_t place : places) {
    result.push_back(list[place]);
  }
  return result;
}

class SetSearch {
 public:
  explicit SetSearch(std::span<const OffloadingInstance> rounds) : rounds_(rounds) {}

  [[nodiscard]] std::vector<OffloadingInstance> restricted(const Uavs& uavs) const {
    std::vector<OffloadingInstance> rounds;
    for (const OffloadingInstance& round : rounds_) {
      rounds.push_back(with_uavs(round, uavs.workers, uavs.coordinators));
    }
    return rounds;
  }

  // The objective with these UAVs, from one start; remembered.
  double objective(Uavs uavs) {
    std::ranges::sort(uavs.workers);
    std::ranges::sort(uavs.coordinators);
    const auto [place, is_new] = known_.try_emplace(uavs, HUGE_VAL);
    if (is_new) {
      const OffloadResult result = quick_.solve(restricted(uavs), nullptr);
      iterations_ += result.iterations;
      if (result.status != OffloadStatus::infeasible) {
        place->second = result.objective();
      }
    }
    return place->second;
  }

  // The best set known.
  [[nodiscard]] Uavs best() const {
    return std::ranges::min_element(known_, {}, [](const auto& entry) { return entry.second; })->first;
  }
  // The best so many, best first.
  [[nodiscard]] std::vector<Uavs> best(std::size_t count) const {
    std::vector<std::pair<double, Uavs>> sets;
    for (const auto& [uavs, objective] : known_) {
      sets.emplace_back(objective, uavs);
    }
    std::ranges::sort(sets);
    std::vector<Uavs> result;
    for (std::size_t i = 0; i < std::min(count, sets.size()); ++i) {
      result.push_back(sets[i].second);
    }
    return result;
  }
  [[nodiscard]] std::size_t iterations() const { return iterations_; }

 private:
  std::span<const OffloadingInstance> rounds_;
  NewtonOffloader quick_{{.several_starts = false, .tolerance = 1e-7}};
  std::map<Uavs, double> known_;
  std::size_t iterations_ = 0;
};

void try_all_workers(SetSearch& search, std::size_t num_workers,
                     const std::vector<std::size_t>& coordinators) {
  for (std::size_t set = 1; set < (std::size_t{1} << num_workers); ++set) {
    std::vector<std::size_t> workers;
    for (std::size_t j = 0; j < num_workers; ++j) {
      if ((set >> j & 1U) != 0) {
        workers.push_back(j);
      }
    }
    search.objective({workers, coordinators});
  }
}

// One worker more, less or in exchange for another.
void try_neighbours(SetSearch& search, std::size_t num_workers, const Uavs& base) {
  for (std::size_t j = 0; j < num_workers; ++j) {
    const std::vector<std::size_t> changed = toggled(base.workers, j);
    if (changed.size() > base.workers.size()) {
      for (std::size_t i = 0; i < base.workers.size(); ++i) {
        std::vector<std::size_t> exchanged = changed;
        exchanged.erase(exchanged.begin() + static_cast<std::ptrdiff_t>(i));
        search.objective({exchanged, base.coordinators});
      }
    }
    if (!changed.empty()) {
      search.objective({changed, base.coordinators});
    }
  }
}

// Steps of `try_some` from the best set known, while they help.
template <class TrySome>
void improve(SetSearch& search, const TrySome& try_some) {
  for (Uavs base = search.best();;) {
    try_some(base);
    Uavs better = search.best();
    if (better == base) {
      return;
    }
    base = std::move(better);
  }
}

void search_sets(SetSearch& search, const OffloadingInstance& p) {
  const std::size_t num_workers = p.num_workers();
  // A coordinator that costs nothing is never in the way.
  std::vector<std::size_t> free;
  std::vector<std::size_t> priced;
  for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
    (p.hover_power_of(num_workers + h) > 0.0 ? priced : free).push_back(h);
  }
  if (num_workers <= 4) {
    try_all_workers(search, num_workers, free);
  } else {
    for (std::size_t j = 0; j < num_workers; ++j) {
      search.objective({{j}, free});
    }
    improve(search, [&](const Uavs& base) { try_neighbours(search, num_workers, base); });
  }
  if (!priced.empty()) {
    for (const std::size_t h : priced) {
      for (std::size_t j = 0; j < num_workers; ++j) {
        search.objective({{j}, toggled(free, h)});
      }
    }
    improve(search, [&](const Uavs& base) {
      for (const std::size_t h : priced) {
        search.objective({base.workers, toggled(base.coordinators, h)});
      }
      try_neighbours(search, num_workers, base);
    });
  }
}

}  // namespace

OffloadResult WorkerSelection::solve(std::span<const OffloadingInstance> rounds,
                                     const OffloadResult* previous) const {
  SetSearch search(rounds);
  std::vector<Uavs> candidates;
  if (previous != nullptr && !previous->decisions.empty()) {
    candidates = {{previous->workers, previous->coordinators}};
  } else {
    search_sets(search, rounds.front());
    // Sets are judged from one start; where time has a price others may bring more.
    candidates = search.best(rounds.front().prices_time() ? 3 : 1);
  }
  OffloadResult result;
  std::size_t iterations = search.iterations();
  for (const Uavs& uavs : candidates) {
    OffloadResult one = NewtonOffloader().solve(search.restricted(uavs), nullptr);
    iterations += one.iterations;
    const bool better = one.status != OffloadStatus::infeasible &&
                        (result.decisions.empty() || one.objective() < result.objective());
    if (&uavs == candidates.data() || better) {
      put_among_all_uavs(rounds, uavs.workers, uavs.coordinators, one);
      one.workers = picked(uavs.workers, one.workers);
      one.coordinators = picked(uavs.coordinators, one.coordinators);
      result = std::move(one);
    }
  }
  result.iterations = iterations;
  return result;
}

}  // namespace skein
