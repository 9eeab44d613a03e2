// States and plans as numbers for the Q-network, and the Q of all legal plans of a state at once.
//
// Of a state: each swarm's site, battery and whether it is active; each cluster's age, gradient and drift;
// the last timing. Of a plan, all from the model: each swarm's destination and battery there, the flights'
// energy, each cluster's age and gradient afterwards, the timing, and the one-step reward. So Q(Z, H) needs
// no output per plan and serves any number of swarms and sites; but it is partly based on the model.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/choices.h"
#include "skein/planning/q_network.h"

namespace skein {

// Rewards are divided by this for the network.
inline constexpr double reward_unit = 100.0;

class PlanEncoder {
 public:
  explicit PlanEncoder(const Environment& environment);

  [[nodiscard]] std::size_t num_features() const;
  [[nodiscard]] std::size_t num_plan_features() const;
  void state(std::span<const double> state, float* out) const;
  // States in the order of time; where there are fewer than `window`, the oldest stands for those before.
  void window(std::span<const std::span<const double>> history, std::size_t window, float* out) const;
  void plan(std::span<const double> state, std::span<const Site> destinations, std::size_t index,
            double reward, float* out) const;

  // Where the features of a plan are.
  [[nodiscard]] std::size_t destination_at(std::size_t swarm) const;
  [[nodiscard]] std::size_t battery_at() const;
  [[nodiscard]] std::size_t age_at() const;
  [[nodiscard]] std::size_t gradient_at() const;
  [[nodiscard]] std::size_t timing_at() const;
  [[nodiscard]] std::size_t travel_at() const { return timing_at() + 3; }
  [[nodiscard]] std::size_t reward_at() const { return timing_at() + 4; }

  // Single features of a plan.
  [[nodiscard]] float battery(std::span<const double> state, std::size_t swarm, std::size_t site) const;
  [[nodiscard]] float travel(std::span<const double> state, std::size_t swarm, std::size_t site) const;
  // Of a cluster that nobody visits.
  [[nodiscard]] float age(std::span<const double> state, std::size_t cluster) const;
  [[nodiscard]] float gradient(std::span<const double> state, std::size_t cluster) const;
  void timing(std::size_t index, float* out) const;

 private:
  const Environment& environment_;
  StateLayout at_;
  std::vector<double> training_j_;  // swarm x cluster, mean of all timings
  double gradient_unit_;
  double drift_unit_;
  Timing longest_;
};

// Scores all choices of a state with one network. One thread's: it keeps its buffers.
class PlanScorer {
 public:
  PlanScorer(const Environment& environment, const QShape& shape)
      : environment_(environment), encoder_(environment), network_(shape) {}

  [[nodiscard]] const PlanEncoder& encoder() const { return encoder_; }

  // What the network adds to the model's reward, for all choices of the history's last state.
  void score(const nn::Vector<float>& w, std::span<const std::span<const double>> history,
             const Choices& choices, std::span<float> q);
  // The same for one of them.
  float score_one(const nn::Vector<float>& w, std::span<const std::span<const double>> history,
                  const Choices& choices, std::size_t plan);

 private:
  void sum_of_state(const nn::Vector<float>& w, std::span<const std::span<const double>> history);
  // The first layer of plans `first` to `end`, after its relu.
  void first_layer(const nn::Vector<float>& w, const Choices& choices, std::size_t first, std::size_t end);

  const Environment& environment_;
  PlanEncoder encoder_;
  QNetwork network_;
  std::vector<float> window_;
  MemoryTape tape_;
  nn::Vector<float> base_;     // first sums without any plan
  nn::Vector<float> places_;   // swarm x site: what a destination adds to them
  nn::Vector<float> timings_;  // what a timing adds to them
  nn::Vector<float> partial_;  // sums up to each swarm but the last
  nn::Vector<float> sums_;
  nn::Vector<float> scratch_;
};

}  // namespace skein
