// From a scenario to a mission: the world, its field of devices, learners, leaders and the planner's view of
// it all.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "skein/base/crew.h"
#include "skein/base/thread_pool.h"
#include "skein/learning/swarm_trainer.h"
#include "skein/learning/workspace.h"
#include "skein/nn/engine.h"
#include "skein/offloading/offloader.h"
#include "skein/planning/environment.h"
#include "skein/scenario/scenario.h"
#include "skein/simulation/core_network.h"
#include "skein/simulation/data_field.h"
#include "skein/simulation/local_fleet.h"
#include "skein/world/world.h"

namespace skein {

// What training costs and brings for each timing, swarm and cluster, by solving problem P with full batteries
// and the data of the start: O(s), w times the bound of the mean squared gradient over the sequence and 1 - w
// times the energy of all its local rounds, and what the UAV that is left with least has spent on it. Where P
// is infeasible the energy is that of a full battery, so that no plan goes there. The crew's first process
// has them all, each of the others its part only.
SolvedTables solve_tables(const Scenario& scenario, const World& world, ThreadPool& pool, Crew& crew,
                          const std::function<void(double)>& progress);

// Everything that a CoreNetwork needs, in one place. Throws InputError with every fault under the scenario's
// keys.
//
// Of a crew, the first process has the core network, all devices' data and the planner's environment; the
// others have leaders, and get the data of the clusters that these are above.
class PreparedMission {
 public:
  PreparedMission(const Scenario& scenario, std::shared_ptr<const DataSplit> data, ThreadPool& pool,
                  Crew& crew, const std::function<void(double)>& progress);

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const nn::Network<float>& network() const { return network_; }
  // This process's own.
  [[nodiscard]] Field& field() { return *field_; }
  [[nodiscard]] Fleet& fleet() { return *fleet_; }
  // For planners: with tables that the offloader has solved, unless the scenario gives a file.
  [[nodiscard]] const std::shared_ptr<const Environment>& environment() const { return environment_; }
  // One at a time: it works on this object's field. Field and fleet are this process's own, or stand for
  // those of several.
  [[nodiscard]] CoreNetwork start(Planner& planner, Field& field, Fleet& fleet);

 private:
  [[nodiscard]] Partition build_devices(bool with_data) const;
  void build_leaders();
  [[nodiscard]] OffloadResult decide(const LeaderTask& task, std::span<const double> device_data) const;

  Scenario scenario_;
  std::shared_ptr<const DataSplit> data_;
  ThreadPool& pool_;
  World world_;
  nn::Network<float> network_;
  ClassPools pools_;
  ClassPools test_pools_;
  Partition partition_;
  std::vector<MissionFault> faults_;
  std::shared_ptr<const Environment> environment_;
  Workspaces workspaces_;
  std::unique_ptr<Offloader> offloader_;
  std::unique_ptr<DataField> field_;
  std::unique_ptr<SwarmTrainer> trainer_;
  std::unique_ptr<LocalFleet> fleet_;
};

}  // namespace skein
