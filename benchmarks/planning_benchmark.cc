// How fast planning is: steps of the environment, decisions by planner and size of the world, training.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "skein/planning/beam.h"
#include "skein/planning/heuristics.h"
#include "skein/planning/horizon_planner.h"
#include "skein/planning/planners.h"
#include "skein/planning/q_learning.h"

namespace skein {
namespace {

// Sites in a square of 2 km, batteries of the paper, tables of the closed form.
std::shared_ptr<const Environment> make_world(std::size_t swarms, std::size_t clusters,
                                              std::size_t stations) {
  auto e = std::make_shared<Environment>();
  e->num_swarms = swarms;
  e->num_clusters = clusters;
  e->num_stations = stations;
  RandomStream stream(1, "benchmark.world");
  for (std::size_t i = 0; i < e->num_sites(); ++i) {
    e->places_m.push_back({stream.uniform(0.0, 1500.0), stream.uniform(0.0, 1500.0)});
  }
  for (const auto& a : e->places_m) {
    for (const auto& b : e->places_m) {
      e->distance_m.push_back(std::hypot(a[0] - b[0], a[1] - b[1]));
    }
  }
  for (std::size_t u = 0; u < swarms; ++u) {
    for (const double distance : e->distance_m) {
      e->travel_j.push_back(4.8 * distance);
    }
  }
  e->capacity_j.assign(swarms, 48600.0);
  e->threshold_j.assign(swarms, 16880.0);
  e->tables = closed_form_tables(timing_grid({180, 220, 260}, {1, 2}, {1, 2}),
                                 std::vector<double>(swarms, 1.0), clusters);
  for (std::size_t c = 0; c < clusters; ++c) {
    e->drift.start.push_back(stream.uniform(2.0, 16.0));
  }
  e->drift.end = e->drift.start;
  return e;
}

void environment_steps(benchmark::State& state) {
  const auto e = make_world(3, 8, 2);
  constexpr std::size_t count = 4096;
  States states(*e, count);
  std::vector<Site> destinations;
  std::vector<std::size_t> timings;
  std::vector<Outcome> outcomes(count);
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream stream(i, "benchmark.start");
    start_anywhere(*e, stream, states[i]);
    for (const std::size_t site : stream.choose(e->num_sites(), 3)) {
      destinations.push_back(static_cast<Site>(site));
    }
    timings.push_back(i % e->tables.timings.size());
  }
  ThreadPool pool(1);
  for (auto _ : state) {
    step_all(*e, states, destinations, timings, outcomes, pool);
    benchmark::DoNotOptimize(outcomes.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * count));
}
BENCHMARK(environment_steps)->Unit(benchmark::kMicrosecond);

// An agent of the right shape: how fast it is does not depend on what it knows.
Agents untrained(const Environment& e) {
  const QNetwork network(q_shape(e, LearnerOptions{}));
  RandomStream stream(1, "benchmark.agent");
  return {.recurrent = std::make_shared<const Agent>(
              Agent{.shape = network.shape(), .parameters = network.initial_parameters(stream)})};
}

void decision(benchmark::State& state, const std::string& name, std::size_t swarms, std::size_t clusters,
              std::size_t stations) {
  const auto e = make_world(swarms, clusters, stations);
  PlanningOptions options;
  options.beam.replan = 1;  // a whole search each time
  const auto planner = planner_factory(name, e, options, untrained(*e))();
  std::vector<double> now(StateLayout(*e).size());
  RandomStream stream(1, "benchmark.decision");
  start_anywhere(*e, stream, now);
  planner->begin(1);
  for (auto _ : state) {
    const Plan plan = planner->choose(observe(*e, now));
    step(*e, now, plan.destinations, timing_index(*e, plan.timing));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

// What a visit of a pair takes.
class PairVisits final : public VisitCosts {
 public:
  [[nodiscard]] VisitCost of(std::size_t, std::size_t, std::size_t) const override {
    return {.possible = true, .duration_s = 5.2, .energy_j = 500.0, .battery_j = 250.0, .accuracy_loss = 2.0};
  }
};

// By the clock, in the middle of a mission: pairs, clusters that were visited at some time.
void decision_by_the_clock(benchmark::State& state, std::size_t swarms, std::size_t clusters,
                           std::size_t stations) {
  auto e = std::make_shared<Environment>(*make_world(swarms, clusters, stations));
  e->visits = std::make_shared<PairVisits>();
  e->tables.timings.resize(1);
  e->metre_j.assign(swarms, 9.6);
  e->takeoff_j.assign(swarms, 0.0);
  e->landed_w.assign(swarms, 0.0);
  e->speed_mps.assign(swarms, 10.0);
  e->recharge_s.assign(swarms, 600.0);
  RandomStream stream(1, "benchmark.clock");
  Observation now{.timing = e->tables.timings[0], .left_s = 7200.0};
  for (std::size_t u = 0; u < swarms; ++u) {
    now.positions.push_back(static_cast<Site>(stream.below(clusters)));
    now.active.push_back(true);
    now.batteries.emplace_back(e->capacity_j[u]);
  }
  now.arrivals_s.assign(swarms, 0.0);
  now.ages.assign(clusters, 1.0);
  for (std::size_t c = 0; c < clusters; ++c) {
    const double visited = stream.uniform(0.85, 0.95);
    now.forecasts.push_back({.accuracy = visited - stream.uniform(0.0, 0.2),
                             .visited_accuracy = visited,
                             .loss_per_s = stream.uniform(0.02, 0.25) / 3600.0});
  }
  HorizonPlanner planner(e, {.objective = Objective::price});
  for (auto _ : state) {
    planner.begin(1);
    const Plan plan = planner.choose(now);
    benchmark::DoNotOptimize(plan.until_s);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK_CAPTURE(decision_by_the_clock, 4x10, 4, 8, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decision_by_the_clock, 10x50, 10, 44, 6)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decision_by_the_clock, 200x320, 200, 300, 20)->Unit(benchmark::kMillisecond);

// Training, in updates of the network; its acting in the environments is part of it.
void training(benchmark::State& state) {
  const auto e = make_world(3, 8, 2);
  ThreadPool pool(1);
  std::size_t updates = 0;
  for (auto _ : state) {
    PlanningOptions options;
    options.learner.steps = 8000;  // of which some are done
    QLearner learner(e, options, 1);
    while (learner.num_updates() < 200) {
      learner.step(pool);
    }
    updates += learner.num_updates();
  }
  state.counters["updates"] = benchmark::Counter(static_cast<double>(updates), benchmark::Counter::kIsRate);
}
BENCHMARK(training)->Unit(benchmark::kMillisecond)->Iterations(1);

const bool registered = [] {
  for (const std::string name : {"sequential", "threshold_nearest", "myopic", "learned", "beam", "guided"}) {
    benchmark::RegisterBenchmark(("decision/3x10/" + name).c_str(), decision, name, 3, 8, 2)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("decision/10x50/" + name).c_str(), decision, name, 10, 44, 6)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace skein

BENCHMARK_MAIN();
