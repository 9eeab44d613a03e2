// The planner's tables and the leaders: what they decide is best for O(s), by which they are scored.
#include "skein/mission/solved_tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/crew.h"
#include "skein/mission/build.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/scenario/scenario.h"

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

}  // namespace
}  // namespace skein
