#include "skein/planning/clock_model.h"

#include <algorithm>

#include "skein/base/expect.h"
#include "skein/planning/forecast.h"
#include "skein/planning/schedule.h"

namespace skein {
namespace {

class ClockModel {
 public:
  ClockModel(const Environment& environment, const ClockMission& mission) : e_(environment) {
    const std::size_t clusters = e_.num_clusters;
    expect(e_.visits != nullptr && mission.starts.size() == e_.num_swarms &&
               mission.forecasts.size() == clusters,
           "a mission of this environment, which knows what visits take");
    now_.left_s = mission.seconds;
    now_.timing = e_.tables.timings[0];
    now_.positions = mission.starts;
    now_.forecasts = mission.forecasts;
    now_.active.assign(e_.num_swarms, true);
    now_.arrivals_s.assign(e_.num_swarms, 0.0);
    for (std::size_t u = 0; u < e_.num_swarms; ++u) {
      now_.batteries.emplace_back(e_.capacity_j[u]);
    }
    now_.ages.assign(clusters, e_.start_age);
    now_.drifts.assign(clusters, 0.0);
    now_.gradients.assign(clusters, 0.0);
    now_.drift_sums.assign(clusters, 0.0);
    for (const ClusterForecast& forecast : now_.forecasts) {
      floors_.push_back(forecast.accuracy);  // a model that has learned nothing loses nothing
    }
    visits_ = visit_table(e_);
  }

  [[nodiscard]] const Observation& now() const { return now_; }
  [[nodiscard]] ClockFlight flight() const {
    ClockFlight flight = flight_;
    flight.seconds = now_.now_s;
    flight.energy_j = now_.spent_j;
    return flight;
  }

  void carry_out(const Plan& plan) {
    expect(plan.until_s > 0.0 && plan.departures_s.size() == e_.num_swarms, "a plan by the clock");
    const std::size_t timing = timing_index(e_, plan.timing);
    std::vector<Move> moves;
    double end_s = plan.until_s;
    for (std::size_t u = 0; u < e_.num_swarms; ++u) {
      moves.push_back(begin(plan, timing, u));
      end_s = moves[u].visit != nullptr ? std::max(end_s, moves[u].done_s()) : end_s;
    }
    end_s = std::min(end_s, now_.left_s);
    std::vector<Visit> visits;
    for (std::size_t u = 0; u < e_.num_swarms; ++u) {
      end(u, moves[u], end_s, visits);
    }
    std::ranges::stable_sort(visits, {}, &Visit::done_s);
    pass(visits, end_s);
    now_.timing = plan.timing;
    ++now_.sequence;
  }

 private:
  struct Move {
    double arrival_s = 0.0;
    const VisitTable::Visit* visit = nullptr;  // that begins in this sequence
    [[nodiscard]] double done_s() const { return arrival_s + visit->cost.duration_s; }
  };
  struct Visit {
    double done_s;
    std::size_t cluster;
    double behind;
  };

  // Where a swarm goes, and what is booked as it leaves.
  Move begin(const Plan& plan, std::size_t timing, std::size_t u) {
    const Site here = now_.positions[u];
    const Site to = plan.destinations[u];
    Move move{.arrival_s = now_.arrivals_s[u]};
    if (move.arrival_s <= 0.0) {
      if ((to == here && !plan.active[u]) || plan.departures_s[u] >= plan.until_s) {
        return {};
      }
      const double flight_s = e_.distance(here, to) / e_.speed_mps[u];
      move.arrival_s = plan.departures_s[u] + flight_s;
      const double share = neediest_share(e_, u);
      spend(u, e_.metre_j[u] * e_.distance(here, to) + e_.takeoff_j[u],
            e_.travel(u, here, to) + share * e_.takeoff_j[u], flight_s);
      now_.positions[u] = to;
    }
    now_.active[u] = plan.active[u];
    if (plan.active[u] && move.arrival_s <= plan.until_s) {
      move.visit = &visits_.visits[(timing * e_.num_swarms + u) * e_.num_clusters + to];
      expect(move.visit->cost.possible, "a visit that is possible");
    }
    return move;
  }

  // In the air for so long, which nobody is landed in.
  void spend(std::size_t u, double all_j, double neediest_j, double air_s) {
    const double landed_j = e_.landed_w[u] * air_s;
    now_.spent_j += all_j - landed_j;
    now_.batteries[u] -= Energy(neediest_j - neediest_share(e_, u) * landed_j);
  }

  void end(std::size_t u, const Move& move, double end_s, std::vector<Visit>& visits) {
    now_.arrivals_s[u] = std::max(0.0, move.arrival_s - end_s);
    if (move.visit != nullptr && move.done_s() <= end_s) {
      const VisitCost& cost = move.visit->cost;
      spend(u, cost.energy_j, cost.battery_j, cost.duration_s);
      visits.push_back({move.done_s(), now_.positions[u], move.visit->behind});
    }
    now_.spent_j += e_.landed_w[u] * end_s;
    now_.batteries[u] -= Energy(neediest_share(e_, u) * e_.landed_w[u] * end_s);
    flight_.least_margin_j =
        std::min(flight_.least_margin_j, e_.is_station(now_.positions[u])
                                             ? now_.batteries[u].si()
                                             : now_.batteries[u].si() - e_.threshold_j[u]);
    if (e_.is_station(now_.positions[u]) && move.arrival_s < end_s) {
      charge(u, end_s - move.arrival_s);
    }
  }

  void charge(std::size_t u, double seconds) {
    constexpr double noted = 0.01;  // less is the electronics of who stays there
    const double missing = std::max(0.0, 1.0 - now_.batteries[u].si() / e_.capacity_j[u]);
    const double gained = std::min(missing, seconds / e_.recharge_s[u]);
    now_.batteries[u] += Energy(gained * e_.capacity_j[u]);
    flight_.recharges += missing > noted && missing - gained <= noted ? 1 : 0;
  }

  void pass(const std::vector<Visit>& visits, double end_s) {
    std::vector<double> since(e_.num_clusters, 0.0);
    for (double& age : now_.ages) {
      age += 1.0;
    }
    const auto run = [&](std::size_t c, double to_s) {
      ClusterForecast& f = now_.forecasts[c];
      const AccuracyPath path{.accuracy = f.accuracy, .loss_per_s = f.loss_per_s, .floor = floors_[c]};
      flight_.accuracy_seconds += path.integral(to_s - since[c]);
      f.accuracy = path.after(to_s - since[c]);
      since[c] = to_s;
    };
    for (const Visit& visit : visits) {
      ClusterForecast& f = now_.forecasts[visit.cluster];
      run(visit.cluster, visit.done_s);
      f.accuracy = std::max(0.0, f.visited_accuracy - visit.behind);
      floors_[visit.cluster] = least_accuracy_share * f.accuracy;
      now_.ages[visit.cluster] = 0.0;
      ++flight_.visits;
    }
    for (std::size_t c = 0; c < e_.num_clusters; ++c) {
      run(c, end_s);
    }
    now_.now_s += end_s;
    now_.left_s -= end_s;
  }

  const Environment& e_;
  VisitTable visits_;
  Observation now_;
  std::vector<double> floors_;  // of clusters' accuracy
  ClockFlight flight_;
};

}  // namespace

ClockFlight fly_by_the_clock(const Environment& environment, Planner& planner, const ClockMission& mission) {
  ClockModel model(environment, mission);
  planner.begin(mission.seed);
  while (model.now().left_s > 0.0 && (mission.sequences == 0 || model.now().sequence < mission.sequences)) {
    model.carry_out(planner.choose(model.now()));
  }
  return model.flight();
}

}  // namespace skein
