// From a scenario to the objects of a run.
//
// All throw InputError with every fault under the scenario's keys; the file's name is the caller's to add.
#pragma once

#include <string_view>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/learning/class_pools.h"
#include "skein/learning/partition.h"
#include "skein/nn/architecture.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// Refuses also lists that do not have one value for each of the world's devices or swarms.
World build_world(const Scenario& scenario, ThreadPool& pool);

// What can be said of the scenario's data and lists for this world without loading any. Clusters are the
// groups of the partition, devices their members.
std::vector<Fault> data_faults(const Scenario& scenario, const World& world);

// What a scenario may call its network: automatic, the presets, layers.
std::vector<std::string_view> network_names();
// The network that [learning.network] asks for, for samples of the scenario's data.
nn::Architecture build_architecture(const Scenario& scenario);
// Why there is no such network; empty if there is.
std::vector<Fault> network_faults(const Scenario& scenario);
// A scenario knows a data set's shape and classes by its name; files given by path may have others. Then this
// throws.
void check_fit(const Scenario& scenario, const Dataset& data);

Partition build_partition(const Scenario& scenario, const World& world, const ClassPools& pools);

}  // namespace skein
