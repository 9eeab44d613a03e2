// The paper's recurrent deep Q-learning (section V-B, appendix A), in a sound form: the LSTM runs over time,
// the greedy plan of the train network is valued by the target network (double Q-learning), transitions are
// drawn from a replay buffer, exploration falls linearly.
//
// Where we differ, and why: Q is a function of state and plan instead of one output per joint plan, so that
// it serves any number of swarms and sites; it sees what the model says about a plan, and by default adds to
// the model's one-step reward, so that the network has only the future to learn; rewards are counted from
// those of the myopic plan (a constant, which leaves greedy plans as they are), so that values stay small;
// the loss is Huber's; several environments run side by side.
//
// Everything random comes from streams named by step and environment; the state of a learner is its numbers
// alone, so that one that was saved and restored goes on with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/agent.h"

namespace skein {

// Means over some steps of all environments.
struct CurvePoint {
  std::size_t step = 0;  // the last of them
  double reward = 0.0;
  double learning_objective = 0.0;
  double battery_j = 0.0;
  double violations = 0.0;
  double exploration = 0.0;
  double loss = 0.0;
  std::vector<double> visits;  // to each site, per epoch
};

class QLearner {
 public:
  QLearner(std::shared_ptr<const Environment> environment, const PlanningOptions& options,
           std::uint64_t seed);
  ~QLearner();
  QLearner(const QLearner&) = delete;
  QLearner& operator=(const QLearner&) = delete;
  QLearner(QLearner&&) = delete;
  QLearner& operator=(QLearner&&) = delete;

  [[nodiscard]] const Environment& environment() const;
  [[nodiscard]] std::size_t num_steps() const;  // done
  [[nodiscard]] std::size_t num_updates() const;
  [[nodiscard]] bool done() const;
  // From 0 to 1.
  [[nodiscard]] double progress() const;
  // One step of every environment, and an update of the network where one is due. Processes share the choices
  // of plans, and each has the whole learner.
  void step(ThreadPool& pool, Crew& crew = alone());

  [[nodiscard]] const std::vector<CurvePoint>& curve() const;
  [[nodiscard]] Agent agent() const;

  // All of it. Restoring throws InputError where the file is damaged or of another training.
  void save(const std::filesystem::path& file) const;
  void restore(const std::filesystem::path& file);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace skein
