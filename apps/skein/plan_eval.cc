#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "plan.h"
#include "skein/base/file.h"
#include "skein/mission/planner_comparison.h"
#include "text_table.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct PlanEvalOptions {
  PlanOptions plan;
  std::vector<std::string> planners;
  std::string against;
  PlannerComparisonSetup comparison;
};

void print(const PlannerComparisonSetup& setup, std::span<const PlannerStanding> standings,
           const std::string& against, const fs::path& directory) {
  const Environment& e = *setup.agent.environment;
  TextTable table({"<planner", "reward (IQM)", "95 % interval", "reward (mean)", "learning objective",
                   "battery (kJ)", "violations", "recharges", fmt::format("beats {}", against), "ms"});
  std::vector<std::string> headers{"<visits per sequence"};
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    headers.push_back(e.site_name(site));
  }
  TextTable visits(headers);
  for (const PlannerStanding& one : standings) {
    const MissionScore& mean = one.mean;
    table.add({one.result->name, fmt::format("{:.1f}", one.reward.value),
               fmt::format("{:.1f} to {:.1f}", one.reward.low, one.reward.high),
               fmt::format("{:.1f}", mean.reward), fmt::format("{:.1f}", mean.learning_objective),
               fmt::format("{:.1f}", mean.battery_j / 1e3), fmt::format("{:.4f}", mean.violations),
               fmt::format("{:.3f}", mean.recharges), fmt::format("{:.2f}", one.improvement.value),
               fmt::format("{:.3f}", one.result->decision_ms)});
    std::vector<std::string> row{one.result->name};
    for (const double site : mean.visits) {
      row.push_back(fmt::format("{:.3f}", site));
    }
    visits.add(std::move(row));
  }
  fmt::print(
      "{} swarms, {} clusters, {} stations; {} geometries, {} seeds, {} starts of {} sequences each\n"
      "Violations: swarms below their threshold per sequence; recharges per swarm and sequence; ms of "
      "processor "
      "time per sequence\n\n{}\n{}\nWrote planners.csv and planners.json to {}\n",
      e.num_swarms, e.num_clusters, e.num_stations, setup.geometries, setup.seeds, setup.starts, setup.epochs,
      table.text(), visits.text(), directory.string());
}

void plan_eval(const PlanEvalOptions& options) {
  const CommonOptions& common = options.plan.common;
  const PlanSetup setup = plan_setup(options.plan);
  const Scenario& scenario = setup.scenario;
  std::vector<std::string> names = options.planners;
  if (names.empty()) {
    names = {scenario.planning.planner, "beam", "myopic", "threshold_nearest"};
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  const fs::path directory = output_directory(common, scenario);
  PlannerComparisonSetup comparison = options.comparison;
  comparison.agent = agent_setup(options.plan, setup, setup.environment, scenario.run.seed, directory);
  ThreadPool pool(common.threads);
  std::vector<PlannerResult> results;
  {
    Progress progress(common, scenario.run.name);
    for (const std::string& name : names) {
      results.push_back(fly_planner(name, comparison, pool, crew(),
                                    [&](double fraction) { progress.show(name, fraction); }));
    }
  }
  if (!crew().is_first()) {
    return;
  }
  const std::string against = options.against.empty() ? names.back() : options.against;
  const std::vector<PlannerStanding> list = standings(results, against, scenario.run.seed);
  const std::string json = planner_comparison_json(scenario.run.name, comparison, against, list);
  write_file(directory / "scenario.toml", resolved_scenario(scenario));
  write_file(directory / "planners.csv", planner_scores_csv(comparison, results));
  write_file(directory / "planners.json", json);
  if (common.json()) {
    fmt::print("{}", json);
  } else if (common.talks()) {
    print(comparison, list, against, directory);
  }
}

}  // namespace

void add_plan_eval_command(Command& plan) {
  auto options = std::make_shared<PlanEvalOptions>();
  Command* command = plan.add_subcommand(
      "eval", "Compare planners on the same missions; without --agent, agents are trained");
  add_environment_options(*command, options->plan);
  add_agent_option(*command, options->plan);
  std::string names;
  std::vector<std::string> known;
  for (const std::string_view name : planner_names()) {
    known.emplace_back(name);
    names += fmt::format("\n  {:24}{}", name, planner_description(name));
  }
  command->add_option("--planner", options->planners, "Planners, separated by commas:" + names)
      ->delimiter(',')
      ->type_name("A,B,...")
      ->check(one_of(known));
  command
      ->add_option("--against", options->against,
                   "Probability of improvement over this one; default: the last")
      ->type_name("NAME");
  const auto count = [&](const char* name, std::size_t& value, const char* help, int most) {
    command->add_option(name, value, help)->type_name("N")->check(within(1, most))->capture_default_str();
  };
  count("--seeds", options->comparison.seeds, "Seeds: of starts, and of training", 1000);
  count("--geometries", options->comparison.geometries,
        "Geometries: the world's own, and others with its sites placed anew", 1000);
  count("--starts", options->comparison.starts, "Missions of each seed, from random clusters", 10000);
  count("--epochs", options->comparison.epochs, "Training sequences of a mission", 10000000);
  add_common_options(*command, options->plan.common,
                     "skein plan eval scenarios/paper/planning.toml --planner guided,beam,myopic --seeds 3");
  command->callback([options] { plan_eval(*options); });
}

}  // namespace skein::app
