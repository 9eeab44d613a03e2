// Schedules of visits in continuous time, and what they are worth: a pure model.
//
// Each swarm has a route, a row of visits with a time for each. The worth of a schedule is the integral of
// all clusters' predicted accuracy (accuracy-seconds) less the energy flown, at its price. A swarm that is
// not flying or training is on the ground. Where its battery does not last, its route goes by a station,
// which charges one swarm at a time.
//
// A change in one route touches that route and the clusters in it alone. Which times visits have within their
// slack follows from the neighbours in the cluster: a visit is worth most midway between the visits before
// and after it, earlier by what accuracy has lost already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/environment.h"
#include "skein/planning/forecast.h"

namespace skein {

// Times are in seconds from now.
struct ScheduleProblem {
  struct Swarm {
    bool lost = false;
    bool under_way = false;  // to a cluster, to train there
    bool charging = false;   // at its site, or under way there, until it is ready
    Site site = 0;
    double arrival_s = 0.0;
    double ready_s = 0.0;    // when it may leave its site, or begin to train there
    double battery_j = 0.0;  // then, of its neediest UAV
    double least_j = 0.0;    // it always can reach a station with so much left
    double takeoff_j = 0.0;  // of its neediest UAV
  };
  struct Cluster {
    AccuracyPath now;
    double visited = 0.0;  // accuracy that a visit leaves, with the best timing
    double age_s = 0.0;    // since the last visit
    // What it is worth at least, once the schedule ends, not to need a visit (schedule_problem.cc), and after
    // how long it then needs one.
    double visit_worth = 0.0;
    double cycle_s = 0.0;
  };
  struct Visit {
    bool possible = false;
    double duration_s = 0.0;
    double energy_j = 0.0;
    double battery_j = 0.0;
    double accuracy = 0.0;  // that it leaves
  };

  std::shared_ptr<const Environment> environment;
  std::size_t timing = 0;
  double price = 0.0;    // accuracy-seconds per J
  double end_s = 0.0;    // visits are over by then, and accuracy counts until then
  double after_s = 0.0;  // of the mission, afterwards
  double most_age_s = std::numeric_limits<double>::infinity();
  std::vector<Swarm> swarms;
  std::vector<Cluster> clusters;
  std::vector<Visit> visits;         // swarm x cluster
  std::vector<double> to_station_j;  // swarm x cluster: to the nearest, of its neediest UAV

  [[nodiscard]] const Visit& visit(std::size_t swarm, std::size_t cluster) const {
    return visits[swarm * clusters.size() + cluster];
  }
  [[nodiscard]] double flight_s(std::size_t swarm, std::size_t from, std::size_t to) const {
    return environment->distance(from, to) / environment->speed_mps[swarm];
  }
  // Over some seconds from a moment when the model's age was `age_s`; ages over the limit cost.
  [[nodiscard]] double worth(const AccuracyPath& path, double age_s, double seconds) const {
    const double late_s = std::max(0.0, age_s + seconds - most_age_s) - std::max(0.0, age_s - most_age_s);
    return path.integral(seconds) - late_cost * std::max(0.0, late_s);
  }
  // What it costs afterwards that a model's accuracy is so much below that of a new one. With a loss of l per
  // second and visits at kappa, T = sqrt(2 kappa / l) apart at best, a model of age a = missing / l has lost
  // l (T a - a^2 / 2) against a new one, and at most kappa, for a visit at once. In what is left of the
  // mission it cannot lose more than what is missing now.
  [[nodiscard]] double lost_afterwards(std::size_t cluster, double missing) const {
    const Cluster& c = clusters[cluster];
    if (missing <= 0.0) {
      return 0.0;
    }
    const double loss = c.now.loss_per_s;
    const double lost =
        missing < loss * c.cycle_s ? missing * (c.cycle_s - 0.5 * missing / loss) : c.visit_worth;
    return std::min(lost, missing * after_s);
  }

  static constexpr double late_cost = 100.0;  // accuracy-seconds per second over the age limit
};

struct ScheduleSpan {
  double end_s = 0.0;
  double after_s = 0.0;  // of the mission
};

// What visits take, asked for once.
struct VisitTable {
  struct Visit {
    VisitCost cost;
    double behind = 0.0;  // accuracy that it leaves less than with the best timing
  };
  std::vector<Visit> visits;  // timing x swarm x cluster
  std::vector<double>
      most_battery_j;  // swarm x cluster, with any timing: that of the plan in which it arrives
};
// The environment has visits.
VisitTable visit_table(const Environment& environment);

// Of the neediest UAV, in what all of its swarm take.
double neediest_share(const Environment& environment, std::size_t swarm);

// The observation has forecasts; `ages_s` of all clusters. Without a price.
ScheduleProblem schedule_problem(std::shared_ptr<const Environment> environment,
                                 const Observation& observation, std::span<const double> ages_s,
                                 const VisitTable& table, std::size_t timing, const ScheduleSpan& span);

// With energy at this price, in accuracy-seconds per J.
void set_price(ScheduleProblem& problem, double price);

constexpr Site no_site = std::numeric_limits<Site>::max();

struct Stop {
  Site cluster = 0;
  Site station = no_site;  // where it is charged on the way
  bool fixed = false;      // it is under way there
  double charge_from_s = 0.0;
  double charge_until_s = 0.0;
  double leg_s = 0.0;          // from the end of the visit before until it can begin
  double last_flight_s = 0.0;  // the last part of the leg
  double first_flight_s = 0.0;
  double early_s = 0.0;  // it could begin, if all before were as early as can be
  double start_s = 0.0;
  double finish_s = 0.0;
  double late_rate = 0.0;  // accuracy-seconds lost per second that it is later
  double energy_j = 0.0;   // of leg and visit, less what it would have taken on the ground
};

struct SwarmRoute {
  std::vector<Stop> stops;
  double energy_j = 0.0;

  [[nodiscard]] std::size_t num_fixed() const { return !stops.empty() && stops[0].fixed ? 1 : 0; }
};

struct Insertion {
  double gain = -std::numeric_limits<double>::infinity();  // estimated
  std::size_t position = 0;                                // in the route
  double start_s = 0.0;                                    // when it would be best
};

// A visit that is to be made at about this time.
struct Wish {
  Site cluster = 0;
  double start_s = 0.0;
};

class Schedule {
 public:
  // Nothing is visited but by those under way.
  explicit Schedule(std::shared_ptr<const ScheduleProblem> problem);

  [[nodiscard]] const ScheduleProblem& problem() const { return *problem_; }
  [[nodiscard]] const std::shared_ptr<const ScheduleProblem>& shared_problem() const { return problem_; }
  [[nodiscard]] const SwarmRoute& route(std::size_t swarm) const { return routes_[swarm]; }
  // How often a route has changed.
  [[nodiscard]] std::size_t version(std::size_t swarm) const { return versions_[swarm]; }
  [[nodiscard]] double value() const { return value_; }
  // From some moment until the end: of all clusters, and with what is taken on the ground.
  [[nodiscard]] double accuracy_seconds(double from_s = 0.0) const;
  [[nodiscard]] double energy_j(double from_s = 0.0) const;
  [[nodiscard]] std::size_t num_visits() const;

  // Estimates of what one visit more would bring.
  [[nodiscard]] Insertion best_insertion(std::size_t swarm, std::size_t cluster) const;

  // A route of these visits, after that which is fixed, at their best times near those that are wished for.
  // False, and nothing has changed, where the battery or the time does not suffice.
  bool set_route(std::size_t swarm, std::span<const Wish> wishes);
  // The visits of a route that are not fixed, as they are.
  [[nodiscard]] std::vector<Wish> wishes(std::size_t swarm) const;
  // Back to what a route was.
  void restore(std::size_t swarm, const SwarmRoute& route);

 private:
  struct Mark {
    double time_s;
    double accuracy;  // left
    std::size_t swarm;
  };
  struct Slot {
    double from_s;
    double until_s;
    std::size_t swarm;
    bool fixed;
  };
  struct Gap {  // between two visits of a cluster
    AccuracyPath path;
    double age_s;  // at its beginning
    double from_s;
    double until_s;
    bool last;
  };
  // Where the swarm is between two visits.
  struct Place {
    Site site;
    double time_s;
    double battery_j;
  };
  [[nodiscard]] bool reach(std::size_t swarm, Place& place, const Wish& wish, Stop& stop) const;
  [[nodiscard]] bool by_station(std::size_t swarm, const Place& place, Site cluster, Stop& stop,
                                double& battery_j) const;
  [[nodiscard]] double free_from(Site station, double from_s, double seconds) const;
  bool simulate(std::size_t swarm, std::span<const Wish> wishes, SwarmRoute& route) const;
  bool arrange(std::size_t swarm, std::span<const Wish> wishes, SwarmRoute& route) const;
  void retime(std::size_t swarm, SwarmRoute& route);
  void retime(std::size_t swarm, SwarmRoute& route, std::size_t k);
  [[nodiscard]] Gap gap(std::size_t cluster, std::size_t number) const;
  [[nodiscard]] std::size_t gap_around(std::size_t cluster, double time_s) const;
  // When in a gap a visit is best over.
  [[nodiscard]] double best_finish(const Gap& gap, std::size_t cluster, double accuracy) const;
  [[nodiscard]] double worth(std::size_t cluster, const Gap& gap) const;
  [[nodiscard]] double gain_in(const Gap& gap, std::size_t cluster, double finish_s, double accuracy) const;
  struct Gain {
    double gain;
    double finish_s;
  };
  [[nodiscard]] Gain gain_between(std::size_t cluster, double accuracy, double least_s, double most_s) const;
  [[nodiscard]] double loss_of_delay(std::size_t swarm, std::size_t first, double delay_s, double most) const;
  [[nodiscard]] double loss_of_hurry(std::size_t swarm, std::size_t first, double hurry_s, double most) const;
  void enter(std::size_t swarm, const SwarmRoute& route);
  void leave(std::size_t swarm, const SwarmRoute& route);
  void add_mark(std::size_t swarm, const Stop& stop);
  void remove_mark(std::size_t swarm, const Stop& stop);
  void value_clusters(const SwarmRoute& route);
  [[nodiscard]] double cluster_worth(std::size_t cluster) const;

  std::shared_ptr<const ScheduleProblem> problem_;
  std::vector<SwarmRoute> routes_;
  std::vector<std::size_t> versions_;
  std::vector<std::vector<Mark>> marks_;  // of each cluster, in the order of time
  std::vector<std::vector<Slot>> slots_;  // of each station
  std::vector<double> worths_;            // of each cluster
  double value_ = 0.0;
};

}  // namespace skein
