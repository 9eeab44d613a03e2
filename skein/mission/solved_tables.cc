#include "skein/mission/solved_tables.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/mission/build.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/planning/reward.h"
#include "skein/world/energy.h"

namespace skein {
namespace {

// Of whoever trains beside the swarm: the furthest from its access point counts.
Time slowest_trip(const SwarmProblems& problems, std::span<const double> batteries) {
  const World& world = problems.world();
  Time slowest{};
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    const Uav& leader = world.uavs[world.swarms[u].leader];
    for (std::size_t c = 0; c < world.clusters.size(); ++c) {
      slowest = std::max(slowest, 2.0 * flight_time({.distance = problems.leader_flight(u, c, batteries),
                                                     .speed = leader.cruise_speed}));
    }
  }
  return slowest;
}

struct Entry {
  double objective = 0.0;
  double training_energy_j = 0.0;
};

class TableSolver {
 public:
  TableSolver(const Scenario& scenario, const World& world)
      : scenario_(scenario),
        world_(world),
        problems_(problem_setting(scenario), world),
        offloader_(build_offloader(scenario.offloading.method)),
        batteries_(full_batteries(world)),
        slowest_trip_(slowest_trip(problems_, batteries_)) {}

  // `constant` is objective_constant of the timing.
  [[nodiscard]] Entry solve(const Timing& timing, double constant, std::size_t swarm,
                            std::size_t cluster) const;
  [[nodiscard]] double objective_constant(const Timing& timing) const {
    return problems_.objective_constant(static_cast<std::size_t>(timing.local_period),
                                        static_cast<std::size_t>(timing.global_period), timing.duration);
  }

 private:
  // Of the UAV that is left with least: what hovering, models and trips take is what the budgets lack of the
  // batteries.
  [[nodiscard]] double most_energy(const OffloadingProblem& problem, const OffloadEvaluation& evaluation,
                                   std::size_t swarm, double num_rounds) const;

  const Scenario& scenario_;
  const World& world_;
  SwarmProblems problems_;
  std::unique_ptr<Offloader> offloader_;
  std::vector<double> batteries_;
  Time slowest_trip_;
};

Entry TableSolver::solve(const Timing& timing, double constant, std::size_t swarm,
                         std::size_t cluster) const {
  const auto local_period = static_cast<std::size_t>(timing.local_period);
  const auto global_period = static_cast<std::size_t>(timing.global_period);
  const SequenceRounds rounds =
      sequence_rounds(static_cast<std::size_t>(std::llround(timing.duration)), local_period, global_period);
  OffloadingProblem problem = problems_.problem({.swarm = swarm,
                                                 .cluster = cluster,
                                                 .sequence = 0,
                                                 .local_period = local_period,
                                                 .global_period = global_period,
                                                 .rounds = rounds,
                                                 .local_aggregations = rounds.local_aggregations,
                                                 .slowest_trip = slowest_trip_},
                                                initial_device_data(scenario_, world_, cluster), batteries_);
  // All local rounds of a sequence are alike here: one is solved, with its part of the batteries.
  for (double& budget : problem.rounds.front().energy_budget) {
    budget /= static_cast<double>(problem.rounds.size());
  }
  if (problem.data_stays) {
    problem.rounds.front().point_bits /= static_cast<double>(problem.rounds.size());
  }
  problem.rounds.resize(1);
  const OffloadResult result = solve_problem(*offloader_, BatterySharing::even, problem);
  if (result.status == OffloadStatus::infeasible) {
    return {untrained_objective, *std::ranges::max_element(batteries_)};
  }
  const OffloadEvaluation& e = result.evaluations.front();
  const auto num_rounds = static_cast<double>(rounds.local_aggregations);
  return {num_rounds * e.objective + constant, most_energy(problem, e, swarm, num_rounds)};
}

double TableSolver::most_energy(const OffloadingProblem& problem, const OffloadEvaluation& evaluation,
                                std::size_t swarm, double num_rounds) const {
  const OffloadingInstance& p = problem.rounds.front();
  const Swarm& members = world_.swarms[swarm];
  double most = 0.0;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    const std::size_t id =
        u < p.num_workers() ? members.workers.first + u : members.coordinators.first + u - p.num_workers();
    const double spare = p.energy_budget[u] * num_rounds;
    const double fixed = batteries_[id] - world_.uavs[id].battery_threshold.si() - spare;
    most = std::max(most, fixed + num_rounds * evaluation.uav_energy[u]);
  }
  const double leader = batteries_[members.leader] + problem.leader_shortfall -
                        world_.uavs[members.leader].battery_threshold.si() +
                        num_rounds * p.hover_power * evaluation.round_time;
  return std::max(most, leader);
}

}  // namespace

SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          FractionListener progress) {
  const PlanningOptions& options = scenario.planning;
  SolvedTables tables{
      .num_swarms = world.swarms.size(),
      .num_clusters = world.clusters.size(),
      .timings = timing_grid(options.durations, options.local_periods, options.global_periods)};
  const std::size_t pairs = tables.num_swarms * tables.num_clusters;
  tables.objective.resize(tables.timings.size() * pairs);
  tables.training_energy_j.resize(tables.timings.size() * pairs);
  const TableSolver solver(scenario, world);
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    progress(static_cast<double>(t) / static_cast<double>(tables.timings.size()));
    const double constant = solver.objective_constant(tables.timings[t]);
    const std::size_t first = tables.index(t, 0, 0);
    shared_for(crew, pool, pairs,
               {.body =
                    [&](std::size_t i) {
                      const Entry entry = solver.solve(tables.timings[t], constant, i / tables.num_clusters,
                                                       i % tables.num_clusters);
                      tables.objective[first + i] = entry.objective;
                      tables.training_energy_j[first + i] = entry.training_energy_j;
                    },
                .write =
                    [&](std::size_t i, ByteWriter& bytes) {
                      bytes.put(tables.objective[first + i]);
                      bytes.put(tables.training_energy_j[first + i]);
                    },
                .read =
                    [&](std::size_t i, ByteCursor& bytes) {
                      tables.objective[first + i] = bytes.get<double>();
                      tables.training_energy_j[first + i] = bytes.get<double>();
                    },
                .for_all = false});
  }
  return tables;
}

}  // namespace skein
