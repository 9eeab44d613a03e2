#include "skein/scenario/build.h"

#include <fmt/format.h>

#include <utility>

namespace skein {
namespace {

std::vector<std::size_t> devices_per_cluster(const World& world) {
  std::vector<std::size_t> counts;
  for (const Cluster& cluster : world.clusters) {
    counts.push_back(cluster.devices.count);
  }
  return counts;
}

// A partition's options under the scenario's keys.
std::vector<Fault> with_scenario_keys(std::vector<Fault> faults) {
  for (Fault& fault : faults) {
    fault.key = fault.key == "quantity"           ? "data.points_per_device"
                : fault.key == "labels_per_group" ? "data.labels_per_cluster"
                : fault.key.empty()               ? "data"
                                                  : "data." + fault.key;
  }
  return faults;
}

void check_list(const Distribution<double>& numbers, std::string key, std::size_t num_devices,
                std::vector<Fault>& faults) {
  if (const auto size = numbers.list_size(); size && *size != num_devices) {
    faults.push_back({.key = std::move(key),
                      .value = numbers.spread.to_toml(),
                      .message = fmt::format("has {} values; a list needs one per device, {} in all", *size,
                                             num_devices)});
  }
}

}  // namespace

World build_world(const Scenario& scenario, ThreadPool& pool) {
  return sample_world(scenario.world, scenario.swarms, scenario.radio, scenario.run.seed, pool);
}

std::vector<Fault> data_faults(const Scenario& scenario, const World& world) {
  std::vector<Fault> faults = with_scenario_keys(
      faults_of(scenario.data.partition, devices_per_cluster(world), num_classes(scenario.data.source)));
  check_list(scenario.data.buffer, "data.buffer_points", world.devices.size(), faults);
  check_list(scenario.data.arrivals, "data.arrivals_per_sequence", world.devices.size(), faults);
  return faults;
}

Partition build_partition(const Scenario& scenario, const World& world, const ClassPools& pools) {
  try {
    return partition(scenario.data.partition, devices_per_cluster(world), pools, scenario.run.seed);
  } catch (const InputError& error) {
    throw InputError(with_scenario_keys(error.faults()));
  }
}

}  // namespace skein
