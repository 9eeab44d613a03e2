// Planners compared on the same missions, over seeds and geometries; agents that they need are trained first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/base/thread_pool.h"
#include "skein/mission/agents.h"
#include "skein/planning/planner_evaluation.h"

namespace skein {

struct PlannerComparisonSetup {
  AgentSetup agent;  // its seed is the first one
  std::size_t seeds = 5;
  std::size_t geometries = 1;  // the environment's own, and others with its sites placed anew
  std::size_t starts = 8;      // missions of each seed, from random clusters
  std::size_t epochs = 600;    // of a mission
};

struct PlannerResult {
  std::string name;
  std::vector<std::vector<MissionScore>> scores;  // geometry x seed, mean over starts
  double decision_ms = 0.0;                       // of processor time, for an epoch

  [[nodiscard]] std::vector<std::vector<double>> rewards() const;
  [[nodiscard]] MissionScore mean() const;
};

// Every planner flies from the same starts. Each process of the crew calls the same.
PlannerResult fly_planner(const std::string& name, const PlannerComparisonSetup& setup, ThreadPool& pool,
                          Crew& crew, FractionListener progress);

// What can be said of a planner beside another one.
struct PlannerStanding {
  const PlannerResult* result = nullptr;
  MissionScore mean;
  Interval reward;       // interquartile mean
  Interval improvement;  // the probability that it beats the other
};
// Throws InputError where `against` is none of them.
std::vector<PlannerStanding> standings(std::span<const PlannerResult> results, const std::string& against,
                                       std::uint64_t seed);

// A row per planner, geometry and seed.
std::string planner_scores_csv(const PlannerComparisonSetup& setup, std::span<const PlannerResult> results);
// Under the name of the run.
std::string planner_comparison_json(const std::string& run, const PlannerComparisonSetup& setup,
                                    const std::string& against, std::span<const PlannerStanding> standings);

}  // namespace skein
