#include "skein/planning/choices.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "skein/base/expect.h"

namespace skein {
namespace {

// The timing that is best on the average.
std::size_t usual_timing(const Environment& e) {
  std::vector<double> sums(e.tables.timings.size(), 0.0);
  for (std::size_t i = 0; i < e.tables.objective.size(); ++i) {
    sums[i / (e.num_swarms * e.num_clusters)] += e.tables.objective[i];
  }
  return static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
}

}  // namespace

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

// One search for plans under one rule.
struct ChoiceFinder::Search {
  std::span<const double> state;
  Rule rule = Rule::careful;
  double unvisited = 0.0;                   // gradient_weight times the sum of G if nobody visits anything
  std::vector<std::vector<Site>> options;   // of each swarm
  std::vector<double> costs;                // swarm x site, without O: less what a visit saves
  std::vector<std::uint8_t> needs_station;  // swarm x site, afterwards
  std::vector<std::uint8_t> lost;           // swarms
};

ChoiceFinder::ChoiceFinder(const Environment& e, const ChoiceOptions& options)
    : environment_(e), at_(e), options_(options) {
  const std::size_t sites = e.num_sites();
  most_training_j_.assign(e.num_swarms * e.num_clusters, 0.0);
  for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      for (std::size_t c = 0; c < e.num_clusters; ++c) {
        const double energy = e.tables.training_energy_j[e.tables.index(t, u, c)];
        double& most = most_training_j_[u * e.num_clusters + c];
        most = std::max(most, energy);
      }
    }
  }
  to_station_j_.assign(e.num_swarms * sites, std::numeric_limits<double>::max());
  to_go_on_j_.assign(e.num_swarms * sites, std::numeric_limits<double>::max());
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    for (std::size_t from = 0; from < sites; ++from) {
      double& station = to_station_j_[u * sites + from];
      double& go_on = to_go_on_j_[u * sites + from];
      for (std::size_t to = 0; to < sites; ++to) {
        const double flight = e.travel(u, from, to);
        if (e.is_station(to)) {
          station = std::min(station, flight);
        } else {
          go_on = std::min(go_on, flight + most_training_j_[u * e.num_clusters + to]);
        }
      }
    }
  }
}

double ChoiceFinder::battery_after(std::span<const double> state, std::size_t swarm, std::size_t site) const {
  const Environment& e = environment_;
  const double left = state[at_.battery() + swarm] -
                      e.travel(swarm, static_cast<std::size_t>(state[at_.position() + swarm]), site);
  if (!e.is_station(site)) {
    return left - most_training_j_[swarm * e.num_clusters + site];
  }
  return e.recharge_j > 0.0 ? std::min(e.capacity_j[swarm], left + e.recharge_j) : e.capacity_j[swarm];
}

bool ChoiceFinder::may_go(std::span<const double> state, std::size_t swarm, std::size_t site,
                          Rule rule) const {
  const Environment& e = environment_;
  const auto here = static_cast<std::size_t>(state[at_.position() + swarm]);
  const double arriving = state[at_.battery() + swarm] - e.travel(swarm, here, site);
  if (e.is_station(site)) {
    return arriving >= 0.0 || (site == here && rule == Rule::reachable);
  }
  const double after = battery_after(state, swarm, site);
  const bool leads_on = after >= to_station_j_[swarm * e.num_sites() + site];
  return rule == Rule::reachable ? leads_on || site == here : leads_on && after >= e.threshold_j[swarm];
}

bool ChoiceFinder::will_need_station(std::span<const double> state, std::size_t swarm,
                                     std::size_t site) const {
  const Environment& e = environment_;
  if (e.is_station(site)) {
    return false;  // it can stay
  }
  return battery_after(state, swarm, site) - to_go_on_j_[swarm * e.num_sites() + site] < e.threshold_j[swarm];
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
      const double* table = &e.tables.objective[e.tables.index(0, u, site)];
      const std::size_t stride = e.num_swarms * e.num_clusters;
      for (std::size_t t = 0; t < timings; ++t) {
        after[t] = before[t] + table[t * stride];
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

// The best few, swarm after swarm, those with the fewest options first. Costs add up over swarms, so that
// what is cheap so far is a good guide.
void ChoiceFinder::assign(Search& search, Choices& choices) const {
  const Environment& e = environment_;
  const std::size_t sites = e.num_sites();
  const std::size_t timings = e.tables.timings.size();
  std::vector<std::size_t> order(e.num_swarms);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t u) { return search.options[u].size(); });

  const std::size_t usual = usual_timing(e);  // stands for all while swarms are assigned

  struct Partial {
    double cost;
    std::uint32_t parent;
    Site site;
    std::uint16_t needs;
  };
  const std::size_t words = (sites + 63) / 64;
  std::vector<Partial> kept{{search.unvisited, 0, 0, 0}};
  std::vector<std::uint64_t> taken(words, 0);
  std::vector<std::vector<Partial>> levels;
  for (const std::size_t u : order) {
    std::vector<Partial> grown;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      for (const Site site : search.options[u]) {
        const std::size_t needs = kept[k].needs + search.needs_station[u * sites + site];
        const bool is_taken = (taken[k * words + site / 64] >> (site % 64) & 1U) != 0;
        if ((is_taken && search.lost[u] == 0) || needs > e.num_stations) {
          continue;
        }
        const double objective =
            e.is_station(site) || search.lost[u] != 0
                ? 0.0
                : objective_cost(e.reward, e.tables.objective[e.tables.index(usual, u, site)]);
        grown.push_back({kept[k].cost + search.costs[u * sites + site] + objective,
                         static_cast<std::uint32_t>(k), site, static_cast<std::uint16_t>(needs)});
      }
    }
    const std::size_t width = std::min(options_.assignment_width, grown.size());
    const auto earlier = [](const Partial& a, const Partial& b) {
      return a.cost != b.cost       ? a.cost < b.cost
             : a.parent != b.parent ? a.parent < b.parent
                                    : a.site < b.site;
    };
    std::nth_element(grown.begin(), grown.begin() + static_cast<std::ptrdiff_t>(width), grown.end(), earlier);
    grown.resize(width);
    std::sort(grown.begin(), grown.end(), earlier);
    std::vector<std::uint64_t> grown_taken(width * words);
    for (std::size_t k = 0; k < width; ++k) {
      std::copy_n(&taken[grown[k].parent * words], words, &grown_taken[k * words]);
      if (search.lost[u] == 0) {
        grown_taken[k * words + grown[k].site / 64] |= std::uint64_t{1} << (grown[k].site % 64);
      }
    }
    taken = std::move(grown_taken);
    levels.push_back(grown);
    kept = std::move(grown);
  }
  std::vector<Site> chosen(e.num_swarms);
  std::vector<double> objectives(timings);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::size_t at = k;
    for (std::size_t i = order.size(); i-- > 0;) {
      chosen[order[i]] = levels[i][at].site;
      at = levels[i][at].parent;
    }
    double cost = search.unvisited;
    std::ranges::fill(objectives, 0.0);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      cost += search.costs[u * sites + chosen[u]];
      for (std::size_t t = 0; t < timings && !e.is_station(chosen[u]) && search.lost[u] == 0; ++t) {
        objectives[t] += e.tables.objective[e.tables.index(t, u, chosen[u])];
      }
    }
    add_plan(search, chosen, cost, objectives.data(), choices);
  }
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
      double after = battery_after(search.state, u, sites[u]);
      if (!e.is_station(sites[u])) {
        after += most_training_j_[u * e.num_clusters + sites[u]] -
                 e.tables.training_energy_j[e.tables.index(timing, u, sites[u])];
      }
      below += after < e.threshold_j[u] && search.lost[u] == 0 ? 1 : 0;
    }
  }
  choices.destinations.insert(choices.destinations.end(), sites.begin(), sites.end());
  choices.timings.push_back(static_cast<std::uint16_t>(timing));
  choices.rewards.push_back(reward(e.reward, cost + objective_cost(e.reward, least), below));
}

}  // namespace skein
