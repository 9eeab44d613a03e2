#include "skein/planning/schedule_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace skein {
namespace {

constexpr double rounding = 1e-9;  // accuracy-seconds

bool insert(Schedule& schedule, std::size_t swarm, const Insertion& insertion, Site cluster) {
  std::vector<Wish> wishes = schedule.wishes(swarm);
  const std::size_t fixed = schedule.route(swarm).num_fixed();
  wishes.insert(wishes.begin() + static_cast<std::ptrdiff_t>(insertion.position - fixed),
                {cluster, insertion.start_s});
  return schedule.set_route(swarm, wishes);
}

// What every visit would bring, kept while visits are put in.
class Filling {
 public:
  Filling(Schedule& schedule, std::span<const std::size_t> swarms, std::span<const Site> clusters)
      : schedule_(schedule),
        swarms_(swarms),
        clusters_(clusters),
        insertions_(swarms.size() * clusters.size()),
        best_(clusters.size(), 0) {
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      weigh_cluster(i);
    }
  }

  void run() {
    while (!swarms_.empty() && !clusters_.empty()) {
      std::size_t i = 0;
      for (std::size_t other = 1; other < clusters_.size(); ++other) {
        i = best(other).gain > best(i).gain ? other : i;
      }
      if (!(best(i).gain > least_visit_gain)) {
        return;
      }
      const std::size_t j = best_[i];
      const std::size_t swarm = swarms_[j];
      const SwarmRoute before = schedule_.route(swarm);
      const double value = schedule_.value();
      if (!insert(schedule_, swarm, best(i), clusters_[i])) {
        refuse(i, j);
      } else if (schedule_.value() <= value + least_visit_gain) {
        schedule_.restore(swarm, before);
        refuse(i, j);
      } else {
        weigh_swarm(j);
        weigh_cluster(i);
      }
    }
  }

 private:
  [[nodiscard]] Insertion& at(std::size_t i, std::size_t j) { return insertions_[i * swarms_.size() + j]; }
  [[nodiscard]] Insertion& best(std::size_t i) { return at(i, best_[i]); }
  void find_best(std::size_t i) {
    best_[i] = 0;
    for (std::size_t j = 1; j < swarms_.size(); ++j) {
      best_[i] = at(i, j).gain > best(i).gain ? j : best_[i];
    }
  }
  void weigh_cluster(std::size_t i) {
    for (std::size_t j = 0; j < swarms_.size(); ++j) {
      at(i, j) = schedule_.best_insertion(swarms_[j], clusters_[i]);
    }
    find_best(i);
  }
  void weigh_swarm(std::size_t j) {
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      at(i, j) = schedule_.best_insertion(swarms_[j], clusters_[i]);
      if (best_[i] == j) {
        find_best(i);
      } else if (at(i, j).gain > best(i).gain) {
        best_[i] = j;
      }
    }
  }
  // Until the swarm's route is another.
  void refuse(std::size_t i, std::size_t j) {
    at(i, j) = {};
    find_best(i);
  }

  Schedule& schedule_;
  std::span<const std::size_t> swarms_;
  std::span<const Site> clusters_;
  std::vector<Insertion> insertions_;  // cluster x swarm
  std::vector<std::size_t> best_;      // swarm of each cluster
};

// What is near a cluster: all that one iteration changes.
struct Neighbourhood {
  std::vector<std::size_t> swarms;
  std::vector<Site> clusters;
};

class Search {
 public:
  Search(Schedule& schedule, RandomStream& stream) : schedule_(schedule), stream_(stream) {
    const ScheduleProblem& p = schedule.problem();
    for (std::size_t u = 0; u < p.swarms.size(); ++u) {
      if (!p.swarms[u].lost) {
        swarms_.push_back(u);
      }
    }
  }

  void run(std::size_t iterations, ScheduleListener* listener);

 private:
  struct Saved {
    std::size_t swarm;
    std::size_t version;
    SwarmRoute route;
  };

  [[nodiscard]] Neighbourhood around(Site cluster) const;
  void take_out(const Neighbourhood& near, Site centre);

  Schedule& schedule_;
  RandomStream& stream_;
  std::vector<std::size_t> swarms_;
};

Neighbourhood Search::around(Site centre) const {
  constexpr std::size_t most_swarms = 8;
  constexpr std::size_t most_clusters = 16;
  const ScheduleProblem& p = schedule_.problem();
  const Environment& e = *p.environment;
  Neighbourhood near{.swarms = swarms_, .clusters = {}};
  if (swarms_.size() > most_swarms) {
    std::vector<double> distances(p.swarms.size(), 0.0);
    for (const std::size_t u : swarms_) {
      distances[u] = e.distance(p.swarms[u].site, centre);
      for (const Stop& stop : schedule_.route(u).stops) {
        distances[u] =
            std::min(distances[u], stop.cluster == centre ? 0.0 : e.distance(stop.cluster, centre));
      }
    }
    std::ranges::stable_sort(near.swarms, {}, [&](std::size_t u) { return distances[u]; });
    near.swarms.resize(most_swarms);
  }
  near.clusters.resize(e.num_clusters);
  std::iota(near.clusters.begin(), near.clusters.end(), Site{0});
  if (e.num_clusters > most_clusters) {
    std::ranges::stable_sort(near.clusters, {},
                             [&](Site c) { return c == centre ? -1.0 : e.distance(c, centre); });
    near.clusters.resize(most_clusters);
  }
  return near;
}

void Search::take_out(const Neighbourhood& near, Site centre) {
  constexpr std::size_t kinds = 4;
  const std::uint64_t kind = stream_.below(kinds);
  const double share = stream_.uniform(0.1, 0.5);
  const double from_s = stream_.uniform(0.0, schedule_.problem().end_s);
  const double until_s = from_s + share * schedule_.problem().end_s;
  const Site other = stream_.choice(near.clusters);
  const std::size_t swarm = stream_.choice(near.swarms);
  for (const std::size_t u : near.swarms) {
    const SwarmRoute& route = schedule_.route(u);
    std::vector<Wish> kept;
    for (std::size_t k = route.num_fixed(); k < route.stops.size(); ++k) {
      const Stop& stop = route.stops[k];
      const bool out = kind == 0   ? stream_.bernoulli(share)
                       : kind == 1 ? stop.start_s >= from_s && stop.start_s <= until_s
                       : kind == 2 ? stop.cluster == centre || stop.cluster == other
                                   : u == swarm;
      if (!out) {
        kept.push_back({stop.cluster, stop.start_s});
      }
    }
    if (kept.size() + route.num_fixed() < route.stops.size()) {
      schedule_.set_route(u, kept);
    }
  }
}

void Search::run(std::size_t iterations, ScheduleListener* listener) {
  constexpr double first_temperature = 0.05;  // of the mean value of a visit
  constexpr double forced_share = 0.3;        // of visits that pay only with others
  if (swarms_.empty()) {
    return;
  }
  const double empty = Schedule(schedule_.shared_problem()).value();
  double current = schedule_.value();
  double best = current;
  std::vector<SwarmRoute> best_routes;
  const auto keep = [&] {
    best = current;
    best_routes.clear();
    for (const std::size_t u : swarms_) {
      best_routes.push_back(schedule_.route(u));
    }
  };
  keep();
  const double visits = std::max(1.0, static_cast<double>(schedule_.num_visits()));
  const double heat = first_temperature * std::max(0.0, current - empty) / visits;
  for (std::size_t i = 0; i < iterations; ++i) {
    const auto centre = static_cast<Site>(stream_.below(schedule_.problem().clusters.size()));
    const Neighbourhood near = around(centre);
    std::vector<Saved> saved;
    for (const std::size_t u : near.swarms) {
      saved.push_back({u, schedule_.version(u), schedule_.route(u)});
    }
    take_out(near, centre);
    if (stream_.bernoulli(forced_share)) {
      const std::size_t swarm = stream_.choice(near.swarms);
      const Insertion insertion = schedule_.best_insertion(swarm, centre);
      if (std::isfinite(insertion.gain)) {
        insert(schedule_, swarm, insertion, centre);
      }
    }
    fill_greedily(schedule_, near.swarms, near.clusters);
    if (listener != nullptr) {
      listener->found(schedule_);
    }
    const double done = static_cast<double>(i + 1) / static_cast<double>(iterations);
    const double temperature = heat * (1.0 - done);
    if (schedule_.value() >= current - temperature * stream_.exponential()) {
      current = schedule_.value();
      if (current > best + rounding) {
        keep();
      }
    } else {
      for (const Saved& one : saved) {
        if (schedule_.version(one.swarm) != one.version) {
          schedule_.restore(one.swarm, one.route);
        }
      }
    }
  }
  for (std::size_t j = 0; j < swarms_.size(); ++j) {
    schedule_.restore(swarms_[j], best_routes[j]);
  }
}

}  // namespace

void fill_greedily(Schedule& schedule, std::span<const std::size_t> swarms, std::span<const Site> clusters) {
  Filling(schedule, swarms, clusters).run();
}

void fill_greedily(Schedule& schedule) {
  std::vector<std::size_t> swarms(schedule.problem().swarms.size());
  std::iota(swarms.begin(), swarms.end(), std::size_t{0});
  std::vector<Site> clusters(schedule.problem().clusters.size());
  std::iota(clusters.begin(), clusters.end(), Site{0});
  fill_greedily(schedule, swarms, clusters);
}

std::size_t search_iterations(std::size_t swarms, std::size_t clusters) {
  return 100 + 2 * (swarms + clusters);
}

void improve(Schedule& schedule, std::size_t iterations, RandomStream& stream, ScheduleListener* listener) {
  Search(schedule, stream).run(iterations, listener);
}

}  // namespace skein
