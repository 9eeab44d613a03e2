#include "skein/planning/choices.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "skein/base/expect.h"
#include "skein/planning/choices_inside.h"

namespace skein {

std::size_t Choices::best() const {
  return static_cast<std::size_t>(std::ranges::max_element(rewards) - rewards.begin());
}

std::vector<Alternative> best_alternatives(const Choices& choices, std::span<const double> values,
                                           std::size_t most) {
  std::vector<std::size_t> order(choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto kept = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), kept, order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  std::vector<Alternative> best;
  for (auto it = order.begin(); it != kept; ++it) {
    const auto sites = choices.of(*it);
    best.push_back({.destinations = {sites.begin(), sites.end()}, .value = values[*it]});
  }
  return best;
}

ChoiceFinder::ChoiceFinder(const Environment& e, const ChoiceOptions& options)
    : environment_(e), at_(e), options_(options) {
  const std::size_t sites = e.num_sites();
  const std::size_t pairs = e.num_swarms * e.num_clusters;
  least_training_j_.assign(pairs, 0.0);
  most_training_j_.assign(pairs, 0.0);
  for (std::size_t i = 0; i < e.tables.size(); ++i) {
    const EntryBounds bounds = e.tables.bounds_at(i);
    least_training_j_[i % pairs] = std::max(least_training_j_[i % pairs], bounds.least_training_j);
    most_training_j_[i % pairs] = std::max(most_training_j_[i % pairs], bounds.most_training_j);
  }
  to_station_j_.assign(e.num_swarms * sites, std::numeric_limits<double>::max());
  least_go_on_j_ = to_station_j_;
  most_go_on_j_ = to_station_j_;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    for (std::size_t from = 0; from < sites; ++from) {
      double& station = to_station_j_[u * sites + from];
      double& least = least_go_on_j_[u * sites + from];
      double& most = most_go_on_j_[u * sites + from];
      for (std::size_t to = 0; to < sites; ++to) {
        const double flight = e.travel(u, from, to);
        if (e.is_station(to)) {
          station = std::min(station, flight);
        } else {
          least = std::min(least, flight + least_training_j_[entry(u, to)]);
          most = std::min(most, flight + most_training_j_[entry(u, to)]);
        }
      }
    }
  }
}

double ChoiceFinder::training_j(std::size_t swarm, std::size_t cluster) const {
  const std::size_t i = entry(swarm, cluster);
  if (least_training_j_[i] == most_training_j_[i]) {
    return most_training_j_[i];
  }
  const SolvedTables& tables = environment_.tables;
  double most = 0.0;
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    most = std::max(most, tables.training_j_at(tables.index(t, swarm, cluster)));
  }
  return most;
}

double ChoiceFinder::to_go_on_j(std::size_t swarm, std::size_t from) const {
  const Environment& e = environment_;
  const std::size_t i = swarm * e.num_sites() + from;
  if (least_go_on_j_[i] == most_go_on_j_[i]) {
    return most_go_on_j_[i];
  }
  double least = std::numeric_limits<double>::max();
  for (std::size_t to = 0; to < e.num_clusters; ++to) {
    const double flight = e.travel(swarm, from, to);
    if (flight + least_training_j_[entry(swarm, to)] <= most_go_on_j_[i]) {
      least = std::min(least, flight + training_j(swarm, to));
    }
  }
  return least;
}

double ChoiceFinder::battery_after(std::span<const double> state, std::size_t swarm, std::size_t site,
                                   double training_j) const {
  const Environment& e = environment_;
  const double left = state[at_.battery() + swarm] -
                      e.travel(swarm, static_cast<std::size_t>(state[at_.position() + swarm]), site);
  if (!e.is_station(site)) {
    return left - training_j;
  }
  return e.recharge_j > 0.0 ? std::min(e.capacity_j[swarm], left + e.recharge_j) : e.capacity_j[swarm];
}

bool ChoiceFinder::leaves(std::span<const double> state, std::size_t swarm, std::size_t cluster,
                          double battery_j) const {
  const std::size_t i = entry(swarm, cluster);
  if (battery_after(state, swarm, cluster, most_training_j_[i]) >= battery_j) {
    return true;
  }
  return battery_after(state, swarm, cluster, least_training_j_[i]) >= battery_j &&
         battery_after(state, swarm, cluster, training_j(swarm, cluster)) >= battery_j;
}

bool ChoiceFinder::may_go(std::span<const double> state, std::size_t swarm, std::size_t site,
                          Rule rule) const {
  const Environment& e = environment_;
  const auto here = static_cast<std::size_t>(state[at_.position() + swarm]);
  const double arriving = state[at_.battery() + swarm] - e.travel(swarm, here, site);
  if (e.is_station(site)) {
    return arriving >= 0.0 || (site == here && rule == Rule::reachable);
  }
  if (rule == Rule::reachable && site == here) {
    return true;
  }
  return leaves(state, swarm, site, to_station_j_[swarm * e.num_sites() + site]) &&
         (rule == Rule::reachable || leaves(state, swarm, site, e.threshold_j[swarm]));
}

bool ChoiceFinder::will_need_station(std::span<const double> state, std::size_t swarm,
                                     std::size_t site) const {
  const Environment& e = environment_;
  if (e.is_station(site)) {
    return false;  // it can stay
  }
  const std::size_t i = entry(swarm, site);
  const std::size_t at = swarm * e.num_sites() + site;
  const auto lacks = [&](double training, double go_on) {
    return battery_after(state, swarm, site, training) - go_on < e.threshold_j[swarm];
  };
  return lacks(most_training_j_[i], most_go_on_j_[at]) &&
         (lacks(least_training_j_[i], least_go_on_j_[at]) ||
          lacks(training_j(swarm, site), to_go_on_j(swarm, site)));
}

void ChoiceFinder::find(std::span<const double> state, Choices& choices) const {
  const Environment& e = environment_;
  for (const Rule rule : {Rule::careful, Rule::masked, Rule::reachable}) {
    if ((e.battery_mask || rule == Rule::reachable) && find_with(state, rule, choices)) {
      return;
    }
  }
  expect(false, "staying is always possible");
}

bool ChoiceFinder::find_with(std::span<const double> state, Rule rule, Choices& choices) const {
  const Environment& e = environment_;
  const std::size_t sites = e.num_sites();
  choices.num_swarms = e.num_swarms;
  choices.destinations.clear();
  choices.timings.clear();
  choices.rewards.clear();
  Search search{.state = state, .rule = rule};
  std::vector<double> saved(sites, 0.0);
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    const double drift = state[at_.drift() + c];
    saved[c] =
        gradient_cost(e.reward, e.gradient(state[at_.age() + c] + 1.0, drift,
                                           state[at_.drift_sum() + c] + drift, state[at_.gradient() + c]));
    search.unvisited += saved[c];
  }
  search.costs.resize(e.num_swarms * sites);
  search.needs_station.assign(e.num_swarms * sites, 0);
  double plans = 1.0;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const auto here = static_cast<std::size_t>(state[at_.position() + u]);
    std::vector<Site>& options = search.options.emplace_back();
    search.lost.push_back(is_lost(at_, state, u) ? 1 : 0);
    if (search.lost[u] != 0) {
      options.push_back(static_cast<Site>(here));
      continue;
    }
    for (std::size_t site = 0; site < sites; ++site) {
      if (!may_go(state, u, site, rule)) {
        continue;
      }
      options.push_back(static_cast<Site>(site));
      search.costs[u * sites + site] = travel_cost(e.reward, e.travel(u, here, site)) - saved[site] +
                                       recharge_cost(e.reward, e.is_station(site) ? 1 : 0);
      search.needs_station[u * sites + site] =
          rule == Rule::careful && will_need_station(state, u, site) ? 1 : 0;
    }
    if (options.empty()) {
      return false;
    }
    plans *= static_cast<double>(options.size());
  }
  if (plans <= static_cast<double>(options_.most_plans)) {
    enumerate(search, choices);
  } else {
    assign(search, choices);
  }
  return choices.size() > 0;
}

// All of them: the first swarm's options outermost.
void ChoiceFinder::enumerate(Search& search, Choices& choices) const {
  const Environment& e = environment_;
  prepare(search.options);
  const std::size_t sites = e.num_sites();
  const std::size_t timings = e.tables.timings.size();
  const std::size_t swarms = e.num_swarms;
  std::vector<std::size_t> next(swarms, 0);
  std::vector<Site> chosen(swarms);
  std::vector<std::uint8_t> taken(sites, 0);
  std::vector<double> costs(swarms + 1, search.unvisited);
  std::vector<std::size_t> needs(swarms + 1, 0);
  std::vector<double> objectives((swarms + 1) * timings, 0.0);  // summed up to each swarm, per timing
  std::size_t u = 0;
  while (true) {
    if (next[u] == search.options[u].size()) {
      if (u == 0) {
        return;
      }
      next[u] = 0;
      --u;
      if (search.lost[u] == 0) {
        taken[chosen[u]] = 0;
      }
      continue;
    }
    const Site site = search.options[u][next[u]++];
    const std::size_t need = needs[u] + search.needs_station[u * sites + site];
    if ((taken[site] != 0 && search.lost[u] == 0) || need > e.num_stations) {
      continue;
    }
    chosen[u] = site;
    costs[u + 1] = costs[u] + search.costs[u * sites + site];
    needs[u + 1] = need;
    const double* before = &objectives[u * timings];
    double* after = &objectives[(u + 1) * timings];
    if (e.is_station(site) || search.lost[u] != 0) {
      std::copy_n(before, timings, after);
    } else {
      const std::size_t first = e.tables.index(0, u, site);
      const std::size_t stride = e.num_swarms * e.num_clusters;
      for (std::size_t t = 0; t < timings; ++t) {
        after[t] = before[t] + e.tables.objective_at(first + t * stride);
      }
    }
    if (u + 1 == swarms) {
      add_plan(search, chosen, costs[swarms], after, choices);
    } else {
      if (search.lost[u] == 0) {
        taken[site] = 1;
      }
      ++u;
    }
  }
}

void ChoiceFinder::prepare(const std::vector<std::vector<Site>>& sites_of_swarms) const {
  const Environment& e = environment_;
  if (!e.tables.source) {
    return;
  }
  std::vector<std::size_t> indices;
  for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      for (const Site site : sites_of_swarms[u]) {
        if (!e.is_station(site)) {
          indices.push_back(e.tables.index(t, u, site));
        }
      }
    }
  }
  e.tables.prepare(indices);
}

void ChoiceFinder::add_plan(const Search& search, std::span<const Site> sites, double cost,
                            const double* objectives, Choices& choices) const {
  const Environment& e = environment_;
  // The least first, then where it is: the compiler makes vector code of the former.
  const std::size_t num_timings = e.tables.timings.size();
  double least = objectives[0];
  for (std::size_t t = 1; t < num_timings; ++t) {
    least = objectives[t] < least ? objectives[t] : least;
  }
  std::size_t timing = 0;
  while (objectives[timing] != least) {
    ++timing;
  }
  std::size_t below = 0;
  if (search.rule == Rule::reachable) {
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      const double most = e.is_station(sites[u]) ? 0.0 : training_j(u, sites[u]);
      double after = battery_after(search.state, u, sites[u], most);
      if (!e.is_station(sites[u])) {
        after += most - e.tables.training_j_at(e.tables.index(timing, u, sites[u]));
      }
      below += after < e.threshold_j[u] && search.lost[u] == 0 ? 1 : 0;
    }
  }
  choices.destinations.insert(choices.destinations.end(), sites.begin(), sites.end());
  choices.timings.push_back(static_cast<std::uint16_t>(timing));
  choices.rewards.push_back(reward(e.reward, cost + objective_cost(e.reward, least), below));
}

}  // namespace skein
