#include "skein/planning/schedule_bound.h"

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"

namespace skein {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// The least that visits of a cluster take, whoever makes them.
struct LeastCosts {
  double first_s = never;       // nobody can have trained there before
  double accuracy = 0.0;        // left at most
  double leg_j = never;         // with a flight from another site
  double stay_j = never;        // by a swarm that is there
  double leg_s = never;         // of a swarm's time, with the flight
  bool starts_there = false;    // the first visit needs no flight
  std::vector<double> fixed_s;  // visits by those that are under way
};

double energy_of(const ScheduleProblem& p, std::size_t u, std::size_t c, double metres) {
  const Environment& e = *p.environment;
  const double busy_s = metres / e.speed_mps[u] + p.visit(u, c).duration_s;
  return e.metre_j[u] * metres + e.takeoff_j[u] + p.visit(u, c).energy_j - e.landed_w[u] * busy_s;
}

LeastCosts least_costs(const ScheduleProblem& p, std::size_t c) {
  const Environment& e = *p.environment;
  LeastCosts least;
  for (std::size_t u = 0; u < p.swarms.size(); ++u) {
    const ScheduleProblem::Swarm& swarm = p.swarms[u];
    const ScheduleProblem::Visit& visit = p.visit(u, c);
    if (swarm.lost || !visit.possible) {
      continue;
    }
    if (swarm.under_way && swarm.site == c) {
      least.fixed_s.push_back(swarm.ready_s + visit.duration_s);
    }
    least.starts_there = least.starts_there || swarm.site == c;
    least.first_s = std::min(least.first_s, swarm.ready_s + p.flight_s(u, swarm.site, c) + visit.duration_s);
    least.accuracy = std::max(least.accuracy, visit.accuracy);
    least.stay_j = std::min(least.stay_j, energy_of(p, u, c, e.distance(c, c)));
    for (std::size_t from = 0; from < e.num_sites(); ++from) {
      if (from != c) {
        least.leg_j = std::min(least.leg_j, energy_of(p, u, c, e.distance(from, c)));
        least.leg_s = std::min(least.leg_s, p.flight_s(u, from, c) + visit.duration_s);
      }
    }
  }
  return least;
}

// A cluster's visits on the grid.
class ClusterBound {
 public:
  ClusterBound(const ScheduleProblem& problem, std::size_t cluster, std::size_t count)
      : p_(problem), step_s_(problem.end_s / static_cast<double>(count)), count_(count) {
    least_ = least_costs(problem, cluster);
    const AccuracyPath now = problem.clusters[cluster].now;
    const double age_s = problem.clusters[cluster].age_s;
    for (std::size_t g = 0; g <= count; ++g) {
      const double seconds = step_s_ * static_cast<double>(g);
      first_.push_back(problem.worth(now, age_s, seconds));
      const double aged_s = std::max(0.0, seconds - step_s_);
      const AccuracyPath left = path_of_visit(least_.accuracy, now.loss_per_s);
      between_.push_back(least_.accuracy * (seconds - aged_s) + problem.worth(left, 0.0, aged_s));
      last_.push_back(between_.back() - problem.lost_afterwards(
                                            cluster, problem.clusters[cluster].visited - left.after(aged_s)));
    }
    nothing_ = first_.back() -
               problem.lost_afterwards(cluster, problem.clusters[cluster].visited - now.after(problem.end_s));
    is_free_.assign(count, false);
    for (const double fixed_s : least_.fixed_s) {
      if (fixed_s < problem.end_s) {
        is_free_[static_cast<std::size_t>(fixed_s / step_s_)] = true;
      }
    }
  }

  // With visits where they are best, at this price of a swarm's second.
  [[nodiscard]] double best(double time_price) const {
    if (least_.first_s == never) {
      return nothing_;
    }
    double best = nothing_;
    const double leg = p_.price * least_.leg_j + time_price * least_.leg_s;
    const double stay = p_.price * least_.stay_j;
    const double first = least_.starts_there ? std::min(leg, stay) : leg;
    const auto earliest = static_cast<std::size_t>(least_.first_s / step_s_);
    std::vector<double> until(count_, -never);  // worth of what is before a visit here, less its cost
    for (std::size_t g = 0; g < count_; ++g) {
      if (g < earliest && !is_free_[g]) {
        continue;
      }
      until[g] = first_[g] - (is_free_[g] ? std::min(0.0, first) : first);
      for (std::size_t before = 0; before < g; ++before) {
        const double apart_s = step_s_ * static_cast<double>(g - before - 1);
        const double cost =
            is_free_[g] ? std::min({0.0, leg, stay}) : std::min(leg, stay + time_price * apart_s);
        until[g] = std::max(until[g], until[before] + between_[g - before] - cost);
      }
      best = std::max(best, until[g] + last_[count_ - g]);
    }
    return best;
  }

 private:
  const ScheduleProblem& p_;
  double step_s_;
  std::size_t count_;
  LeastCosts least_;
  std::vector<double> first_;    // worth from now until a visit, by steps
  std::vector<double> between_;  // from a visit to the next
  std::vector<double> last_;     // from a visit to the end
  std::vector<bool> is_free_;    // somebody is under way and trains here at this moment
  double nothing_ = 0.0;         // without a visit
};

}  // namespace

ScheduleBound schedule_bound(const std::shared_ptr<const ScheduleProblem>& problem, double step_s) {
  const ScheduleProblem& p = *problem;
  const Environment& e = *p.environment;
  for (std::size_t u = 0; u < p.swarms.size(); ++u) {
    expect(e.metre_j[u] * e.speed_mps[u] >= e.landed_w[u], "flying takes more than waiting on the ground");
  }
  const auto count = static_cast<std::size_t>(std::max(1.0, std::ceil(p.end_s / step_s)));
  std::vector<ClusterBound> clusters;
  for (std::size_t c = 0; c < p.clusters.size(); ++c) {
    clusters.emplace_back(p, c, count);
  }
  double swarm_s = 0.0;
  for (const ScheduleProblem::Swarm& swarm : p.swarms) {
    swarm_s += swarm.lost ? 0.0 : std::max(0.0, p.end_s - swarm.ready_s);
  }
  const double spent = p.price * Schedule(problem).energy_j();
  const auto bound = [&](double time_price) {
    double sum = time_price * swarm_s - spent;
    for (const ClusterBound& cluster : clusters) {
      sum += cluster.best(time_price);
    }
    return sum;
  };
  // Convex in the price: golden section, on a scale where small ones have room.
  constexpr double most_price = 1000.0;
  constexpr double golden = 0.6180339887498949;
  constexpr int steps = 40;
  const auto price_at = [](double x) { return std::expm1(x); };
  double low = 0.0;
  double high = std::log1p(most_price);
  ScheduleBound best{bound(0.0), 0.0};
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = bound(price_at(left));
  double at_right = bound(price_at(right));
  for (int i = 0; i < steps; ++i) {
    if (at_left < best.value) {
      best = {at_left, price_at(left)};
    }
    if (at_right < best.value) {
      best = {at_right, price_at(right)};
    }
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = bound(price_at(left));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = bound(price_at(right));
    }
  }
  return best;
}

}  // namespace skein
