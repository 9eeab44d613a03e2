#include "skein/mission/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "skein/scenario/sizes.h"
#include "skein/simulation/core_network.h"

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
std::vector<InputFault> with_scenario_keys(std::vector<InputFault> faults) {
  for (InputFault& fault : faults) {
    fault.key = fault.key == "quantity"           ? "data.points_per_device"
                : fault.key == "labels_per_group" ? "data.labels_per_cluster"
                : fault.key.empty()               ? "data"
                                                  : "data." + fault.key;
  }
  return faults;
}

// Lists that do not have one value for each device or swarm of the world, or one for all.
std::vector<InputFault> list_faults(const Scenario& scenario, const World& world) {
  std::vector<InputFault> faults;
  const auto check = [&](const char* key, const auto& numbers, const char* entity, std::size_t count) {
    if (const auto size = numbers.list_size(); size && *size != count) {
      faults.push_back({.key = key,
                        .value = numbers.spread.to_toml(),
                        .message = fmt::format("has {} values; a list needs one per {}, {} in all", *size,
                                               entity, count)});
    }
  };
  const std::size_t devices = world.devices.size();
  check("data.points_per_device", scenario.data.partition.quantity, "device", devices);
  check("data.buffer_points", scenario.data.buffer, "device", devices);
  check("data.arrivals_per_sequence", scenario.data.arrivals, "device", devices);
  check("data.arrivals_per_hour", scenario.data.arrivals_per_hour, "device", devices);
  const std::size_t swarms = world.swarms.size();
  check("offloading.point_kbit", scenario.offloading.point_size, "mission", 1);
  check("offloading.model_kbit", scenario.offloading.model_size, "mission", 1);
  check("offloading.local_time_s", scenario.offloading.local_time_limit, "swarm", swarms);
  return faults;
}

}  // namespace

World build_world(const Scenario& scenario, ThreadPool& pool) {
  World world =
      sample_world(scenario.world, with_sizes(scenario).swarms, scenario.radio, scenario.run.seed, pool);
  InputFaults faults;
  faults.add_all(list_faults(scenario, world));
  faults.throw_if_any();
  return world;
}

std::vector<InputFault> data_faults(const Scenario& scenario, const World& world) {
  PartitionOptions partition = scenario.data.partition;
  partition.quantity.spread = constant(1);  // its list is among the others
  std::vector<InputFault> faults =
      with_scenario_keys(faults_of(partition, devices_per_cluster(world), num_classes(scenario.data.source)));
  std::ranges::move(list_faults(scenario, world), std::back_inserter(faults));
  return faults;
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

SwarmProblemSetting problem_setting(const Scenario& scenario) {
  return {.offloading = with_sizes(scenario).offloading,
          .learning = scenario.learning,
          .num_classes = num_classes(scenario.data.source),
          .waiting = scenario.planning.waiting};
}

std::size_t most_sequences(const RunOptions& run) {
  const auto fit = static_cast<std::size_t>(std::ceil(run.hours * 3600.0 / least_sequence_s));
  return run.hours <= 0.0 ? run.sequences : run.sequences == 0 ? fit : std::min(fit, run.sequences);
}

std::size_t expected_sequences(const Scenario& scenario) {
  const RunOptions& run = scenario.run;
  const double cycle_s = scenario.planning.cycle_s;
  const std::size_t most = run.sequences > 0 ? run.sequences : RunOptions{}.sequences;
  if (run.hours <= 0.0 || cycle_s <= 0.0) {
    return most;
  }
  const auto cycles = static_cast<std::size_t>(std::ceil(run.hours * 3600.0 / cycle_s));
  return run.sequences > 0 ? std::min(cycles, most) : cycles;
}

Partition build_partition(const Scenario& scenario, const World& world, const ClassPools& pools) {
  try {
    return partition(scenario.data.partition, devices_per_cluster(world), pools, scenario.run.seed);
  } catch (const InputError& error) {
    throw InputError(with_scenario_keys(error.faults()));
  }
}

}  // namespace skein
