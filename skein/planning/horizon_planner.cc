#include "skein/planning/horizon_planner.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace skein {
namespace {

// What a swarm does first.
struct Action {
  Site site = 0;
  bool active = false;
  bool moves = false;  // or trains, or is charged: it holds its site
  double departs_s = 0.0;
  double done_s = std::numeric_limits<double>::infinity();
};

Action first_action(const Schedule& schedule, std::size_t u) {
  const ScheduleProblem& p = schedule.problem();
  const ScheduleProblem::Swarm& swarm = p.swarms[u];
  Action action{.site = swarm.site};
  if (swarm.lost) {
    return action;
  }
  const std::vector<Stop>& stops = schedule.route(u).stops;
  if (swarm.charging) {
    action.moves = true;
    action.done_s = stops.empty() ? action.done_s : swarm.ready_s;
  } else if (!stops.empty()) {
    const Stop& stop = stops[0];
    action.moves = true;
    if (stop.station != no_site) {
      action.site = stop.station;
      action.departs_s = stop.charge_from_s - stop.first_flight_s;
      action.done_s = stop.charge_until_s;
    } else {
      action.site = stop.cluster;
      action.active = true;
      action.departs_s = stop.fixed ? 0.0 : std::max(0.0, stop.start_s - stop.last_flight_s);
      action.done_s = stop.finish_s;
    }
  }
  return action;
}

// When the first is done; not later than a part of the horizon, for what is not foreseen.
double next_plan_s(const Schedule& schedule, double left_s) {
  constexpr double part = 0.25;
  constexpr double least_s = 1.0;
  double until_s = std::min(part * schedule.problem().end_s, left_s);
  for (std::size_t u = 0; u < schedule.problem().swarms.size(); ++u) {
    until_s = std::min(until_s, first_action(schedule, u).done_s);
  }
  return std::max(until_s, least_s);
}

// The first plans of the best schedules, each once.
class FirstPlans final : public ScheduleListener {
 public:
  explicit FirstPlans(double left_s) : left_s_(left_s) {}

  void found(const Schedule& schedule) override {
    if (best_.size() == most && schedule.value() <= best_.back().value) {
      return;
    }
    std::vector<Site> destinations = first_plan(schedule, left_s_).destinations;
    const auto same = std::ranges::find(best_, destinations, &Alternative::destinations);
    if (same != best_.end()) {
      same->value = std::max(same->value, schedule.value());
    } else {
      best_.push_back({.destinations = std::move(destinations), .value = schedule.value()});
    }
    std::ranges::stable_sort(best_, std::greater{}, &Alternative::value);
    best_.resize(std::min(best_.size(), most));
  }
  // With the plan that was chosen in front.
  [[nodiscard]] std::vector<Alternative> weighed(const Plan& chosen, double value) const {
    std::vector<Alternative> result{{.destinations = chosen.destinations, .value = value}};
    for (const Alternative& other : best_) {
      if (other.destinations != chosen.destinations && other.value <= value) {
        result.push_back(other);
      }
    }
    return result;
  }

 private:
  static constexpr std::size_t most = 8;
  double left_s_;
  std::vector<Alternative> best_;
};

}  // namespace

Plan first_plan(const Schedule& schedule, double left_s) {
  const ScheduleProblem& p = schedule.problem();
  const std::size_t num_swarms = p.swarms.size();
  Plan plan{.timing = p.environment->tables.timings[p.timing]};
  plan.until_s = next_plan_s(schedule, left_s);
  std::vector<Action> actions;
  std::vector<std::size_t> order;
  for (std::size_t u = 0; u < num_swarms; ++u) {
    actions.push_back(first_action(schedule, u));
    order.push_back(u);
  }
  // Whoever is on its way or is charged already holds its site; of the others the first to leave gets it.
  const auto is_set = [&](std::size_t u) { return p.swarms[u].under_way || p.swarms[u].charging; };
  std::ranges::stable_sort(
      order, {}, [&](std::size_t u) { return is_set(u) ? -1.0 : std::max(actions[u].departs_s, 0.0); });
  std::vector<bool> taken(p.environment->num_sites(), false);
  for (const std::size_t u : order) {
    Action& action = actions[u];
    if (!action.moves || (!is_set(u) && (taken[action.site] || action.departs_s >= plan.until_s))) {
      action = {.site = p.swarms[u].site};
      continue;
    }
    taken[action.site] = true;
  }
  for (const Action& action : actions) {
    plan.destinations.push_back(action.site);
    plan.active.push_back(action.active);
    plan.departures_s.push_back(action.departs_s);
  }
  return plan;
}

double least_possible_age_s(const Environment& e) {
  std::vector<double> least;  // of a visit to each cluster, with the flight there
  double sum = 0.0;
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    double seconds = std::numeric_limits<double>::infinity();
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      double way_m = std::numeric_limits<double>::infinity();
      for (std::size_t from = 0; from < e.num_sites(); ++from) {
        way_m = from != c ? std::min(way_m, e.distance(from, c)) : way_m;
      }
      for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
        const VisitCost visit = e.visits->of(t, u, c);
        seconds = visit.possible ? std::min(seconds, way_m / e.speed_mps[u] + visit.duration_s) : seconds;
      }
    }
    least.push_back(seconds);
    sum += seconds;
  }
  // The first of each swarm may have begun before.
  std::ranges::sort(least, std::greater{});
  if (std::isfinite(sum)) {
    for (std::size_t u = 0; u < std::min(e.num_swarms, least.size()); ++u) {
      sum -= least[u];
    }
  }
  return sum / static_cast<double>(e.num_swarms);
}

HorizonPlanner::HorizonPlanner(std::shared_ptr<const Environment> environment, const HorizonOptions& options)
    : environment_(std::move(environment)),
      options_(options),
      visits_(visit_table(*environment_)),
      wished_price_(options) {}

void HorizonPlanner::begin(std::uint64_t seed) {
  seed_ = seed;
  timing_ = 0;
  wished_price_.begin();
  visited_s_.clear();
  intents_.clear();
  alternatives_.clear();
}

// A cluster of age 0 was visited since the last observation.
void HorizonPlanner::remember(const Observation& o) {
  if (visited_s_.empty()) {
    visited_s_.assign(environment_->num_clusters, o.now_s);
  }
  for (std::size_t c = 0; c < visited_s_.size(); ++c) {
    visited_s_[c] = o.ages[c] == 0.0 ? o.now_s : visited_s_[c];
  }
}

std::shared_ptr<const ScheduleProblem> HorizonPlanner::problem(const Observation& o, std::size_t timing,
                                                               double price, double horizons) const {
  const double end_s = std::min(horizons * options_.horizon_h * 3600.0, o.left_s);
  std::vector<double> ages;
  for (const double visited_s : visited_s_) {
    ages.push_back(o.now_s - visited_s);
  }
  ScheduleProblem result =
      schedule_problem(environment_, o, ages, visits_, timing, {.end_s = end_s, .after_s = o.left_s - end_s});
  set_price(result, price);
  if (options_.most_age_h > 0.0) {
    result.most_age_s = options_.most_age_h * 3600.0;
  }
  return std::make_shared<const ScheduleProblem>(std::move(result));
}

double HorizonPlanner::price(const Observation& o) {
  if (options_.objective == Objective::price) {
    return price_per_joule(options_.energy_price);
  }
  wished_price_.remember(o);
  // Beyond what is scheduled it goes on as in the second half of that.
  constexpr double horizons = 2.0;
  return wished_price_.find(o, [&](double price) -> MissionForecast {
    const std::shared_ptr<const ScheduleProblem> coarse = problem(o, timing_, price, horizons);
    Schedule schedule(coarse);
    fill_greedily(schedule);
    const double half_s = 0.5 * coarse->end_s;
    const double more = half_s > 0.0 ? coarse->after_s / half_s : 0.0;
    return {schedule.accuracy_seconds() + more * schedule.accuracy_seconds(half_s),
            schedule.energy_j() + more * schedule.energy_j(half_s)};
  });
}

// The one of which the greedy schedule is best.
std::size_t HorizonPlanner::best_timing(const Observation& o, double price) const {
  const std::size_t count = environment_->tables.timings.size();
  std::size_t best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < count && count > 1; ++t) {
    Schedule schedule(problem(o, t, price));
    fill_greedily(schedule);
    if (schedule.value() > most) {
      most = schedule.value();
      best = t;
    }
  }
  return best;
}

// With what the last schedule has and is still possible.
void HorizonPlanner::start_warm(Schedule& schedule, double now_s) const {
  for (std::size_t u = 0; u < intents_.size(); ++u) {
    std::vector<Wish> wishes;
    const double ready_s = schedule.problem().swarms[u].ready_s;
    for (const Wish& intent : intents_[u]) {
      if (intent.start_s > now_s + ready_s) {
        wishes.push_back({intent.cluster, intent.start_s - now_s});
      }
    }
    while (!schedule.set_route(u, wishes) && !wishes.empty()) {
      wishes.pop_back();
    }
  }
}

Plan HorizonPlanner::choose(const Observation& o) {
  remember(o);
  const double price = this->price(o);
  timing_ = best_timing(o, price);
  const std::shared_ptr<const ScheduleProblem> problem = this->problem(o, timing_, price);
  FirstPlans plans(o.left_s);
  Schedule schedule(problem);
  if (options_.search == ScheduleSearchKind::beam) {
    constexpr std::size_t width = 8;
    schedule = search_by_beam(problem, width, &plans);
  } else {
    fill_greedily(schedule);
    Schedule warm(problem);
    start_warm(warm, o.now_s);
    fill_greedily(warm);
    if (warm.value() > schedule.value()) {
      schedule = std::move(warm);
    }
    RandomStream stream(seed_, "planner.horizon", o.sequence);
    improve(schedule, search_iterations(environment_->num_swarms, environment_->num_clusters), stream,
            &plans);
  }
  Plan plan = first_plan(schedule, o.left_s);
  alternatives_ = plans.weighed(plan, schedule.value());
  intents_.assign(environment_->num_swarms, {});
  for (std::size_t u = 0; u < environment_->num_swarms; ++u) {
    for (const Wish& wish : schedule.wishes(u)) {
      intents_[u].push_back({wish.cluster, o.now_s + wish.start_s});
    }
  }
  return plan;
}

}  // namespace skein
