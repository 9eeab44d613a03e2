#include "skein/planning/heuristics.h"

#include <algorithm>
#include <numeric>

namespace skein {

struct HeuristicPlanner::Turn {
  std::span<const double> state;
  std::size_t sequence = 0;
  std::vector<std::size_t> order;      // swarms, who picks first
  std::vector<std::uint8_t> rerouted;  // swarms that did not get what they wished
};

void HeuristicPlanner::begin(std::uint64_t seed) {
  ModelPlanner::begin(seed);
  cursors_.clear();
}

std::vector<Site> HeuristicPlanner::stations_by_distance(std::size_t from) const {
  const Environment& e = environment();
  std::vector<Site> stations(e.num_stations);
  std::iota(stations.begin(), stations.end(), static_cast<Site>(e.num_clusters));
  std::ranges::stable_sort(stations, {}, [&](Site site) { return e.distance(from, site); });
  return stations;
}

// Sites in the order in which the route prefers them.
std::vector<Site> HeuristicPlanner::wishes(const Turn& turn, std::size_t swarm) const {
  const Environment& e = environment();
  const auto here = static_cast<std::size_t>(turn.state[StateLayout(e).position() + swarm]);
  RandomStream stream(seed(), "planner.route", turn.sequence, swarm);
  std::vector<Site> sites;
  if (options_.route == Route::sequential) {
    for (std::size_t i = 0; i < e.num_sites(); ++i) {
      sites.push_back(static_cast<Site>((cursors_[swarm] + i) % e.num_sites()));
    }
    return sites;
  }
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    if (c != here) {
      sites.push_back(static_cast<Site>(c));
    }
  }
  if (options_.route == Route::random || stream.bernoulli(options_.random_share)) {
    stream.shuffle(sites);
  } else {
    std::ranges::stable_sort(sites, {}, [&](Site site) { return e.distance(here, site); });
  }
  return sites;
}

bool HeuristicPlanner::try_order(Turn& turn, std::span<Site> destinations) const {
  const Environment& e = environment();
  const StateLayout at(e);
  std::vector<std::uint8_t> taken(e.num_sites(), 0);
  const auto take = [&](std::size_t swarm, Site site, ChoiceFinder::Rule rule) {
    if (taken[site] != 0 || !finder().may_go(turn.state, swarm, site, rule)) {
      return false;
    }
    destinations[swarm] = site;
    taken[site] = 1;
    return true;
  };
  using Rule = ChoiceFinder::Rule;
  for (std::size_t k = 0; k < turn.order.size(); ++k) {
    const std::size_t swarm = turn.order[k];
    const auto here = static_cast<Site>(turn.state[at.position() + swarm]);
    if (is_lost(at, turn.state, swarm)) {
      destinations[swarm] = here;
      turn.rerouted[swarm] = 1;
      continue;
    }
    const std::vector<Site> wished = wishes(turn, swarm);
    turn.rerouted[swarm] = 0;
    // The first free site of the route; only if the battery forbids that one, a station.
    const auto first = std::ranges::find_if(wished, [&](Site site) { return taken[site] == 0; });
    if (first != wished.end() && take(swarm, *first, Rule::masked)) {
      continue;
    }
    turn.rerouted[swarm] = 1;
    const std::vector<Site> stations = stations_by_distance(here);
    const auto go = [&](Rule rule) { return [&, rule](Site site) { return take(swarm, site, rule); }; };
    if (std::ranges::any_of(stations, go(Rule::masked)) || take(swarm, here, Rule::masked) ||
        std::ranges::any_of(wished, go(Rule::masked)) || take(swarm, here, Rule::reachable)) {
      continue;
    }
    // Nothing is left for it: next time it picks before the others.
    std::rotate(turn.order.begin(), turn.order.begin() + static_cast<std::ptrdiff_t>(k),
                turn.order.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    return false;
  }
  return true;
}

std::size_t HeuristicPlanner::decide(std::span<const double> state, std::span<Site> destinations) {
  const Environment& e = environment();
  const StateLayout at(e);
  if (cursors_.empty()) {
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      cursors_.push_back((static_cast<std::size_t>(state[at.position() + u]) + 1) % e.num_sites());
    }
  }
  Turn turn{.state = state,
            .sequence = static_cast<std::size_t>(state[at.sequence()]),
            .order = std::vector<std::size_t>(e.num_swarms),
            .rerouted = std::vector<std::uint8_t>(e.num_swarms)};
  std::iota(turn.order.begin(), turn.order.end(), std::size_t{0});
  bool done = false;
  for (std::size_t attempt = 0; attempt < e.num_swarms && !done; ++attempt) {
    done = try_order(turn, destinations);
  }
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    if (!done) {
      destinations[u] = static_cast<Site>(state[at.position() + u]);
    } else if (turn.rerouted[u] == 0) {
      cursors_[u] = (destinations[u] + std::size_t{1}) % e.num_sites();
    }
  }
  if (!options_.best_timing) {
    return RandomStream(seed(), "planner.timing", turn.sequence).below(e.tables.timings.size());
  }
  std::size_t best = 0;
  double least = 0.0;
  for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
    double sum = 0.0;
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      sum += e.is_station(destinations[u]) || is_lost(at, state, u)
                 ? 0.0
                 : e.tables.objective_at(e.tables.index(t, u, destinations[u]));
    }
    if (t == 0 || sum < least) {
      least = sum;
      best = t;
    }
  }
  return best;
}

std::size_t MyopicPlanner::decide(std::span<const double> state, std::span<Site> destinations) {
  finder().find(state, choices_);
  const std::size_t best = choices_.best();
  weighed(best_alternatives(choices_, choices_.rewards, most_alternatives));
  std::ranges::copy(choices_.of(best), destinations.begin());
  return choices_.timings[best];
}

std::size_t RandomPlanner::decide(std::span<const double> state, std::span<Site> destinations) {
  finder().find(state, choices_);
  RandomStream stream(seed(), "planner.random",
                      static_cast<std::size_t>(state[StateLayout(environment()).sequence()]));
  std::ranges::copy(choices_.of(stream.below(choices_.size())), destinations.begin());
  return stream.below(environment().tables.timings.size());
}

}  // namespace skein
