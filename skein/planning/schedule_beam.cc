#include <algorithm>
#include <limits>
#include <numeric>

#include "skein/planning/schedule_search.h"

namespace skein {
namespace {

struct Partial {
  Schedule schedule;
  std::vector<bool> closed;  // swarms that do no more
};

struct Child {
  double value;
  std::size_t parent;
  Site cluster;  // no_site: the swarm is done
};

// Who can begin something first; all are closed: the number of swarms.
std::size_t next_swarm(const Partial& partial) {
  const ScheduleProblem& p = partial.schedule.problem();
  std::size_t next = p.swarms.size();
  double first_s = std::numeric_limits<double>::infinity();
  for (std::size_t u = 0; u < p.swarms.size(); ++u) {
    const SwarmRoute& route = partial.schedule.route(u);
    const double free_s = route.stops.empty() ? p.swarms[u].ready_s : route.stops.back().finish_s;
    if (!partial.closed[u] && free_s < first_s) {
      next = u;
      first_s = free_s;
    }
  }
  return next;
}

std::vector<Wish> route_with(const Schedule& schedule, std::size_t swarm, Site cluster) {
  std::vector<Wish> wishes = schedule.wishes(swarm);
  wishes.push_back({cluster, 0.0});
  return wishes;
}

// The clusters that are best for a swarm, by estimate.
std::vector<Site> promising(const Schedule& schedule, std::size_t swarm) {
  constexpr std::size_t most = 12;
  const std::size_t num_clusters = schedule.problem().clusters.size();
  std::vector<double> gains;
  std::vector<Site> clusters(num_clusters);
  std::iota(clusters.begin(), clusters.end(), Site{0});
  for (const Site c : clusters) {
    gains.push_back(schedule.best_insertion(swarm, c).gain);
  }
  std::ranges::stable_sort(clusters, std::greater{}, [&](Site c) { return gains[c]; });
  clusters.resize(std::min(most, num_clusters));
  return clusters;
}

void add_children(Partial& partial, std::size_t parent, std::vector<Child>& children) {
  const std::size_t swarm = next_swarm(partial);
  Schedule& schedule = partial.schedule;
  const double value = schedule.value();
  children.push_back({value, parent, no_site});
  if (swarm == partial.closed.size()) {
    return;
  }
  const SwarmRoute before = schedule.route(swarm);
  for (const Site cluster : promising(schedule, swarm)) {
    if (schedule.set_route(swarm, route_with(schedule, swarm, cluster))) {
      if (schedule.value() > value + least_visit_gain) {
        children.push_back({schedule.value(), parent, cluster});
      }
      schedule.restore(swarm, before);
    }
  }
}

}  // namespace

Schedule search_by_beam(const std::shared_ptr<const ScheduleProblem>& problem, std::size_t width,
                        ScheduleListener* listener) {
  const std::size_t num_swarms = problem->swarms.size();
  std::vector<Partial> level{{Schedule(problem), std::vector<bool>(num_swarms)}};
  for (std::size_t u = 0; u < num_swarms; ++u) {
    level[0].closed[u] = problem->swarms[u].lost;
  }
  while (std::ranges::any_of(level, [&](const Partial& p) { return next_swarm(p) < num_swarms; })) {
    std::vector<Child> children;
    for (std::size_t n = 0; n < level.size(); ++n) {
      add_children(level[n], n, children);
    }
    std::ranges::stable_sort(children, std::greater{}, &Child::value);
    children.resize(std::min(width, children.size()));
    std::vector<Partial> next;
    for (const Child& child : children) {
      Partial& grown = next.emplace_back(level[child.parent]);
      const std::size_t swarm = next_swarm(grown);
      if (swarm == num_swarms) {
        continue;
      }
      if (child.cluster == no_site) {
        grown.closed[swarm] = true;
      } else {
        grown.schedule.set_route(swarm, route_with(grown.schedule, swarm, child.cluster));
      }
      if (listener != nullptr) {
        listener->found(grown.schedule);
      }
    }
    level = std::move(next);
  }
  return level[0].schedule;
}

}  // namespace skein
