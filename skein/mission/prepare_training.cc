#include "skein/mission/prepare_training.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/input_fault.h"
#include "skein/learning/network_choice.h"
#include "skein/mission/build.h"
#include "skein/nn/safetensors.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/scenario/sizes.h"

namespace skein {
namespace {

void check_periods(const LearningOptions& learning) {
  const std::size_t period = learning.local_period * learning.global_period;
  if (learning.iterations % period != 0) {
    throw InputError({.key = "learning.iterations",
                      .value = fmt::format("{}", learning.iterations),
                      .message = fmt::format("must be a multiple of local_period times global_period, {}: a "
                                             "run ends with a global aggregation",
                                             period)});
  }
}

Partition worker_partition(const Scenario& scenario, const World& world, const ClassPools& pools) {
  PartitionOptions options = scenario.data.partition;
  options.quantity = scenario.learning.points_per_worker;
  std::vector<std::size_t> workers;
  for (const Swarm& swarm : world.swarms) {
    workers.push_back(swarm.workers.count);
  }
  try {
    return partition(options, workers, pools, scenario.run.seed);
  } catch (const InputError& error) {
    std::vector<InputFault> faults = error.faults();
    for (InputFault& fault : faults) {
      fault.key = fault.key == "quantity"           ? "learning.points_per_worker"
                  : fault.key == "labels_per_group" ? "data.labels_per_cluster"
                  : fault.key.empty()               ? "data"
                                                    : "data." + fault.key;
    }
    throw InputError(std::move(faults));
  }
}

const Scenario& checked(const Scenario& scenario) {
  check_periods(scenario.learning);
  return scenario;
}

}  // namespace

Model initial_model(const Scenario& scenario, const nn::Network<float>& network) {
  if (!scenario.learning.initial_model.empty()) {
    return nn::starting_parameters(scenario.learning.initial_model, network.architecture());
  }
  RandomStream stream(scenario.run.seed, "initial model");
  return network.initial_parameters(stream);
}

PreparedTraining::PreparedTraining(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                                   ThreadPool& pool)
    : scenario_(checked(scenario)),
      data_(std::move(data)),
      world_(build_world(scenario_, pool)),
      network_(build_architecture(scenario_.learning.network, scenario_.data.source)),
      pools_(data_->train),
      partition_(worker_partition(scenario_, world_, pools_)),
      initial_(std::make_shared<const Model>(initial_model(scenario_, network_))) {
  check_fit(scenario_.data.source, data_->train);
  model_size_ = message_sizes(with_sizes(scenario_).offloading, scenario_.run.seed).model;
}

TrainingSetup PreparedTraining::setup() {
  expect(initial_ != nullptr, "a setup is taken once");
  return {.options = scenario_.learning,
          .network = &network_,
          .initial = std::move(initial_),
          .data = data_.get(),
          .pools = &pools_,
          .partition = &partition_,
          .world = &world_,
          .model_size = model_size_,
          .seed = scenario_.run.seed,
          // One more epoch would double the time of a run that evaluates after each.
          .personalise_always = scenario_.learning.personalisation == Personalisation::step};
}

}  // namespace skein
