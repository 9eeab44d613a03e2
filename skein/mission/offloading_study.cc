#include "skein/mission/offloading_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "skein/base/file.h"
#include "skein/base/stopwatch.h"
#include "skein/mission/build.h"
#include "skein/offloading/certificate.h"
#include "skein/offloading/offloaders.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

template <class Work>
TimedOffload timed(const Work& work) {
  const Stopwatch watch;
  TimedOffload done{.result = work()};
  done.milliseconds = 1e3 * watch.seconds();
  return done;
}

Json rows_of(const Table<double>& table) {
  Json rows = Json::array();
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto first = table.values.begin() + static_cast<std::ptrdiff_t>(row * table.columns);
    rows.push_back(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(table.columns)));
  }
  return rows;
}

std::string name_of(const LimitUse& use, const OffloadingProblem& problem) {
  return limit_name(use.kind, use.index, problem.rounds.front().num_workers());
}

// "worker 2", "coordinator 1": who need not stay up.
std::vector<std::string> idle_uavs(const OffloadingInstance& p, const OffloadDecision& x) {
  std::vector<std::string> names;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    if (x.is_idle(u)) {
      names.push_back(u < p.num_workers() ? fmt::format("worker {}", u + 1)
                                          : fmt::format("coordinator {}", u - p.num_workers() + 1));
    }
  }
  return names;
}

Json json_of(const OffloadingProblem& problem, const TimedOffload& timed) {
  const OffloadResult& result = timed.result;
  Json object;
  object["name"] = problem.rounds.front().name;
  object["status"] = name_of(result.status);
  object["milliseconds"] = timed.milliseconds;
  if (result.status == OffloadStatus::infeasible) {
    object["culprit"] = result.culprit;
    return object;
  }
  object["objective"] = result.objective();
  Json binding = Json::array();
  for (const LimitUse& use : result.certificate.binding) {
    binding.push_back(name_of(use, problem));
  }
  object["certificate"] = {{"kkt_residual", result.certificate.kkt_residual},
                           {"violation", std::max(0.0, result.certificate.violation)},
                           {"complementarity", result.certificate.complementarity},
                           {"least_reduced_cost", result.certificate.least_reduced_cost},
                           {"binding", std::move(binding)}};
  object["iterations"] = result.iterations;
  if (result.condensations > 0) {
    object["condensations"] = result.condensations;
    object["increases"] = result.increases;
  }
  object["workers_used"] = result.workers;
  Json rounds = Json::array();
  for (std::size_t r = 0; r < result.decisions.size(); ++r) {
    const OffloadEvaluation& e = result.evaluations[r];
    Json limits;  // 1: all of it is used
    for (const LimitUse& use : e.limits) {
      limits[name_of(use, problem)] = use.used;
    }
    Json evaluation = {{"objective", e.objective},
                       {"learning", e.learning},
                       {"device_energy_j", e.device_energy},
                       {"relay_energy_j", e.relay_energy},
                       {"processing_energy_j", e.processing_energy},
                       {"data_points", e.data},
                       {"processed_points", e.processed},
                       {"gathering_time_s", e.gathering_time},
                       {"processing_time_s", e.processing_time},
                       {"limits_used", std::move(limits)}};
    if (problem.rounds[r].prices_time()) {
      evaluation["round_time_s"] = e.round_time;
      evaluation["hovering_energy_j"] = e.hovering_energy;
      evaluation["idle"] = idle_uavs(problem.rounds[r], result.decisions[r]);
    }
    const ReducedCosts& costs = result.certificate.reduced_costs[r];
    rounds.push_back({{"decision", Json::parse(decision_text(result.decisions[r]))},
                      {"evaluation", std::move(evaluation)},
                      {"reduced_costs", {{"rho", rows_of(costs.rho)}, {"relay", rows_of(costs.relay)}}}});
  }
  object["rounds"] = std::move(rounds);
  return object;
}

// Null where there is no number.
Json number_json(const OffloadMeans& means, double value) {
  return means.has_numbers() ? Json(value) : Json();
}

}  // namespace

std::vector<TimedOffload> solve_instances(std::span<const NamedInstance> instances, std::string_view method,
                                          ThreadPool& pool) {
  const std::unique_ptr<Offloader> offloader = build_offloader(method);
  std::vector<TimedOffload> results(instances.size());
  pool.parallel_for(instances.size(), [&](std::size_t i) {
    results[i] = timed([&] { return offloader->solve({&instances[i].instance, 1}, nullptr); });
  });
  return results;
}

std::vector<OffloadingProblem> first_problems(const Scenario& scenario, ThreadPool& pool) {
  const World world = build_world(scenario, pool);
  const SwarmProblems of_swarms(problem_setting(scenario), world);
  const std::vector<double> batteries = full_batteries(world);
  std::vector<OffloadingProblem> problems;
  for (std::size_t swarm = 0; swarm < world.swarms.size(); ++swarm) {
    const std::size_t cluster = world.swarms[swarm].start_cluster;
    problems.push_back(of_swarms.problem(offloading_site(scenario.learning, swarm, cluster),
                                         initial_device_data(scenario, world, cluster), batteries));
  }
  return problems;
}

std::vector<TimedOffload> solve_problems(const std::vector<OffloadingProblem>& problems,
                                         std::string_view method, BatterySharing sharing, ThreadPool& pool) {
  const std::unique_ptr<Offloader> offloader = build_offloader(method);
  std::vector<TimedOffload> results(problems.size());
  pool.parallel_for(results.size(), [&](std::size_t i) {
    results[i] = timed([&] { return solve_problem(*offloader, sharing, problems[i]); });
  });
  return results;
}

std::string decisions_json(const std::vector<OffloadingProblem>& problems,
                           const std::vector<TimedOffload>& results) {
  Json list = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    list.push_back(json_of(problems[i], results[i]));
  }
  return list.dump(2) + "\n";
}

void write_decisions(const Scenario& scenario, const std::vector<OffloadingProblem>& problems,
                     const std::vector<TimedOffload>& results, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  write_file(directory / "decision.json", decisions_json(problems, results));
  write_file(directory / "scenario.toml", resolved_scenario(scenario));
}

OffloadMeans means_of(const std::vector<TimedOffload>& results) {
  OffloadMeans s;
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

std::vector<WeightRow> sweep_weights(const Scenario& scenario, std::span<const double> weights,
                                     ThreadPool& pool, FractionListener progress) {
  std::vector<WeightRow> rows;
  Scenario weighted = scenario;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    progress(static_cast<double>(i) / static_cast<double>(weights.size()));
    weighted.offloading.learning_weight = weights[i];
    rows.push_back(
        {.learning_weight = weights[i],
         .means = means_of(solve_problems(first_problems(weighted, pool), scenario.offloading.method,
                                          scenario.offloading.battery, pool))});
  }
  return rows;
}

std::string weights_json(std::span<const WeightRow> rows) {
  Json list = Json::array();
  for (const WeightRow& row : rows) {
    const OffloadMeans& s = row.means;
    const auto number = [&](double value) { return number_json(s, value); };
    list.push_back({{"learning_weight", row.learning_weight},
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
  return list.dump(2) + "\n";
}

std::vector<MethodRow> compare_methods(const Scenario& scenario, ThreadPool& pool) {
  const std::vector<OffloadingProblem> problems = first_problems(scenario, pool);
  std::vector<MethodRow> rows;
  for (const std::string_view method :
       {"newton", "worker_selection", "algorithm_1", "greedy", "maximum_processing"}) {
    const std::vector<TimedOffload> results =
        solve_problems(problems, method, scenario.offloading.battery, pool);
    MethodRow& row = rows.emplace_back();
    row.name = method;
    row.means = means_of(results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].result.culprit.empty()) {
        row.reasons.push_back(
            fmt::format("{}: {}", problems[i].rounds.front().name, results[i].result.culprit));
      }
    }
  }
  return rows;
}

std::string methods_json(std::span<const MethodRow> rows) {
  Json list = Json::array();
  for (const MethodRow& row : rows) {
    const OffloadMeans& s = row.means;
    list.push_back({{"method", row.name},
                    {"objective", number_json(s, s.objective)},
                    {"energy_j", number_json(s, s.energy)},
                    {"kkt_residual", number_json(s, s.worst_residual)},
                    {"solved", s.solved},
                    {"swarms", s.swarms},
                    {"milliseconds", s.milliseconds}});
  }
  return list.dump(2) + "\n";
}

}  // namespace skein
