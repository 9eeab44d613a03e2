// The offloading block as the rest of the system sees it: a swarm's problem goes in, a decision with its
// certificate comes out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/names.h"
#include "skein/base/thread_pool.h"
#include "skein/offloading/instance.h"

namespace skein {

enum class OffloadStatus {
  solved,      // a stationary point of P, by its certificate
  feasible,    // all limits are met, but the certificate shows that it is not stationary
  infeasible,  // there is no best decision: `culprit` says which limit cannot be met and by how much
};
constexpr auto names_of(OffloadStatus) {
  return names_for<OffloadStatus>("solved", "feasible", "infeasible");
}

// Of the shares at zero: by how much (relative) the objective would rise for each unit of them. Not a number
// for shares above zero and those that are closed.
struct ReducedCosts {
  Table<double> rho{};    // devices x UAVs
  Table<double> relay{};  // coordinators x workers, of relayed data in units of all data
};

// What a problem's own multipliers prove of a decision. All relative: to the objective, and to the limits.
struct OffloadCertificate {
  double kkt_residual = 0.0;  // how far a projected gradient step of the Lagrangian would move any variable
  double violation = 0.0;     // of the worst limit
  double complementarity = 0.0;               // largest multiplier times slack
  double least_reduced_cost = 0.0;            // of all: below 0, using that share would lower the objective
  std::vector<ReducedCosts> reduced_costs{};  // of each round
  std::vector<LimitUse> binding{};            // limits in use with a multiplier above 0
};

ReducedCosts no_reduced_costs(const OffloadingInstance& instance);       // none is known
void add_binding(const LimitUse& use, OffloadCertificate& certificate);  // unless it is there

struct OffloadResult {
  OffloadStatus status = OffloadStatus::infeasible;
  std::string culprit{};
  // One of each for every round.
  std::vector<OffloadDecision> decisions{};
  std::vector<OffloadEvaluation> evaluations{};
  OffloadCertificate certificate{};
  double bound_constant = 0.0;  // of the gradient's bound: what no decision changes
  // In a mission, of every round: the bound's part of the objective by the constants of the planner's tables.
  std::vector<double> planned_learning{};
  std::size_t iterations = 0;          // Newton steps, of all starts
  std::size_t condensations = 0;       // of Algorithm 1
  std::size_t increases = 0;           // of its objective, which must not happen
  std::vector<std::size_t> workers{};  // those that are used, of all
  std::vector<std::size_t> coordinators{};

  [[nodiscard]] double objective() const;  // sum over rounds
};

class Offloader {
 public:
  Offloader() = default;
  virtual ~Offloader() = default;
  Offloader(const Offloader&) = delete;
  Offloader& operator=(const Offloader&) = delete;
  Offloader(Offloader&&) = delete;
  Offloader& operator=(Offloader&&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Local rounds that share the batteries: budgets are those of the first, for all together. `previous` is
  // the result for a problem like this one (a round earlier, say) to start from, or nullptr.
  [[nodiscard]] virtual OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                            const OffloadResult* previous) const = 0;
};

// Why there is no best decision; empty if there is one. In closed form: all limits are met by sending little
// enough, so only what is used up before anything is sent counts; and if learning is worth nothing, every
// decision is worse than one that sends less. Where time has a price a battery must last until a point is
// sent.
std::string culprit_of(std::span<const OffloadingInstance> rounds);

// A result for some of the UAVs becomes one for all of them: the others do nothing.
void put_among_all_uavs(std::span<const OffloadingInstance> rounds, const std::vector<std::size_t>& workers,
                        const std::vector<std::size_t>& coordinators, OffloadResult& result);

// Coordinators with some battery and buffer, and that can hover until a point is sent: the others cannot
// relay, and where time has a price they do not stay up for nothing.
std::vector<std::size_t> open_coordinators(std::span<const OffloadingInstance> rounds);
// The problem without the others.
OffloadResult solve_without_closed(const Offloader& offloader, std::span<const OffloadingInstance> rounds,
                                   const std::vector<std::size_t>& open);

// Rounds one by one with an even part of each budget; results as one.
OffloadResult solve_split(const Offloader& offloader, std::span<const OffloadingInstance> rounds,
                          const OffloadResult* previous);

// Problems of several swarms at once, in their order.
std::vector<OffloadResult> solve_all(const Offloader& offloader,
                                     std::span<const std::vector<OffloadingInstance>> problems,
                                     ThreadPool& pool);

}  // namespace skein
