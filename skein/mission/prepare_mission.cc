#include "skein/mission/prepare_mission.h"

#include <algorithm>

#include "skein/learning/network_choice.h"
#include "skein/mission/build.h"
#include "skein/mission/planning_setup.h"
#include "skein/mission/prepare_training.h"
#include "skein/offloading/offloaders.h"

namespace skein {
namespace {

// Learning as it is in a mission: periods are the planner's choice.
const LearningOptions& checked(const LearningOptions& learning) {
  const Algorithm& row = learning.algorithm;
  if (row.topology != Topology::hierarchy || row.shared != Sharing::model) {
    throw InputError({.key = "learning.algorithm",
                      .value = "",
                      .message = "a mission trains in swarms and averages them: hn_pfl or h_fl"});
  }
  return learning;
}

}  // namespace

PreparedMission::PreparedMission(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                                 ThreadPool& pool, Crew& crew, FractionListener progress)
    : scenario_(scenario),
      data_(std::move(data)),
      pool_(pool),
      world_(build_world(scenario_, pool)),
      network_(build_architecture(scenario_.learning.network, scenario_.data.source)),
      pools_(data_->train),
      test_pools_(data_->test),
      partition_(build_devices(crew.is_first())),
      problems_(problem_setting(scenario_), world_),
      aggregation_(build_aggregation(scenario_.learning, world_.swarms.size())),
      workspaces_(network_),
      offloader_(build_offloader(scenario_.offloading.method)) {
  checked(scenario_.learning);
  check_fit(scenario_.data.source, data_->train);
  Environment environment =
      build_environment(scenario_, world_, MissingTables::solved, pool_, crew, progress);
  environment.start_age = environment.reward.age_cap;  // nobody has a model yet
  environment_ = std::make_shared<const Environment>(std::move(environment));
  if (crew.is_first()) {
    solve_first_choices(*environment_, world_);
  }
  faults_ = draw_faults(scenario_.faults, world_, most_sequences(scenario_.run));
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

void PreparedMission::build_leaders() {
  DataFieldSetup field{.data = data_.get(),
                       .pools = &pools_,
                       .test_pools = &test_pools_,
                       .partition = &partition_,
                       .drift = scenario_.drift,
                       .rates = sample_drift_rates(scenario_.drift, world_.clusters.size(), world_.seed),
                       .held_out = scenario_.planning.estimates.held_out,
                       .inner_step = scenario_.learning.inner_step,
                       .seed = world_.seed};
  for (std::size_t device = 0; device < world_.devices.size(); ++device) {
    RandomStream buffer(world_.seed, "device buffer", device);
    RandomStream arrivals(world_.seed, "device arrivals", device);
    field.buffers.push_back(static_cast<std::size_t>(scenario_.data.buffer.sample(buffer, device)));
    field.arrivals.push_back(static_cast<std::size_t>(scenario_.data.arrivals.sample(arrivals, device)));
    RandomStream hourly(world_.seed, "hourly device arrivals", device);
    field.hourly_arrivals.push_back(scenario_.data.arrivals_per_hour.sample(hourly, device));
  }
  field_ = std::make_unique<DataField>(std::move(field), workspaces_, pool_);
  trainer_ = std::make_unique<SwarmTrainer>(
      LocalTraining::Setting{
          .options = scenario_.learning, .data = &data_->train, .pools = &pools_, .seed = world_.seed},
      workspaces_, pool_);
  fleet_ = std::make_unique<LocalFleet>(
      LeaderSetup{
          .world = &world_, .field = field_.get(), .problems = &problems_, .offloader = offloader_.get()},
      *trainer_, pool_);
}

Oracle PreparedMission::oracle() {
  return {
      {.data = &data_->train, .pools = &pools_, .num_clusters = world_.clusters.size(), .seed = world_.seed},
      initial_model(scenario_, network_),
      workspaces_};
}

CoreNetwork PreparedMission::start(Planner& planner, Field& field, Fleet& fleet) {
  std::vector<double> drifts;
  for (std::size_t c = 0; c < world_.clusters.size(); ++c) {
    drifts.push_back(environment_->drift.at(c, 0.0));
  }
  // The accuracy that is predicted needs no bounds.
  const ConstantsSource constants = scenario_.offloading.learning_term == LearningTerm::bound
                                        ? scenario_.offloading.constants
                                        : ConstantsSource::given;
  return {{.world = &world_,
           .field = &field,
           .fleet = &fleet,
           .planner = &planner,
           .problems = &problems_,
           .aggregation = aggregation_.get(),
           .initial = initial_model(scenario_, network_),
           .initial_drifts = std::move(drifts),
           .reward = scenario_.planning.reward,
           .first_timing = environment_->tables.timings.front(),
           .sequences = scenario_.run.sequences,
           .end_s = scenario_.run.hours * 3600.0,
           .cycle_s = scenario_.planning.cycle_s,
           .seed = world_.seed,
           .faults = FaultSchedule(faults_),
           .constants = constants,
           .constants_moment = scenario_.offloading.constants_moment,
           .waiting = scenario_.planning.waiting,
           .start = scenario_.planning.start,
           .estimates = scenario_.planning.estimates,
           .num_classes = pools_.num_classes()},
          pool_};
}

}  // namespace skein
