// Plans for many swarms, of which there are too many to look at each.

#include <algorithm>
#include <limits>
#include <numeric>

#include "skein/planning/choices_inside.h"

namespace skein {

// The first swarms of a plan.
struct ChoiceFinder::Partial {
  double cost;
  std::uint32_t parent;
  Site site;
  std::uint16_t needs;

  friend bool operator<(const Partial& a, const Partial& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.parent != b.parent ? a.parent < b.parent : a.site < b.site;
  }
};

// The best few with one more swarm. Its sites come by the least that they can cost, so that the objectives of
// most of them are never asked for.
std::vector<ChoiceFinder::Partial> ChoiceFinder::grown(const Search& search, std::size_t u,
                                                       std::span<const Partial> kept,
                                                       std::span<const std::uint64_t> taken,
                                                       std::size_t timing) const {
  const Environment& e = environment_;
  const std::size_t sites = e.num_sites();
  const std::size_t words = (sites + 63) / 64;
  const bool is_lost = search.lost[u] != 0;
  const auto fits = [&](std::size_t k, Site site) {
    const bool is_taken = (taken[k * words + site / 64] >> (site % 64) & 1U) != 0;
    return (!is_taken || is_lost) && kept[k].needs + search.needs_station[u * sites + site] <= e.num_stations;
  };
  struct Option {
    double least_cost;
    Site site;
  };
  std::vector<Option> options;
  const auto cost_of = [&](double before, Site site, double objective) {
    return before + search.costs[u * sites + site] + objective;
  };
  for (const Site site : search.options[u]) {
    const double least =
        e.is_station(site) || is_lost
            ? 0.0
            : objective_cost(e.reward, e.tables.bounds_at(e.tables.index(timing, u, site)).least_objective);
    options.push_back({cost_of(kept.front().cost, site, least), site});
  }
  std::ranges::stable_sort(options, {}, &Option::least_cost);

  std::vector<Partial> grown;
  const std::size_t width = options_.assignment_width;
  const auto shrink = [&] {
    const auto end = grown.begin() + static_cast<std::ptrdiff_t>(std::min(width, grown.size()));
    std::nth_element(grown.begin(), end, grown.end());
    grown.erase(end, grown.end());
  };
  double limit = std::numeric_limits<double>::infinity();  // what another one may cost
  constexpr std::size_t at_once = 8;
  std::vector<std::size_t> asked;
  for (auto next = options.begin(); next != options.end() && next->least_cost <= limit;) {
    std::vector<Site> part;
    asked.clear();
    for (; next != options.end() && next->least_cost <= limit && part.size() < at_once; ++next) {
      const Site site = next->site;
      bool any = false;
      for (std::size_t k = 0; k < kept.size() && !any; ++k) {
        any = fits(k, site);
      }
      if (any) {
        part.push_back(site);
        if (!e.is_station(site) && !is_lost) {
          asked.push_back(e.tables.index(timing, u, site));
        }
      }
    }
    e.tables.prepare(asked);
    for (const Site site : part) {
      const double objective =
          e.is_station(site) || is_lost
              ? 0.0
              : objective_cost(e.reward, e.tables.objective_at(e.tables.index(timing, u, site)));
      for (std::size_t k = 0; k < kept.size(); ++k) {
        if (fits(k, site)) {
          const std::size_t needs = kept[k].needs + search.needs_station[u * sites + site];
          grown.push_back({cost_of(kept[k].cost, site, objective), static_cast<std::uint32_t>(k), site,
                           static_cast<std::uint16_t>(needs)});
        }
      }
    }
    if (grown.size() >= width) {
      shrink();
      limit = std::ranges::max_element(grown, {}, &Partial::cost)->cost;
    }
  }
  shrink();
  std::sort(grown.begin(), grown.end());
  return grown;
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

  const std::size_t usual = usual_timing(e.tables);  // stands for all while swarms are assigned
  const std::size_t words = (sites + 63) / 64;
  std::vector<Partial> kept{{search.unvisited, 0, 0, 0}};
  std::vector<std::uint64_t> taken(words, 0);
  std::vector<std::vector<Partial>> levels;
  for (const std::size_t u : order) {
    if (kept.empty()) {
      return;
    }
    std::vector<Partial> grown = this->grown(search, u, kept, taken, usual);
    std::vector<std::uint64_t> grown_taken(grown.size() * words);
    for (std::size_t k = 0; k < grown.size(); ++k) {
      std::copy_n(&taken[grown[k].parent * words], words, &grown_taken[k * words]);
      if (search.lost[u] == 0) {
        grown_taken[k * words + grown[k].site / 64] |= std::uint64_t{1} << (grown[k].site % 64);
      }
    }
    taken = std::move(grown_taken);
    levels.push_back(grown);
    kept = std::move(grown);
  }
  std::vector<std::vector<Site>> plans(kept.size(), std::vector<Site>(e.num_swarms));
  std::vector<std::vector<Site>> sites_of_swarms(e.num_swarms);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::size_t at = k;
    for (std::size_t i = order.size(); i-- > 0;) {
      const Site site = levels[i][at].site;
      plans[k][order[i]] = site;
      std::vector<Site>& known = sites_of_swarms[order[i]];
      if (std::ranges::find(known, site) == known.end() && search.lost[order[i]] == 0) {
        known.push_back(site);
      }
      at = levels[i][at].parent;
    }
  }
  prepare(sites_of_swarms);
  std::vector<double> objectives(timings);
  for (const std::vector<Site>& chosen : plans) {
    double cost = search.unvisited;
    std::ranges::fill(objectives, 0.0);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      cost += search.costs[u * sites + chosen[u]];
      for (std::size_t t = 0; t < timings && !e.is_station(chosen[u]) && search.lost[u] == 0; ++t) {
        objectives[t] += e.tables.objective_at(e.tables.index(t, u, chosen[u]));
      }
    }
    add_plan(search, chosen, cost, objectives.data(), choices);
  }
}

}  // namespace skein
