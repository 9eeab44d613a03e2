#include "skein/mission/prepare_mission.h"

#include <algorithm>
#include <cmath>

#include "skein/learning/network_choice.h"
#include "skein/mission/build.h"
#include "skein/mission/planning_setup.h"
#include "skein/mission/prepare_offloading.h"
#include "skein/mission/prepare_training.h"
#include "skein/offloading/offloaders.h"
#include "skein/world/energy.h"

namespace skein {
namespace {

// O(s) of a swarm that cannot train: above that of any decision.
constexpr double untrained_objective = 1e6;

SequenceRounds rounds_of(const Timing& timing) {
  const auto period = static_cast<std::size_t>(timing.local_period * timing.global_period);
  const std::size_t global =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(timing.duration)) / period);
  return {.local_aggregations = global * static_cast<std::size_t>(timing.global_period),
          .global_aggregations = global};
}

// What no decision changes of w Xi(s), the bound of a sequence's mean squared gradient: the part that falls
// with its length, from the loss of guessing, and the constant.
double objective_constant(const Scenario& scenario, const Timing& timing) {
  const LearningOptions& learning = scenario.learning;
  BoundSteps steps = bound_steps(learning);
  steps.local_period = static_cast<std::size_t>(timing.local_period);
  steps.global_period = static_cast<std::size_t>(timing.global_period);
  const SwarmBoundCoefficients bound =
      build_bound(scenario, steps.local_period, steps.global_period, learning.bound);
  const GradientBound<double> from_start = gradient_bound(
      steps, learning.bound,
      GradientInputs<double>{.start_gap = std::log(static_cast<double>(num_classes(scenario.data.source))),
                             .num_updates = timing.duration});
  return scenario.offloading.learning_weight *
         (bound.constant + scenario.offloading.gradient_weight * from_start.start);
}

// Learning as it is in a mission: periods are the planner's choice.
const LearningOptions& checked(const LearningOptions& learning) {
  const Algorithm& row = learning.algorithm;
  if (row.topology != Topology::hierarchy || row.shared != Sharing::model ||
      row.weights != MergeWeights::equal) {
    throw InputError({.key = "learning.algorithm",
                      .value = "",
                      .message = "a mission trains in swarms and averages them: hn_pfl or h_fl"});
  }
  return learning;
}

}  // namespace

SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          const std::function<void(double)>& progress) {
  const PlanningOptions& options = scenario.planning;
  SolvedTables tables{
      .num_swarms = world.swarms.size(),
      .num_clusters = world.clusters.size(),
      .timings = timing_grid(options.durations, options.local_periods, options.global_periods)};
  const std::size_t count = tables.timings.size() * tables.num_swarms * tables.num_clusters;
  tables.objective.resize(count);
  tables.training_energy_j.resize(count);
  const std::vector<double> batteries = full_batteries(world);
  const std::unique_ptr<Offloader> offloader = build_offloader(scenario.offloading.method);
  // Whoever trains beside the swarm may be further from its access point: the furthest counts.
  Time slowest_trip{};
  for (std::size_t swarm = 0; swarm < tables.num_swarms; ++swarm) {
    const Uav& leader = world.uavs[world.swarms[swarm].leader];
    for (const Cluster& cluster : world.clusters) {
      const AccessPoint& nearest = world.access_points[world.nearest_access_point(cluster.centre)];
      slowest_trip = std::max(
          slowest_trip, 2.0 * flight_time({.distance = ground_distance(cluster.centre, nearest.position),
                                           .speed = leader.cruise_speed}));
    }
  }
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    progress(static_cast<double>(t) / static_cast<double>(tables.timings.size()));
    const Timing& timing = tables.timings[t];
    const SequenceRounds rounds = rounds_of(timing);
    const double constant = objective_constant(scenario, timing);
    const auto solve = [&](std::size_t i) {
      const std::size_t swarm = i / tables.num_clusters;
      const std::size_t cluster = i % tables.num_clusters;
      // All local rounds of a sequence are alike here: one is solved, with its part of the batteries.
      const OffloadingSite site{.swarm = swarm,
                                .cluster = cluster,
                                .sequence = 0,
                                .local_period = static_cast<std::size_t>(timing.local_period),
                                .global_period = static_cast<std::size_t>(timing.global_period),
                                .rounds = rounds,
                                .slowest_trip = slowest_trip};
      OffloadingProblem problem =
          build_offloading(scenario, world, site, initial_device_data(scenario, world, cluster), batteries);
      for (double& budget : problem.rounds.front().energy_budget) {
        budget /= static_cast<double>(problem.rounds.size());
      }
      problem.rounds.resize(1);
      const OffloadResult result = solve_problem(*offloader, BatterySharing::even, problem, nullptr);
      const std::size_t at = tables.index(t, swarm, cluster);
      const OffloadingInstance& p = problem.rounds.front();
      const auto num_rounds = static_cast<double>(rounds.local_aggregations);
      if (result.status == OffloadStatus::infeasible) {
        tables.objective[at] = untrained_objective;
        tables.training_energy_j[at] = *std::ranges::max_element(batteries);
        return;
      }
      const OffloadEvaluation& e = result.evaluations.front();
      tables.objective[at] =
          num_rounds * (1.0 - p.learning_weight) * e.energy() + p.learning_weight * e.learning + constant;
      // What hovering, models and trips take is what the budgets lack of the batteries.
      const Swarm& members = world.swarms[swarm];
      double most = 0.0;
      for (std::size_t u = 0; u < p.num_uavs(); ++u) {
        const std::size_t id = u < p.num_workers() ? members.workers.first + u
                                                   : members.coordinators.first + u - p.num_workers();
        const double spare = p.energy_budget[u] * num_rounds;
        const double fixed = batteries[id] - world.uavs[id].battery_threshold.si() - spare;
        most = std::max(most, fixed + num_rounds * e.uav_energy[u]);
      }
      const double leader = batteries[members.leader] + problem.leader_shortfall -
                            world.uavs[members.leader].battery_threshold.si();
      tables.training_energy_j[at] = std::max(most, leader);
    };
    const std::size_t first = tables.index(t, 0, 0);
    shared_for(crew, pool, tables.num_swarms * tables.num_clusters,
               {.body = solve,
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

PreparedMission::PreparedMission(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                                 ThreadPool& pool, Crew& crew, const std::function<void(double)>& progress)
    : scenario_(scenario),
      data_(std::move(data)),
      pool_(pool),
      world_(build_world(scenario_, pool)),
      network_(build_architecture(scenario_.learning.network, scenario_.data.source)),
      pools_(data_->train),
      test_pools_(data_->test),
      partition_(build_devices(crew.is_first())),
      workspaces_(network_),
      offloader_(build_offloader(scenario_.offloading.method)) {
  checked(scenario_.learning);
  check_fit(scenario_.data.source, data_->train);
  Environment environment =
      build_environment(scenario_, world_, MissingTables::solved, pool_, crew, progress);
  environment.start_age = environment.reward.age_cap;  // nobody has a model yet
  environment_ = std::make_shared<const Environment>(std::move(environment));
  faults_ = draw_faults(scenario_.faults, world_, scenario_.run.sequences);
  build_leaders();
}

Partition PreparedMission::build_devices(bool with_data) const {
  if (with_data) {
    return build_partition(scenario_, world_, pools_);
  }
  Partition empty;
  for (const Cluster& cluster : world_.clusters) {
    empty.groups.emplace_back().members.resize(cluster.devices.count);
  }
  return empty;
}

OffloadResult PreparedMission::decide(const LeaderTask& task, std::span<const double> device_data) const {
  const std::size_t left = task.num_global_rounds - task.global_round;
  std::optional<BoundConstants> constants;
  if (task.has_constants) {
    constants = within_conditions(bound_steps(scenario_.learning), task.constants);
  }
  const OffloadingSite site{
      .swarm = task.swarm,
      .cluster = task.cluster,
      .sequence = task.sequence,
      .local_period = task.local_period,
      .global_period = task.global_period,
      .rounds = {.local_aggregations = left * task.global_period, .global_aggregations = left},
      .slowest_trip = Time(task.slowest_trip_s),
      .constants = constants,
      .leader = task.members.leader,
      .conditions = task.conditions};
  std::vector<double> batteries(world_.uavs.size());
  std::ranges::copy(task.batteries,
                    batteries.begin() + static_cast<std::ptrdiff_t>(world_.swarms[task.swarm].leader));
  OffloadingProblem problem = build_offloading(scenario_, world_, site, device_data, batteries);
  const OffloadingInstance whole = problem.rounds.front();
  const bool all_there = task.members.workers.size() == whole.num_workers() &&
                         task.members.coordinators.size() == whole.num_coordinators();
  // Solved for those who are there; the others get and do nothing.
  for (OffloadingInstance& round : problem.rounds) {
    if (!all_there) {
      round = with_uavs(round, task.members.workers, task.members.coordinators);
    }
  }
  OffloadResult result = solve_problem(*offloader_, scenario_.offloading.battery, problem, nullptr);
  result.bound_constant = whole.bound.constant;
  OffloadingInstance planned = problem.rounds.front();
  planned.bound = build_bound(scenario_, task.local_period, task.global_period, scenario_.learning.bound);
  for (const OffloadDecision& decision : result.decisions) {
    result.planned_learning.push_back(evaluate(planned, decision).learning);
  }
  for (std::size_t k = 0; k < result.decisions.size() && !all_there; ++k) {
    result.decisions[k] =
        among_all_uavs(whole, task.members.workers, task.members.coordinators, result.decisions[k]);
    result.evaluations[k] = evaluate(whole, result.decisions[k]);
  }
  return result;
}

void PreparedMission::build_leaders() {
  DataFieldSetup field{.data = data_.get(),
                       .pools = &pools_,
                       .test_pools = &test_pools_,
                       .partition = &partition_,
                       .drift = scenario_.drift,
                       .rates = sample_drift_rates(scenario_.drift, world_.clusters.size(), world_.seed),
                       .inner_step = scenario_.learning.inner_step,
                       .seed = world_.seed};
  for (std::size_t device = 0; device < world_.devices.size(); ++device) {
    RandomStream buffer(world_.seed, "device buffer", device);
    RandomStream arrivals(world_.seed, "device arrivals", device);
    field.buffers.push_back(static_cast<std::size_t>(scenario_.data.buffer.sample(buffer, device)));
    field.arrivals.push_back(static_cast<std::size_t>(scenario_.data.arrivals.sample(arrivals, device)));
  }
  field_ = std::make_unique<DataField>(std::move(field), workspaces_, pool_);
  trainer_ = std::make_unique<SwarmTrainer>(
      LocalTraining::Setting{
          .options = scenario_.learning, .data = &data_->train, .pools = &pools_, .seed = world_.seed},
      workspaces_, pool_);
  const MessageSizes sizes = message_sizes(scenario_.offloading, world_.seed);
  fleet_ = std::make_unique<LocalFleet>(
      LocalFleetSetup{
          .world = &world_,
          .field = field_.get(),
          .trainer = trainer_.get(),
          .decide = [this](const LeaderTask& task,
                           std::span<const double> device_data) { return decide(task, device_data); },
          .point_size = sizes.point,
          .model_size = sizes.model},
      pool_);
}

CoreNetwork PreparedMission::start(Planner& planner, Field& field, Fleet& fleet) {
  const RewardOptions reward = scenario_.planning.reward;
  const MessageSizes sizes = message_sizes(scenario_.offloading, world_.seed);
  std::vector<double> drifts;
  for (std::size_t c = 0; c < world_.clusters.size(); ++c) {
    drifts.push_back(environment_->drift.at(c, 0.0));
  }
  return {
      MissionSetup{.world = &world_,
                   .field = &field,
                   .fleet = &fleet,
                   .planner = &planner,
                   .initial = initial_model(scenario_, network_),
                   .initial_drifts = std::move(drifts),
                   .reward =
                       [reward](const SequenceCosts& costs) {
                         const double penalty = reward.penalty * static_cast<double>(costs.below_threshold);
                         if (costs.below_threshold > 0 && reward.zero_on_violation) {
                           return -penalty;
                         }
                         return reward.scale / (reward.objective_weight * costs.objective_sum +
                                                reward.recharge_cost * static_cast<double>(costs.recharging) +
                                                reward.gradient_weight * costs.gradient_sum +
                                                reward.travel_weight * costs.travel_j) -
                                penalty;
                       },
                   .gradient =
                       [environment = environment_](double age, double drift, double drift_sum, double left) {
                         return environment->gradient(age, drift, drift_sum, left);
                       },
                   .objective_constant =
                       [this](const Timing& timing) { return objective_constant(scenario_, timing); },
                   .learning_weight = scenario_.offloading.learning_weight,
                   .untrained_objective = untrained_objective,
                   .age_cap = reward.age_cap,
                   .first_timing = environment_->tables.timings.front(),
                   .sequences = scenario_.run.sequences,
                   .seed = world_.seed,
                   .point_size = sizes.point,
                   .model_size = sizes.model,
                   .faults = FaultSchedule(faults_),
                   .measures_constants = scenario_.offloading.constants == ConstantsSource::measured},
      pool_};
}

}  // namespace skein
