// The leaders of all swarms on the threads of this machine.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/learning/trainer.h"
#include "skein/offloading/offloader.h"
#include "skein/simulation/field.h"
#include "skein/simulation/fleet.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// A leader's decision for its task's local rounds, given the data that each of the cluster's devices holds.
using LeaderDecision = std::function<OffloadResult(const LeaderTask&, std::span<const double> device_data)>;

// What is referred to must outlive the fleet.
struct LocalFleetSetup {
  const World* world = nullptr;
  Field* field = nullptr;
  Trainer* trainer = nullptr;
  LeaderDecision decide{};
  DataSize point_size{};
  DataSize model_size{};
};

class LocalFleet final : public Fleet {
 public:
  LocalFleet(LocalFleetSetup setup, ThreadPool& pool) : setup_(std::move(setup)), pool_(pool) {}

  std::vector<LeaderUpdate> run(std::span<const LeaderTask> tasks) override;
  std::vector<Model> personalise(std::span<const LeaderTask> tasks) override;

 private:
  struct Gathered;
  [[nodiscard]] OffloadResult decide(const LeaderTask& task) const;
  [[nodiscard]] Gathered gather(const LeaderTask& task, const SwarmLinks& links,
                                const OffloadDecision& decision, std::size_t local_round) const;
  void book(const LeaderTask& task, const SwarmLinks& links, const OffloadDecision& decision,
            const Gathered& gathered, LeaderUpdate& update) const;

  LocalFleetSetup setup_;
  ThreadPool& pool_;
  std::map<std::size_t, std::vector<WorkerTask>> held_;  // by each swarm's workers, after the last round
};

}  // namespace skein
