// An agent learns to the end, in one go.
#pragma once

#include <memory>
#include <utility>

#include "skein/planning/q_learning.h"

namespace skein {

inline std::shared_ptr<const Agent> train_agent(std::shared_ptr<const Environment> environment,
                                                const PlanningOptions& options, std::uint64_t seed,
                                                ThreadPool& pool) {
  QLearner learner(std::move(environment), options, seed);
  while (!learner.done()) {
    learner.step(pool);
  }
  return std::make_shared<const Agent>(learner.agent());
}

}  // namespace skein
