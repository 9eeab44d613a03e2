// The state of a learner, for the two files that make it: q_learning.cc (learning) and
// q_learning_checkpoint.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/q_learning.h"

namespace skein {

// A remembered step of one environment, beside the state in which it was taken.
struct Taken {
  double reward = 0.0;
  double model_reward = 0.0;  // what the model said before
  double timing = 0.0;
  double fresh = 0.0;  // the environment started anew in this state
};
static_assert(sizeof(Taken) == 4 * sizeof(double));

struct QLearner::Inside {
  std::shared_ptr<const Environment> environment;
  PlanningOptions options;
  std::uint64_t seed;
  ChoiceFinder finder;
  PlanEncoder encoder;
  QNetwork network;
  double centre;

  // What changes.
  std::size_t steps = 0;
  std::size_t updates = 0;
  nn::Vector<float> train;
  nn::Vector<float> target;
  Adam adam;
  States states;                     // of now: environments
  States remembered;                 // ring of steps x environments
  std::vector<Taken> taken;          // likewise
  std::vector<double> destinations;  // likewise x swarms
  std::vector<double> fresh;         // whether each environment has just started
  std::vector<CurvePoint> curve;
  std::vector<double> sums;  // of the curve's next point: reward, objective, battery, violations, loss,
                             // updates, visits

  // Buffers of threads' bodies: one for each environment or transition.
  struct Lane {
    Lane(const Environment& e, const QShape& shape) : scorer(e, shape) {}
    PlanScorer scorer;
    Choices choices;
    std::vector<float> q;
    Outcome outcome;
  };
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<float> windows;
  std::vector<float> plans;
  std::vector<float> targets;
  nn::Vector<float> gradient;

  Inside(std::shared_ptr<const Environment> e, const PlanningOptions& o, std::uint64_t s);

  // One more than can be learnt from: the step after the newest.
  [[nodiscard]] std::size_t capacity() const {
    return std::min(options.learner.replay_steps, options.learner.steps) + options.learner.window + 1;
  }
  [[nodiscard]] std::size_t slot(std::size_t step, std::size_t i) const {
    return step % capacity() * options.learner.environments + i;
  }
  void start(std::size_t i);
  [[nodiscard]] double exploration() const;
  [[nodiscard]] std::vector<Site> sites_of(std::size_t at) const;
  // States up to `step`, the oldest first, not beyond a fresh start.
  [[nodiscard]] std::vector<std::span<const double>> history(std::size_t step, std::size_t i) const;

  // A step of an environment: its state is kept, a plan is chosen, and carried out.
  void remember(std::size_t i);
  void choose(std::size_t i);
  void carry_out(std::size_t i);
  // The environment and the step of a batch's transition.
  struct Transition {
    std::size_t step = 0;
    std::size_t environment = 0;
  };
  [[nodiscard]] Transition sampled(std::size_t b) const;
  void encode(std::size_t b);
  [[nodiscard]] float target_of(std::size_t b);
  void update(ThreadPool& pool, Crew& crew);
  void add_to_curve();
};

}  // namespace skein
