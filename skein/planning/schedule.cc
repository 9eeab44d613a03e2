#include "skein/planning/schedule.h"

#include <algorithm>
#include <utility>

namespace skein {

Schedule::Schedule(std::shared_ptr<const ScheduleProblem> problem)
    : problem_(std::move(problem)),
      routes_(problem_->swarms.size()),
      versions_(problem_->swarms.size(), 0),
      marks_(problem_->clusters.size()),
      slots_(problem_->environment->num_stations),
      worths_(problem_->clusters.size(), 0.0) {
  const ScheduleProblem& p = *problem_;
  for (std::size_t u = 0; u < p.swarms.size(); ++u) {
    const ScheduleProblem::Swarm& swarm = p.swarms[u];
    if (!swarm.lost && swarm.charging) {
      slots_[swarm.site - p.clusters.size()].push_back({swarm.arrival_s, swarm.ready_s, u, true});
    }
  }
  for (std::size_t c = 0; c < p.clusters.size(); ++c) {
    worths_[c] = cluster_worth(c);
    value_ += worths_[c];
  }
  for (std::size_t u = 0; u < p.swarms.size(); ++u) {
    if (!p.swarms[u].lost) {
      value_ -= p.price * p.environment->landed_w[u] * std::max(0.0, p.end_s - p.swarms[u].arrival_s);
      set_route(u, {});
    }
  }
}

double Schedule::accuracy_seconds(double from_s) const {
  double sum = 0.0;
  for (std::size_t c = 0; c < marks_.size(); ++c) {
    for (std::size_t g = 0; g <= marks_[c].size(); ++g) {
      const Gap here = gap(c, g);
      const double before_s = std::clamp(from_s - here.from_s, 0.0, here.until_s - here.from_s);
      sum += here.path.integral(here.until_s - here.from_s) - here.path.integral(before_s);
    }
  }
  return sum;
}

double Schedule::energy_j(double from_s) const {
  const ScheduleProblem& p = *problem_;
  double sum = 0.0;
  for (std::size_t u = 0; u < routes_.size(); ++u) {
    if (!p.swarms[u].lost) {
      sum += p.environment->landed_w[u] * std::max(0.0, p.end_s - std::max(from_s, p.swarms[u].arrival_s));
    }
    for (const Stop& stop : routes_[u].stops) {
      sum += stop.start_s >= from_s ? stop.energy_j : 0.0;
    }
  }
  return sum;
}

std::size_t Schedule::num_visits() const {
  std::size_t sum = 0;
  for (const SwarmRoute& route : routes_) {
    sum += route.stops.size();
  }
  return sum;
}

// Marks after the end of what counts have no length.
Schedule::Gap Schedule::gap(std::size_t cluster, std::size_t number) const {
  const ScheduleProblem::Cluster& c = problem_->clusters[cluster];
  const std::vector<Mark>& marks = marks_[cluster];
  const double end_s = problem_->end_s;
  Gap result{.path = c.now, .age_s = c.age_s, .from_s = 0.0, .until_s = end_s, .last = true};
  if (number > 0) {
    const Mark& mark = marks[number - 1];
    result.path = path_of_visit(mark.accuracy, c.now.loss_per_s);
    result.age_s = 0.0;
    result.from_s = std::min(mark.time_s, end_s);
  }
  if (number < marks.size()) {
    result.until_s = std::min(marks[number].time_s, end_s);
    result.last = false;
  }
  return result;
}

std::size_t Schedule::gap_around(std::size_t cluster, double time_s) const {
  const std::vector<Mark>& marks = marks_[cluster];
  std::size_t number = 0;
  while (number < marks.size() && marks[number].time_s <= time_s) {
    ++number;
  }
  return number;
}

double Schedule::cluster_worth(std::size_t cluster) const {
  double sum = 0.0;
  for (std::size_t g = 0; g <= marks_[cluster].size(); ++g) {
    sum += worth(cluster, gap(cluster, g));
  }
  return sum;
}

double Schedule::worth(std::size_t cluster, const Gap& gap) const {
  const double seconds = gap.until_s - gap.from_s;
  const double worth = problem_->worth(gap.path, gap.age_s, seconds);
  return gap.last ? worth - problem_->lost_afterwards(
                                cluster, problem_->clusters[cluster].visited - gap.path.after(seconds))
                  : worth;
}

// Where what is lost by waiting, the accuracy that is missing, is as much as what is won by a model that is
// younger until the next visit: a - a(f) = loss (until - f). After the schedule's end the next visit comes
// when it is due, or never: see lost_afterwards().
double Schedule::best_finish(const Gap& gap, std::size_t cluster, double accuracy) const {
  const ScheduleProblem::Cluster& c = problem_->clusters[cluster];
  const double loss = c.now.loss_per_s;
  const double missing = accuracy - gap.path.accuracy;
  double finish = missing > 0.0 ? gap.from_s : 0.5 * (gap.from_s + gap.until_s);
  if (loss > 0.0) {
    const double from_s = gap.from_s - missing / loss;  // when it would have been new
    const double until_s = gap.last ? gap.until_s + std::min(problem_->after_s, c.cycle_s) : gap.until_s;
    finish = 0.5 * (from_s + gap.until_s);
    if (gap.last && problem_->after_s < c.cycle_s) {
      finish = 0.5 * (from_s + until_s);
    } else if (gap.last && from_s + 2.0 * c.cycle_s >= gap.until_s) {
      finish = from_s + c.cycle_s;
    }
  }
  finish = std::max(finish, gap.until_s - problem_->most_age_s);
  finish = std::min(finish, gap.from_s - gap.age_s + problem_->most_age_s);
  return std::clamp(finish, gap.from_s, gap.until_s);
}

double Schedule::gain_in(const Gap& gap, std::size_t cluster, double finish_s, double accuracy) const {
  const double before = std::clamp(finish_s, gap.from_s, gap.until_s) - gap.from_s;
  const AccuracyPath visited = path_of_visit(accuracy, problem_->clusters[cluster].now.loss_per_s);
  const Gap after{visited, 0.0, gap.from_s + before, gap.until_s, gap.last};
  return problem_->worth(gap.path, gap.age_s, before) + worth(cluster, after) - worth(cluster, gap);
}

// The best that a visit brings which is over in [least_s, most_s].
Schedule::Gain Schedule::gain_between(std::size_t cluster, double accuracy, double least_s,
                                      double most_s) const {
  Gain best{-std::numeric_limits<double>::infinity(), least_s};
  for (std::size_t g = gap_around(cluster, least_s); g <= marks_[cluster].size(); ++g) {
    const Gap here = gap(cluster, g);
    if (g > 0 && here.from_s > most_s) {
      break;
    }
    const double low = std::max(least_s, here.from_s);
    const double high = std::max(low, std::min(most_s, here.until_s));
    const double finish = std::clamp(best_finish(here, cluster, accuracy), low, high);
    const double gain = gain_in(here, cluster, finish, accuracy);
    if (gain > best.gain) {
      best = {gain, finish};
    }
  }
  return best;
}

// Of the visits from `first` on; as soon as it is above `most`, no more is counted.
double Schedule::loss_of_delay(std::size_t swarm, std::size_t first, double delay_s, double most) const {
  const std::vector<Stop>& stops = routes_[swarm].stops;
  double loss = 0.0;
  for (std::size_t k = first; k < stops.size() && delay_s > 0.0 && loss <= most; ++k) {
    if (stops[k].finish_s + delay_s > problem_->end_s) {
      return std::numeric_limits<double>::infinity();
    }
    loss += delay_s * (stops[k].late_rate + problem_->clusters[stops[k].cluster].now.loss_per_s * delay_s);
    if (k + 1 < stops.size()) {
      delay_s -= stops[k + 1].start_s - stops[k + 1].leg_s - stops[k].finish_s;
    }
  }
  return loss;
}

// Of the visits before `first`, which are so much earlier.
double Schedule::loss_of_hurry(std::size_t swarm, std::size_t first, double hurry_s, double most) const {
  const std::vector<Stop>& stops = routes_[swarm].stops;
  double loss = 0.0;
  std::size_t k = first;
  for (; k > routes_[swarm].num_fixed() && hurry_s > 0.0 && loss <= most; --k) {
    const Stop& stop = stops[k - 1];
    if (stop.start_s - hurry_s < stop.early_s) {
      return std::numeric_limits<double>::infinity();
    }
    loss += problem_->clusters[stop.cluster].now.loss_per_s * hurry_s * hurry_s;
    hurry_s -= stop.start_s - stop.leg_s - (k > 1 ? stops[k - 2].finish_s : problem_->swarms[swarm].ready_s);
  }
  return hurry_s > 0.0 && loss <= most && k == routes_[swarm].num_fixed()
             ? std::numeric_limits<double>::infinity()
             : loss;
}

Insertion Schedule::best_insertion(std::size_t swarm, std::size_t cluster) const {
  const ScheduleProblem& p = *problem_;
  const Environment& e = *p.environment;
  const ScheduleProblem::Visit& visit = p.visit(swarm, cluster);
  Insertion best;
  if (!visit.possible || p.swarms[swarm].lost) {
    return best;
  }
  // No place in the route is worth more than the best moment of all without a flight.
  const double most_gain = gain_between(cluster, visit.accuracy, p.swarms[swarm].ready_s, p.end_s).gain;
  const std::vector<Stop>& stops = routes_[swarm].stops;
  for (std::size_t k = routes_[swarm].num_fixed(); k <= stops.size(); ++k) {
    const Site from = k > 0 ? stops[k - 1].cluster : p.swarms[swarm].site;
    const double free_s = k > 0 ? stops[k - 1].finish_s : p.swarms[swarm].ready_s;
    double metres = e.distance(from, cluster);
    const double least = free_s + metres / e.speed_mps[swarm] + visit.duration_s;
    double most = p.end_s;
    if (k < stops.size()) {
      const Site to = stops[k].station != no_site ? stops[k].station : stops[k].cluster;
      const double onwards = p.flight_s(swarm, cluster, to);
      most = stops[k].start_s - (stops[k].leg_s - stops[k].first_flight_s + onwards);
      metres += e.distance(cluster, to) - e.distance(from, to);
    }
    const double busy = metres / e.speed_mps[swarm] + visit.duration_s;
    double gain = -p.price * (e.metre_j[swarm] * metres + e.takeoff_j[swarm] + visit.energy_j -
                              e.landed_w[swarm] * busy);
    if (gain + most_gain <= std::max(0.0, best.gain)) {
      continue;
    }
    const Gain won = gain_between(cluster, visit.accuracy, least, std::max(least, most));
    gain += won.gain;
    double start_s = won.finish_s - visit.duration_s;
    if (gain > best.gain && least > most) {
      const double enough = gain - std::max(0.0, best.gain);
      const double late = loss_of_delay(swarm, k, least - most, enough);
      const double hurried = loss_of_hurry(swarm, k, least - most, std::min(late, enough));
      gain -= std::min(late, hurried);
      start_s = hurried < late ? most - visit.duration_s : start_s;
    }
    if (gain > best.gain) {
      best = {gain, k, start_s};
    }
  }
  return best;
}

void Schedule::add_mark(std::size_t swarm, const Stop& stop) {
  const ScheduleProblem::Visit& visit = problem_->visit(swarm, stop.cluster);
  if (!visit.possible) {
    return;
  }
  std::vector<Mark>& marks = marks_[stop.cluster];
  const auto place = std::ranges::upper_bound(marks, stop.finish_s, {}, &Mark::time_s);
  marks.insert(place, {stop.finish_s, visit.accuracy, swarm});
}

void Schedule::remove_mark(std::size_t swarm, const Stop& stop) {
  std::vector<Mark>& marks = marks_[stop.cluster];
  const auto found = std::ranges::find_if(
      marks, [&](const Mark& mark) { return mark.swarm == swarm && mark.time_s == stop.finish_s; });
  if (found != marks.end()) {
    marks.erase(found);
  }
}

void Schedule::enter(std::size_t swarm, const SwarmRoute& route) {
  for (const Stop& stop : route.stops) {
    add_mark(swarm, stop);
    if (stop.station != no_site) {
      slots_[stop.station - problem_->clusters.size()].push_back(
          {stop.charge_from_s, stop.charge_until_s, swarm, false});
    }
  }
  value_ -= problem_->price * route.energy_j;
}

void Schedule::leave(std::size_t swarm, const SwarmRoute& route) {
  for (const Stop& stop : route.stops) {
    remove_mark(swarm, stop);
    if (stop.station != no_site) {
      std::erase_if(slots_[stop.station - problem_->clusters.size()],
                    [&](const Slot& slot) { return slot.swarm == swarm && !slot.fixed; });
    }
  }
  value_ += problem_->price * route.energy_j;
}

void Schedule::value_clusters(const SwarmRoute& route) {
  for (const Stop& stop : route.stops) {
    const double worth = cluster_worth(stop.cluster);
    value_ += worth - worths_[stop.cluster];
    worths_[stop.cluster] = worth;
  }
}

std::vector<Wish> Schedule::wishes(std::size_t swarm) const {
  const SwarmRoute& route = routes_[swarm];
  std::vector<Wish> wishes;
  for (std::size_t k = route.num_fixed(); k < route.stops.size(); ++k) {
    wishes.push_back({route.stops[k].cluster, route.stops[k].start_s});
  }
  return wishes;
}

bool Schedule::set_route(std::size_t swarm, std::span<const Wish> wishes) {
  SwarmRoute old = std::move(routes_[swarm]);
  leave(swarm, old);
  SwarmRoute route;
  if (!arrange(swarm, wishes, route)) {
    enter(swarm, old);
    routes_[swarm] = std::move(old);
    return false;
  }
  ++versions_[swarm];
  enter(swarm, route);
  retime(swarm, route);
  routes_[swarm] = std::move(route);
  value_clusters(old);
  value_clusters(routes_[swarm]);
  return true;
}

void Schedule::restore(std::size_t swarm, const SwarmRoute& route) {
  const SwarmRoute now = std::move(routes_[swarm]);
  leave(swarm, now);
  routes_[swarm] = route;
  ++versions_[swarm];
  enter(swarm, route);
  value_clusters(now);
  value_clusters(route);
}

}  // namespace skein
