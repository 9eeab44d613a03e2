#include "skein/mission/solved_tables.h"

#include <optional>

#include "skein/base/bytes.h"

namespace skein {
namespace {

void put(ByteWriter& bytes, const SolvedVisit& visit) {
  bytes.put(visit.entry.objective);
  bytes.put(visit.entry.training_energy_j);
  bytes.put(visit.cost.possible);
  bytes.put(visit.cost.duration_s);
  bytes.put(visit.cost.energy_j);
  bytes.put(visit.cost.battery_j);
  bytes.put(visit.cost.accuracy_loss);
}

SolvedVisit get(ByteCursor& bytes) {
  SolvedVisit visit;
  visit.entry.objective = bytes.get<double>();
  visit.entry.training_energy_j = bytes.get<double>();
  visit.cost.possible = bytes.get<bool>();
  visit.cost.duration_s = bytes.get<double>();
  visit.cost.energy_j = bytes.get<double>();
  visit.cost.battery_j = bytes.get<double>();
  visit.cost.accuracy_loss = bytes.get<double>();
  return visit;
}

}  // namespace

SolvedVisits::SolvedVisits(const Scenario& scenario, const World& world, std::vector<Timing> timings)
    : scenario_(scenario), world_(world), solver_(scenario_, world_, std::move(timings)) {}

SolvedVisit SolvedVisits::visit(std::size_t timing, std::size_t swarm, std::size_t cluster) const {
  const std::size_t index = (timing * world_.swarms.size() + swarm) * world_.clusters.size() + cluster;
  Part& part = parts_[index % parts_.size()];
  {
    const std::scoped_lock lock(part.mutex);
    if (const auto found = part.visits.find(index); found != part.visits.end()) {
      return found->second;
    }
  }
  // Two threads may solve it at once, and find the same.
  const SolvedVisit visit = solver_.solve(timing, swarm, cluster);
  keep(index, visit);
  return visit;
}

void SolvedVisits::keep(std::size_t index, const SolvedVisit& visit) const {
  Part& part = parts_[index % parts_.size()];
  const std::scoped_lock lock(part.mutex);
  part.visits.try_emplace(index, visit);
}

SolvedTables SolvedVisits::tables(ThreadPool& pool, Crew& crew, FractionListener progress) const {
  SolvedTables tables{.num_swarms = world_.swarms.size(),
                      .num_clusters = world_.clusters.size(),
                      .timings = solver_.timings()};
  const std::size_t pairs = tables.num_swarms * tables.num_clusters;
  tables.objective.resize(tables.timings.size() * pairs);
  tables.training_energy_j.resize(tables.timings.size() * pairs);
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    progress(static_cast<double>(t) / static_cast<double>(tables.timings.size()));
    const std::size_t first = tables.index(t, 0, 0);
    std::vector<SolvedVisit> visits(pairs);
    shared_for(
        crew, pool, pairs,
        {.body =
             [&](std::size_t i) { visits[i] = visit(t, i / tables.num_clusters, i % tables.num_clusters); },
         .write = [&](std::size_t i, ByteWriter& bytes) { put(bytes, visits[i]); },
         .read =
             [&](std::size_t i, ByteCursor& bytes) {
               visits[i] = get(bytes);
               keep(first + i, visits[i]);
             },
         .for_all = false});
    for (std::size_t i = 0; i < pairs; ++i) {
      tables.objective[first + i] = visits[i].entry.objective;
      tables.training_energy_j[first + i] = visits[i].entry.training_energy_j;
    }
  }
  return tables;
}

SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          FractionListener progress) {
  const PlanningOptions& options = scenario.planning;
  return SolvedVisits(scenario, world,
                      timing_grid(options.durations, options.local_periods, options.global_periods))
      .tables(pool, crew, progress);
}

}  // namespace skein
