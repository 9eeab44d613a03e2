#include "skein/simulation/leader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "skein/base/random.h"
#include "skein/base/stopwatch.h"
#include "skein/offloading/worker_selection.h"
#include "skein/world/energy.h"
#include "skein/world/timing.h"

namespace skein {

std::size_t kept_points(double share, std::size_t points) {
  return std::max<std::size_t>(1,
                               static_cast<std::size_t>(std::llround(share * static_cast<double>(points))));
}

double personal_iterations(const LearningOptions& learning, double processed, std::size_t points) {
  const auto steps = static_cast<double>(learning.personal_steps);
  if ((learning.personal_batch == 0 && learning.personal_newest == 0) || !(processed > 0.0)) {
    return steps;
  }
  const double batch = learning.personal_batch > 0 ? static_cast<double>(learning.personal_batch) : processed;
  return steps * std::min(batch, static_cast<double>(points)) / processed;
}

Leader::Leader(const LeaderSetup& setup, LeaderTask task) : setup_(setup), task_(std::move(task)) {
  const Stopwatch watch;
  decisions_ = decide();
  links_ = swarm_links(*setup_.world, task_.swarm, task_.cluster, task_.sequence, task_.conditions);
  update_.swarm.swarm = task_.swarm;
  update_.culprit = decisions_.culprit;
  update_.seconds = watch.seconds();
}

bool Leader::is_silent(std::size_t device) const {
  return std::ranges::find(task_.silent_devices, device) != task_.silent_devices.end();
}

std::vector<double> Leader::device_data() const {
  std::vector<double> data;
  for (std::size_t i = 0; i < devices().count; ++i) {
    data.push_back(is_silent(i) ? 0.0 : static_cast<double>(setup_.field->num_points(devices().first + i)));
  }
  return data;
}

// Batteries must last for the global rounds that are left of the sequence.
OffloadingSite Leader::site() const {
  const std::size_t left = task_.num_global_rounds - task_.global_round;
  OffloadingSite site{
      .swarm = task_.swarm,
      .cluster = task_.cluster,
      .sequence = task_.sequence,
      .local_period = task_.local_period,
      .global_period = task_.global_period,
      .rounds = {.local_aggregations = left * task_.global_period, .global_aggregations = left},
      .local_aggregations = task_.num_global_rounds * task_.global_period,
      .slowest_trip = Time(task_.slowest_trip_s),
      .leader = task_.members.leader,
      .conditions = task_.conditions};
  if (task_.has_constants) {
    site.constants = within_conditions(bound_steps(setup_.problems->setting().learning), task_.constants);
  }
  return site;
}

// Solved for those who are there; the others get and do nothing.
OffloadResult Leader::decide() {
  if (!task_.members.can_train()) {
    OffloadResult nobody;
    nobody.culprit = task_.members.has_leader ? "no worker is left" : "no UAV is left that could lead";
    return nobody;
  }
  const SwarmProblems& problems = *setup_.problems;
  const SwarmMembers& there = task_.members;
  std::vector<double> batteries(setup_.world->uavs.size());
  std::ranges::copy(task_.batteries, batteries.begin() + static_cast<std::ptrdiff_t>(members().leader));
  OffloadingProblem problem = problems.problem(site(), device_data(), batteries);
  data_stays_ = problem.data_stays && problem.rounds.size() > 1;
  const std::vector<OffloadingInstance> wholes = problem.rounds;
  const OffloadingInstance& whole = wholes.front();
  const bool all_there =
      there.workers.size() == whole.num_workers() && there.coordinators.size() == whole.num_coordinators();
  for (OffloadingInstance& round : problem.rounds) {
    if (!all_there) {
      round = with_uavs(round, there.workers, there.coordinators);
    }
  }
  OffloadResult result = problems.solve(*setup_.offloader, problem);
  result.bound_constant = whole.bound.constant;
  OffloadingInstance planned = problem.rounds.front();
  planned.bound = swarm_bound(problems.setting(), task_.local_period, task_.global_period,
                              problems.setting().learning.bound);
  for (const OffloadDecision& decision : result.decisions) {
    result.planned_learning.push_back(evaluate(planned, decision).learning);
  }
  for (std::size_t k = 0; k < result.decisions.size() && !all_there; ++k) {
    result.decisions[k] = among_all_uavs(whole, there.workers, there.coordinators, result.decisions[k]);
    result.evaluations[k] = evaluate(wholes[k], result.decisions[k]);
  }
  return result;
}

std::optional<SwarmTask> Leader::gather() {
  if (decisions_.status == OffloadStatus::infeasible || round_ == num_local_rounds()) {
    return std::nullopt;
  }
  const Stopwatch watch;
  const OffloadDecision& decision = decisions_.decisions[round_];
  Gathered gathered;
  if (data_stays_ && round_ > 0) {
    gathered = nothing_sent();
    gathered.workers = points_;
  } else {
    gathered = collect(decision);
  }
  if (data_stays_) {
    points_ = gathered.workers;
  }
  book(decision, gathered);
  SwarmTask task = training(decision, gathered);
  update_.rounds.push_back(summary(gathered));
  ++round_;
  update_.seconds += watch.seconds();
  return task.workers.empty() ? std::nullopt : std::optional(std::move(task));
}

Leader::Gathered Leader::nothing_sent() const {
  const std::size_t workers = members().workers.count;
  const std::size_t coordinators = members().coordinators.count;
  Gathered result;
  result.workers.resize(workers);
  result.transfers.datapoint_size = setup_.problems->sizes().point;
  result.transfers.to_coordinator.resize(coordinators);
  result.transfers.to_worker.resize(workers);
  result.transfers.relay.assign(coordinators, std::vector<DataShare>(workers));
  result.by_device.resize(devices().count);
  result.device_flow.assign(devices().count * (workers + coordinators), 0.0);
  result.relay_flow.assign(coordinators * workers, 0.0);
  return result;
}

Leader::Gathered Leader::collect(const OffloadDecision& decision) const {
  const std::size_t workers = members().workers.count;
  const std::size_t coordinators = members().coordinators.count;
  const std::size_t uavs = workers + coordinators;
  const std::uint64_t round = (task_.first_iteration / std::max<std::size_t>(1, task_.local_period)) + round_;

  Gathered result = nothing_sent();
  std::vector<std::vector<DataPoint>> held(coordinators);
  for (std::size_t i = 0; i < devices().count; ++i) {
    if (is_silent(i)) {
      continue;
    }
    const std::span<const double> shares(&decision.rho(i, 0), uavs);
    const std::vector<std::vector<DataPoint>> sent =
        setup_.field->offload(devices().first + i, shares, round);
    for (std::size_t u = 0; u < uavs; ++u) {
      const auto count = static_cast<double>(sent[u].size());
      const DataShare share{count, links_.device_to_uav(i, u)};
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
  relay(decision, std::move(held), round, result);
  const double relayed = std::accumulate(result.relay_flow.begin(), result.relay_flow.end(), 0.0);
  result.bits = (static_cast<double>(result.points_sent) + relayed) * setup_.problems->sizes().point.si();
  return result;
}

// In random order; counts rounded together.
void Leader::relay(const OffloadDecision& decision, std::vector<std::vector<DataPoint>> held,
                   std::uint64_t round, Gathered& gathered) const {
  const std::size_t workers = members().workers.count;
  for (std::size_t h = 0; h < held.size(); ++h) {
    RandomStream stream(setup_.world->seed, "relayed points", members().coordinators.first + h, round);
    stream.shuffle(held[h]);
    double cumulative = 0.0;
    std::size_t from = 0;
    for (std::size_t j = 0; j < workers; ++j) {
      cumulative += decision.varrho(h, j);
      const auto to =
          std::min(held[h].size(),
                   static_cast<std::size_t>(std::llround(cumulative * static_cast<double>(held[h].size()))));
      const auto count = static_cast<double>(to - from);
      gathered.transfers.relay[h][j] = {count, links_.coordinator_to_worker(h, j)};
      gathered.relay_flow[h * workers + j] = count;
      gathered.workers[j].insert(gathered.workers[j].end(),
                                 held[h].begin() + static_cast<std::ptrdiff_t>(from),
                                 held[h].begin() + static_cast<std::ptrdiff_t>(to));
      from = to;
    }
  }
}

void Leader::use(bool is_device, std::size_t index, EnergyKind kind, Energy energy) {
  if (energy.si() > 0.0) {
    update_.energy.push_back({is_device, index, kind, energy.si()});
  }
}

void Leader::book(const OffloadDecision& decision, const Gathered& gathered) {
  const World& world = *setup_.world;
  const MessageSizes& sizes = setup_.problems->sizes();
  for (std::size_t i = 0; i < devices().count; ++i) {
    use(true, devices().first + i, EnergyKind::data_transmission,
        data_transmission_energy({.power = world.devices[devices().first + i].transmit_power,
                                  .datapoint_size = sizes.point,
                                  .shares = gathered.by_device[i]}));
  }
  for (std::size_t h = 0; h < members().coordinators.count; ++h) {
    const std::size_t id = members().coordinators.first + h;
    use(false, id, EnergyKind::relay,
        data_transmission_energy({.power = world.uavs[id].transmit_power,
                                  .datapoint_size = sizes.point,
                                  .shares = gathered.transfers.relay[h]}));
  }
  book_workers(decision, gathered);
  update_.data_bits += gathered.bits;
  update_.points_sent += gathered.points_sent;
}

// Those at work, and the models between them and the leader.
void Leader::book_workers(const OffloadDecision& decision, const Gathered& gathered) {
  const World& world = *setup_.world;
  const DataSize model = setup_.problems->sizes().model;
  const GatheringSchedule schedule = schedule_gathering(gathered.transfers);
  std::vector<WorkerTimes> times;
  for (std::size_t j = 0; j < members().workers.count; ++j) {
    const std::size_t id = members().workers.first + j;
    const Uav& uav = world.uavs[id];
    if (gathered.workers[j].empty() || decision.alpha[j][0] == 0.0) {
      continue;
    }
    const std::array<double, 3>& alpha = decision.alpha[j];
    const ProcessingLoad load{.local_period = static_cast<int>(task_.local_period),
                              .cycles_per_datapoint = uav.cycles_per_point,
                              .sampled_ratio = alpha[0] + alpha[1] + alpha[2],
                              .num_datapoints = static_cast<double>(gathered.workers[j].size()),
                              .frequency = Frequency(decision.clock[j])};
    use(false, id, EnergyKind::processing, processing_energy(load, uav.capacitance));
    use(false, id, EnergyKind::model_upload,
        model_upload_energy({.num_aggregations = 1, .model_size = model, .power = uav.transmit_power},
                            links_.worker_to_leader[j]));
    times.push_back({.gathering = schedule.times.workers[j],
                     .processing = processing_time(load),
                     .upload = transfer_time(model, links_.worker_to_leader[j])});
  }
  const Uav& leader = world.uavs[task_.members.leader];
  use(false, task_.members.leader, EnergyKind::model_broadcast,
      model_broadcast_energy({.num_aggregations = 1, .model_size = model, .power = leader.transmit_power},
                             links_.leader_to_worker));
  update_.duration += local_round_time(times, broadcast_time(model, links_.leader_to_worker)).si();
  update_.model_bits += static_cast<double>(times.size() + 1) * model.si();
}

OffloadSummary Leader::summary(Gathered& gathered) const {
  const OffloadEvaluation& evaluation = decisions_.evaluations[round_];
  return {.objective = evaluation.objective,
          .energy = evaluation.energy() + evaluation.hovering_energy,
          .planned_learning = decisions_.planned_learning[round_],
          .gradient_bound = evaluation.learning + decisions_.bound_constant,
          .kkt_residual = decisions_.certificate.kkt_residual,
          .data = evaluation.data,
          .processed = evaluation.processed,
          .clock = decisions_.decisions[round_].clock,
          .processing_s = evaluation.processing_time,
          .device_flow = std::move(gathered.device_flow),
          .relay_flow = std::move(gathered.relay_flow)};
}

// From where the last local round has left the model, which stays where it is.
SwarmTask Leader::training(const OffloadDecision& decision, const Gathered& gathered) {
  const Model& last = update_.swarm.model;
  SwarmTask task{.swarm = task_.swarm,
                 .model = last.empty() ? task_.model : std::shared_ptr<const Model>(task_.model, &last),
                 .first_iteration = task_.first_iteration + round_ * task_.local_period,
                 .local_period = task_.local_period,
                 .num_local_aggregations = 1};
  for (std::size_t j = 0; j < members().workers.count; ++j) {
    const std::vector<DataPoint>& points = gathered.workers[j];
    if (points.empty() || decision.alpha[j][0] == 0.0) {
      continue;
    }
    WorkerTask worker{.worker = members().workers.first + j,
                      .batch_sizes = {},
                      .drift = setup_.field->feature_drift(task_.cluster)};
    for (const DataPoint& point : points) {
      worker.samples.push_back(point.sample);
      worker.collected.push_back(point.sequence);
    }
    for (std::size_t n = 0; n < 3; ++n) {
      worker.batch_sizes[n] = std::clamp<std::size_t>(
          static_cast<std::size_t>(
              std::llround(decision.alpha[j][n] * static_cast<double>(worker.samples.size()))),
          1, worker.samples.size());
    }
    update_.points_trained += worker.samples.size();
    task.workers.push_back(std::move(worker));
  }
  return task;
}

void Leader::learn(SwarmUpdate trained, std::vector<WorkerTask> workers, double seconds) {
  update_.swarm.model = std::move(trained.model);
  update_.trained = true;
  update_.seconds += seconds;
  held_ = std::move(workers);
  // Reports of all local rounds together.
  std::vector<WorkerReport>& reports = update_.swarm.workers;
  for (const WorkerReport& report : trained.workers) {
    const auto found = std::ranges::find(reports, report.worker, &WorkerReport::worker);
    if (found == reports.end()) {
      reports.push_back(report);
    } else {
      found->points_processed += report.points_processed;
      found->loss = report.loss;
    }
  }
}

// Each worker keeps the same share, whatever it has of each device.
void Leader::keep_newest() {
  const std::size_t each = setup_.problems->setting().learning.personal_newest;
  std::size_t all = 0;
  for (const WorkerTask& worker : held_) {
    all += worker.samples.size();
  }
  if (each == 0 || each * devices().count >= all) {
    return;
  }
  const double share = static_cast<double>(each * devices().count) / static_cast<double>(all);
  for (WorkerTask& worker : held_) {
    const std::size_t count = kept_points(share, worker.samples.size());
    std::vector<std::size_t> places(worker.samples.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, std::ranges::greater{},
                             [&](std::size_t place) { return worker.collected[place]; });
    WorkerTask kept = worker;
    for (std::size_t i = 0; i < count; ++i) {
      kept.samples[i] = worker.samples[places[i]];
      kept.collected[i] = worker.collected[places[i]];
    }
    kept.samples.resize(count);
    kept.collected.resize(count);
    worker = std::move(kept);
  }
}

std::vector<double> Leader::personal_iterations() const {
  const LearningOptions& learning = setup_.problems->setting().learning;
  std::vector<double> iterations(members().workers.count, static_cast<double>(learning.personal_steps));
  for (const WorkerTask& worker : held_) {
    const std::size_t j = worker.worker - members().workers.first;
    iterations[j] =
        skein::personal_iterations(learning, update_.rounds.back().processed[j], worker.samples.size());
  }
  return iterations;
}

LeaderUpdate Leader::report() {
  if (update_.trained) {
    keep_newest();
    update_.personal_iterations = personal_iterations();
  } else {
    update_.swarm.model = *task_.model;
  }
  task_.model.reset();  // what is kept for later is data, no models
  decisions_ = {};
  return std::exchange(update_, {});
}

std::optional<SwarmTask> Leader::personalisation(const LeaderTask& task) const {
  if (held_.empty()) {
    return std::nullopt;
  }
  return SwarmTask{.swarm = task.swarm,
                   .model = task.model,
                   .first_iteration = task.first_iteration,
                   .local_period = 1,
                   .num_local_aggregations = 1,
                   .workers = held_};
}

}  // namespace skein
