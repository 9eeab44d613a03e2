// What a visit brings and costs, by solving problem P: with full batteries and the data of the start.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/planning/tables.h"
#include "skein/planning/visit_costs.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

struct SolvedVisit {
  SolvedEntry entry{};  // of the planner's tables
  VisitCost cost{};
};

// All local rounds of a sequence are alike here: one is the problem, with its part of the batteries.
struct Visit {
  std::size_t swarm = 0;
  std::size_t cluster = 0;
  std::size_t local_period = 1;
  SequenceRounds rounds{};
  OffloadingProblem problem{};

  [[nodiscard]] double num_rounds() const { return static_cast<double>(rounds.local_aggregations); }
};

// Seconds and joules of a visit, as a mission books them by its start and waiting, with nobody to wait for.
// Without signalling, what is spent on the ground, and the battery of the UAV that is left with least.
VisitCost visit_cost(const SwarmProblems& problems, const Visit& visit, const OffloadResult& result);

// O(s), w times the bound of the mean squared gradient over the sequence and 1 - w times the energy of all
// its local rounds, and what the UAV that is left with least has spent on it. Where P is infeasible the
// energy is that of a full battery, so that no plan goes there.
//
// Scenario and world must outlive it.
class VisitSolver {
 public:
  VisitSolver(const Scenario& scenario, const World& world, std::vector<Timing> timings, ThreadPool& pool);

  // A function of the three numbers alone.
  [[nodiscard]] SolvedVisit solve(std::size_t timing, std::size_t swarm, std::size_t cluster) const;
  // Of what it would find, in closed form.
  [[nodiscard]] EntryBounds bounds(std::size_t timing, std::size_t swarm, std::size_t cluster) const;

  [[nodiscard]] const std::vector<Timing>& timings() const { return timings_; }
  [[nodiscard]] const World& world() const { return world_; }

 private:
  [[nodiscard]] Visit visit(std::size_t timing, std::size_t swarm, std::size_t cluster) const;
  // Of the UAV that is left with least, with so much in each local round: what hovering, models and trips
  // take is what the budgets lack of the batteries.
  [[nodiscard]] double most_energy(const Visit& visit, std::span<const double> uav_energy,
                                   double round_time) const;
  // Of each UAV in a local round, whatever is decided.
  [[nodiscard]] static std::vector<double> most_in_round(const OffloadingInstance& p);

  const Scenario& scenario_;
  const World& world_;
  std::vector<Timing> timings_;
  std::vector<double> constants_;  // of the objective, of each timing
  SwarmProblems problems_;
  std::unique_ptr<Offloader> offloader_;
  std::vector<double> batteries_;
  Time slowest_trip_;
};

}  // namespace skein
