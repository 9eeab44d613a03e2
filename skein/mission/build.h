// From a scenario to the objects of a run.
//
// All throw InputError with every fault under the scenario's keys; the file's name is the caller's to add.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/data/class_pools.h"
#include "skein/data/partition.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/scenario/scenario.h"
#include "skein/world/world.h"

namespace skein {

// Refuses also lists that do not have one value for each of the world's devices or swarms.
World build_world(const Scenario& scenario, ThreadPool& pool);

// What can be said of the scenario's data and lists for this world without loading any. Clusters are the
// groups of the partition, devices their members.
std::vector<InputFault> data_faults(const Scenario& scenario, const World& world);

// Data that each device of a cluster holds at the start, in points: the scenario's quantity, at most its
// buffer.
std::vector<double> initial_device_data(const Scenario& scenario, const World& world, std::size_t cluster);

// What the leaders' problems have of the scenario.
SwarmProblemSetting problem_setting(const Scenario& scenario);

// Sequences of the mission: no more than, and as expected. They differ where it ends by the clock; how many
// there will be is not known then, and without cycles they are taken to be as many as by default.
std::size_t most_sequences(const RunOptions& run);
std::size_t expected_sequences(const Scenario& scenario);

Partition build_partition(const Scenario& scenario, const World& world, const ClassPools& pools);

}  // namespace skein
