// The planner's tables and the leaders: what they decide is best for O(s), by which they are scored.
#include "skein/mission/solved_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "skein/base/crew.h"
#include "skein/mission/build.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/planning/reward.h"
#include "skein/scenario/scenario.h"
#include "tests/thread_crew.h"

namespace skein {
namespace {

Scenario scenario_with(const std::string& more) {
  return parse_scenario(
      "[swarms]\ncount = 1\n[world.clusters]\ncount = 1\ndevices = 3\n[planning]\ndurations = [8]\n"
      "local_periods = [1]\nglobal_periods = [2]\n" +
          more,
      "test.toml");
}

OffloadingProblem problem_of(const Scenario& scenario, const World& world) {
  OffloadingSite site = offloading_site(scenario.learning, 0, 0);
  site.local_period = 1;
  site.global_period = 2;
  site.rounds = {.local_aggregations = 8, .global_aggregations = 4};
  site.local_aggregations = 8;
  return SwarmProblems(problem_setting(scenario), world)
      .problem(site, initial_device_data(scenario, world, 0), full_batteries(world));
}

// O(s) = w (mean of L over 8 local rounds) + (1 - w) (sum of E over them), w = 0.02. Decisions for any weight
// of learning in a round are not better; that of w itself is worse.
TEST(SolvedTables, NoDecisionIsBetterForTheSequence) {
  const Scenario scenario = scenario_with("[offloading]\nlearning_weight = 0.02\npoint_kbit = 1000\n");
  ThreadPool pool(1);
  const World world = build_world(scenario, pool);
  const SolvedTables tables = solve_tables(scenario, world, pool, alone(), [](double) {});
  const double constant = SwarmProblems(problem_setting(scenario), world).objective_constant(1, 2, 8.0);
  const double best = tables.objective[tables.index(0, 0, 0)] - constant;
  OffloadingInstance p = problem_of(scenario, world).rounds.front();
  for (const double weight : {0.0005, 0.001, 0.002, 0.00254, 0.003, 0.005, 0.02, 0.1}) {
    p.learning_weight = weight;
    p.local_rounds = 1.0;
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved);
    const OffloadEvaluation& e = result.evaluations.front();
    const double score = 0.02 * e.learning + 0.98 * 8.0 * e.energy();
    EXPECT_GE(score, best * (1.0 - 1e-6)) << weight;
    if (weight == 0.02) {
      EXPECT_GT(score, best * 1.01);
    }
    if (weight == 0.00254) {
      EXPECT_NEAR(score, best, 1e-3 * best);
    }
  }
}

TEST(PricedRounds, BatteriesPayForWhatIsHovered) {
  ThreadPool pool(1);
  const Scenario limited = scenario_with("[offloading]\nlocal_time_s = 20\n");
  const Scenario priced = scenario_with("[offloading]\nlocal_time_s = 20\ntime = \"priced\"\n");
  const World world = build_world(limited, pool);
  const OffloadingInstance p = problem_of(limited, world).rounds.front();
  const OffloadingInstance q = problem_of(priced, world).rounds.front();
  const Swarm& swarm = world.swarms.front();
  const auto power = [&](std::size_t id) { return world.uavs[id].propulsion.hover_power().si(); };
  EXPECT_EQ(p.whole_hover_power(), 0.0);
  EXPECT_EQ(q.hover_power, power(swarm.leader));
  ASSERT_EQ(q.uav_hover_power.size(), q.num_uavs());
  for (std::size_t u = 0; u < q.num_uavs(); ++u) {
    EXPECT_EQ(q.uav_hover_power[u], power(swarm.workers.first + u)) << "workers, then coordinators";
    // 8 local rounds of 20 s were set aside; the budgets are of 2 of them.
    EXPECT_NEAR(q.energy_budget[u] - p.energy_budget[u], 2.0 * 20.0 * q.uav_hover_power[u], 1e-6);
  }
  EXPECT_LE(q.local_time_limit, p.local_time_limit);
}

// Predicted accuracy needs no constants: those with which bounds do not hold do not matter, nor do any
// others.
TEST(AccuracyTerm, NeedsNoBounds) {
  ThreadPool pool(1);
  const std::string bad = "[learning]\nmeta_step = 10\n[offloading]\nlearning_term = ";
  const Scenario bound = scenario_with(bad + "\"bound\"\n");
  const World world = build_world(bound, pool);
  EXPECT_THROW(static_cast<void>(problem_of(bound, world)), InputError);
  const Scenario accuracy = scenario_with(bad + "\"accuracy\"\n[offloading.accuracy]\ntraining_loss = 5\n");
  const OffloadingInstance p = problem_of(accuracy, world).rounds.front();
  ASSERT_TRUE(p.accuracy.has_value());
  EXPECT_EQ(p.accuracy->training_loss, 5.0);
  EXPECT_EQ(p.accuracy->data_loss, AccuracyLoss().data_loss);
  EXPECT_EQ(SwarmProblems(problem_setting(accuracy), world).objective_constant(1, 2, 8.0), 0.0);
}

// 2 swarms, 4 clusters, 4 timings; access points are too far from some clusters.
Scenario scenario_on_demand(std::vector<std::string> settings = {}) {
  for (const char* setting :
       {"world.clusters.count=4", "world.distance_m=[500, 8000]", "planning.durations=[4, 8]",
        "planning.local_periods=[1]", "planning.global_periods=[1, 2]"}) {
    settings.emplace_back(setting);
  }
  return load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = settings});
}

const std::vector<std::vector<std::string>> offloadings{
    {},
    {"offloading.learning_weight=0.02", "offloading.point_kbit=1000"},
    {"offloading.method=worker_selection", "offloading.time=priced", "offloading.learning_term=accuracy"},
    {"offloading.method=greedy"}};

std::shared_ptr<SolvedVisits> visits_of(const Scenario& scenario, const World& world, ThreadPool& pool) {
  const PlanningOptions& o = scenario.planning;
  return std::make_shared<SolvedVisits>(scenario, world,
                                        timing_grid(o.durations, o.local_periods, o.global_periods), pool);
}

void expect_same(const SolvedTables& some, const SolvedTables& tables) {
  EXPECT_EQ(some.objective, tables.objective);
  EXPECT_EQ(some.training_energy_j, tables.training_energy_j);
}

// Asked for one by one in several orders, by several threads at once, or all before: the same bytes.
TEST(TablesOnDemand, AreThoseSolvedBeforeInWhateverOrder) {
  const auto none = [](double) {};
  for (const std::vector<std::string>& offloading : offloadings) {
    const Scenario scenario = scenario_on_demand(offloading);
    ThreadPool pool(1);
    const World world = build_world(scenario, pool);
    const SolvedTables before = solve_tables(scenario, world, pool, alone(), none);
    ASSERT_EQ(before.objective.size(), 32U);
    const auto feasible =
        std::ranges::count_if(before.objective, [](double o) { return o < untrained_objective; });
    EXPECT_GT(feasible, 4);
    EXPECT_LT(feasible, 32);
    for (std::uint64_t order = 0; order < 3; ++order) {
      const SolvedTables tables = tables_on_demand(visits_of(scenario, world, pool), alone(), none);
      std::vector<std::size_t> indices(tables.size());
      std::iota(indices.begin(), indices.end(), std::size_t{0});
      RandomStream(order, "test.order").shuffle(indices);
      for (const std::size_t i : indices) {
        EXPECT_EQ(tables.objective_at(i), before.objective[i]);
        EXPECT_EQ(tables.training_j_at(i), before.training_energy_j[i]);
      }
    }
    ThreadPool four(4);
    const SolvedTables shared = tables_on_demand(visits_of(scenario, world, four), alone(), none);
    four.parallel_for(4 * shared.size(), [&](std::size_t i) {  // each by several at once
      EXPECT_EQ(shared.objective_at(i / 4), before.objective[i / 4]);
    });
    expect_same(complete(shared), before);
  }
}

TEST(TablesOnDemand, BoundsHold) {
  const auto none = [](double) {};
  for (const std::vector<std::string>& offloading : offloadings) {
    SCOPED_TRACE(testing::PrintToString(offloading));
    const Scenario scenario = scenario_on_demand(offloading);
    ThreadPool pool(1);
    const World world = build_world(scenario, pool);
    const SolvedTables before = solve_tables(scenario, world, pool, alone(), none);
    const SolvedTables tables = tables_on_demand(visits_of(scenario, world, pool), alone(), none);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const EntryBounds bounds = tables.bounds_at(i);
      EXPECT_LE(bounds.least_objective, before.objective[i]);
      EXPECT_LE(bounds.least_training_j, before.training_energy_j[i]);
      EXPECT_GE(bounds.most_training_j, before.training_energy_j[i]);
      EXPECT_GT(bounds.least_objective, 0.0);
      // Where a method fixes shares, it may fail, which costs a full battery.
      const bool may_fail = offloading == offloadings.back();
      EXPECT_EQ(bounds.most_training_j >= 200e3, may_fail || before.objective[i] == untrained_objective);
    }
  }
}

TEST(TablesOnDemand, AreTheSameWithSeveralProcesses) {
  const auto none = [](double) {};
  const Scenario scenario = scenario_on_demand();
  ThreadPool one(1);
  const World world = build_world(scenario, one);
  const SolvedTables before = solve_tables(scenario, world, one, alone(), none);
  const SolvedTables plain = tables_on_demand(visits_of(scenario, world, one), alone(), none);
  for (const std::size_t processes : {2, 3}) {
    run_crew(processes, [&](Crew& crew) {
      ThreadPool pool(1 + crew.rank() % 2);
      const std::shared_ptr<SolvedVisits> visits = visits_of(scenario, world, pool);
      const SolvedTables tables = tables_on_demand(visits, crew, none);
      const SolvedTables all = visits_of(scenario, world, pool)->solve_all(crew, none);
      if (crew.is_first()) {
        for (std::size_t i = 0; i < plain.size(); ++i) {
          EXPECT_EQ(tables.bounds_at(i).least_objective, plain.bounds_at(i).least_objective);
          EXPECT_EQ(tables.bounds_at(i).most_training_j, plain.bounds_at(i).most_training_j);
        }
        expect_same(complete(tables), before);
        expect_same(all, before);
      }
    });
  }
}

}  // namespace
}  // namespace skein
