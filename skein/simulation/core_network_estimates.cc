// The core network's estimates of clusters' accuracy: when they are measured, and what reports cost.

#include <algorithm>

#include "skein/simulation/core_network.h"
#include "skein/world/links.h"
#include "skein/world/timing.h"

namespace skein {

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
