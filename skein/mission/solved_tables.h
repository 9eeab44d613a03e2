// The planner's tables: what training costs and brings for each timing, swarm and cluster, by solving problem
// P.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/mission/visit_solver.h"
#include "skein/planning/tables.h"
#include "skein/planning/visit_costs.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// Visits of a scenario, each solved when it is first asked for; by any thread, and the same whatever was
// asked before.
class SolvedVisits final : public VisitCosts {
 public:
  // Keeps copies of both.
  SolvedVisits(const Scenario& scenario, const World& world, std::vector<Timing> timings);

  [[nodiscard]] VisitCost of(std::size_t timing, std::size_t swarm, std::size_t cluster) const override {
    return visit(timing, swarm, cluster).cost;
  }
  [[nodiscard]] SolvedVisit visit(std::size_t timing, std::size_t swarm, std::size_t cluster) const;

  // All of them, for tables in which nothing is left to solve. The crew's first process has them all, each of
  // the others its part only.
  SolvedTables tables(ThreadPool& pool, Crew& crew, FractionListener progress) const;

 private:
  void keep(std::size_t index, const SolvedVisit& visit) const;

  Scenario scenario_;
  World world_;
  VisitSolver solver_;
  // In parts, so that threads rarely wait for each other.
  struct Part {
    std::mutex mutex;
    std::map<std::size_t, SolvedVisit> visits;
  };
  mutable std::array<Part, 64> parts_;
};

// The tables alone.
SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          FractionListener progress);

}  // namespace skein
