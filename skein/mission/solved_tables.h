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
class SolvedVisits final : public VisitCosts, public EntrySource {
 public:
  // Keeps copies of both, but not of the pool.
  SolvedVisits(const Scenario& scenario, const World& world, std::vector<Timing> timings, ThreadPool& pool);

  [[nodiscard]] VisitCost of(std::size_t timing, std::size_t swarm, std::size_t cluster) const override {
    return visit(tables().index(timing, swarm, cluster)).cost;
  }
  [[nodiscard]] SolvedEntry entry(std::size_t index) const override { return visit(index).entry; }
  [[nodiscard]] EntryBounds bounds(std::size_t index) const override { return bounds_.at(index); }
  void prepare(std::span<const std::size_t> indices) const override;

  // All of them, for tables in which nothing is left to solve. The crew's first process has them all, each of
  // the others its part only.
  SolvedTables solve_all(Crew& crew, FractionListener progress) const;
  // The bounds alone, likewise.
  void find_bounds(Crew& crew, FractionListener progress);

  // Of which nothing is solved yet.
  [[nodiscard]] SolvedTables tables() const;

 private:
  struct Place {
    std::size_t timing, swarm, cluster;
  };
  [[nodiscard]] Place place(std::size_t index) const;
  [[nodiscard]] SolvedVisit visit(std::size_t index) const;
  [[nodiscard]] const SolvedVisit* known(std::size_t index) const;
  void keep(std::size_t index, const SolvedVisit& visit) const;

  Scenario scenario_;
  World world_;
  ThreadPool* pool_;
  VisitSolver solver_;
  std::vector<EntryBounds> bounds_;
  // In parts, so that threads rarely wait for each other.
  struct Part {
    std::mutex mutex;
    std::map<std::size_t, SolvedVisit> visits;
  };
  mutable std::array<Part, 64> parts_;
};

// More entries than these are solved on demand.
constexpr std::size_t most_eager_entries = 4096;
// Tables that are solved as entries are asked for; the pool must outlive them.
SolvedTables tables_on_demand(const std::shared_ptr<SolvedVisits>& visits, Crew& crew,
                              FractionListener progress);

// The tables alone, all of them.
SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          FractionListener progress);

}  // namespace skein
