#include "skein/simulation/round_signalling.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "skein/world/energy.h"
#include "skein/world/timing.h"

namespace skein {
namespace {

// The columns of the workers and coordinators that are there.
std::vector<std::size_t> columns_of(const SwarmMembers& members, std::size_t num_workers) {
  std::vector<std::size_t> columns = members.workers;
  for (const std::size_t h : members.coordinators) {
    columns.push_back(num_workers + h);
  }
  return columns;
}

template <class T>
std::vector<T> picked(const std::vector<T>& values, const std::vector<std::size_t>& which) {
  std::vector<T> list;
  for (const std::size_t i : which) {
    list.push_back(values[i]);
  }
  return list;
}

template <class T>
Table<T> picked(const Table<T>& table, const std::vector<std::size_t>& rows,
                const std::vector<std::size_t>& columns) {
  Table<T> part(rows.size(), columns.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      part(r, c) = table(rows[r], columns[c]);
    }
  }
  return part;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> list(count);
  for (std::size_t i = 0; i < count; ++i) {
    list[i] = i;
  }
  return list;
}

// Points of a local round, in bits.
Table<std::uint64_t> bits_of(const std::vector<double>& flow, std::size_t columns, std::uint64_t point_bits) {
  Table<std::uint64_t> bits(flow.size() / columns, columns);
  for (std::size_t i = 0; i < bits.values.size(); ++i) {
    bits.values[i] = static_cast<std::uint64_t>(std::llround(flow[i])) * point_bits;
  }
  return bits;
}

}  // namespace

bool is_idle(const World& world, const LeaderTask& task, const LeaderUpdate& update, std::size_t uav) {
  const Swarm& swarm = world.swarms[task.swarm];
  if (uav == task.members.leader) {
    return false;
  }
  if (uav < swarm.coordinators.first) {
    return std::ranges::find(update.swarm.workers, uav, &WorkerReport::worker) == update.swarm.workers.end();
  }
  const std::size_t first = (uav - swarm.coordinators.first) * swarm.workers.count;
  return std::ranges::all_of(update.rounds, [&](const OffloadSummary& round) {
    const std::span<const double> relayed(round.relay_flow.data() + first, swarm.workers.count);
    return std::ranges::all_of(relayed, [](double points) { return points == 0.0; });
  });
}

namespace {

// Of the workers and coordinators that are there: who is on the ground for lack of work.
std::vector<bool> resting(const World& world, const LeaderTask& task, const LeaderUpdate& update,
                          WaitChoice waiting) {
  const Swarm& swarm = world.swarms[task.swarm];
  std::vector<bool> rests;
  for (const std::size_t column : columns_of(task.members, swarm.workers.count)) {
    rests.push_back(waiting == WaitChoice::cheaper &&
                    is_idle(world, task, update, swarm.workers.first + column));
  }
  return rests;
}

}  // namespace

SwarmDescription describe_round(const World& world, const LeaderTask& task, const LeaderUpdate& update,
                                const SwarmLinks& links, DataSize point_size, WaitChoice waiting) {
  const Swarm& swarm = world.swarms[task.swarm];
  const std::size_t workers = swarm.workers.count;
  const std::size_t devices = world.clusters[task.cluster].devices.count;
  const std::vector<std::size_t> all_devices = first_numbers(devices);
  const std::vector<std::size_t> uavs = columns_of(task.members, workers);
  const auto point_bits = static_cast<std::uint64_t>(std::llround(point_size.si()));

  SwarmDescription d;
  set_links(d, links);
  d.num_workers = static_cast<std::uint32_t>(task.members.workers.size());
  d.num_coordinators = static_cast<std::uint32_t>(task.members.coordinators.size());
  d.device_to_uav_rate = picked(d.device_to_uav_rate, all_devices, uavs);
  d.coordinator_to_worker_rate =
      picked(d.coordinator_to_worker_rate, task.members.coordinators, task.members.workers);
  d.worker_to_leader_rate = picked(d.worker_to_leader_rate, task.members.workers);
  d.leader_to_worker_rate = picked(d.leader_to_worker_rate, task.members.workers);
  for (const OffloadSummary& round : update.rounds) {
    SwarmDescription::RoundShares shares{
        .device_to_uav = picked(bits_of(round.device_flow, workers + swarm.coordinators.count, point_bits),
                                all_devices, uavs),
        .coordinator_to_worker = picked(bits_of(round.relay_flow, workers, point_bits),
                                        task.members.coordinators, task.members.workers)};
    for (const std::size_t j : task.members.workers) {
      shares.keeps.push_back(round.processing_s[j] > 0.0);
    }
    (d.rounds.empty() ? d.rounds : d.later_rounds).push_back(std::move(shares));
  }
  d.compute_time.assign(task.members.workers.size(), 0.0);
  for (std::size_t j = 0; j < task.members.workers.size(); ++j) {
    for (const OffloadSummary& round : update.rounds) {
      d.compute_time[j] +=
          round.processing_s[task.members.workers[j]] / static_cast<double>(update.rounds.size());
    }
    d.personalise_time.push_back(d.compute_time[j] / static_cast<double>(task.local_period) *
                                 update.personal_iterations[task.members.workers[j]]);
  }
  d.access_point_flight_time = flight_time({.distance = links.access_point_distance,
                                            .speed = world.uavs[task.members.leader].cruise_speed})
                                   .si();
  const std::vector<bool> rests = resting(world, task, update, waiting);
  const bool someone_rests = std::ranges::find(rests, true) != rests.end();
  if (!task.silent_devices.empty() || someone_rests) {
    const auto nobody = static_cast<std::uint32_t>(uavs.size());
    for (std::uint32_t i = 0; i < devices; ++i) {
      std::uint32_t best = nobody;
      double best_rate = 0.0;
      for (std::uint32_t u = 0; u < nobody; ++u) {
        if (!rests[u] && d.device_to_uav_rate(i, u) > best_rate) {
          best = u;
          best_rate = d.device_to_uav_rate(i, u);
        }
      }
      const bool is_silent = std::ranges::find(task.silent_devices, i) != task.silent_devices.end();
      d.model_from.push_back(is_silent ? nobody : best);
    }
  }
  return d;
}

std::vector<EnergyUse> personalisation_energy(const World& world, const LeaderTask& task,
                                              const LeaderUpdate& update, const SwarmLinks& links,
                                              DataSize model_size) {
  const Swarm& swarm = world.swarms[task.swarm];
  const OffloadSummary& last = update.rounds.back();
  std::vector<EnergyUse> uses;
  for (const std::size_t j : task.members.workers) {
    const std::size_t id = swarm.workers.first + j;
    const Uav& uav = world.uavs[id];
    if (!(last.processed[j] > 0.0)) {
      continue;
    }
    const ProcessingLoad load{.local_period = 1,
                              .cycles_per_datapoint = uav.cycles_per_point,
                              .sampled_ratio = 1.0,
                              .num_datapoints = last.processed[j] * update.personal_iterations[j],
                              .frequency = Frequency(last.clock[j])};
    uses.push_back({false, id, EnergyKind::processing, processing_energy(load, uav.capacitance).si()});
    uses.push_back(
        {false, id, EnergyKind::model_upload,
         model_upload_energy({.num_aggregations = 1, .model_size = model_size, .power = uav.transmit_power},
                             links.worker_to_leader[j])
             .si()});
  }
  return uses;
}

std::vector<EnergyUse> signalling_energy(const World& world, const LeaderTask& task,
                                         const NetworkRecords& records) {
  const Swarm& swarm = world.swarms[task.swarm];
  std::vector<EnergyUse> uses;
  const auto use = [&](const Party& party, bool is_device, std::size_t index, Power power) {
    const auto found = records.parties.find(party);
    if (found != records.parties.end() && found->second.signalling_time > 0.0) {
      uses.push_back({is_device, index, EnergyKind::signalling, power.si() * found->second.signalling_time});
    }
  };
  const auto number = static_cast<std::uint32_t>(task.swarm);
  use(leader_party(number), false, task.members.leader, world.uavs[task.members.leader].transmit_power);
  const auto uavs = [&](PartyKind kind, const std::vector<std::size_t>& present, std::size_t first) {
    for (std::uint32_t i = 0; i < present.size(); ++i) {
      const std::size_t id = first + present[i];
      use({kind, number, i}, false, id, world.uavs[id].transmit_power);
    }
  };
  uavs(PartyKind::worker, task.members.workers, swarm.workers.first);
  uavs(PartyKind::coordinator, task.members.coordinators, swarm.coordinators.first);
  const IndexRange& devices = world.clusters[task.cluster].devices;
  for (std::uint32_t i = 0; i < devices.count; ++i) {
    use({PartyKind::device, number, i}, true, devices.first + i,
        world.devices[devices.first + i].transmit_power);
  }
  return uses;
}

}  // namespace skein
