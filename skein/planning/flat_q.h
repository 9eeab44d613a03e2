// The published agent, as an ablation: the state as raw numbers, an LSTM that runs over these numbers instead
// of over time, one output per joint plan (8,640 for 3 swarms, 10 sites and 12 timings), plain Q-learning
// with a target network.
//
// Like every planner of ours it chooses among legal plans only. Kept from the published code: layers, Adam at
// 1e-3, squared error, discount as given, 300 transitions, batches of 20, a copy to the target every 20
// epochs, exploration 0.7 * 0.999^epoch. Different: one update with a batch of 20 per epoch instead of 20
// with one each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/lstm.h"
#include "skein/planning/model_planner.h"
#include "skein/planning/q_network.h"

namespace skein {

// Joint plans more than these are refused.
inline constexpr std::size_t most_flat_plans = 100000;
// How many joint plans there are; 0 where they are too many.
std::size_t num_flat_plans(const Environment& environment);

class FlatNetwork {
 public:
  explicit FlatNetwork(const Environment& environment);

  [[nodiscard]] std::size_t num_parameters() const { return size_; }
  [[nodiscard]] std::size_t num_features() const { return lstm_.window; }
  [[nodiscard]] std::size_t num_outputs() const { return sizes_.back(); }
  [[nodiscard]] nn::Vector<float> initial_parameters(RandomStream& stream) const;
  // Active flags, age times drift, batteries in J, ages of clusters and (always 0) stations, the timing.
  void features(std::span<const double> state, float* out) const;

  // Q of all joint plans for rows of features.
  void outputs(const nn::Vector<float>& w, const float* rows, std::size_t count, nn::Vector<float>& q);
  // Mean squared error of one output of each row, and its gradient.
  double gradient(const nn::Vector<float>& w, const float* rows, std::span<const std::size_t> plans,
                  std::span<const float> targets, nn::Vector<float>& out);

 private:
  const Environment& environment_;
  LstmShape lstm_;
  std::vector<std::size_t> sizes_;    // of the layers after the LSTM
  std::vector<std::size_t> weights_;  // where each begins: inputs x outputs, then biases
  std::size_t size_ = 0;
  MemoryTape tape_;
  std::vector<nn::Vector<float>> values_;
  std::vector<nn::Vector<float>> d_values_;
};

struct FlatAgent {
  nn::Vector<float> parameters;
};

// The legal joint plan with the highest output.
class FlatPlanner final : public ModelPlanner {
 public:
  FlatPlanner(const std::shared_ptr<const Environment>& environment, std::shared_ptr<const FlatAgent> agent);

 protected:
  std::size_t decide(std::span<const double> state, std::span<Site> destinations) override;

 private:
  std::shared_ptr<const FlatAgent> agent_;
  FlatNetwork network_;
  Choices choices_;
  nn::Vector<float> q_;
  std::vector<float> features_;
};

struct FlatTraining {
  std::shared_ptr<const FlatAgent> agent;
  std::vector<double> rewards;  // mean of every tenth of the training
};
// `epochs` steps of one environment.
FlatTraining train_flat_agent(const std::shared_ptr<const Environment>& environment, double discount,
                              std::size_t epochs, std::uint64_t seed,
                              const std::function<void(double)>& progress = {});

}  // namespace skein
