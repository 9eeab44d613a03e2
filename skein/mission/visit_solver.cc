#include "skein/mission/visit_solver.h"

#include <algorithm>
#include <cmath>

#include "skein/mission/build.h"
#include "skein/offloading/offloaders.h"
#include "skein/planning/reward.h"
#include "skein/simulation/leader.h"
#include "skein/world/energy.h"

namespace skein {
namespace {

// Of whoever trains beside the swarm: the furthest from its access point counts.
Time slowest_trip(const SwarmProblems& problems, std::span<const double> batteries, ThreadPool& pool) {
  const World& world = problems.world();
  std::vector<Time> slowest(world.swarms.size());
  pool.parallel_for(world.swarms.size(), [&](std::size_t u) {
    const Uav& leader = world.uavs[world.swarms[u].leader];
    for (std::size_t c = 0; c < world.clusters.size(); ++c) {
      slowest[u] =
          std::max(slowest[u], 2.0 * flight_time({.distance = problems.leader_flight(u, c, batteries),
                                                  .speed = leader.cruise_speed}));
    }
  });
  return std::ranges::max(slowest);
}

std::vector<double> constants_of(const SwarmProblems& problems, const std::vector<Timing>& timings) {
  std::vector<double> constants;
  for (const Timing& timing : timings) {
    constants.push_back(problems.objective_constant(static_cast<std::size_t>(timing.local_period),
                                                    static_cast<std::size_t>(timing.global_period),
                                                    timing.duration));
  }
  return constants;
}

}  // namespace

VisitSolver::VisitSolver(const Scenario& scenario, const World& world, std::vector<Timing> timings,
                         ThreadPool& pool)
    : scenario_(scenario),
      world_(world),
      timings_(std::move(timings)),
      problems_(problem_setting(scenario), world),
      offloader_(build_offloader(scenario.offloading.method)),
      batteries_(full_batteries(world)),
      slowest_trip_(slowest_trip(problems_, batteries_, pool)) {
  constants_ = constants_of(problems_, timings_);
}

Visit VisitSolver::visit(std::size_t timing, std::size_t swarm, std::size_t cluster) const {
  const Timing& periods = timings_[timing];
  Visit visit{
      .swarm = swarm, .cluster = cluster, .local_period = static_cast<std::size_t>(periods.local_period)};
  const auto global_period = static_cast<std::size_t>(periods.global_period);
  visit.rounds = sequence_rounds(static_cast<std::size_t>(std::llround(periods.duration)), visit.local_period,
                                 global_period);
  visit.problem = problems_.problem({.swarm = swarm,
                                     .cluster = cluster,
                                     .sequence = 0,
                                     .local_period = visit.local_period,
                                     .global_period = global_period,
                                     .rounds = visit.rounds,
                                     .local_aggregations = visit.rounds.local_aggregations,
                                     .slowest_trip = slowest_trip_},
                                    initial_device_data(scenario_, world_, cluster), batteries_);
  OffloadingProblem& problem = visit.problem;
  for (double& budget : problem.rounds.front().energy_budget) {
    budget /= static_cast<double>(problem.rounds.size());
  }
  if (problem.data_stays) {
    problem.rounds.front().point_bits /= static_cast<double>(problem.rounds.size());
  }
  problem.rounds.resize(1);
  return visit;
}

SolvedVisit VisitSolver::solve(std::size_t timing, std::size_t swarm, std::size_t cluster) const {
  const Visit visit = this->visit(timing, swarm, cluster);
  const OffloadResult result = solve_problem(*offloader_, BatterySharing::even, visit.problem);
  if (result.status == OffloadStatus::infeasible) {
    return {.entry = {.objective = untrained_objective,
                      .training_energy_j = *std::ranges::max_element(batteries_)}};
  }
  const OffloadEvaluation& e = result.evaluations.front();
  SolvedVisit solved{.entry = {.objective = visit.num_rounds() * e.objective + constants_[timing],
                               .training_energy_j = most_energy(visit, e.uav_energy, e.round_time)},
                     .cost = visit_cost(problems_, visit, result)};
  solved.cost.battery_j = solved.entry.training_energy_j;
  return solved;
}

double VisitSolver::most_energy(const Visit& visit, std::span<const double> uav_energy,
                                double round_time) const {
  const OffloadingInstance& p = visit.problem.rounds.front();
  const Swarm& members = world_.swarms[visit.swarm];
  const double num_rounds = visit.num_rounds();
  double most = 0.0;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    const std::size_t id =
        u < p.num_workers() ? members.workers.first + u : members.coordinators.first + u - p.num_workers();
    const double spare = p.energy_budget[u] * num_rounds;
    const double fixed = batteries_[id] - world_.uavs[id].battery_threshold.si() - spare;
    most = std::max(most, fixed + num_rounds * uav_energy[u]);
  }
  const double leader = batteries_[members.leader] + visit.problem.leader_shortfall -
                        world_.uavs[members.leader].battery_threshold.si() +
                        num_rounds * p.hover_power * round_time;
  return std::max(most, leader);
}

// All data at the fastest clock in batches of all of it, or over the slowest link, as long as a round may
// last; but no more than its budget.
std::vector<double> VisitSolver::most_in_round(const OffloadingInstance& p) {
  const double data = p.total_data();
  std::vector<double> most;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    double working = 0.0;
    if (u < p.num_workers()) {
      working =
          p.local_period * 0.5 * p.capacitance_cycles[u] * 3.0 * data * p.most_clock[u] * p.most_clock[u];
    } else {
      const std::size_t h = u - p.num_workers();
      double slowest = p.coordinator_rate(h, 0);
      for (std::size_t j = 1; j < p.num_workers(); ++j) {
        slowest = std::min(slowest, p.coordinator_rate(h, j));
      }
      working = p.coordinator_power[h] * p.point_bits * data / slowest;
    }
    most.push_back(std::min(p.energy_budget[u], working + p.hover_power_of(u) * p.local_time_limit));
  }
  return most;
}

EntryBounds VisitSolver::bounds(std::size_t timing, std::size_t swarm, std::size_t cluster) const {
  constexpr double margin = 1e-6;  // for what a solution may lack in precision
  const double full = *std::ranges::max_element(batteries_);
  const Visit visit = this->visit(timing, swarm, cluster);
  if (visit.problem.leader_shortfall > 0.0) {
    return {untrained_objective, full, full};
  }
  // A mean over workers of what falls with data and mini-batches, for a worker with all of both.
  const OffloadingInstance& p = visit.problem.rounds.front();
  const double data = p.total_data();
  const double learning = data > 0.0 ? learning_bracket(p, {1.0, 1.0, 1.0}, data).value / data : 0.0;
  const double least = visit.num_rounds() * p.weight_of_learning() * learning + constants_[timing];
  const std::vector<double> nothing(p.num_uavs(), 0.0);
  EntryBounds bounds{
      .least_objective = least - margin * std::abs(least),
      .least_training_j = (1.0 - margin) * most_energy(visit, nothing, 0.0),
      .most_training_j = (1.0 + margin) * most_energy(visit, most_in_round(p), p.local_time_limit)};
  const bool is_sure = decides_all_shares(offloader_->name()) && culprit_of(visit.problem.rounds).empty();
  if (!is_sure) {
    bounds.most_training_j = std::max(bounds.most_training_j, full);
  }
  return bounds;
}

}  // namespace skein
