// A trained Q-network with what is needed to use it: as a planner of its own, or as the foresight at the end
// of a beam search.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/beam.h"
#include "skein/planning/model_planner.h"
#include "skein/planning/plan_scorer.h"

namespace skein {

struct Agent {
  QShape shape;
  double discount = 0.9;
  bool model_reward = true;  // Q is the model's reward and what the network adds
  nn::Vector<float> parameters;
};

// A safetensors file. Loading throws InputError if the agent is not one for this environment.
void save_agent(const std::filesystem::path& file, const Agent& agent);
Agent load_agent(const std::filesystem::path& file, const Environment& environment);

// The shape for an environment.
QShape q_shape(const Environment& environment, const LearnerOptions& options);

// The greedy plan: the highest Q.
class LearnedPlanner final : public ModelPlanner {
 public:
  LearnedPlanner(const std::shared_ptr<const Environment>& environment, std::shared_ptr<const Agent> agent);
  void begin(std::uint64_t seed) override;

 protected:
  std::size_t decide(std::span<const double> state, std::span<Site> destinations) override;

 private:
  std::shared_ptr<const Agent> agent_;
  PlanScorer scorer_;
  Choices choices_;
  std::vector<float> q_;
  std::vector<std::vector<double>> past_;
};

// Of the choices, the highest Q: reward (if the agent adds to it) and what the network says; the first of
// equals.
std::size_t best_choice(const Choices& choices, std::span<const float> q, bool model_reward);

class AgentForesight final : public Foresight {
 public:
  AgentForesight(std::shared_ptr<const Environment> environment, std::shared_ptr<const Agent> agent);
  void look(std::span<const std::span<const double>> history, const Choices& choices,
            std::span<double> worth) override;
  [[nodiscard]] std::size_t window() const override { return agent_->shape.window; }

 private:
  std::shared_ptr<const Environment> environment_;
  std::shared_ptr<const Agent> agent_;
  PlanScorer scorer_;
  std::vector<float> q_;
};

}  // namespace skein
