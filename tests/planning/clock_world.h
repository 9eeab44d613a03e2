// Worlds by the clock, made at random, in which plans are carried out as missions do it: in the model's
// terms, with accuracy that goes as predicted. Whatever a plan must not do is noted.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "skein/planning/forecast.h"
#include "skein/planning/planner.h"
#include "tests/planning/reference_environment.h"

namespace skein {

class FixedVisits final : public VisitCosts {
 public:
  FixedVisits(std::size_t swarms, std::size_t clusters, std::vector<VisitCost> costs)
      : swarms_(swarms), clusters_(clusters), costs_(std::move(costs)) {}
  [[nodiscard]] VisitCost of(std::size_t timing, std::size_t swarm, std::size_t cluster) const override {
    return costs_[(timing * swarms_ + swarm) * clusters_ + cluster];
  }

 private:
  std::size_t swarms_;
  std::size_t clusters_;
  std::vector<VisitCost> costs_;
};

struct ClockWorldOptions {
  Size size{.swarms = 4, .clusters = 8, .stations = 2};
  double battery_j = 200000.0;
  double threshold_j = 40000.0;
  double possible = 1.0;  // probability that a visit is
  double takeoff_j = 0.0;
  double landed_w = 0.0;
  std::size_t timings = 1;
};

// Pairs of UAVs of 43.6 W at 10 m/s, as in the mission's defaults.
inline std::shared_ptr<Environment> clock_environment(const ClockWorldOptions& options, std::uint64_t seed) {
  const std::shared_ptr<Environment> e = random_environment(options.size, seed);
  RandomStream stream(seed, "test.clock");
  const Size& size = options.size;
  e->travel_j.clear();
  e->capacity_j.assign(size.swarms, options.battery_j);
  e->threshold_j.assign(size.swarms, options.threshold_j);
  std::vector<Timing> timings;
  for (std::size_t t = 0; t < options.timings; ++t) {
    timings.push_back({64.0 * static_cast<double>(t + 1), 1.0, 1.0});
  }
  e->tables = closed_form_tables(timings, std::vector<double>(size.swarms, 1.0), size.clusters);
  for (std::size_t u = 0; u < size.swarms; ++u) {
    const double metre_j = stream.uniform(4.0, 5.0);
    for (const double distance : e->distance_m) {
      e->travel_j.push_back(metre_j * distance);
    }
    e->metre_j.push_back(2.0 * metre_j);
    e->takeoff_j.push_back(2.0 * options.takeoff_j);
    e->landed_w.push_back(2.0 * options.landed_w);
    e->speed_mps.push_back(10.0);
    e->recharge_s.push_back(600.0);
  }
  std::vector<VisitCost> costs;
  for (std::size_t t = 0; t < options.timings; ++t) {
    for (std::size_t i = 0; i < size.swarms * size.clusters; ++i) {
      const double steps = static_cast<double>(t + 1);
      VisitCost cost{.possible = stream.bernoulli(options.possible),
                     .duration_s = stream.uniform(3.0, 8.0) * steps,
                     .energy_j = 0.0,
                     .battery_j = 0.0,
                     .accuracy_loss = 6.0 / steps};
      cost.energy_j = 100.0 * cost.duration_s;
      cost.battery_j = 60.0 * cost.duration_s;
      costs.push_back(cost);
    }
  }
  e->visits = std::make_shared<FixedVisits>(size.swarms, size.clusters, std::move(costs));
  return e;
}

class ClockWorld {
 public:
  // At clusters, with full batteries; models know nothing yet.
  ClockWorld(std::shared_ptr<const Environment> environment, std::uint64_t seed, double mission_s)
      : e_(std::move(environment)) {
    RandomStream stream(seed, "test.clock.start");
    now_.left_s = mission_s;
    now_.timing = e_->tables.timings[0];
    for (std::size_t u = 0; u < e_->num_swarms; ++u) {
      now_.positions.push_back(static_cast<Site>(stream.below(e_->num_clusters)));
      now_.active.push_back(true);
      now_.batteries.emplace_back(e_->capacity_j[u]);
      now_.arrivals_s.push_back(0.0);
      charged_until_.push_back(0.0);
    }
    for (std::size_t c = 0; c < e_->num_clusters; ++c) {
      now_.ages.push_back(20.0);
      now_.drifts.push_back(1.0);
      now_.gradients.push_back(1.0);
      now_.drift_sums.push_back(1.0);
      now_.forecasts.push_back({.accuracy = 0.1,
                                .visited_accuracy = stream.uniform(0.85, 0.95),
                                .loss_per_s = stream.uniform(0.02, 0.25) / 3600.0});
      floors_.push_back(0.05);
      last_visit_s_.push_back(0.0);
    }
  }

  [[nodiscard]] const Observation& now() const { return now_; }
  [[nodiscard]] Observation& now() { return now_; }
  [[nodiscard]] bool is_over() const { return now_.left_s <= 0.0; }
  [[nodiscard]] double mean_accuracy() const {
    return accuracy_s_ / (static_cast<double>(e_->num_clusters) * now_.now_s);
  }
  [[nodiscard]] double accuracy_seconds() const { return accuracy_s_; }
  [[nodiscard]] std::size_t visits() const { return visits_; }
  [[nodiscard]] std::size_t charges() const { return charges_; }
  [[nodiscard]] double least_margin_j() const { return least_margin_j_; }
  [[nodiscard]] double oldest_s() const { return oldest_s_; }
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

  void carry_out(const Plan& plan) {
    const std::vector<Move> moves = this->moves(plan);
    double end_s = std::max(plan.until_s, 1.0);
    for (std::size_t u = 0; u < moves.size(); ++u) {
      if (moves[u].trains && moves[u].arrival_s <= plan.until_s) {
        end_s = std::max(end_s, moves[u].arrival_s + cost(plan, u).duration_s);
      }
    }
    end_s = std::min(end_s, now_.left_s);
    check_clusters(plan, moves);
    std::vector<std::pair<double, std::size_t>> visits;  // when it is over, by whom
    for (std::size_t u = 0; u < moves.size(); ++u) {
      now_.positions[u] = moves[u].to;
      now_.arrivals_s[u] = std::max(0.0, moves[u].arrival_s - end_s);
      const double done_s = moves[u].arrival_s + (moves[u].trains ? cost(plan, u).duration_s : 0.0);
      if (moves[u].trains && moves[u].arrival_s <= plan.until_s && done_s <= end_s) {
        visits.emplace_back(done_s, u);
        now_.batteries[u] -= Energy(cost(plan, u).battery_j);
        now_.spent_j += cost(plan, u).energy_j;
      }
      charge(u, moves[u], end_s);
      note_margin(u);
    }
    std::ranges::sort(visits);
    pass(plan, visits, end_s);
  }

 private:
  struct Move {
    Site to = 0;
    bool lost = false;
    bool trains = false;
    bool lands = false;  // stays where it is
    double arrival_s = 0.0;
  };
  void fault(const std::string& what) { faults_.push_back(what); }
  [[nodiscard]] VisitCost cost(const Plan& plan, std::size_t u) const {
    return e_->visits->of(timing_index(*e_, plan.timing), u, plan.destinations[u]);
  }

  std::vector<Move> moves(const Plan& plan) {
    std::vector<Move> moves;
    for (std::size_t u = 0; u < e_->num_swarms; ++u) {
      const Site here = now_.positions[u];
      Move move{.to = plan.destinations[u], .lost = now_.batteries[u].si() == lost_battery_j};
      const double departs = plan.departures_s.empty() ? 0.0 : plan.departures_s[u];
      if (departs < 0.0 || move.to >= e_->num_sites() || (e_->is_station(move.to) && plan.active[u])) {
        fault("no plan at all");
      }
      if (move.lost) {
        if (move.to != here || plan.active[u]) {
          fault("a lost swarm moves");
        }
      } else if (now_.arrivals_s[u] > 0.0) {
        if (move.to != here || plan.active[u] != !e_->is_station(here)) {
          fault("who is under way goes elsewhere");
        }
        move.arrival_s = now_.arrivals_s[u];
        move.trains = plan.active[u];
      } else if ((move.to == here && !plan.active[u]) || departs >= plan.until_s) {
        move.to = here;
        move.lands = true;
      } else {
        move.trains = plan.active[u];
        if (!e_->is_station(move.to) && !move.trains) {
          fault("it flies to a cluster for nothing");
        }
        if (move.trains && !cost(plan, u).possible) {
          fault("a visit that is not possible");
        }
        leave(u, here, move.to);
        move.arrival_s = departs + e_->distance(here, move.to) / e_->speed_mps[u];
      }
      moves.push_back(move);
    }
    return moves;
  }

  void leave(std::size_t u, Site from, Site to) {
    const double share = 0.5;
    const double needed = e_->travel(u, from, to) + share * e_->takeoff_j[u];
    now_.batteries[u] -= Energy(needed);
    now_.spent_j += e_->metre_j[u] * e_->distance(from, to) + e_->takeoff_j[u];
    if (now_.batteries[u].si() < 0.0) {
      fault("a flight that the battery does not last");
    }
  }

  void check_clusters(const Plan& plan, const std::vector<Move>& moves) {
    for (std::size_t u = 0; u < moves.size(); ++u) {
      for (std::size_t v = 0; v < u; ++v) {
        const bool both = moves[u].to == moves[v].to && !moves[u].lost && !moves[v].lost;
        if (both && !moves[u].lands && !moves[v].lands && plan.destinations[u] == plan.destinations[v]) {
          fault("two at one place");
        }
      }
    }
  }

  void charge(std::size_t u, const Move& move, double end_s) {
    if (move.lost || !e_->is_station(move.to) || move.arrival_s >= end_s) {
      return;
    }
    const double missing = 1.0 - now_.batteries[u].si() / e_->capacity_j[u];
    const double takes_s = missing * e_->recharge_s[u];
    const double share = std::min(1.0, (end_s - move.arrival_s) / std::max(takes_s, 1e-9));
    const double from_s = now_.now_s + move.arrival_s;
    for (std::size_t v = 0; v < e_->num_swarms; ++v) {
      if (v != u && now_.positions[v] == move.to && missing > 0.01 && charged_until_[v] > from_s + 1e-6) {
        fault("two are charged at one station");
      }
    }
    charged_until_[u] = from_s + share * takes_s;
    now_.batteries[u] += Energy(share * missing * e_->capacity_j[u]);
    charges_ += (1.0 - share) * missing <= 0.01 && missing > 0.01 ? 1 : 0;
  }

  void note_margin(std::size_t u) {
    if (now_.batteries[u].si() != lost_battery_j) {
      least_margin_j_ = std::min(least_margin_j_, now_.batteries[u].si() - e_->threshold_j[u]);
    }
  }

  void pass(const Plan& plan, const std::vector<std::pair<double, std::size_t>>& visits, double end_s) {
    std::vector<double> since(e_->num_clusters, 0.0);
    for (double& age : now_.ages) {
      age += 1.0;
    }
    const auto run = [&](std::size_t c, double to_s) {
      ClusterForecast& f = now_.forecasts[c];
      const AccuracyPath path{.accuracy = f.accuracy, .loss_per_s = f.loss_per_s, .floor = floors_[c]};
      accuracy_s_ += path.integral(to_s - since[c]);
      f.accuracy = path.after(to_s - since[c]);
      since[c] = to_s;
    };
    for (const auto& [done_s, u] : visits) {
      const std::size_t c = plan.destinations[u];
      run(c, done_s);
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t t = 0; t < e_->tables.timings.size(); ++t) {
        least = std::min(least, e_->visits->of(t, u, c).accuracy_loss);
      }
      ClusterForecast& f = now_.forecasts[c];
      f.accuracy = f.visited_accuracy - (cost(plan, u).accuracy_loss - least) / 100.0;
      floors_[c] = least_accuracy_share * f.accuracy;
      now_.ages[c] = 0.0;
      oldest_s_ = std::max(oldest_s_, now_.now_s + done_s - last_visit_s_[c]);
      last_visit_s_[c] = now_.now_s + done_s;
      ++visits_;
    }
    for (std::size_t c = 0; c < e_->num_clusters; ++c) {
      run(c, end_s);
      oldest_s_ = std::max(oldest_s_, now_.now_s + end_s - last_visit_s_[c]);
    }
    for (std::size_t u = 0; u < e_->num_swarms; ++u) {
      now_.spent_j += e_->landed_w[u] * end_s;  // a little more than on the ground alone
    }
    now_.now_s += end_s;
    now_.left_s -= end_s;
    now_.timing = plan.timing;
    ++now_.sequence;
  }

  std::shared_ptr<const Environment> e_;
  Observation now_;
  std::vector<double> floors_;
  std::vector<double> last_visit_s_;
  std::vector<double> charged_until_;
  std::vector<std::string> faults_;
  double accuracy_s_ = 0.0;
  double least_margin_j_ = std::numeric_limits<double>::infinity();
  double oldest_s_ = 0.0;
  std::size_t visits_ = 0;
  std::size_t charges_ = 0;
};

}  // namespace skein
