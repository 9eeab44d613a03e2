#include "skein/simulation/local_fleet.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/world/energy.h"
#include "skein/world/gathering.h"
#include "skein/world/timing.h"

namespace skein {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double points_of(std::span<const SwarmUpdate> updates) {
  double sum = 0.0;
  for (const SwarmUpdate& update : updates) {
    sum += update.points_processed();
  }
  return sum;
}

}  // namespace

// Data of one local round: who holds what, and what was sent.
struct LocalFleet::Gathered {
  std::vector<std::vector<DataPoint>> workers;
  Gathering transfers;                            // for times, and for energies below
  std::vector<std::vector<DataShare>> by_device;  // [device of the cluster]
  std::vector<double> device_flow, relay_flow;    // points
  std::uint64_t points_sent = 0;
  double bits = 0.0;
};

OffloadResult LocalFleet::decide(const LeaderTask& task) const {
  const IndexRange& devices = setup_.world->clusters[task.cluster].devices;
  std::vector<double> data;
  for (std::size_t i = 0; i < devices.count; ++i) {
    const bool is_silent = std::ranges::find(task.silent_devices, i) != task.silent_devices.end();
    data.push_back(is_silent ? 0.0 : static_cast<double>(setup_.field->num_points(devices.first + i)));
  }
  if (!task.members.can_train()) {
    OffloadResult nobody;
    nobody.culprit = task.members.has_leader ? "no worker is left" : "no UAV is left that could lead";
    return nobody;
  }
  return setup_.decide(task, data);
}

LocalFleet::Gathered LocalFleet::gather(const LeaderTask& task, const SwarmLinks& links,
                                        const OffloadDecision& decision, std::size_t local_round) const {
  const World& world = *setup_.world;
  const Swarm& swarm = world.swarms[task.swarm];
  const IndexRange& devices = world.clusters[task.cluster].devices;
  const std::size_t workers = swarm.workers.count;
  const std::size_t coordinators = swarm.coordinators.count;
  const std::size_t uavs = workers + coordinators;
  const std::uint64_t round =
      (task.first_iteration / std::max<std::size_t>(1, task.local_period)) + local_round;

  Gathered result;
  result.workers.resize(workers);
  result.transfers.datapoint_size = setup_.point_size;
  result.transfers.to_coordinator.resize(coordinators);
  result.transfers.to_worker.resize(workers);
  result.transfers.relay.assign(coordinators, std::vector<DataShare>(workers));
  result.by_device.resize(devices.count);
  result.device_flow.assign(devices.count * uavs, 0.0);
  result.relay_flow.assign(coordinators * workers, 0.0);
  std::vector<std::vector<DataPoint>> held(coordinators);
  for (std::size_t i = 0; i < devices.count; ++i) {
    if (std::ranges::find(task.silent_devices, i) != task.silent_devices.end()) {
      continue;
    }
    const std::span<const double> shares(&decision.rho(i, 0), uavs);
    const std::vector<std::vector<DataPoint>> sent = setup_.field->offload(devices.first + i, shares, round);
    for (std::size_t u = 0; u < uavs; ++u) {
      const auto count = static_cast<double>(sent[u].size());
      const DataShare share{count, links.device_to_uav(i, u)};
      result.device_flow[i * uavs + u] = count;
      result.points_sent += sent[u].size();
      if (sent[u].empty()) {
        continue;
      }
      result.by_device[i].push_back(share);
      std::vector<DataPoint>& target = u < workers ? result.workers[u] : held[u - workers];
      target.insert(target.end(), sent[u].begin(), sent[u].end());
      (u < workers ? result.transfers.to_worker[u] : result.transfers.to_coordinator[u - workers])
          .push_back(share);
    }
  }
  for (std::size_t h = 0; h < coordinators; ++h) {
    // Relayed in random order; counts rounded together.
    RandomStream stream(world.seed, "relayed points", swarm.coordinators.first + h, round);
    stream.shuffle(held[h]);
    double cumulative = 0.0;
    std::size_t from = 0;
    for (std::size_t j = 0; j < workers; ++j) {
      cumulative += decision.varrho(h, j);
      const auto to =
          std::min(held[h].size(),
                   static_cast<std::size_t>(std::llround(cumulative * static_cast<double>(held[h].size()))));
      const auto count = static_cast<double>(to - from);
      result.transfers.relay[h][j] = {count, links.coordinator_to_worker(h, j)};
      result.relay_flow[h * workers + j] = count;
      result.workers[j].insert(result.workers[j].end(), held[h].begin() + static_cast<std::ptrdiff_t>(from),
                               held[h].begin() + static_cast<std::ptrdiff_t>(to));
      from = to;
    }
  }
  const double relayed = std::accumulate(result.relay_flow.begin(), result.relay_flow.end(), 0.0);
  result.bits = (static_cast<double>(result.points_sent) + relayed) * setup_.point_size.si();
  return result;
}

// Energies and time of a local round, as it was carried out.
void LocalFleet::book(const LeaderTask& task, const SwarmLinks& links, const OffloadDecision& decision,
                      const Gathered& gathered, LeaderUpdate& update) const {
  const World& world = *setup_.world;
  const Swarm& swarm = world.swarms[task.swarm];
  const IndexRange& devices = world.clusters[task.cluster].devices;
  const auto use = [&](bool is_device, std::size_t index, EnergyKind kind, Energy energy) {
    if (energy.si() > 0.0) {
      update.energy.push_back({is_device, index, kind, energy.si()});
    }
  };
  for (std::size_t i = 0; i < devices.count; ++i) {
    use(true, devices.first + i, EnergyKind::data_transmission,
        data_transmission_energy({.power = world.devices[devices.first + i].transmit_power,
                                  .datapoint_size = setup_.point_size,
                                  .shares = gathered.by_device[i]}));
  }
  for (std::size_t h = 0; h < swarm.coordinators.count; ++h) {
    const std::size_t id = swarm.coordinators.first + h;
    use(false, id, EnergyKind::relay,
        data_transmission_energy({.power = world.uavs[id].transmit_power,
                                  .datapoint_size = setup_.point_size,
                                  .shares = gathered.transfers.relay[h]}));
  }
  const GatheringSchedule schedule = schedule_gathering(gathered.transfers);
  std::vector<WorkerTimes> times;
  std::size_t at_work = 0;
  for (std::size_t j = 0; j < swarm.workers.count; ++j) {
    const std::size_t id = swarm.workers.first + j;
    const Uav& uav = world.uavs[id];
    if (gathered.workers[j].empty() || decision.alpha[j][0] == 0.0) {
      continue;
    }
    const std::array<double, 3>& alpha = decision.alpha[j];
    const ProcessingLoad load{.local_period = static_cast<int>(task.local_period),
                              .cycles_per_datapoint = uav.cycles_per_point,
                              .sampled_ratio = alpha[0] + alpha[1] + alpha[2],
                              .num_datapoints = static_cast<double>(gathered.workers[j].size()),
                              .frequency = Frequency(decision.clock[j])};
    use(false, id, EnergyKind::processing, processing_energy(load, uav.capacitance));
    use(false, id, EnergyKind::model_upload,
        model_upload_energy(
            {.num_aggregations = 1, .model_size = setup_.model_size, .power = uav.transmit_power},
            links.worker_to_leader[j]));
    times.push_back({.gathering = schedule.times.workers[j],
                     .processing = processing_time(load),
                     .upload = transfer_time(setup_.model_size, links.worker_to_leader[j])});
    ++at_work;
  }
  const Uav& leader = world.uavs[task.members.leader];
  use(false, task.members.leader, EnergyKind::model_broadcast,
      model_broadcast_energy(
          {.num_aggregations = 1, .model_size = setup_.model_size, .power = leader.transmit_power},
          links.leader_to_worker));
  update.duration += local_round_time(times, broadcast_time(setup_.model_size, links.leader_to_worker)).si();
  update.data_bits += gathered.bits;
  update.model_bits += static_cast<double>(at_work + 1) * setup_.model_size.si();
  update.points_sent += gathered.points_sent;
}

std::vector<LeaderUpdate> LocalFleet::run(std::span<const LeaderTask> tasks) {
  const World& world = *setup_.world;
  std::vector<LeaderUpdate> updates(tasks.size());
  std::vector<OffloadResult> decisions(tasks.size());
  std::vector<SwarmLinks> links(tasks.size());
  held_.clear();
  pool_.parallel_for(tasks.size(), [&](std::size_t i) {
    const Stopwatch watch;
    decisions[i] = decide(tasks[i]);
    links[i] = swarm_links(world, tasks[i].swarm, tasks[i].cluster, tasks[i].sequence, tasks[i].conditions);
    updates[i].seconds += watch.seconds();
  });
  std::size_t num_rounds = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    updates[i].swarm.swarm = tasks[i].swarm;
    updates[i].culprit = decisions[i].culprit;
    num_rounds = std::max(num_rounds, tasks[i].global_period);
  }
  for (std::size_t k = 0; k < num_rounds; ++k) {
    std::vector<Gathered> gathered(tasks.size());
    pool_.parallel_for(tasks.size(), [&](std::size_t i) {
      const Stopwatch watch;
      if (decisions[i].status != OffloadStatus::infeasible) {
        gathered[i] = gather(tasks[i], links[i], decisions[i].decisions[k], k);
        book(tasks[i], links[i], decisions[i].decisions[k], gathered[i], updates[i]);
      }
      updates[i].seconds += watch.seconds();
    });
    std::vector<SwarmTask> training;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (decisions[i].status == OffloadStatus::infeasible) {
        continue;
      }
      const OffloadDecision& decision = decisions[i].decisions[k];
      const OffloadEvaluation& evaluation = decisions[i].evaluations[k];
      const Swarm& swarm = world.swarms[tasks[i].swarm];
      // From where the last local round has left it, which stays where it is.
      const Model& last = updates[i].swarm.model;
      SwarmTask task{
          .swarm = tasks[i].swarm,
          .model = last.empty() ? tasks[i].model : std::shared_ptr<const Model>(tasks[i].model, &last),
          .first_iteration = tasks[i].first_iteration + k * tasks[i].local_period,
          .local_period = tasks[i].local_period,
          .num_local_aggregations = 1};
      OffloadSummary& summary = updates[i].rounds.emplace_back();
      summary.objective = evaluation.objective;
      summary.energy = evaluation.energy();
      summary.planned_learning = decisions[i].planned_learning[k];
      summary.gradient_bound = evaluation.learning + decisions[i].bound_constant;
      summary.kkt_residual = decisions[i].certificate.kkt_residual;
      summary.processed = evaluation.processed;
      summary.clock = decision.clock;
      summary.processing_s = evaluation.processing_time;
      summary.device_flow = gathered[i].device_flow;
      summary.relay_flow = gathered[i].relay_flow;
      summary.data = evaluation.data;
      for (std::size_t j = 0; j < swarm.workers.count; ++j) {
        const std::vector<DataPoint>& points = gathered[i].workers[j];
        if (points.empty() || decision.alpha[j][0] == 0.0) {
          continue;
        }
        WorkerTask worker{.worker = swarm.workers.first + j,
                          .batch_sizes = {},
                          .drift = setup_.field->feature_drift(tasks[i].cluster)};
        for (const DataPoint& point : points) {
          worker.samples.push_back(point.sample);
          if (worker.drift != nullptr) {
            worker.collected.push_back(point.sequence);
          }
        }
        for (std::size_t n = 0; n < 3; ++n) {
          worker.batch_sizes[n] = std::clamp<std::size_t>(
              static_cast<std::size_t>(
                  std::llround(decision.alpha[j][n] * static_cast<double>(worker.samples.size()))),
              1, worker.samples.size());
        }
        updates[i].points_trained += worker.samples.size();
        task.workers.push_back(std::move(worker));
      }
      if (!task.workers.empty()) {
        whose.push_back(i);
        training.push_back(std::move(task));
      }
    }
    if (training.empty()) {
      continue;
    }
    const Stopwatch watch;
    std::vector<SwarmUpdate> trained = setup_.trainer->train(training, {});
    const double seconds_per_point = watch.seconds() / std::max(1.0, points_of(trained));
    for (std::size_t t = 0; t < trained.size(); ++t) {
      LeaderUpdate& update = updates[whose[t]];
      update.swarm.model = std::move(trained[t].model);
      held_[tasks[whose[t]].swarm] = std::move(training[t].workers);
      update.trained = true;
      update.seconds += seconds_per_point * trained[t].points_processed();
      // Reports of all local rounds together.
      if (update.swarm.workers.empty()) {
        update.swarm.workers = trained[t].workers;
      } else {
        for (const WorkerReport& report : trained[t].workers) {
          const auto found = std::ranges::find(update.swarm.workers, report.worker, &WorkerReport::worker);
          if (found == update.swarm.workers.end()) {
            update.swarm.workers.push_back(report);
          } else {
            found->points_processed += report.points_processed;
            found->loss = report.loss;
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!updates[i].trained) {
      updates[i].swarm.model = *tasks[i].model;
    }
  }
  return updates;
}

std::vector<Model> LocalFleet::personalise(std::span<const LeaderTask> tasks) {
  std::vector<Model> models(tasks.size());
  std::vector<SwarmTask> training;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto held = held_.find(tasks[i].swarm);
    if (held == held_.end()) {
      models[i] = *tasks[i].model;
      continue;
    }
    whose.push_back(i);
    training.push_back({.swarm = tasks[i].swarm,
                        .model = tasks[i].model,
                        .first_iteration = tasks[i].first_iteration,
                        .local_period = 1,
                        .num_local_aggregations = 1,
                        .workers = held->second});
  }
  if (!training.empty()) {
    std::vector<SwarmUpdate> own = setup_.trainer->personalise(training);
    for (std::size_t t = 0; t < own.size(); ++t) {
      models[whose[t]] = std::move(own[t].model);
    }
  }
  return models;
}

}  // namespace skein
