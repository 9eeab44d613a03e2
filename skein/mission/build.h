// From a scenario to the objects of a run.
//
// All throw InputError with every fault under the scenario's keys; the file's name is the caller's to add.
#pragma once

#include <string_view>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/partition.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// Refuses also lists that do not have one value for each of the world's devices or swarms.
World build_world(const Scenario& scenario, ThreadPool& pool);

// What can be said of the scenario's data and lists for this world without loading any. Clusters are the
// groups of the partition, devices their members.
std::vector<InputFault> data_faults(const Scenario& scenario, const World& world);

Partition build_partition(const Scenario& scenario, const World& world, const ClassPools& pools);

}  // namespace skein
