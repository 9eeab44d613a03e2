#include "skein/mission/prepare_offloading.h"

#include <fmt/format.h>

#include <algorithm>

#include "skein/world/energy.h"
#include "skein/world/links.h"

namespace skein {

SwarmBoundCoefficients build_bound(const Scenario& scenario) {
  return build_bound(scenario, scenario.learning.local_period, scenario.learning.global_period,
                     scenario.learning.bound);
}

SwarmBoundCoefficients build_bound(const Scenario& scenario, std::size_t local_period,
                                   std::size_t global_period, const BoundConstants& constants) {
  BoundSteps steps = bound_steps(scenario.learning);
  steps.local_period = local_period;
  steps.global_period = global_period;
  const SwarmBoundSetting setting{.constants = constants,
                                  .steps = steps,
                                  .gradient_weight = scenario.offloading.gradient_weight,
                                  .mismatch_weight = scenario.offloading.mismatch_weight,
                                  .growth_limit = scenario.offloading.growth_limit};
  const std::optional<SwarmBoundCoefficients> coefficients = swarm_bound_coefficients(setting);
  if (!coefficients) {
    std::vector<InputFault> faults = bound_faults(scenario.learning);
    throw InputError(std::move(faults));
  }
  return *coefficients;
}

SequenceRounds sequence_rounds(const Scenario& scenario) {
  const LearningOptions& learning = scenario.learning;
  const std::size_t global =
      std::max<std::size_t>(1, learning.iterations / (learning.local_period * learning.global_period));
  return {.local_aggregations = global * learning.global_period, .global_aggregations = global};
}

MessageSizes message_sizes(const OffloadingOptions& options, std::uint64_t seed) {
  RandomStream point(seed, "point size");
  RandomStream model(seed, "model size");
  return {.point = options.point_size.sample(point), .model = options.model_size.sample(model)};
}

OffloadingSite offloading_site(const Scenario& scenario, std::size_t swarm, std::size_t cluster) {
  return {.swarm = swarm,
          .cluster = cluster,
          .sequence = 0,
          .local_period = scenario.learning.local_period,
          .global_period = scenario.learning.global_period,
          .rounds = sequence_rounds(scenario)};
}

std::vector<double> full_batteries(const World& world) {
  std::vector<double> batteries;
  for (const Uav& uav : world.uavs) {
    batteries.push_back(uav.battery.si());
  }
  return batteries;
}

std::vector<double> initial_device_data(const Scenario& scenario, const World& world, std::size_t cluster) {
  std::vector<double> data;
  const IndexRange& devices = world.clusters[cluster].devices;
  for (std::size_t i = 0; i < devices.count; ++i) {
    RandomStream quantity(world.seed, "quantity", cluster, i);
    RandomStream buffer(world.seed, "device buffer", devices.first + i);
    data.push_back(std::min(scenario.data.partition.quantity.sample(quantity, devices.first + i),
                            scenario.data.buffer.sample(buffer, devices.first + i)));
  }
  return data;
}

OffloadingProblem build_offloading(const Scenario& scenario, const World& world, const OffloadingSite& site,
                                   std::span<const double> device_data, std::span<const double> batteries) {
  const Swarm& swarm = world.swarms.at(site.swarm);
  const Cluster& cluster = world.clusters.at(site.cluster);
  const SwarmLinks links = swarm_links(world, site.swarm, site.cluster, site.sequence, site.conditions);
  const OffloadingOptions& options = scenario.offloading;
  const SequenceRounds rounds = site.rounds;
  const auto [point_size, model_size] = message_sizes(options, world.seed);
  const auto limit_of = [&](std::size_t u) {
    RandomStream stream(world.seed, "local time limit", u, site.sequence);
    return options.local_time_limit.sample(stream, u);
  };
  const Time limit = limit_of(site.swarm);
  Time slowest_limit = limit;
  for (std::size_t u = 0; u < world.swarms.size(); ++u) {
    slowest_limit = std::max(slowest_limit, limit_of(u));
  }

  OffloadingInstance p;
  p.name = fmt::format("swarm {} above {}", site.swarm + 1, world.site_name(site.cluster));
  p.learning_weight = options.learning_weight;
  p.bound = build_bound(scenario, site.local_period, site.global_period,
                        site.constants.value_or(scenario.learning.bound));
  p.point_bits = point_size.si();
  p.local_period = static_cast<double>(site.local_period);
  p.local_time_limit = limit.si();
  p.device_data.assign(device_data.begin(), device_data.end());
  const std::size_t workers = swarm.workers.count;
  const std::size_t uavs = workers + swarm.coordinators.count;
  for (std::size_t i = 0; i < cluster.devices.count; ++i) {
    p.device_power.push_back(world.devices[cluster.devices.first + i].transmit_power.si());
  }
  p.device_rate = Table<double>(cluster.devices.count, uavs);
  for (std::size_t at = 0; at < p.device_rate.values.size(); ++at) {
    p.device_rate.values[at] = links.device_to_uav.values[at].si();
  }
  p.coordinator_rate = Table<double>(swarm.coordinators.count, workers);
  for (std::size_t at = 0; at < p.coordinator_rate.values.size(); ++at) {
    p.coordinator_rate.values[at] = links.coordinator_to_worker.values[at].si();
  }

  // What a sequence takes whatever is decided: local rounds at the slowest swarm's limit, models, and the
  // leader's trips.
  const std::size_t leader_id = site.leader.value_or(swarm.leader);
  const Uav& leader = world.uavs[leader_id];
  const AccessPointTrips trips{
      .num_aggregations = static_cast<int>(rounds.global_aggregations),
      .one_way = {.distance = links.access_point_distance, .speed = leader.cruise_speed}};
  const Time gathered = static_cast<double>(rounds.local_aggregations) * slowest_limit;
  const auto global_rounds = static_cast<double>(rounds.global_aggregations);
  const Time models = global_rounds * model_time(model_size, links, site.global_period);
  const Time duration = gathered + hand_over_time(model_size, links) +
                        std::max(access_point_time(trips) + models, global_rounds * site.slowest_trip);
  const double share =
      static_cast<double>(site.global_period) / static_cast<double>(rounds.local_aggregations);
  const auto model = [&](const Uav& sender) {
    return ModelTransmission{.num_aggregations = static_cast<int>(rounds.local_aggregations),
                             .model_size = model_size,
                             .power = sender.transmit_power};
  };
  for (std::size_t u = 0; u < uavs; ++u) {
    const bool is_worker = u < workers;
    const std::size_t id = is_worker ? swarm.workers.first + u : swarm.coordinators.first + u - workers;
    const Uav& uav = world.uavs[id];
    Energy fixed = uav.battery_threshold + hovering_energy(uav.propulsion, duration);
    if (is_worker) {
      fixed += model_upload_energy(model(uav), links.worker_to_leader[u]);
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
  const Energy leader_needs = leader.battery_threshold +
                              hovering_energy(leader.propulsion, duration - access_point_time(trips)) +
                              access_point_energy(leader.propulsion, trips) +
                              model_broadcast_energy(model(leader), links.leader_to_worker);
  OffloadingProblem problem;
  problem.leader_shortfall = leader_needs.si() - batteries[leader_id];
  problem.rounds.assign(site.global_period, p);
  for (std::size_t k = 0; k < problem.rounds.size() && problem.rounds.size() > 1; ++k) {
    problem.rounds[k].name += fmt::format(", round {}", k + 1);
  }
  return problem;
}

OffloadResult solve_problem(const Offloader& offloader, BatterySharing sharing,
                            const OffloadingProblem& problem, const OffloadResult* previous) {
  if (problem.leader_shortfall > 0.0) {
    OffloadResult result;
    result.culprit = fmt::format("leader: hovering, trips and models exceed the battery by {:.3g} J",
                                 problem.leader_shortfall);
    return result;
  }
  return sharing == BatterySharing::joint ? offloader.solve(problem.rounds, previous)
                                          : solve_split(offloader, problem.rounds, previous);
}

}  // namespace skein
