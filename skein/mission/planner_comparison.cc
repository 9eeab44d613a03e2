#include "skein/mission/planner_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "skein/base/csv.h"
#include "skein/base/input_fault.h"
#include "skein/base/stopwatch.h"
#include "skein/mission/planning_setup.h"
#include "skein/planning/planners.h"

namespace skein {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

}  // namespace

std::vector<std::vector<double>> PlannerResult::rewards() const {
  std::vector<std::vector<double>> all;
  for (const auto& group : scores) {
    std::vector<double>& values = all.emplace_back();
    std::ranges::transform(group, std::back_inserter(values), &MissionScore::reward);
  }
  return all;
}

MissionScore PlannerResult::mean() const {
  std::vector<MissionScore> all;
  for (const auto& group : scores) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return mean_of(all);
}

PlannerResult fly_planner(const std::string& name, const PlannerComparisonSetup& setup, ThreadPool& pool,
                          Crew& crew, FractionListener progress) {
  PlannerResult result{.name = name};
  double seconds = 0.0;
  const auto parts = static_cast<double>(setup.geometries * setup.seeds);
  for (std::size_t geometry = 0; geometry < setup.geometries; ++geometry) {
    AgentSetup agent = setup.agent;
    agent.environment = geometry_of(setup.agent.environment, geometry);
    std::vector<MissionScore>& group = result.scores.emplace_back();
    for (std::size_t i = 0; i < setup.seeds; ++i) {
      agent.seed = setup.agent.seed + i;
      const auto share = [&](double fraction) {
        progress((static_cast<double>(geometry * setup.seeds + i) + fraction) / parts);
      };
      const Agents agents = agents_for(name, agent, pool, crew, share);
      const Stopwatch watch;
      group.push_back(mean_of(evaluate(
          *agent.environment, planner_factory(name, agent.environment, agent.planning, agents),
          {.starts = setup.starts, .epochs = setup.epochs, .seed = 1000 + 100 * agent.seed}, pool, crew)));
      seconds += watch.processor_seconds();
      share(1.0);
    }
  }
  result.decision_ms =
      1e3 * sum_over(crew, seconds) / (parts * static_cast<double>(setup.starts * setup.epochs));
  return result;
}

std::vector<PlannerStanding> standings(std::span<const PlannerResult> results, const std::string& against,
                                       std::uint64_t seed) {
  const auto other = std::ranges::find(results, against, &PlannerResult::name);
  if (other == results.end()) {
    throw InputError(
        InputFault{.key = "--against", .value = against, .message = "must be one of the planners evaluated"});
  }
  std::vector<PlannerStanding> list;
  for (const PlannerResult& result : results) {
    list.push_back({.result = &result,
                    .mean = result.mean(),
                    .reward = bootstrap_interval(result.rewards(), seed),
                    .improvement = improvement_probability(result.rewards(), other->rewards(), seed)});
  }
  return list;
}

std::string planner_scores_csv(const PlannerComparisonSetup& setup, std::span<const PlannerResult> results) {
  struct ScoreRow {
    const PlannerResult& result;
    std::size_t geometry, seed;

    [[nodiscard]] const MissionScore& score() const { return result.scores[geometry][seed]; }
  };
  using Row = const ScoreRow&;
  const Environment& e = *setup.agent.environment;
  Columns<ScoreRow> columns{
      {"planner", [](Row r) { return r.result.name; }},
      {"geometry", [](Row r) { return r.geometry; }},
      {"seed", [&](Row r) { return setup.agent.seed + r.seed; }},
      {"reward", [](Row r) { return r.score().reward; }},
      {"learning_objective", [](Row r) { return r.score().learning_objective; }},
      {"battery_J", [](Row r) { return r.score().battery_j; }},
      {"violations_per_epoch", [](Row r) { return r.score().violations; }},
      {"recharges_per_swarm_and_epoch", [](Row r) { return r.score().recharges; }},
  };
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    columns.add("visits_" + e.site_name(site), [site](Row r) { return r.score().visits[site]; });
  }
  std::string text = columns.header();
  for (const PlannerResult& result : results) {
    for (std::size_t g = 0; g < result.scores.size(); ++g) {
      for (std::size_t i = 0; i < result.scores[g].size(); ++i) {
        text += columns.row({result, g, i});
      }
    }
  }
  return text;
}

std::string planner_comparison_json(const std::string& run, const PlannerComparisonSetup& setup,
                                    const std::string& against, std::span<const PlannerStanding> standings) {
  ordered_json list = ordered_json::array();
  for (const PlannerStanding& one : standings) {
    list.push_back({{"planner", one.result->name},
                    {"reward_interquartile_mean", to_json(one.reward)},
                    {"reward", one.mean.reward},
                    {"learning_objective", one.mean.learning_objective},
                    {"battery_J", one.mean.battery_j},
                    {"violations_per_epoch", one.mean.violations},
                    {"recharges_per_swarm_and_epoch", one.mean.recharges},
                    {"visits_per_epoch", one.mean.visits},
                    {"improvement_probability", to_json(one.improvement)},
                    {"rewards", one.result->rewards()},
                    {"decision_ms", one.result->decision_ms}});
  }
  return ordered_json{{"run", run},
                      {"seeds", setup.seeds},
                      {"geometries", setup.geometries},
                      {"starts", setup.starts},
                      {"epochs", setup.epochs},
                      {"threshold_J", setup.agent.environment->threshold_j},
                      {"against", against},
                      {"planners", list}}
             .dump(1) +
         "\n";
}

}  // namespace skein
