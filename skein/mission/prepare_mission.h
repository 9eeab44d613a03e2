// From a scenario to a mission: the world, its field of devices, learners, leaders and the planner's view of
// it all.
#pragma once

#include <cstddef>
#include <memory>

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/learning/aggregation.h"
#include "skein/learning/swarm_trainer.h"
#include "skein/learning/workspace.h"
#include "skein/nn/engine.h"
#include "skein/offloading/offloader.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/planning/environment.h"
#include "skein/scenario/scenario.h"
#include "skein/simulation/core_network.h"
#include "skein/simulation/data_field.h"
#include "skein/simulation/local_fleet.h"
#include "skein/simulation/oracle.h"
#include "skein/world/world.h"

namespace skein {

// Everything that a CoreNetwork needs, in one place. Throws InputError with every fault under the scenario's
// keys.
//
// Of a crew, the first process has the core network, all devices' data and the planner's environment; the
// others have leaders, and get the data of the clusters that these are above.
class PreparedMission {
 public:
  PreparedMission(const Scenario& scenario, std::shared_ptr<const DataSplit> data, ThreadPool& pool,
                  Crew& crew, FractionListener progress);

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const nn::Network<float>& network() const { return network_; }
  // This process's own.
  [[nodiscard]] Field& field() { return *field_; }
  [[nodiscard]] Fleet& fleet() { return *fleet_; }
  // For planners: with tables that the offloader has solved, unless the scenario gives a file.
  [[nodiscard]] const std::shared_ptr<const Environment>& environment() const { return environment_; }
  // Beside a mission, at the process that has all data.
  [[nodiscard]] Oracle oracle();
  // One at a time: it works on this object's field. Field and fleet are this process's own, or stand for
  // those of several.
  [[nodiscard]] CoreNetwork start(Planner& planner, Field& field, Fleet& fleet);

 private:
  [[nodiscard]] Partition build_devices(bool with_data) const;
  void build_leaders();

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
  SwarmProblems problems_;
  std::unique_ptr<AggregationRule> aggregation_;
  Workspaces workspaces_;
  std::unique_ptr<Offloader> offloader_;
  std::unique_ptr<DataField> field_;
  std::unique_ptr<SwarmTrainer> trainer_;
  std::unique_ptr<LocalFleet> fleet_;
};

}  // namespace skein
