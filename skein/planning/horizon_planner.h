// Plans what people want, by the clock: accuracy over time, less energy at its price.
//
// At each observation a schedule of visits is searched for the next while (schedule_search.h), from what is
// left of the last one; its beginning is the plan. The next plan is due when the first swarm is done.
// Decisions follow from the seed and the observations seen, in their order.
#pragma once

#include <memory>
#include <vector>

#include "skein/planning/planner.h"
#include "skein/planning/schedule_search.h"
#include "skein/planning/wished_price.h"

namespace skein {

class HorizonPlanner final : public Planner {
 public:
  // The environment has visits.
  HorizonPlanner(std::shared_ptr<const Environment> environment, const HorizonOptions& options);

  void begin(std::uint64_t seed) override;
  Plan choose(const Observation& observation) override;
  [[nodiscard]] std::vector<Alternative> alternatives() const override { return alternatives_; }

 private:
  void remember(const Observation& observation);
  double price(const Observation& observation);
  [[nodiscard]] std::size_t best_timing(const Observation& observation, double price) const;
  [[nodiscard]] std::shared_ptr<const ScheduleProblem> problem(const Observation& observation,
                                                               std::size_t timing, double price,
                                                               double horizons = 1.0) const;
  void start_warm(Schedule& schedule, double now_s) const;

  std::shared_ptr<const Environment> environment_;
  HorizonOptions options_;
  VisitTable visits_;
  WishedPrice wished_price_;
  std::uint64_t seed_ = 0;
  std::size_t timing_ = 0;                  // of the last plan
  std::vector<double> visited_s_;           // of each cluster, on the mission's clock; empty before the first
  std::vector<std::vector<Wish>> intents_;  // of each swarm: the last schedule, on the mission's clock
  std::vector<Alternative> alternatives_;
};

// The beginning of a schedule; what is left of the mission ends it at the latest.
Plan first_plan(const Schedule& schedule, double left_s);

// Below this, seconds, some cluster's model must be older at some time, whatever is planned: in each such
// while every cluster is visited, each visit but a swarm's first takes the shortest flight there and the
// training, and no swarm has more than that while.
double least_possible_age_s(const Environment& environment);

// Accuracy-seconds per J, of a price in percentage points of a cluster's accuracy over an hour, per kJ.
constexpr double price_per_joule(double points_hours_per_kj) {
  return points_hours_per_kj * 0.01 * 3600.0 / 1000.0;
}

}  // namespace skein
