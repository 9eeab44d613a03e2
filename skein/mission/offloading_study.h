// Problem P of a scenario's swarms, solved: one way, for several learning weights, or by every method.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/offloader.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/scenario/scenario.h"

namespace skein {

struct TimedOffload {
  OffloadResult result;
  double milliseconds = 0.0;
};

// One for each instance, in parallel.
std::vector<TimedOffload> solve_instances(std::span<const NamedInstance> instances, std::string_view method,
                                          ThreadPool& pool);

// Of every swarm above its first cluster, with full batteries.
std::vector<OffloadingProblem> first_problems(const Scenario& scenario, ThreadPool& pool);
std::vector<TimedOffload> solve_problems(const std::vector<OffloadingProblem>& problems,
                                         std::string_view method, BatterySharing sharing, ThreadPool& pool);

// All of each decision: evaluation with every limit, certificate with every reduced cost.
std::string decisions_json(const std::vector<OffloadingProblem>& problems,
                           const std::vector<TimedOffload>& results);
// Writes decision.json and scenario.toml.
void write_decisions(const Scenario& scenario, const std::vector<OffloadingProblem>& problems,
                     const std::vector<TimedOffload>& results, const std::filesystem::path& directory);

// Means over the swarms (and local rounds) that have a decision; without any there are no numbers.
struct OffloadMeans {
  std::size_t solved = 0;
  std::size_t swarms = 0;
  double objective = 0.0, energy = 0.0, learning = 0.0, rho = 0.0, varrho = 0.0, processed = 0.0, clock = 0.0,
         ratio_sum = 0.0;
  double milliseconds = 0.0, worst_residual = 0.0;  // the sum, and the largest

  [[nodiscard]] bool has_numbers() const { return solved > 0; }
};
OffloadMeans means_of(const std::vector<TimedOffload>& results);

struct WeightRow {
  double learning_weight = 0.0;
  OffloadMeans means;
};
std::vector<WeightRow> sweep_weights(const Scenario& scenario, std::span<const double> weights,
                                     ThreadPool& pool, FractionListener progress);
std::string weights_json(std::span<const WeightRow> rows);

struct MethodRow {
  std::string name;
  OffloadMeans means;
  std::vector<std::string> reasons;  // why a swarm has no decision
};
// The same problems for all methods, the optimizer first.
std::vector<MethodRow> compare_methods(const Scenario& scenario, ThreadPool& pool);
std::string methods_json(std::span<const MethodRow> rows);

}  // namespace skein
