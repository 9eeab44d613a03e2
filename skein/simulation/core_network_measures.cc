// What the core network measures: what a sequence has brought, constants of the bounds, and clusters'
// accuracy as estimated from what their devices report, with what reports cost.

#include <algorithm>

#include "skein/base/interval.h"
#include "skein/simulation/core_network.h"
#include "skein/world/links.h"
#include "skein/world/timing.h"

namespace skein {
namespace {

std::vector<double> numbers_of(const BoundConstants& c) {
  return {c.gradient_bound,
          c.gradient_lipschitz,
          c.meta_lipschitz,
          c.gradient_variance,
          c.hessian_variance,
          c.swarm_gradient_variability,
          c.swarm_hessian_variability,
          c.network_gradient_variability,
          c.network_hessian_variability};
}

}  // namespace

// What the sequence has brought: constants of the bounds for the next one, gradients, and objectives.
void CoreNetwork::measure(const Training& training, SequenceRecord& record) {
  const Round& last = training.last;
  std::vector<ClusterModel> of_global;
  for (std::size_t i = 0; i < last.tasks.size(); ++i) {
    of_global.push_back({last.tasks[i].cluster, state_.global.get()});
  }
  if (setup_.constants_moment == ConstantsMoment::sequence) {
    measure_constants(last, *training.first_model, std::nullopt, record);
  }
  const std::vector<double> gradients = setup_.field->squared_meta_gradients(of_global);
  const Timing& timing = record.plan.timing;
  const double constant = setup_.problems->objective_constant(
      last.tasks.front().local_period, last.tasks.front().global_period, timing.duration);
  double gradient_sum = 0.0;
  std::vector<double> objectives;
  for (std::size_t i = 0; i < last.tasks.size(); ++i) {
    const std::size_t swarm = last.tasks[i].swarm;
    gradient_sum += gradients[i];
    // As in the planner's tables, a round that cannot be trained costs more than any decision.
    const double missing = 1.0 - static_cast<double>(training.num_decided[swarm]) / training.num_local_rounds;
    record.swarms[swarm].objective =
        training.objective_sums[swarm] + constant + missing * untrained_objective;
    if (missing == 0.0) {
      objectives.push_back(record.swarms[swarm].objective);
    }
  }
  record.mean_objective = objectives.empty() ? 0.0 : mean_interval(objectives).mean;
  record.squared_meta_gradient = gradient_sum / static_cast<double>(last.tasks.size());
}

// Of the bounds, for the leaders: where the round's swarms are, along the way that the global model has come.
void CoreNetwork::measure_constants(const Round& round, const Model& before, std::optional<double> time_s,
                                    SequenceRecord& record) {
  std::vector<std::size_t> swarms;
  std::vector<std::size_t> clusters;
  for (std::size_t i = 0; i < round.tasks.size(); ++i) {
    if (round.updates[i].trained) {
      swarms.push_back(round.tasks[i].swarm);
      clusters.push_back(round.tasks[i].cluster);
    }
  }
  if (setup_.constants == ConstantsSource::given || &before == state_.global.get() || clusters.empty()) {
    return;
  }
  if (setup_.constants == ConstantsSource::measured) {
    const auto found = std::make_shared<const BoundConstants>(
        setup_.field->measure_constants(clusters, before, *state_.global));
    std::ranges::fill(state_.constants, found);
    record.constants.push_back({.time_s = time_s, .constants = *found});
    return;
  }
  for (std::size_t i = 0; i < swarms.size(); ++i) {
    const auto found = std::make_shared<const BoundConstants>(
        setup_.field->measure_constants(std::span(&clusters[i], 1), before, *state_.global));
    state_.constants[swarms[i]] = found;
    record.constants.push_back({.time_s = time_s, .swarm = swarms[i], .constants = *found});
  }
}

// All plans are taken to have as many.
std::vector<double> CoreNetwork::constants_in_plans(const Round& round) const {
  for (const LeaderTask& task : round.tasks) {
    if (task.has_constants) {
      return numbers_of(task.constants);
    }
  }
  return {};
}

// On arrival, before anybody trains: the model that was left there, on what its devices collect now.
void CoreNetwork::estimate_left_models(SequenceRecord& record) {
  if (state_.estimates.clusters.empty()) {
    return;
  }
  std::vector<std::size_t> swarms;
  std::vector<ClusterModel> left;
  for (std::size_t swarm = 0; swarm < record.swarms.size(); ++swarm) {
    const SwarmRecord& own = record.swarms[swarm];
    if (own.active && state_.clusters[own.to].was_visited()) {
      swarms.push_back(swarm);
      left.push_back({own.to});
    }
  }
  const std::vector<ClassReport> reports = setup_.field->class_reports(left);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t c = left[i].cluster;
    record.clusters[c].estimated_before = estimator().arrive(c, reports[i], record.start_s);
    SwarmRecord& own = record.swarms[swarms[i]];
    own.arrival_s += pay_report(swarms[i], record).si();
    own.finished_s = own.arrival_s;
  }
}

// Of models that swarms have just left.
void CoreNetwork::estimate_handed_models(const std::vector<std::size_t>& clusters, SequenceRecord& record) {
  if (state_.estimates.clusters.empty()) {
    return;
  }
  std::vector<ClusterModel> handed;
  for (const std::size_t cluster : clusters) {
    handed.push_back({cluster});
  }
  const std::vector<ClassReport> reports = setup_.field->class_reports(handed);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const std::size_t c = clusters[i];
    record.clusters[c].estimated_after = estimator().hand_over(c, reports[i], record.start_s);
    const auto swarm = std::ranges::find_if(
        record.swarms, [&](const SwarmRecord& own) { return own.active && own.to == c; });
    swarm->finished_s += pay_report(static_cast<std::size_t>(swarm - record.swarms.begin()), record).si();
  }
}

// Each device tells the UAV with the best link three counts of 4 bytes for each class, one after another; the
// leader sends the core network their sums. Returns how long that takes.
Time CoreNetwork::pay_report(std::size_t swarm, SequenceRecord& record) {
  if (!setup_.estimates.costs) {
    return {};
  }
  const World& world = *setup_.world;
  const DataSize size(3.0 * 32.0 * static_cast<double>(setup_.num_classes));
  const std::size_t cluster = record.swarms[swarm].to;
  const SwarmLinks links = swarm_links(world, swarm, cluster, record.sequence,
                                       {.rate_factor = setup_.faults.factor(FaultKind::link, swarm, now_)});
  const SwarmMembers there = setup_.faults.members(world, swarm, now_);
  const IndexRange& devices = world.clusters[cluster].devices;
  Time all{};
  const auto send = [&](DataRate rate) {
    const Time takes = transfer_time(size, rate);
    all += takes;
    ++record.signalling.messages;
    record.signalling.bits += static_cast<std::uint64_t>(size.si());
    return takes;
  };
  for (std::size_t i = 0; i < devices.count; ++i) {
    DataRate best{};
    for (const std::size_t j : there.workers) {
      best = std::max(best, links.device_to_uav(i, j));
    }
    for (const std::size_t h : there.coordinators) {
      best = std::max(best, links.device_to_uav(i, world.swarms[swarm].workers.count + h));
    }
    if (best.si() > 0.0 && !setup_.faults.is(FaultKind::device, devices.first + i, now_)) {
      const Power power = world.devices[devices.first + i].transmit_power;
      state_.world.ledger.book(State::account_of_device(world, devices.first + i), EnergyKind::signalling,
                               power * send(best));
    }
  }
  if (there.has_leader) {
    const Power power = world.uavs[there.leader].transmit_power;
    supplies().spend(there.leader, EnergyKind::signalling,
                     power * send(DataRate(SwarmDescription{}.control_rate)));
  }
  return all;
}

}  // namespace skein
