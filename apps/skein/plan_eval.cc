#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include "plan.h"
#include "skein/base/file.h"
#include "skein/planning/planners.h"
#include "text_table.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct PlanEvalOptions {
  PlanOptions plan;
  std::vector<std::string> planners;
  std::string against;
  std::size_t seeds = 5;
  std::size_t geometries = 1;
  std::size_t starts = 8;
  std::size_t epochs = 600;
};

struct PlannerResult {
  std::string name;
  std::vector<std::vector<MissionScore>> scores;  // geometry x seed, mean over starts
  double decision_ms = 0.0;

  [[nodiscard]] std::vector<std::vector<double>> rewards() const {
    std::vector<std::vector<double>> all;
    for (const auto& group : scores) {
      std::vector<double>& values = all.emplace_back();
      std::ranges::transform(group, std::back_inserter(values), &MissionScore::reward);
    }
    return all;
  }
  [[nodiscard]] MissionScore mean() const {
    std::vector<MissionScore> all;
    for (const auto& group : scores) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return mean_of(all);
  }
};

PlannerResult run_planner(const PlanEvalOptions& options, const PlanSetup& setup, const std::string& name,
                          const fs::path& directory, ThreadPool& pool,
                          const std::function<void(double)>& progress) {
  PlannerResult result{.name = name};
  double seconds = 0.0;
  const auto parts = static_cast<double>(options.geometries * options.seeds);
  for (std::size_t geometry = 0; geometry < options.geometries; ++geometry) {
    const auto environment = geometry_of(setup.environment, geometry);
    std::vector<MissionScore>& group = result.scores.emplace_back();
    for (std::size_t i = 0; i < options.seeds; ++i) {
      const std::uint64_t seed = setup.scenario.run.seed + i;
      const auto share = [&](double fraction) {
        progress((static_cast<double>(geometry * options.seeds + i) + fraction) / parts);
      };
      const Agents agents = agents_for(name, agent_setup(options.plan, setup, environment, seed, directory),
                                       pool, crew(), share);
      const std::clock_t start = std::clock();
      // Every planner flies from the same starts.
      group.push_back(mean_of(evaluate(
          *environment, planner_factory(name, environment, setup.scenario.planning, agents),
          {.starts = options.starts, .epochs = options.epochs, .seed = 1000 + 100 * seed}, pool, crew())));
      seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      share(1.0);
    }
  }
  result.decision_ms =
      1e3 * sum_over_processes(seconds) / (parts * static_cast<double>(options.starts * options.epochs));
  return result;
}

std::string scores_csv(const Environment& e, const std::vector<PlannerResult>& results,
                       std::uint64_t first_seed) {
  std::string text =
      "planner,geometry,seed,reward,learning_objective,battery_J,violations_per_epoch,"
      "recharges_per_swarm_and_epoch";
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    text += fmt::format(",visits_{}", e.site_name(site));
  }
  text += '\n';
  for (const PlannerResult& result : results) {
    for (std::size_t g = 0; g < result.scores.size(); ++g) {
      for (std::size_t i = 0; i < result.scores[g].size(); ++i) {
        const MissionScore& s = result.scores[g][i];
        text += fmt::format("{},{},{},{},{},{},{},{}", result.name, g, first_seed + i, s.reward,
                            s.learning_objective, s.battery_j, s.violations, s.recharges);
        for (const double visits : s.visits) {
          text += fmt::format(",{}", visits);
        }
        text += '\n';
      }
    }
  }
  return text;
}

ordered_json to_json(const Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

void plan_eval(const PlanEvalOptions& options) {
  const CommonOptions& common = options.plan.common;
  const PlanSetup setup = plan_setup(options.plan);
  std::vector<std::string> names = options.planners;
  if (names.empty()) {
    names = {setup.scenario.planning.planner, "beam", "myopic", "threshold_nearest"};
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  const fs::path directory = output_directory(common, setup.scenario);
  ThreadPool pool(common.threads);
  std::vector<PlannerResult> results;
  {
    Progress progress(common, setup.scenario.run.name);
    for (const std::string& name : names) {
      results.push_back(run_planner(options, setup, name, directory, pool,
                                    [&](double fraction) { progress.show(name, fraction); }));
    }
  }
  if (!crew().is_first()) {
    return;
  }
  const std::string against = options.against.empty() ? names.back() : options.against;
  const auto other = std::ranges::find(results, against, &PlannerResult::name);
  if (other == results.end()) {
    throw InputError(
        InputFault{.key = "--against", .value = against, .message = "must be one of the planners evaluated"});
  }
  const std::uint64_t seed = setup.scenario.run.seed;
  TextTable table({"<planner", "reward (IQM)", "95 % interval", "reward (mean)", "learning objective",
                   "battery (kJ)", "violations", "recharges", fmt::format("beats {}", against), "ms"});
  std::vector<std::string> headers{"<visits per sequence"};
  for (std::size_t site = 0; site < setup.environment->num_sites(); ++site) {
    headers.push_back(setup.environment->site_name(site));
  }
  TextTable visits(headers);
  ordered_json list = ordered_json::array();
  for (const PlannerResult& result : results) {
    const MissionScore mean = result.mean();
    const Interval reward = bootstrap_interval(result.rewards(), seed);
    const Interval improvement = improvement_probability(result.rewards(), other->rewards(), seed);
    table.add({result.name, fmt::format("{:.1f}", reward.value),
               fmt::format("{:.1f} to {:.1f}", reward.low, reward.high), fmt::format("{:.1f}", mean.reward),
               fmt::format("{:.1f}", mean.learning_objective), fmt::format("{:.1f}", mean.battery_j / 1e3),
               fmt::format("{:.4f}", mean.violations), fmt::format("{:.3f}", mean.recharges),
               fmt::format("{:.2f}", improvement.value), fmt::format("{:.3f}", result.decision_ms)});
    std::vector<std::string> row{result.name};
    for (const double site : mean.visits) {
      row.push_back(fmt::format("{:.3f}", site));
    }
    visits.add(std::move(row));
    list.push_back({{"planner", result.name},
                    {"reward_interquartile_mean", to_json(reward)},
                    {"reward", mean.reward},
                    {"learning_objective", mean.learning_objective},
                    {"battery_J", mean.battery_j},
                    {"violations_per_epoch", mean.violations},
                    {"recharges_per_swarm_and_epoch", mean.recharges},
                    {"visits_per_epoch", mean.visits},
                    {"improvement_probability", to_json(improvement)},
                    {"rewards", result.rewards()},
                    {"decision_ms", result.decision_ms}});
  }
  const ordered_json summary{{"run", setup.scenario.run.name},
                             {"seeds", options.seeds},
                             {"geometries", options.geometries},
                             {"starts", options.starts},
                             {"epochs", options.epochs},
                             {"threshold_J", setup.environment->threshold_j},
                             {"against", against},
                             {"planners", list}};
  write_file(directory / "scenario.toml", resolved_scenario(setup.scenario));
  write_file(directory / "planners.csv", scores_csv(*setup.environment, results, seed));
  write_file(directory / "planners.json", summary.dump(1) + "\n");
  if (common.json()) {
    fmt::print("{}\n", summary.dump(1));
  } else if (common.talks()) {
    fmt::print(
        "{} swarms, {} clusters, {} stations; {} geometries, {} seeds, {} starts of {} sequences each\n"
        "Violations: swarms below their threshold per sequence; recharges per swarm and sequence; ms of "
        "processor "
        "time per sequence\n\n{}\n{}\nWrote planners.csv and planners.json to {}\n",
        setup.environment->num_swarms, setup.environment->num_clusters, setup.environment->num_stations,
        options.geometries, options.seeds, options.starts, options.epochs, table.text(), visits.text(),
        directory.string());
  }
}

}  // namespace

void add_plan_eval_command(CLI::App& plan) {
  auto options = std::make_shared<PlanEvalOptions>();
  CLI::App* command = plan.add_subcommand(
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
      ->check(CLI::IsMember(known));
  command
      ->add_option("--against", options->against,
                   "Probability of improvement over this one; default: the last")
      ->type_name("NAME");
  const auto count = [&](const char* name, std::size_t& value, const char* help, int most) {
    command->add_option(name, value, help)->type_name("N")->check(CLI::Range(1, most))->capture_default_str();
  };
  count("--seeds", options->seeds, "Seeds: of starts, and of training", 1000);
  count("--geometries", options->geometries,
        "Geometries: the world's own, and others with its sites placed anew", 1000);
  count("--starts", options->starts, "Missions of each seed, from random clusters", 10000);
  count("--epochs", options->epochs, "Training sequences of a mission", 10000000);
  add_common_options(*command, options->plan.common,
                     "skein plan eval scenarios/paper/planning.toml --planner guided,beam,myopic --seeds 3");
  command->callback([options] { plan_eval(*options); });
}

}  // namespace skein::app
