#include "skein/planning/optimum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace skein {
namespace {

constexpr std::size_t forbidden = std::numeric_limits<std::size_t>::max();

// A world with batteries on a grid, as one long list of states: positions outermost, then ages, then
// batteries.
class GridWorld {
 public:
  GridWorld(const Environment& e, std::size_t levels, bool kind);

  [[nodiscard]] std::size_t num_states() const { return positions_.size() * num_ages_ * num_batteries_; }
  // Value iteration.
  [[nodiscard]] std::pair<double, double> best_mean_reward(const OptimumOptions& options, ThreadPool& pool,
                                                           std::size_t& sweeps) const;

 private:
  struct Move {
    std::size_t to;         // positions
    double cost;            // of the reward's denominator, without G
    std::uint64_t visited;  // clusters
  };
  [[nodiscard]] std::size_t level_after(std::size_t swarm, std::size_t level, std::size_t from,
                                        std::size_t to) const;
  void find_moves();
  void sweep(std::size_t position, const std::vector<float>& values, std::vector<float>& next) const;

  const Environment& e_;
  std::size_t levels_;
  bool kind_;
  std::size_t cap_;  // ages from 0 to here
  std::size_t num_ages_ = 1;
  std::size_t num_batteries_ = 1;
  std::vector<std::vector<Site>> positions_;
  std::vector<std::vector<Move>> moves_;             // of each positions
  std::vector<std::vector<std::uint32_t>> battery_;  // of each move, one after another: batteries afterwards
};

GridWorld::GridWorld(const Environment& e, std::size_t levels, bool kind)
    : e_(e), levels_(levels), kind_(kind), cap_(static_cast<std::size_t>(e.reward.age_cap)) {
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    num_ages_ *= cap_ + 1;
  }
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    num_batteries_ *= levels + 1;
  }
  std::vector<Site> sites(e.num_swarms, 0);
  const auto different = [&] {
    for (std::size_t u = 0; u < sites.size(); ++u) {
      for (std::size_t v = 0; v < u; ++v) {
        if (sites[u] == sites[v]) {
          return false;
        }
      }
    }
    return true;
  };
  while (true) {
    if (different()) {
      positions_.push_back(sites);
    }
    std::size_t u = 0;
    while (u < sites.size() && ++sites[u] == e.num_sites()) {
      sites[u++] = 0;
    }
    if (u == sites.size()) {
      break;
    }
  }
  find_moves();
}

// The level of a battery after a move, from 0 (at the threshold) to levels (full), or forbidden.
std::size_t GridWorld::level_after(std::size_t swarm, std::size_t level, std::size_t from,
                                   std::size_t to) const {
  const double span = e_.capacity_j[swarm] - e_.threshold_j[swarm];
  const double grid = span / static_cast<double>(levels_);
  double left = e_.threshold_j[swarm] + static_cast<double>(level) * grid - e_.travel(swarm, from, to);
  if (e_.is_station(to)) {
    if (left < 0.0) {
      return forbidden;
    }
    left = e_.recharge_j > 0.0 ? std::min(e_.capacity_j[swarm], left + e_.recharge_j) : e_.capacity_j[swarm];
  } else {
    double least = std::numeric_limits<double>::max();
    double most = 0.0;
    for (std::size_t t = 0; t < e_.tables.timings.size(); ++t) {
      const double energy = e_.tables.training_j_at(e_.tables.index(t, swarm, to));
      least = std::min(least, energy);
      most = std::max(most, energy);
    }
    left -= kind_ ? least : most;
  }
  const double place = (left - e_.threshold_j[swarm]) / grid;
  const double rounded = kind_ ? std::ceil(place - 1e-9) : std::floor(place + 1e-9);
  return rounded < 0.0 ? forbidden
                       : static_cast<std::size_t>(std::min(rounded, static_cast<double>(levels_)));
}

void GridWorld::find_moves() {
  for (const std::vector<Site>& from : positions_) {
    std::vector<Move>& moves = moves_.emplace_back();
    std::vector<std::uint32_t>& batteries = battery_.emplace_back();
    for (std::size_t p = 0; p < positions_.size(); ++p) {
      const std::vector<Site>& to = positions_[p];
      Move move{.to = p, .cost = 0.0, .visited = 0};
      double least = std::numeric_limits<double>::max();
      for (std::size_t t = 0; t < e_.tables.timings.size(); ++t) {
        double objective = 0.0;
        for (std::size_t u = 0; u < to.size(); ++u) {
          objective += e_.is_station(to[u]) ? 0.0 : e_.tables.objective_at(e_.tables.index(t, u, to[u]));
        }
        least = std::min(least, objective);
      }
      move.cost = objective_cost(e_.reward, least);
      for (std::size_t u = 0; u < to.size(); ++u) {
        move.cost += travel_cost(e_.reward, e_.travel(u, from[u], to[u])) +
                     recharge_cost(e_.reward, e_.is_station(to[u]) ? 1 : 0);
        move.visited |= e_.is_station(to[u]) ? 0 : std::uint64_t{1} << to[u];
      }
      moves.push_back(move);
      for (std::size_t b = 0; b < num_batteries_; ++b) {
        std::size_t rest = b;
        std::size_t after = 0;
        std::size_t factor = 1;
        bool possible = true;
        for (std::size_t u = 0; u < to.size() && possible; ++u) {
          const std::size_t level = level_after(u, rest % (levels_ + 1), from[u], to[u]);
          rest /= levels_ + 1;
          possible = level != forbidden;
          after += possible ? factor * level : 0;
          factor *= levels_ + 1;
        }
        batteries.push_back(possible ? static_cast<std::uint32_t>(after)
                                     : std::numeric_limits<std::uint32_t>::max());
      }
    }
  }
}

void GridWorld::sweep(std::size_t position, const std::vector<float>& values,
                      std::vector<float>& next) const {
  const std::vector<Move>& moves = moves_[position];
  constexpr auto impossible = std::numeric_limits<std::uint32_t>::max();
  const std::size_t base = position * num_ages_ * num_batteries_;
  std::vector<std::size_t> ages(e_.num_clusters);
  for (std::size_t a = 0; a < num_ages_; ++a) {
    std::size_t rest = a;
    for (std::size_t& age : ages) {
      age = std::min(cap_, rest % (cap_ + 1) + 1);
      rest /= cap_ + 1;
    }
    float* best = &next[base + a * num_batteries_];
    std::fill_n(best, num_batteries_, -std::numeric_limits<float>::max());
    for (std::size_t m = 0; m < moves.size(); ++m) {
      double gradients = 0.0;
      std::size_t after = 0;
      std::size_t factor = 1;
      for (std::size_t c = 0; c < ages.size(); ++c) {
        if ((moves[m].visited >> c & 1U) == 0) {
          gradients += e_.gradient(static_cast<double>(ages[c]), e_.drift.start[c], 0.0, 0.0);
          after += factor * ages[c];
        }
        factor *= cap_ + 1;
      }
      const auto reward =
          static_cast<float>(worth(e_.reward, moves[m].cost + gradient_cost(e_.reward, gradients)));
      const float* to = &values[(moves[m].to * num_ages_ + after) * num_batteries_];
      const std::uint32_t* batteries = &battery_[position][m * num_batteries_];
      for (std::size_t b = 0; b < num_batteries_; ++b) {
        if (batteries[b] != impossible) {
          best[b] = std::max(best[b], reward + to[batteries[b]]);
        }
      }
    }
    // Nowhere to go: the swarm can only break its threshold, which counts as the worst.
    for (std::size_t b = 0; b < num_batteries_; ++b) {
      best[b] = std::max(best[b], static_cast<float>(-1e6));
    }
  }
}

// Values relative to those of full batteries at the first positions. Only states from which one can go on
// count for the bounds; the others have the worst value and are never entered by choice.
std::pair<double, double> GridWorld::best_mean_reward(const OptimumOptions& options, ThreadPool& pool,
                                                      std::size_t& sweeps) const {
  std::vector<float> values(num_states(), 0.0F);
  std::vector<float> next(num_states());
  std::pair<double, double> bounds{-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  std::vector<std::pair<double, double>> parts(positions_.size());
  for (sweeps = 0; sweeps < options.most_sweeps;) {
    ++sweeps;
    pool.parallel_for(positions_.size(), [&](std::size_t p) {
      sweep(p, values, next);
      parts[p] = {std::numeric_limits<double>::max(), -std::numeric_limits<double>::max()};
      for (std::size_t i = p * num_ages_ * num_batteries_; i < (p + 1) * num_ages_ * num_batteries_; ++i) {
        if (next[i] > -1e5F && values[i] > -1e5F) {
          const double change = static_cast<double>(next[i]) - static_cast<double>(values[i]);
          parts[p].first = std::min(parts[p].first, change);
          parts[p].second = std::max(parts[p].second, change);
        }
      }
    });
    bounds = parts.front();
    for (const auto& [low, high] : parts) {
      bounds.first = std::min(bounds.first, low);
      bounds.second = std::max(bounds.second, high);
    }
    if (bounds.second - bounds.first < options.tolerance) {
      break;
    }
    const float reference = next[num_batteries_ - 1];
    for (std::size_t i = 0; i < next.size(); ++i) {
      // Averaging with the old values keeps periodic worlds from swinging.
      values[i] = next[i] < -1e5F ? -1e6F : 0.5F * values[i] + 0.5F * (next[i] - reference);
    }
  }
  return bounds;
}

}  // namespace

std::optional<OptimumBounds> optimum_bounds(const Environment& e, const OptimumOptions& options,
                                            ThreadPool& pool) {
  const double cap = e.reward.age_cap;
  double states = 1.0;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    states *= static_cast<double>((e.num_sites() - u) * (options.battery_levels + 1));
  }
  states *= std::pow(cap + 1.0, static_cast<double>(e.num_clusters));
  if (states > static_cast<double>(options.most_states) || e.num_clusters > 63 || e.drift.sequences > 0 ||
      e.reward.gradient != GradientForm::capped_age || std::floor(cap) != cap) {
    return std::nullopt;
  }
  OptimumBounds bounds{.states = static_cast<std::size_t>(states)};
  std::size_t sweeps = 0;
  bounds.upper = GridWorld(e, options.battery_levels, true).best_mean_reward(options, pool, sweeps).second;
  bounds.sweeps = sweeps;
  bounds.lower = GridWorld(e, options.battery_levels, false).best_mean_reward(options, pool, sweeps).first;
  bounds.sweeps = std::max(bounds.sweeps, sweeps);
  return bounds;
}

}  // namespace skein
