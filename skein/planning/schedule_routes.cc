// How a swarm's visits come one after another: legs, stations, times.
#include <algorithm>
#include <utility>

#include "skein/planning/schedule.h"

namespace skein {

// The first moment from which the station is free for so long.
double Schedule::free_from(Site station, double from_s, double seconds) const {
  const std::vector<Slot>& slots = slots_[station - problem_->clusters.size()];
  bool moved = true;
  while (moved) {
    moved = false;
    for (const Slot& slot : slots) {
      if (slot.from_s < from_s + seconds && slot.until_s > from_s) {
        from_s = slot.until_s;
        moved = true;
      }
    }
  }
  return from_s;
}

bool Schedule::by_station(std::size_t swarm, const Place& place, Site cluster, Stop& stop,
                          double& battery_j) const {
  const ScheduleProblem& p = *problem_;
  const Environment& e = *p.environment;
  const ScheduleProblem::Swarm& own = p.swarms[swarm];
  const double after_j =
      own.takeoff_j + p.visit(swarm, cluster).battery_j + p.to_station_j[swarm * e.num_clusters + cluster];
  bool found = false;
  for (auto station = static_cast<Site>(e.num_clusters); station < e.num_sites(); ++station) {
    const double there_j = place.battery_j - e.travel(swarm, place.site, station) - own.takeoff_j;
    const double full_j = e.capacity_j[swarm] - e.travel(swarm, station, cluster);
    if (station == place.site || there_j < 0.0 || full_j - after_j < own.least_j) {
      continue;
    }
    const double first_s = p.flight_s(swarm, place.site, station);
    const double second_s = p.flight_s(swarm, station, cluster);
    const double charge_s = e.recharge_s[swarm] * (1.0 - there_j / e.capacity_j[swarm]);
    const double from_s = free_from(station, place.time_s + first_s, charge_s);
    const double start_s = from_s + charge_s + second_s;
    if (!found || start_s < stop.early_s) {
      found = true;
      const double flying_s = first_s + second_s;
      stop.station = station;
      stop.charge_from_s = from_s;
      stop.charge_until_s = from_s + charge_s;
      stop.first_flight_s = first_s;
      stop.last_flight_s = second_s;
      stop.early_s = start_s;
      stop.energy_j = e.metre_j[swarm] * (e.distance(place.site, station) + e.distance(station, cluster)) +
                      2.0 * e.takeoff_j[swarm] - e.landed_w[swarm] * flying_s;
      battery_j = full_j - own.takeoff_j;
    }
  }
  return found;
}

// The next visit, when it is wished for or as early as it can be, by a station if need be.
bool Schedule::reach(std::size_t swarm, Place& place, const Wish& wish, Stop& stop) const {
  const ScheduleProblem& p = *problem_;
  const Environment& e = *p.environment;
  const Site cluster = wish.cluster;
  const ScheduleProblem::Visit& visit = p.visit(swarm, cluster);
  const ScheduleProblem::Swarm& own = p.swarms[swarm];
  if (!visit.possible) {
    return false;
  }
  stop.cluster = cluster;
  double battery_j = place.battery_j - e.travel(swarm, place.site, cluster) - own.takeoff_j;
  if (battery_j - visit.battery_j - p.to_station_j[swarm * e.num_clusters + cluster] >= own.least_j) {
    const double flight_s = p.flight_s(swarm, place.site, cluster);
    stop.first_flight_s = stop.last_flight_s = flight_s;
    stop.early_s = place.time_s + flight_s;
    stop.energy_j = e.metre_j[swarm] * e.distance(place.site, cluster) + e.takeoff_j[swarm] -
                    e.landed_w[swarm] * flight_s;
  } else if (!by_station(swarm, place, cluster, stop, battery_j)) {
    return false;
  }
  stop.leg_s = stop.early_s - place.time_s;
  stop.start_s = std::max(stop.early_s, wish.start_s);
  stop.finish_s = stop.start_s + visit.duration_s;
  stop.energy_j += visit.energy_j - e.landed_w[swarm] * visit.duration_s;
  place = {cluster, stop.finish_s, battery_j - visit.battery_j};
  return stop.finish_s <= p.end_s;
}

bool Schedule::simulate(std::size_t swarm, std::span<const Wish> wishes, SwarmRoute& route) const {
  const ScheduleProblem& p = *problem_;
  const ScheduleProblem::Swarm& own = p.swarms[swarm];
  if (own.lost) {
    return wishes.empty();
  }
  Place place{own.site, own.ready_s, own.battery_j};
  route.stops.reserve(wishes.size() + 1);
  if (own.under_way) {
    const ScheduleProblem::Visit& visit = p.visit(swarm, own.site);
    const double duration_s = visit.possible ? visit.duration_s : 0.0;
    Stop& stop = route.stops.emplace_back();
    stop.cluster = own.site;
    stop.fixed = true;
    stop.early_s = stop.start_s = own.ready_s;
    stop.finish_s = own.ready_s + duration_s;
    stop.energy_j = visit.possible ? visit.energy_j - p.environment->landed_w[swarm] * duration_s : 0.0;
    place.time_s = stop.finish_s;
    place.battery_j -= visit.possible ? visit.battery_j : 0.0;
  }
  for (const Wish& wish : wishes) {
    if (!reach(swarm, place, wish, route.stops.emplace_back())) {
      return false;
    }
  }
  for (const Stop& stop : route.stops) {
    route.energy_j += stop.energy_j;
  }
  return true;
}

// Visits before one that would come too late for its wish are earlier than they wish; if that does not
// suffice, those after it are later.
bool Schedule::arrange(std::size_t swarm, std::span<const Wish> wishes, SwarmRoute& route) const {
  const std::vector<Wish> at_once = [&] {
    std::vector<Wish> list(wishes.begin(), wishes.end());
    for (Wish& wish : list) {
      wish.start_s = 0.0;
    }
    return list;
  }();
  if (!simulate(swarm, at_once, route)) {
    return false;
  }
  std::vector<Stop>& stops = route.stops;
  const std::size_t fixed = route.num_fixed();
  std::vector<Wish> possible(wishes.begin(), wishes.end());
  double latest_s = problem_->end_s;
  for (std::size_t k = stops.size(); k-- > fixed;) {
    double& start_s = possible[k - fixed].start_s;
    start_s =
        std::max(stops[k].early_s, std::min(start_s, latest_s - (stops[k].finish_s - stops[k].start_s)));
    latest_s = start_s - stops[k].leg_s;
  }
  SwarmRoute later;
  if (simulate(swarm, possible, later)) {
    for (std::size_t k = 0; k < stops.size(); ++k) {
      later.stops[k].early_s = stops[k].early_s;
    }
    route = std::move(later);
  }
  return true;
}

// Each visit moves to when it is worth most, within its slack; the last one first, and then the first one.
// Who goes by a station does so at once, so that nobody else's time there changes.
void Schedule::retime(std::size_t swarm, SwarmRoute& route) {
  constexpr int passes = 2;
  const std::size_t fixed = route.num_fixed();
  const std::size_t count = route.stops.size();
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = fixed; i < count; ++i) {
      retime(swarm, route, pass == 0 ? count - 1 - (i - fixed) : i);
    }
  }
}

void Schedule::retime(std::size_t swarm, SwarmRoute& route, std::size_t k) {
  std::vector<Stop>& stops = route.stops;
  Stop& stop = stops[k];
  const double duration_s = stop.finish_s - stop.start_s;
  const double least = k > 0 ? stops[k - 1].finish_s + stop.leg_s : stop.early_s;
  double most = problem_->end_s - duration_s;
  if (k + 1 < stops.size()) {
    most = stops[k + 1].station != no_site ? stop.start_s
                                           : stops[k + 1].start_s - stops[k + 1].leg_s - duration_s;
  }
  remove_mark(swarm, stop);
  const double accuracy = problem_->visit(swarm, stop.cluster).accuracy;
  const Gap around = gap(stop.cluster, gap_around(stop.cluster, stop.finish_s));
  const double wanted = best_finish(around, stop.cluster, accuracy);
  stop.start_s = std::max(least, std::min(wanted - duration_s, most));
  stop.finish_s = stop.start_s + duration_s;
  const double kept = around.path.after(std::max(0.0, stop.finish_s - around.from_s));
  const double loss = problem_->clusters[stop.cluster].now.loss_per_s;
  stop.late_rate = std::max(0.0, accuracy - kept - loss * std::max(0.0, around.until_s - stop.finish_s));
  add_mark(swarm, stop);
}

}  // namespace skein
