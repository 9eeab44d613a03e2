// Problem P in Skein, for comparison with offloading_peer.py (cvxopt) and with Ipopt where it is installed.
//
//   offloading_benchmark --instances FILE [--seconds S]
//
// reads commands from standard input and answers each with a line of JSON; times are processor time.
//   gp NAME        the first condensed program of an instance: from nothing, with all that belongs to a solve
//   ipopt_gp NAME  the same program on Ipopt
//   newton NAME, algorithm_1 NAME, ipopt NAME   all of problem P; Ipopt on the same formulation as newton
//   price NAME     newton with and without the instance's price of time, in turns
//   growth N       a geometric program with N devices, made from the largest instance
//   verdicts N     N instances with random batteries, from ample to impossible: newton against Ipopt
// scripts/benchmark-offloading runs this and the peer and compares them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "skein/base/random.h"
#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/condensed_program.h"
#include "skein/offloading/direct_program.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/newton_offloader.h"
#ifdef SKEIN_HAS_IPOPT
#include "ipopt_peer.h"
#endif

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Seconds of one call, the median of as many as fit, three at least.
template <class Work>
double seconds_of(double budget, const Work& work) {
  std::vector<double> times;
  const double start = processor_seconds();
  while (times.size() < 3 || (processor_seconds() - start < budget && times.size() < 1001)) {
    const double before = processor_seconds();
    work();
    times.push_back(processor_seconds() - before);
  }
  return median_of(std::move(times));
}

// The decision at which the peer condenses too.
OffloadDecision even_decision(const OffloadingInstance& p) {
  OffloadDecision x;
  x.rho = Table<double>(p.num_devices(), p.num_uavs());
  x.varrho = Table<double>(p.num_coordinators(), p.num_workers());
  std::ranges::fill(x.rho.values, 0.5 / static_cast<double>(p.num_uavs()));
  std::ranges::fill(x.varrho.values, 0.9 / static_cast<double>(p.num_workers()));
  x.alpha.assign(p.num_workers(), {0.6, 0.6, 0.6});
  for (std::size_t j = 0; j < p.num_workers(); ++j) {
    x.clock.push_back(std::sqrt(p.least_clock[j] * p.most_clock[j]));
  }
  return x;
}

struct FirstProgram {
  gp::Program program;
  std::vector<double> point;
};

FirstProgram first_program(const OffloadingInstance& p) {
  CondensedProgram condensed(p, 1e-6);
  std::vector<double> point = condensed.point_of(even_decision(p));
  condensed.condense_at(point);
  return {condensed.program(), std::move(point)};
}

Json solve_gp(const OffloadingInstance& p, double budget) {
  const FirstProgram first = first_program(p);
  gp::Solution solution;
  const double seconds = seconds_of(budget, [&] {
    gp::Solver solver(first.program);
    solution = solver.solve_from(first.point, {.tolerance = 1e-7});  // as cvxopt's
  });
  return {{"solved", solution.status == gp::Status::solved},
          {"seconds", seconds},
          {"iterations", solution.iterations},
          {"variables", first.program.variables.size()},
          {"log_optimum", std::log(solution.objective)}};
}

Json solve_p(const Offloader& offloader, const OffloadingInstance& p, double budget) {
  OffloadResult result;
  const double seconds = seconds_of(budget, [&] { result = offloader.solve({&p, 1}, nullptr); });
  return {{"status", name_of(result.status)}, {"seconds", seconds},
          {"iterations", result.iterations},  {"condensations", result.condensations},
          {"objective", result.objective()},  {"kkt_residual", result.certificate.kkt_residual}};
}

// The same instance with and without a price of time, in turns.
Json price_of_time(const OffloadingInstance& p, double budget) {
  OffloadingInstance free = p;
  free.hover_power = 0.0;
  free.uav_hover_power.clear();
  const NewtonOffloader offloader;
  OffloadResult result;
  std::vector<double> with;
  std::vector<double> without;
  const double start = processor_seconds();
  while (with.size() < 5 || (processor_seconds() - start < budget && with.size() < 1001)) {
    for (const auto& [instance, times] :
         {std::pair<const OffloadingInstance*, std::vector<double>*>{&free, &without}, {&p, &with}}) {
      const double before = processor_seconds();
      result = offloader.solve({instance, 1}, nullptr);
      times->push_back(processor_seconds() - before);
    }
  }
  return {{"status", name_of(result.status)}, {"with", median_of(with)}, {"without", median_of(without)}};
}

// Devices of an instance again and again, each a little different; limits grow with them.
OffloadingInstance with_devices(const OffloadingInstance& p, std::size_t count) {
  OffloadingInstance result = p;
  const double factor = static_cast<double>(count) / static_cast<double>(p.num_devices());
  result.device_data.clear();
  result.device_power.clear();
  result.device_rate = Table<double>(count, p.num_uavs());
  RandomStream random(1, "more devices");
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i % p.num_devices();
    result.device_data.push_back(p.device_data[from] * random.uniform(0.9, 1.1));
    result.device_power.push_back(p.device_power[from]);
    for (std::size_t u = 0; u < p.num_uavs(); ++u) {
      result.device_rate(i, u) = p.device_rate(from, u) * random.uniform(0.9, 1.1);
    }
  }
  result.local_time_limit *= factor;
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    result.energy_budget[u] *= factor;
    result.buffer[u] *= factor;
  }
  return result;
}

#ifdef SKEIN_HAS_IPOPT

Json ipopt_gp(const OffloadingInstance& p, double budget) {
  const FirstProgram first = first_program(p);
  IpoptResult result;
  const double seconds =
      seconds_of(budget, [&] { result = solve_with_ipopt(first.program, first.point, 1e-9); });
  return {{"solved", result.solved},
          {"seconds", seconds},
          {"iterations", result.iterations},
          {"log_optimum", std::log(result.objective)}};
}

// The same formulation as newton's, from the even start.
IpoptResult ipopt_p(const OffloadingInstance& p) {
  DirectProgram program({&p, 1}, {});
  const OffloadDecision start = feasible_start(p, {}, 1.0, {});
  const double scale = evaluate(p, start).objective;
  program.set_scale(scale);
  IpoptResult result = solve_with_ipopt(program, program.point_of({&start, 1}), 1e-8);
  result.objective *= scale;
  return result;
}

Json ipopt_whole(const OffloadingInstance& p, double budget) {
  IpoptResult result;
  const double seconds = seconds_of(budget, [&] { result = ipopt_p(p); });
  return {{"solved", result.solved},
          {"seconds", seconds},
          {"iterations", result.iterations},
          {"objective", result.objective}};
}

// Batteries, time and weights of an instance at random. A battery at or below what hovering takes is
// impossible; else a solution exists, and Ipopt's is not to be better.
Json verdicts(const std::vector<OffloadingInstance>& instances, std::size_t count) {
  std::size_t impossible = 0;
  std::size_t ipopt_failed = 0;
  std::size_t wrong = 0;
  double worst = -HUGE_VAL;
  for (std::size_t n = 0; n < count; ++n) {
    RandomStream random(n, "verdicts");
    OffloadingInstance p = random.choice(instances);
    p.learning_weight = random.uniform(0.01, 0.99);
    bool expected = false;
    for (double& budget : p.energy_budget) {
      budget *= std::exp(random.uniform(-14.0, 0.0));
    }
    if (random.bernoulli(0.2)) {
      double& budget = p.energy_budget[random.below(p.num_uavs())];
      budget = -random.exponential();
      expected = true;
    }
    p.local_time_limit *= std::exp(random.uniform(-4.0, 0.5));
    const OffloadResult ours = NewtonOffloader().solve({&p, 1}, nullptr);
    if (expected || ours.status == OffloadStatus::infeasible) {
      ++impossible;
      wrong += expected != (ours.status == OffloadStatus::infeasible) ? 1 : 0;
      continue;
    }
    const IpoptResult theirs = ipopt_p(p);
    wrong += ours.status != OffloadStatus::solved ? 1 : 0;
    if (!theirs.solved) {
      ++ipopt_failed;
      continue;
    }
    worst = std::max(worst, ours.objective() / theirs.objective - 1.0);
  }
  return {{"instances", count},
          {"impossible", impossible},
          {"ipopt_failed", ipopt_failed},
          {"wrong", wrong},
          {"worst_excess", worst}};
}

#endif

Json answer(const std::map<std::string, OffloadingInstance>& instances, const std::string& command,
            const std::string& argument, double budget) {
  if (command == "growth" || command == "verdicts") {
    const std::size_t count = std::stoul(argument);
    if (command == "growth") {
      const auto largest = std::ranges::max_element(
          instances, {}, [](const auto& entry) { return entry.second.num_devices(); });
      return solve_gp(with_devices(largest->second, count), budget);
    }
#ifdef SKEIN_HAS_IPOPT
    std::vector<OffloadingInstance> small;
    for (const auto& [name, instance] : instances) {
      if (instance.num_devices() <= 10) {
        small.push_back(instance);
      }
    }
    return verdicts(small, count);
#else
    return {{"absent", "ipopt"}};
#endif
  }
  const OffloadingInstance& p = instances.at(argument);
  if (command == "gp") {
    return solve_gp(p, budget);
  }
  if (command == "newton") {
    return solve_p(NewtonOffloader(), p, budget);
  }
  if (command == "price") {
    return price_of_time(p, budget);
  }
  if (command == "algorithm_1") {
    return solve_p(CondensedOffloader({.tolerance = 1e-5}), p, budget);
  }
#ifdef SKEIN_HAS_IPOPT
  if (command == "ipopt_gp") {
    return ipopt_gp(p, budget);
  }
  if (command == "ipopt") {
    return ipopt_whole(p, budget);
  }
#endif
  return {{"absent", command}};
}

int run(int argc, char** argv) {
  std::string file;
  double seconds = 0.3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--instances") == 0) {
      file = argv[i + 1];
    } else if (std::strcmp(argv[i], "--seconds") == 0) {
      seconds = std::stod(argv[i + 1]);
    }
  }
  std::map<std::string, OffloadingInstance> instances;
  for (const NamedInstance& named : read_instances(file)) {
    instances[named.instance.name] = named.instance;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::string argument;
    words >> command >> argument;
    fmt::print("{}\n", answer(instances, command, argument, seconds).dump());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace skein

int main(int argc, char** argv) {
  try {
    return skein::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "offloading_benchmark: {}\n", error.what());
    return 2;
  }
}
