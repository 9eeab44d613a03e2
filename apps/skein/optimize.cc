#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command.h"
#include "offload_view.h"
#include "progress.h"
#include "skein/base/file.h"
#include "skein/base/thread_pool.h"
#include "skein/mission/build.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/swarm_problem.h"
#include "text_table.h"

namespace skein::app {
namespace {

using Json = nlohmann::ordered_json;

struct OptimizeOptions {
  CommonOptions common;
  std::string instances;
  std::vector<double> weights;
  bool compare = false;
};

template <class Work>
TimedOffload timed(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  TimedOffload done{.result = work()};
  done.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return done;
}

// ---- instances

void solve_instances(const OptimizeOptions& options) {
  const std::vector<NamedInstance> instances = read_instances(options.instances);
  const std::unique_ptr<Offloader> offloader = build_offloader(load(options.common).offloading.method);
  std::vector<TimedOffload> results(instances.size());
  ThreadPool pool(options.common.threads);
  pool.parallel_for(instances.size(), [&](std::size_t i) {
    results[i] = timed([&] { return offloader->solve({&instances[i].instance, 1}, nullptr); });
  });
  std::string lines;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    lines += result_line(instances[i].instance, results[i].result, results[i].milliseconds) + "\n";
  }
  fmt::print("{}", lines);
}

// ---- one scenario

// Problem P of every swarm above its first cluster, with full batteries.
struct Problems {
  World world;
  std::vector<OffloadingProblem> swarms;
};

Problems prepare(const Scenario& scenario, ThreadPool& pool) {
  Problems problems{.world = build_world(scenario, pool)};
  const std::vector<double> batteries = full_batteries(problems.world);
  const SwarmProblems of_swarms(problem_setting(scenario), problems.world);
  for (std::size_t swarm = 0; swarm < problems.world.swarms.size(); ++swarm) {
    const std::size_t cluster = problems.world.swarms[swarm].start_cluster;
    problems.swarms.push_back(of_swarms.problem(offloading_site(scenario.learning, swarm, cluster),
                                                initial_device_data(scenario, problems.world, cluster),
                                                batteries));
  }
  return problems;
}

std::vector<TimedOffload> solve(const Scenario& scenario, const Problems& problems, std::string_view method,
                                ThreadPool& pool) {
  const std::unique_ptr<Offloader> offloader = build_offloader(method);
  std::vector<TimedOffload> results(problems.swarms.size());
  pool.parallel_for(results.size(), [&](std::size_t i) {
    results[i] =
        timed([&] { return solve_problem(*offloader, scenario.offloading.battery, problems.swarms[i]); });
  });
  return results;
}

// ---- a sweep over the learning weight, a comparison of methods

struct Summary {
  std::size_t solved = 0;
  std::size_t swarms = 0;
  double objective = 0.0, energy = 0.0, learning = 0.0, rho = 0.0, varrho = 0.0, processed = 0.0, clock = 0.0,
         ratio_sum = 0.0, milliseconds = 0.0, worst_residual = 0.0;
};

// Means over the swarms (and local rounds) that have a decision.
Summary summarise(const std::vector<TimedOffload>& results) {
  Summary s;
  double count = 0.0;
  for (const TimedOffload& one : results) {
    s.milliseconds += one.milliseconds;
    ++s.swarms;
    if (one.result.status == OffloadStatus::infeasible) {
      continue;
    }
    ++s.solved;
    s.worst_residual = std::max(s.worst_residual, one.result.certificate.kkt_residual);
    for (std::size_t r = 0; r < one.result.decisions.size(); ++r) {
      const OffloadDecision& x = one.result.decisions[r];
      const OffloadEvaluation& e = one.result.evaluations[r];
      const auto mean = [](const std::vector<double>& values) {
        return values.empty()
                   ? 0.0
                   : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
      };
      count += 1.0;
      s.objective += e.objective;
      s.energy += e.energy();
      s.learning += e.learning;
      s.rho += mean(x.rho.values);
      s.varrho += mean(x.varrho.values);
      s.processed += std::accumulate(e.processed.begin(), e.processed.end(), 0.0);
      s.clock += mean(x.clock);
      for (const std::array<double, 3>& alpha : x.alpha) {
        s.ratio_sum += (alpha[0] + alpha[1] + alpha[2]) / static_cast<double>(x.alpha.size());
      }
    }
  }
  for (double* value :
       {&s.objective, &s.energy, &s.learning, &s.rho, &s.varrho, &s.processed, &s.clock, &s.ratio_sum}) {
    *value = count > 0.0 ? *value / count : 0.0;
  }
  return s;
}

void sweep(const OptimizeOptions& options, Scenario scenario, ThreadPool& pool) {
  Json rows = Json::array();
  TextTable table({"learning weight", "objective", "energy (J)", "mean rho", "mean varrho",
                   "mean sum of alpha", "processed (points)", "mean clock (MHz)", "solved"});
  Progress progress(options.common, "optimize");
  for (std::size_t i = 0; i < options.weights.size(); ++i) {
    progress.show("weights", static_cast<double>(i) / static_cast<double>(options.weights.size()));
    scenario.offloading.learning_weight = options.weights[i];
    const Problems problems = prepare(scenario, pool);
    const Summary s = summarise(solve(scenario, problems, scenario.offloading.method, pool));
    // Without a decision there are no numbers.
    const auto text = [&](const char* format, double value) {
      return s.solved > 0 ? fmt::format(fmt::runtime(format), value) : std::string("-");
    };
    const auto number = [&](double value) { return s.solved > 0 ? Json(value) : Json(); };
    table.add({fmt::format("{}", options.weights[i]), text("{:.5g}", s.objective), text("{:.4g}", s.energy),
               text("{:.4f}", s.rho), text("{:.4f}", s.varrho), text("{:.4f}", s.ratio_sum),
               text("{:.0f}", s.processed), text("{:.1f}", s.clock / 1e6),
               fmt::format("{} of {}", s.solved, s.swarms)});
    rows.push_back({{"learning_weight", options.weights[i]},
                    {"objective", number(s.objective)},
                    {"energy_j", number(s.energy)},
                    {"learning", number(s.learning)},
                    {"mean_rho", number(s.rho)},
                    {"mean_varrho", number(s.varrho)},
                    {"mean_alpha_sum", number(s.ratio_sum)},
                    {"processed_points", number(s.processed)},
                    {"mean_clock_hz", number(s.clock)},
                    {"solved", s.solved},
                    {"swarms", s.swarms}});
  }
  if (options.common.json()) {
    fmt::print("{}\n", rows.dump(2));
  } else if (options.common.talks()) {
    fmt::print("Means over swarms and local rounds, method {}\n\n{}", scenario.offloading.method,
               table.text());
  }
}

void compare(const OptimizeOptions& options, const Scenario& scenario, ThreadPool& pool) {
  const Problems problems = prepare(scenario, pool);
  Json rows = Json::array();
  TextTable table({"<method", "objective", "energy (J)", "objective saved by newton (%)",
                   "energy saved by newton (%)", "worst KKT residual", "solved", "time (ms)"});
  std::optional<Summary> ours;
  std::string reasons;
  for (const char* name : {"newton", "worker_selection", "algorithm_1", "greedy", "maximum_processing"}) {
    const std::vector<TimedOffload> results = solve(scenario, problems, name, pool);
    const Summary s = summarise(results);
    ours = ours ? ours : s;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].result.culprit.empty()) {
        reasons += fmt::format("  {}, {}: {}\n", name, problems.swarms[i].rounds.front().name,
                               results[i].result.culprit);
      }
    }
    const bool any = s.solved > 0;
    const auto saved = [&](double mine, double other) {
      return any ? fmt::format("{:.1f}", 100.0 * (1.0 - mine / other)) : std::string("-");
    };
    table.add({name, any ? fmt::format("{:.5g}", s.objective) : "-",
               any ? fmt::format("{:.4g}", s.energy) : "-", saved(ours->objective, s.objective),
               saved(ours->energy, s.energy), any ? fmt::format("{:.1e}", s.worst_residual) : "-",
               fmt::format("{} of {}", s.solved, s.swarms), fmt::format("{:.1f}", s.milliseconds)});
    rows.push_back({{"method", name},
                    {"objective", any ? Json(s.objective) : Json()},
                    {"energy_j", any ? Json(s.energy) : Json()},
                    {"kkt_residual", any ? Json(s.worst_residual) : Json()},
                    {"solved", s.solved},
                    {"swarms", s.swarms},
                    {"milliseconds", s.milliseconds}});
  }
  if (options.common.json()) {
    fmt::print("{}\n", rows.dump(2));
  } else if (options.common.talks()) {
    fmt::print("The same problems for all, learning weight {}; means over swarms and local rounds\n\n{}{}{}",
               scenario.offloading.learning_weight, table.text(),
               reasons.empty() ? "" : "\nNo decision meets all limits\n", reasons);
  }
}

void optimize(const OptimizeOptions& options) {
  if (!options.instances.empty()) {
    solve_instances(options);
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
      sweep(options, scenario, pool);
      return;
    }
    if (options.compare) {
      compare(options, scenario, pool);
      return;
    }
    const Problems problems = prepare(scenario, pool);
    const std::vector<TimedOffload> results = solve(scenario, problems, scenario.offloading.method, pool);
    Json list = Json::array();
    for (std::size_t i = 0; i < results.size(); ++i) {
      list.push_back(json_of(problems.swarms[i], results[i]));
    }
    const std::filesystem::path directory = output_directory(options.common, scenario);
    std::filesystem::create_directories(directory);
    write_file(directory / "decision.json", list.dump(2) + "\n");
    write_file(directory / "scenario.toml", resolved_scenario(scenario));
    if (options.common.json()) {
      fmt::print("{}\n", list.dump(2));
    } else if (options.common.talks()) {
      for (std::size_t i = 0; i < results.size(); ++i) {
        print(problems.swarms[i], results[i]);
      }
      fmt::print("Wrote decision.json and scenario.toml to {}\n", directory.string());
    }
    const bool all = std::ranges::all_of(
        results, [](const TimedOffload& one) { return one.result.status != OffloadStatus::infeasible; });
    if (!all) {
      throw CLI::RuntimeError(static_cast<int>(Exit::answer_is_no));
    }
  });
}

}  // namespace

void add_optimize_command(CLI::App& program) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = program.add_subcommand(
      "optimize", "Solve the leaders' problem: how much data goes where, batch ratios, processor speeds");
  add_scenario(*command, options->common);
  add_common_options(*command, options->common, "skein optimize scenarios/paper/offloading.toml --compare");
  command
      ->add_option("--instances", options->instances,
                   "Solve the instances of this file instead, one JSON object a line; prints a line for each")
      ->type_name("FILE");
  command->add_option("--weights", options->weights, "Solve for each of these learning weights")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("W,W...");
  command->add_flag("--compare", options->compare, "Solve with every method and compare");
  command->callback([options] { optimize(*options); });
}

}  // namespace skein::app
