// The leaders of all swarms on the threads of this machine.
#pragma once

#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/learning/trainer.h"
#include "skein/simulation/fleet.h"
#include "skein/simulation/leader.h"

namespace skein {

class LocalFleet final : public Fleet {
 public:
  // What is referred to must outlive the fleet.
  LocalFleet(const LeaderSetup& setup, Trainer& trainer, ThreadPool& pool)
      : setup_(setup), trainer_(trainer), pool_(pool) {}

  std::vector<LeaderUpdate> run(std::span<const LeaderTask> tasks) override;
  std::vector<Model> personalise(std::span<const LeaderTask> tasks) override;

 private:
  // One local round of all swarms.
  void train_round();

  LeaderSetup setup_;
  Trainer& trainer_;
  ThreadPool& pool_;
  std::vector<Leader> leaders_;  // of the last round
};

}  // namespace skein
