#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "offload_view.h"
#include "progress.h"
#include "skein/mission/build.h"
#include "skein/mission/offloading_study.h"
#include "text_table.h"

namespace skein::app {
namespace {

struct OptimizeOptions {
  CommonOptions common;
  std::string instances;
  std::vector<double> weights;
  bool compare = false;
};

void solve_file(const OptimizeOptions& options) {
  const std::vector<NamedInstance> instances = read_instances(options.instances);
  ThreadPool pool(options.common.threads);
  const std::vector<TimedOffload> results =
      solve_instances(instances, load(options.common).offloading.method, pool);
  std::string lines;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    lines += result_line(instances[i].instance, results[i].result, results[i].milliseconds) + "\n";
  }
  fmt::print("{}", lines);
}

// Without a decision there are no numbers.
std::string text_of(const OffloadMeans& means, const char* format, double value) {
  return means.has_numbers() ? fmt::format(fmt::runtime(format), value) : "-";
}

void print_weights(const Scenario& scenario, const std::vector<WeightRow>& rows) {
  TextTable table({"learning weight", "objective", "energy (J)", "mean rho", "mean varrho",
                   "mean sum of alpha", "processed (points)", "mean clock (MHz)", "solved"});
  for (const WeightRow& row : rows) {
    const OffloadMeans& s = row.means;
    table.add({fmt::format("{}", row.learning_weight), text_of(s, "{:.5g}", s.objective),
               text_of(s, "{:.4g}", s.energy), text_of(s, "{:.4f}", s.rho), text_of(s, "{:.4f}", s.varrho),
               text_of(s, "{:.4f}", s.ratio_sum), text_of(s, "{:.0f}", s.processed),
               text_of(s, "{:.1f}", s.clock / 1e6), fmt::format("{} of {}", s.solved, s.swarms)});
  }
  fmt::print("Means over swarms and local rounds, method {}\n\n{}", scenario.offloading.method, table.text());
}

void print_methods(const Scenario& scenario, const std::vector<MethodRow>& rows) {
  TextTable table({"<method", "objective", "energy (J)", "objective saved by newton (%)",
                   "energy saved by newton (%)", "worst KKT residual", "solved", "time (ms)"});
  const OffloadMeans& ours = rows.front().means;
  std::string reasons;
  for (const MethodRow& row : rows) {
    const OffloadMeans& s = row.means;
    const auto saved = [&](double mine, double other) {
      return text_of(s, "{:.1f}", 100.0 * (1.0 - mine / other));
    };
    table.add({row.name, text_of(s, "{:.5g}", s.objective), text_of(s, "{:.4g}", s.energy),
               saved(ours.objective, s.objective), saved(ours.energy, s.energy),
               text_of(s, "{:.1e}", s.worst_residual), fmt::format("{} of {}", s.solved, s.swarms),
               fmt::format("{:.1f}", s.milliseconds)});
    for (const std::string& reason : row.reasons) {
      reasons += fmt::format("  {}, {}\n", row.name, reason);
    }
  }
  fmt::print("The same problems for all, learning weight {}; means over swarms and local rounds\n\n{}{}{}",
             scenario.offloading.learning_weight, table.text(),
             reasons.empty() ? "" : "\nNo decision meets all limits\n", reasons);
}

void solve_weights(const OptimizeOptions& options, const Scenario& scenario, ThreadPool& pool) {
  const std::vector<WeightRow> rows = [&] {
    Progress progress(options.common, "optimize");
    return sweep_weights(scenario, options.weights, pool,
                         [&](double fraction) { progress.show("weights", fraction); });
  }();
  if (options.common.json()) {
    fmt::print("{}", weights_json(rows));
  } else if (options.common.talks()) {
    print_weights(scenario, rows);
  }
}

void compare(const OptimizeOptions& options, const Scenario& scenario, ThreadPool& pool) {
  const std::vector<MethodRow> rows = compare_methods(scenario, pool);
  if (options.common.json()) {
    fmt::print("{}", methods_json(rows));
  } else if (options.common.talks()) {
    print_methods(scenario, rows);
  }
}

void decide(const OptimizeOptions& options, const Scenario& scenario, ThreadPool& pool) {
  const std::vector<OffloadingProblem> problems = first_problems(scenario, pool);
  const std::vector<TimedOffload> results =
      solve_problems(problems, scenario.offloading.method, scenario.offloading.battery, pool);
  const std::filesystem::path directory = output_directory(options.common, scenario);
  write_decisions(scenario, problems, results, directory);
  if (options.common.json()) {
    fmt::print("{}", decisions_json(problems, results));
  } else if (options.common.talks()) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      print(problems[i], results[i]);
    }
    fmt::print("Wrote decision.json and scenario.toml to {}\n", directory.string());
  }
  const bool all = std::ranges::all_of(
      results, [](const TimedOffload& one) { return one.result.status != OffloadStatus::infeasible; });
  if (!all) {
    leave_with(Exit::answer_is_no);
  }
}

void optimize(const OptimizeOptions& options) {
  if (!options.instances.empty()) {
    solve_file(options);
    return;
  }
  const Scenario scenario = load(options.common);
  ThreadPool pool(options.common.threads);
  with_file_named(options.common, [&] {
    const std::string growth =
        growth_report(swarm_bound(problem_setting(scenario)), bound_steps(scenario.learning));
    if (!growth.empty() && options.common.talks()) {
      fmt::print("{}\n\n", growth);
    }
    if (!options.weights.empty()) {
      solve_weights(options, scenario, pool);
    } else if (options.compare) {
      compare(options, scenario, pool);
    } else {
      decide(options, scenario, pool);
    }
  });
}

}  // namespace

void add_optimize_command(Command& program) {
  auto options = std::make_shared<OptimizeOptions>();
  Command* command = program.add_subcommand(
      "optimize", "Solve the leaders' problem: how much data goes where, batch ratios, processor speeds");
  add_scenario(*command, options->common);
  add_common_options(*command, options->common, "skein optimize scenarios/paper/offloading.toml --compare");
  command
      ->add_option("--instances", options->instances,
                   "Solve the instances of this file instead, one JSON object a line; prints a line for each")
      ->type_name("FILE");
  command->add_option("--weights", options->weights, "Solve for each of these learning weights")
      ->delimiter(',')
      ->check(within(0.0, 1.0))
      ->type_name("W,W...");
  command->add_flag("--compare", options->compare, "Solve with every method and compare");
  command->callback([options] { optimize(*options); });
}

}  // namespace skein::app
