// The paper's baselines (appendix A): sequential heuristic, greedy and threshold minimum distance.
//
// Each swarm in turn picks its next site among those that are free. Where flying there and training would
// take it below its threshold, or leave it without a station in reach, it goes to the nearest free station
// instead: just in time, unlike the published code, which turns back far above the threshold. Timing is
// random, as published, or the one with the least objective.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/model_planner.h"

namespace skein {

enum class Route {
  sequential,  // C:1, C:2, ..., R:1, R:2, C:1, ...; goes on where it was after a recharge
  nearest,     // the nearest other cluster
  random,      // any cluster
};

struct HeuristicOptions {
  Route route = Route::sequential;
  double random_share = 0.0;  // probability of Route::random instead; the paper says 0.1, its code has 0.9
  bool best_timing = false;
};

class HeuristicPlanner final : public ModelPlanner {
 public:
  HeuristicPlanner(std::shared_ptr<const Environment> environment, const HeuristicOptions& options)
      : ModelPlanner(std::move(environment)), options_(options) {}

  void begin(std::uint64_t seed) override;

 protected:
  std::size_t decide(std::span<const double> state, std::span<Site> destinations) override;

 private:
  struct Turn;  // one decision
  bool try_order(Turn& turn, std::span<Site> destinations) const;
  [[nodiscard]] std::vector<Site> wishes(const Turn& turn, std::size_t swarm) const;
  [[nodiscard]] std::vector<Site> stations_by_distance(std::size_t from) const;

  HeuristicOptions options_;
  std::vector<std::size_t> cursors_;  // of the sequential route: each swarm's next site
};

// The legal plan with the highest one-step reward.
class MyopicPlanner final : public ModelPlanner {
 public:
  using ModelPlanner::ModelPlanner;

 protected:
  std::size_t decide(std::span<const double> state, std::span<Site> destinations) override;

 private:
  Choices choices_;
};

// Any legal plan, any timing.
class RandomPlanner final : public ModelPlanner {
 public:
  using ModelPlanner::ModelPlanner;

 protected:
  std::size_t decide(std::span<const double> state, std::span<Site> destinations) override;

 private:
  Choices choices_;
};

}  // namespace skein
