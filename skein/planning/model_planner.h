// What planners that know the environment's model share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "skein/planning/choices.h"
#include "skein/planning/planner.h"

namespace skein {

class ModelPlanner : public Planner {
 public:
  explicit ModelPlanner(std::shared_ptr<const Environment> environment, const ChoiceOptions& options = {})
      : environment_(std::move(environment)),
        finder_(*environment_, options),
        state_(StateLayout(*environment_).size()),
        destinations_(environment_->num_swarms) {}

  void begin(std::uint64_t seed) override { seed_ = seed; }
  Plan choose(const Observation& observation) final {
    restore(*environment_, observation, state_);
    alternatives_.clear();
    const std::size_t timing = decide(state_, destinations_);
    return make_plan(*environment_, destinations_, timing);
  }
  [[nodiscard]] std::vector<Alternative> alternatives() const override { return alternatives_; }

 protected:
  static constexpr std::size_t most_alternatives = 8;  // that are told

  // Fills the destinations and returns the timing.
  virtual std::size_t decide(std::span<const double> state, std::span<Site> destinations) = 0;

  // Filled by whoever has values.
  void weighed(std::vector<Alternative> alternatives) { alternatives_ = std::move(alternatives); }

  [[nodiscard]] const Environment& environment() const { return *environment_; }
  [[nodiscard]] const ChoiceFinder& finder() const { return finder_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  std::shared_ptr<const Environment> environment_;
  ChoiceFinder finder_;
  std::vector<double> state_;
  std::vector<Site> destinations_;
  std::vector<Alternative> alternatives_;
  std::uint64_t seed_ = 0;
};

}  // namespace skein
