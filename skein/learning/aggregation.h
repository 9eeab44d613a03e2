// When the core network stops waiting in a global round, and what it makes of the models that have come.
#pragma once

#include <memory>
#include <span>

#include "skein/base/thread_pool.h"
#include "skein/learning/options.h"
#include "skein/learning/trainer.h"

namespace skein {

class AggregationRule {
 public:
  AggregationRule() = default;
  virtual ~AggregationRule() = default;
  AggregationRule(const AggregationRule&) = delete;
  AggregationRule& operator=(const AggregationRule&) = delete;
  AggregationRule(AggregationRule&&) = delete;
  AggregationRule& operator=(AggregationRule&&) = delete;

  // When a round ends, if swarms are done with it at these moments: in seconds since the first of them has
  // begun; never empty, and not before the first is done. Models of swarms that are done later are not
  // merged.
  [[nodiscard]] virtual double round_end(std::span<const double> done_s) const = 0;
  // The global model of the next round, from the whole updates of those who were in time: never empty.
  [[nodiscard]] virtual Model merged(const Model& global, std::span<const SwarmUpdate> updates,
                                     ThreadPool& pool) const = 0;
};

// The paper's: the slowest swarm ends the round; swarms count alike, or by their data. Of so many swarms,
// those that have not come may count with the global model as it was.
class WaitForAll final : public AggregationRule {
 public:
  explicit WaitForAll(MergeWeights weights = MergeWeights::equal, std::size_t num_swarms = 0)
      : weights_(weights), num_swarms_(num_swarms) {}

  [[nodiscard]] double round_end(std::span<const double> done_s) const override;
  [[nodiscard]] Model merged(const Model& global, std::span<const SwarmUpdate> updates,
                             ThreadPool& pool) const override;

 private:
  MergeWeights weights_;
  std::size_t num_swarms_;  // 0: only those that have come count
};

// By the scenario's choice, for so many swarms.
std::unique_ptr<AggregationRule> build_aggregation(const LearningOptions& options, std::size_t num_swarms);

}  // namespace skein
