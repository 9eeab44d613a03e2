#include "skein/offloading/swarm_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "skein/base/expect.h"
#include "skein/world/energy.h"

namespace skein {
namespace {

ModelTransmission transmission(const Uav& sender, const SequenceRounds& rounds, DataSize model) {
  return {.num_aggregations = static_cast<int>(rounds.local_aggregations),
          .model_size = model,
          .power = sender.transmit_power};
}

}  // namespace

SequenceRounds sequence_rounds(std::size_t local_iterations, std::size_t local_period,
                               std::size_t global_period) {
  const std::size_t global = std::max<std::size_t>(1, local_iterations / (local_period * global_period));
  return {.local_aggregations = global * global_period, .global_aggregations = global};
}

MessageSizes message_sizes(const OffloadingOptions& options, std::uint64_t seed) {
  RandomStream point(seed, "point size");
  RandomStream model(seed, "model size");
  return {.point = options.point_size.sample(point), .model = options.model_size.sample(model)};
}

OffloadingSite offloading_site(const LearningOptions& learning, std::size_t swarm, std::size_t cluster) {
  return {.swarm = swarm,
          .cluster = cluster,
          .sequence = 0,
          .local_period = learning.local_period,
          .global_period = learning.global_period,
          .rounds = sequence_rounds(learning.iterations, learning.local_period, learning.global_period)};
}

SwarmBoundCoefficients swarm_bound(const SwarmProblemSetting& setting) {
  const LearningOptions& learning = setting.learning;
  return swarm_bound(setting, learning.local_period, learning.global_period, learning.bound);
}

SwarmBoundCoefficients swarm_bound(const SwarmProblemSetting& setting, std::size_t local_period,
                                   std::size_t global_period, const BoundConstants& constants) {
  if (setting.offloading.learning_term != LearningTerm::bound) {
    return {};
  }
  BoundSteps steps = bound_steps(setting.learning);
  steps.local_period = local_period;
  steps.global_period = global_period;
  const std::optional<SwarmBoundCoefficients> coefficients =
      swarm_bound_coefficients({.constants = constants,
                                .steps = steps,
                                .gradient_weight = setting.offloading.gradient_weight,
                                .mismatch_weight = setting.offloading.mismatch_weight,
                                .growth_limit = setting.offloading.growth_limit});
  if (!coefficients) {
    throw InputError(bound_faults(setting.learning));
  }
  return *coefficients;
}

SwarmProblems::SwarmProblems(SwarmProblemSetting setting, const World& world)
    : setting_(std::move(setting)), world_(&world), sizes_(message_sizes(setting_.offloading, world.seed)) {}

double SwarmProblems::objective_constant(std::size_t local_period, std::size_t global_period,
                                         double local_iterations) const {
  if (setting_.offloading.learning_term != LearningTerm::bound) {
    return 0.0;
  }
  const LearningOptions& learning = setting_.learning;
  // First: it refuses where the bounds do not hold.
  const SwarmBoundCoefficients bound = swarm_bound(setting_, local_period, global_period, learning.bound);
  BoundSteps steps = bound_steps(learning);
  steps.local_period = local_period;
  steps.global_period = global_period;
  const GradientBound<double> from_start =
      gradient_bound(steps, learning.bound,
                     GradientInputs<double>{.start_gap = std::log(static_cast<double>(setting_.num_classes)),
                                            .num_updates = local_iterations});
  return setting_.offloading.learning_weight *
         (bound.constant + setting_.offloading.gradient_weight * from_start.start);
}

SwarmProblems::TimeLimits SwarmProblems::time_limits(std::size_t swarm, std::size_t sequence) const {
  const auto limit_of = [&](std::size_t u) {
    RandomStream stream(world_->seed, "local time limit", u, sequence);
    return setting_.offloading.local_time_limit.sample(stream, u);
  };
  TimeLimits limits{.own = limit_of(swarm), .slowest = limit_of(swarm)};
  for (std::size_t u = 0; u < world_->swarms.size(); ++u) {
    limits.slowest = std::max(limits.slowest, limit_of(u));
  }
  return limits;
}

// Devices, and what everybody can send how fast.
void SwarmProblems::add_links(const OffloadingSite& site, const SwarmLinks& links,
                              OffloadingInstance& p) const {
  const Swarm& swarm = world_->swarms[site.swarm];
  const IndexRange& devices = world_->clusters[site.cluster].devices;
  const std::size_t workers = swarm.workers.count;
  const std::size_t coordinators = swarm.coordinators.count;
  for (std::size_t i = 0; i < devices.count; ++i) {
    p.device_power.push_back(world_->devices[devices.first + i].transmit_power.si());
  }
  p.device_rate = Table<double>(devices.count, workers + coordinators);
  for (std::size_t at = 0; at < p.device_rate.values.size(); ++at) {
    p.device_rate.values[at] = links.device_to_uav.values[at].si();
  }
  p.coordinator_rate = Table<double>(coordinators, workers);
  for (std::size_t at = 0; at < p.coordinator_rate.values.size(); ++at) {
    p.coordinator_rate.values[at] = links.coordinator_to_worker.values[at].si();
  }
}

// Workers and coordinators, and what the sequence leaves each of them for a global round.
void SwarmProblems::add_uavs(const OffloadingSite& site, const SwarmLinks& links,
                             std::span<const double> batteries, Time duration, OffloadingInstance& p) const {
  const Swarm& swarm = world_->swarms[site.swarm];
  const std::size_t workers = swarm.workers.count;
  const double share =
      static_cast<double>(site.global_period) / static_cast<double>(site.rounds.local_aggregations);
  for (std::size_t u = 0; u < workers + swarm.coordinators.count; ++u) {
    const bool is_worker = u < workers;
    const std::size_t id = is_worker ? swarm.workers.first + u : swarm.coordinators.first + u - workers;
    const Uav& uav = world_->uavs[id];
    Energy fixed = uav.battery_threshold + uav.takeoff + hovering_energy(uav.propulsion, duration);
    if (is_worker) {
      fixed += model_upload_energy(transmission(uav, site.rounds, sizes_.model), links.worker_to_leader[u]);
      p.cycles.push_back(uav.cycles_per_point);
      p.capacitance_cycles.push_back(uav.capacitance.si() * uav.cycles_per_point);
      p.least_clock.push_back(uav.least_clock.si());
      p.most_clock.push_back(uav.most_clock.si());
    } else {
      p.coordinator_power.push_back(uav.transmit_power.si());
    }
    p.energy_budget.push_back((batteries[id] - fixed.si()) * share);
    p.buffer.push_back(static_cast<double>(uav.buffer));
  }
}

WayToCore SwarmProblems::way(const OffloadingSite& site, std::span<const double> batteries,
                             std::vector<std::size_t> others) const {
  const std::size_t leader = site.leader.value_or(world_->swarms[site.swarm].leader);
  const double spare = batteries[leader] - world_->uavs[leader].battery_threshold.si();
  const auto rounds = static_cast<double>(site.rounds.global_aggregations);
  return way_to_core(*world_, site.swarm, site.cluster, site.sequence, site.conditions,
                     {.model = sizes_.model,
                      .leader = leader,
                      .others = std::move(others),
                      .waiting = setting_.waiting,
                      .most = Energy(std::max(0.0, spare) / rounds)});
}

// With a way, where nobody has decided yet.
LinkConditions SwarmProblems::decided_conditions(const OffloadingSite& site,
                                                 std::span<const double> batteries) const {
  LinkConditions decided = site.conditions;
  if (!decided.way.is_decided()) {
    const Swarm& swarm = world_->swarms[site.swarm];
    std::vector<std::size_t> others;
    for (std::size_t id = swarm.leader; id < swarm.coordinators.end(); ++id) {
      if (id != site.leader.value_or(swarm.leader)) {
        others.push_back(id);
      }
    }
    decided.way = way(site, batteries, std::move(others));
  }
  return decided;
}

Length SwarmProblems::leader_flight(std::size_t swarm, std::size_t cluster,
                                    std::span<const double> batteries) const {
  const WayToCore way = decided_conditions({.swarm = swarm, .cluster = cluster}, batteries).way;
  const Position& centre = world_->clusters[cluster].centre;
  const Position& nearest = world_->access_points[world_->nearest_access_point(centre)].position;
  return way.is_decided() ? way.flown : ground_distance(centre, nearest);
}

void SwarmProblems::price_time(const OffloadingSite& site, const Uav& leader, double spare_j,
                               OffloadingInstance& p) const {
  const auto power_of = [](const Uav& uav) { return hovering_energy(uav.propulsion, Time(1.0)).si(); };
  p.hover_power = power_of(leader);
  const Swarm& swarm = world_->swarms[site.swarm];
  for (const IndexRange& range : {swarm.workers, swarm.coordinators}) {
    for (std::size_t id = range.first; id < range.end(); ++id) {
      p.uav_hover_power.push_back(power_of(world_->uavs[id]));
    }
  }
  const double rounds = static_cast<double>(site.rounds.local_aggregations);
  if (spare_j > 0.0) {  // else there is no decision anyway
    p.local_time_limit = std::min(p.local_time_limit, spare_j / rounds / p.hover_power);
  }
}

OffloadingProblem SwarmProblems::problem(const OffloadingSite& site, std::span<const double> device_data,
                                         std::span<const double> batteries) const {
  const Swarm& swarm = world_->swarms.at(site.swarm);
  const LinkConditions conditions = decided_conditions(site, batteries);
  SwarmLinks links = swarm_links(*world_, site.swarm, site.cluster, site.sequence, conditions);
  const TimeLimits limits = time_limits(site.swarm, site.sequence);

  OffloadingInstance p;
  p.name = fmt::format("swarm {} above {}", site.swarm + 1, world_->site_name(site.cluster));
  p.learning_weight = setting_.offloading.learning_weight;
  p.bound = swarm_bound(setting_, site.local_period, site.global_period,
                        site.constants.value_or(setting_.learning.bound));
  if (setting_.offloading.learning_term == LearningTerm::accuracy) {
    p.accuracy = setting_.offloading.accuracy;
  }
  p.local_rounds = static_cast<double>(site.local_aggregations);
  p.point_bits = sizes_.point.si();
  p.local_period = static_cast<double>(site.local_period);
  p.local_time_limit = limits.own.si();
  p.device_data.assign(device_data.begin(), device_data.end());
  add_links(site, links, p);

  // What a sequence takes whatever is decided: local rounds at the slowest swarm's limit, models, and the
  // leader's trips.
  const std::size_t leader_id = site.leader.value_or(swarm.leader);
  const Uav& leader = world_->uavs[leader_id];
  const AccessPointTrips trips{
      .num_aggregations = static_cast<int>(site.rounds.global_aggregations),
      .one_way = {.distance = links.access_point_distance, .speed = leader.cruise_speed}};
  const bool priced = setting_.offloading.time == TimeChoice::priced;
  const Time gathered =
      priced ? Time{} : static_cast<double>(site.rounds.local_aggregations) * limits.slowest;
  const auto global_rounds = static_cast<double>(site.rounds.global_aggregations);
  const Time models = global_rounds * model_time(sizes_.model, links, site.global_period);
  const Time duration = gathered + hand_over_time(sizes_.model, links) +
                        std::max(access_point_time(trips) + models, global_rounds * site.slowest_trip);
  add_uavs(site, links, batteries, duration, p);

  const Energy leader_needs =
      leader.battery_threshold + leader.takeoff +
      hovering_energy(leader.propulsion, duration - access_point_time(trips)) +
      access_point_energy(leader.propulsion, trips) +
      model_broadcast_energy(transmission(leader, site.rounds, sizes_.model), links.leader_to_worker);
  // The paper's leader sends nothing to an access point that it has flown to.
  const Energy sending =
      conditions.way.is_decided()
          ? global_rounds * leader.transmit_power * transfer_time(sizes_.model, links.leader_to_access_point)
          : Energy(0.0);
  OffloadingProblem problem;
  problem.leader_shortfall = (leader_needs + sending).si() - batteries[leader_id];
  if (priced) {
    price_time(site, leader, -problem.leader_shortfall, p);
  }
  problem.rounds.assign(site.global_period, p);
  problem.data_stays = priced;
  problem.links = std::move(links);
  for (std::size_t k = 1; k < problem.rounds.size() && priced; ++k) {
    problem.rounds[k].point_bits = 0.0;
  }
  for (std::size_t k = 0; k < problem.rounds.size() && problem.rounds.size() > 1; ++k) {
    problem.rounds[k].name += fmt::format(", round {}", k + 1);
  }
  return problem;
}

OffloadResult SwarmProblems::solve(const Offloader& offloader, const OffloadingProblem& problem) const {
  return solve_problem(offloader, setting_.offloading.battery, problem);
}

std::vector<double> full_batteries(const World& world) {
  std::vector<double> batteries;
  for (const Uav& uav : world.uavs) {
    batteries.push_back(uav.battery.si());
  }
  return batteries;
}

namespace {

// By how much each UAV needs more than it has, for all rounds with these decisions; 1 where it has enough.
std::vector<double> excess_of(std::span<const OffloadingInstance> rounds, const OffloadDecision& decision) {
  const std::vector<double>& budget = rounds.front().energy_budget;
  std::vector<double> used(budget.size(), 0.0);
  for (const OffloadingInstance& round : rounds) {
    const OffloadEvaluation e = evaluate(round, decision);
    for (std::size_t u = 0; u < used.size(); ++u) {
      used[u] += e.uav_energy[u];
    }
  }
  std::vector<double> excess;
  for (std::size_t u = 0; u < used.size(); ++u) {
    excess.push_back(used[u] > budget[u] * (1.0 + 1e-9) ? used[u] / std::max(budget[u], 1e-300) : 1.0);
  }
  return excess;
}

OffloadResult solve_alike(const Offloader& offloader, std::span<const OffloadingInstance> rounds) {
  const auto count = static_cast<double>(rounds.size());
  OffloadingInstance one = rounds.front();
  for (double& budget : one.energy_budget) {
    budget /= count;
  }
  one.point_bits /= count;
  OffloadResult result = offloader.solve({&one, 1}, nullptr);
  // The first round gathers for all: it may take too long, and all together longer than rounds that are alike
  // would, as different UAVs are last.
  for (int attempt = 0; attempt < 4 && result.status != OffloadStatus::infeasible; ++attempt) {
    const std::vector<double> excess = excess_of(rounds, result.decisions.front());
    const bool fits = evaluate(rounds.front(), result.decisions.front()).violation <= 1e-9;
    if (fits && std::ranges::max(excess) == 1.0) {
      break;
    }
    if (!fits || attempt == 2) {
      one.point_bits = rounds.front().point_bits;  // as if each gathered: that is always enough
    }
    for (std::size_t u = 0; u < excess.size(); ++u) {
      one.energy_budget[u] *= excess[u] > 1.0 && attempt < 2 ? 0.999 / excess[u] : 1.0;
    }
    result = offloader.solve({&one, 1}, nullptr);
  }
  if (result.status == OffloadStatus::infeasible) {
    return result;
  }
  result.decisions.resize(rounds.size(), result.decisions.front());
  std::vector<ReducedCosts>& costs = result.certificate.reduced_costs;
  for (std::size_t k = 1; k < rounds.size() && !costs.empty(); ++k) {
    costs.push_back(costs.front());
  }
  result.evaluations.clear();
  for (std::size_t k = 0; k < rounds.size(); ++k) {
    result.evaluations.push_back(evaluate(rounds[k], result.decisions[k]));
  }
  return result;
}

}  // namespace

OffloadResult solve_problem(const Offloader& offloader, BatterySharing sharing,
                            const OffloadingProblem& problem) {
  if (problem.leader_shortfall > 0.0) {
    OffloadResult result;
    result.culprit = fmt::format("leader: hovering, trips and models exceed the battery by {:.3g} J",
                                 problem.leader_shortfall);
    return result;
  }
  if (problem.data_stays && problem.rounds.size() > 1) {
    return solve_alike(offloader, problem.rounds);
  }
  return sharing == BatterySharing::joint ? offloader.solve(problem.rounds, nullptr)
                                          : solve_split(offloader, problem.rounds, nullptr);
}

}  // namespace skein
