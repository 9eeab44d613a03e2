#include "skein/mission/solved_tables.h"

#include <utility>

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

SolvedVisits::SolvedVisits(const Scenario& scenario, const World& world, std::vector<Timing> timings,
                           ThreadPool& pool)
    : scenario_(scenario),
      world_(world),
      pool_(&pool),
      solver_(scenario_, world_, std::move(timings), pool) {}

SolvedTables SolvedVisits::tables() const {
  return {.num_swarms = world_.swarms.size(),
          .num_clusters = world_.clusters.size(),
          .timings = solver_.timings()};
}

SolvedVisits::Place SolvedVisits::place(std::size_t index) const {
  const std::size_t clusters = world_.clusters.size();
  const std::size_t pair = index % (world_.swarms.size() * clusters);
  return {index / (world_.swarms.size() * clusters), pair / clusters, pair % clusters};
}

// A pointer into a map stays good.
const SolvedVisit* SolvedVisits::known(std::size_t index) const {
  Part& part = parts_[index % parts_.size()];
  const std::scoped_lock lock(part.mutex);
  const auto found = part.visits.find(index);
  return found == part.visits.end() ? nullptr : &found->second;
}

void SolvedVisits::keep(std::size_t index, const SolvedVisit& visit) const {
  Part& part = parts_[index % parts_.size()];
  const std::scoped_lock lock(part.mutex);
  part.visits.try_emplace(index, visit);
}

SolvedVisit SolvedVisits::visit(std::size_t index) const {
  if (const SolvedVisit* const found = known(index)) {
    return *found;
  }
  // Two threads may solve it at once, and find the same.
  const Place at = place(index);
  const SolvedVisit visit = solver_.solve(at.timing, at.swarm, at.cluster);
  keep(index, visit);
  return visit;
}

void SolvedVisits::prepare(std::span<const std::size_t> indices) const {
  std::vector<std::size_t> open;
  for (const std::size_t index : indices) {
    if (known(index) == nullptr) {
      open.push_back(index);
    }
  }
  if (!open.empty()) {
    pool_->parallel_for(open.size(), [&](std::size_t i) { static_cast<void>(visit(open[i])); });
  }
}

SolvedTables SolvedVisits::solve_all(Crew& crew, FractionListener progress) const {
  SolvedTables tables = this->tables();
  const std::size_t pairs = tables.num_swarms * tables.num_clusters;
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    progress(static_cast<double>(t) / static_cast<double>(tables.timings.size()));
    std::vector<SolvedVisit> visits(pairs);
    shared_for(crew, *pool_, pairs,
               {.body = [&](std::size_t i) { visits[i] = visit(t * pairs + i); },
                .write = [&](std::size_t i, ByteWriter& bytes) { put(bytes, visits[i]); },
                .read =
                    [&](std::size_t i, ByteCursor& bytes) {
                      visits[i] = get(bytes);
                      keep(t * pairs + i, visits[i]);
                    },
                .for_all = false});
    for (const SolvedVisit& visit : visits) {
      tables.objective.push_back(visit.entry.objective);
      tables.training_energy_j.push_back(visit.entry.training_energy_j);
    }
  }
  return tables;
}

void SolvedVisits::find_bounds(Crew& crew, FractionListener progress) {
  const SolvedTables tables = this->tables();
  const std::size_t pairs = tables.num_swarms * tables.num_clusters;
  bounds_.resize(tables.size());
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    progress(static_cast<double>(t) / static_cast<double>(tables.timings.size()));
    EntryBounds* const bounds = &bounds_[t * pairs];
    shared_for(crew, *pool_, pairs,
               {.body =
                    [&](std::size_t i) {
                      const Place at = place(i);
                      bounds[i] = solver_.bounds(t, at.swarm, at.cluster);
                    },
                .write = [&](std::size_t i, ByteWriter& bytes) { bytes.put(bounds[i]); },
                .read = [&](std::size_t i, ByteCursor& bytes) { bounds[i] = bytes.get<EntryBounds>(); },
                .for_all = false});
  }
}

SolvedTables tables_on_demand(const std::shared_ptr<SolvedVisits>& visits, Crew& crew,
                              FractionListener progress) {
  visits->find_bounds(crew, progress);
  SolvedTables tables = visits->tables();
  tables.source = visits;
  return tables;
}

SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          FractionListener progress) {
  const PlanningOptions& options = scenario.planning;
  return SolvedVisits(scenario, world,
                      timing_grid(options.durations, options.local_periods, options.global_periods), pool)
      .solve_all(crew, progress);
}

}  // namespace skein
