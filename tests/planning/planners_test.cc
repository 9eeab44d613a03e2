// What every planner keeps, whatever it does; and what some of them are worth.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "skein/planning/beam.h"
#include "skein/planning/heuristics.h"
#include "skein/planning/planner_evaluation.h"
#include "skein/planning/q_learning.h"
#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

std::shared_ptr<const Agent> untrained_agent(const Environment& e) {
  PlanningOptions options;
  QNetwork network(q_shape(e, options.learner));
  RandomStream stream(1, "test.agent");
  nn::Vector<float> w = network.initial_parameters(stream);
  for (float& x : w) {
    x += static_cast<float>(stream.normal(0.0, 0.02));
  }
  return std::make_shared<const Agent>(Agent{.shape = network.shape(), .parameters = w});
}

using Maker = std::function<std::unique_ptr<Planner>(std::shared_ptr<const Environment>)>;

const std::map<std::string, Maker>& makers() {
  using Pointer = std::shared_ptr<const Environment>;
  static const std::map<std::string, Maker> list{
      {"sequential", [](Pointer e) { return std::make_unique<HeuristicPlanner>(e, HeuristicOptions{}); }},
      {"nearest",
       [](Pointer e) {
         return std::make_unique<HeuristicPlanner>(e, HeuristicOptions{.route = Route::nearest});
       }},
      {"threshold",
       [](Pointer e) {
         return std::make_unique<HeuristicPlanner>(
             e, HeuristicOptions{.route = Route::nearest, .random_share = 0.5, .best_timing = true});
       }},
      {"random", [](Pointer e) { return std::make_unique<RandomPlanner>(e); }},
      {"myopic", [](Pointer e) { return std::make_unique<MyopicPlanner>(e); }},
      {"beam",
       [](Pointer e) {
         return std::make_unique<BeamPlanner>(e, BeamOptions{.width = 4, .horizon = 3, .replan = 2});
       }},
      {"learned", [](Pointer e) { return std::make_unique<LearnedPlanner>(e, untrained_agent(*e)); }},
      {"guided",
       [](Pointer e) {
         return std::make_unique<BeamPlanner>(e, BeamOptions{.width = 3, .horizon = 3, .replan = 1},
                                              std::make_unique<AgentForesight>(e, untrained_agent(*e)));
       }},
  };
  return list;
}

class EveryPlanner : public ::testing::TestWithParam<std::string> {};

// Legal plans only, in many worlds; no station that is out of reach; the same again from the same seed.
TEST_P(EveryPlanner, KeepsThePromises) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    RandomStream stream(seed, "test.contract");
    const Size size{
        .swarms = 1 + stream.below(4), .clusters = 4 + stream.below(5), .stations = 1 + stream.below(3)};
    const auto e = random_environment(size, seed);
    e->battery_mask = seed % 3 != 0;
    const StateLayout at(*e);
    const auto planner = makers().at(GetParam())(e);
    std::vector<double> state(at.size());
    start_anywhere(*e, stream, state);
    const std::vector<double> start = state;
    planner->begin(seed);
    std::vector<std::vector<Site>> seen;
    for (std::size_t epoch = 0; epoch < 40; ++epoch) {
      const Plan plan = planner->choose(observe(*e, state));
      ASSERT_EQ(plan.destinations.size(), e->num_swarms);
      EXPECT_EQ(std::set<Site>(plan.destinations.begin(), plan.destinations.end()).size(), e->num_swarms);
      for (std::size_t u = 0; u < e->num_swarms; ++u) {
        ASSERT_LT(plan.destinations[u], e->num_sites());
        EXPECT_EQ(plan.active[u], !e->is_station(plan.destinations[u]));
        EXPECT_GE(state[at.battery() + u],
                  e->travel(u, static_cast<std::size_t>(state[at.position() + u]), plan.destinations[u]));
      }
      // Whoever gives values takes the best; those that were followed as far are in order.
      const std::vector<Alternative> weighed = planner->alternatives();
      for (std::size_t i = 0; i < weighed.size(); ++i) {
        ASSERT_EQ(weighed[i].destinations.size(), e->num_swarms);
        EXPECT_EQ(i == 0, weighed[i].destinations == plan.destinations);
        if (i > 0 && weighed[i].sequences == weighed[i - 1].sequences) {
          EXPECT_LE(weighed[i].value, weighed[i - 1].value);
        }
      }
      if (GetParam() == "myopic" || GetParam() == "learned" || GetParam() == "guided") {
        EXPECT_FALSE(weighed.empty());
      }
      seen.push_back(plan.destinations);
      step(*e, state, plan.destinations, timing_index(*e, plan.timing));
    }
    planner->begin(seed);
    state = start;
    for (std::size_t epoch = 0; epoch < 40; ++epoch) {
      const Plan plan = planner->choose(observe(*e, state));
      ASSERT_EQ(plan.destinations, seen[epoch]) << epoch;
      step(*e, state, plan.destinations, timing_index(*e, plan.timing));
    }
  }
}

// A lost swarm stays, counts for nothing, and others may serve the cluster below it; whoever weighs plans
// does.
TEST_P(EveryPlanner, LeavesALostSwarmWhereItIs) {
  std::size_t served = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    RandomStream stream(seed, "test.lost");
    const auto e = random_environment(
        {.swarms = 2 + stream.below(3), .clusters = 5 + stream.below(4), .stations = 2}, seed);
    const StateLayout at(*e);
    const auto planner = makers().at(GetParam())(e);
    std::vector<double> state(at.size());
    start_anywhere(*e, stream, state);
    const std::size_t lost = stream.below(e->num_swarms);
    const auto place = static_cast<Site>(state[at.position() + lost]);
    state[at.battery() + lost] = lost_battery_j;
    planner->begin(seed);
    for (std::size_t epoch = 0; epoch < 30; ++epoch) {
      const Plan plan = planner->choose(observe(*e, state));
      EXPECT_EQ(plan.destinations[lost], place);
      std::set<Site> taken;
      for (std::size_t u = 0; u < e->num_swarms; ++u) {
        EXPECT_TRUE(u == lost || taken.insert(plan.destinations[u]).second);
      }
      step(*e, state, plan.destinations, timing_index(*e, plan.timing));
      EXPECT_EQ(state[at.battery() + lost], lost_battery_j);
      EXPECT_EQ(state[at.age() + place] == 0.0, taken.contains(place)) << "only a visit makes it young";
      served += taken.contains(place) ? 1 : 0;
    }
  }
  EXPECT_GT(served, 0U);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : makers()) {
    names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Each, EveryPlanner, ::testing::ValuesIn(all_names()),
                         [](const auto& one) { return one.param; });

MissionScore mean_score(std::shared_ptr<const Environment> e, const Maker& make, std::size_t starts = 4,
                        std::size_t epochs = 300) {
  ThreadPool pool(0);
  return mean_of(evaluate(
      *e, [&] { return make(e); }, {.starts = starts, .epochs = epochs, .seed = 1}, pool));
}

// The facts of an independent study, whose numbers come from other starts: best baseline 362, myopic 630.
TEST(Planners, AreWorthWhatAnIndependentStudyFound) {
  const auto e = reference_environment();
  EXPECT_NEAR(mean_score(e, makers().at("myopic")).reward, 630.0, 12.0);
  const auto tenth = [](std::shared_ptr<const Environment> env) {
    return std::make_unique<HeuristicPlanner>(env,
                                              HeuristicOptions{.route = Route::nearest, .random_share = 0.1});
  };
  EXPECT_NEAR(mean_score(e, tenth, 8, 600).reward, 362.0, 15.0);
  const auto beam = [](std::shared_ptr<const Environment> env) {
    return std::make_unique<BeamPlanner>(env, BeamOptions{});
  };
  const MissionScore score = mean_score(e, beam, 4, 100);
  EXPECT_NEAR(score.reward, 688.0, 15.0);
  EXPECT_EQ(score.violations, 0.0);
}

// Without a cost of recharging it pays to stay at a station: 2 of 3 swarms do.
TEST(Planners, WithoutACostOfRechargingSwarmsParkAtStations) {
  const auto e = reference_environment();
  EXPECT_LT(mean_score(e, makers().at("myopic")).recharges, 0.05);
  e->reward.recharge_cost = 0.0;
  EXPECT_GT(mean_score(e, makers().at("myopic")).recharges, 0.6);
  EXPECT_GT(mean_score(e, makers().at("beam")).recharges, 0.6);
}

// A plan that something else overtook is made anew.
TEST(Planners, BeamSearchNoticesWhatItDidNotForesee) {
  const auto e = reference_environment();
  BeamPlanner planner(e, {.width = 4, .horizon = 6, .replan = 6});
  planner.begin(1);
  std::vector<double> state = reference_file().start;
  const StateLayout at(*e);
  for (int epoch = 0; epoch < 12; ++epoch) {
    const Plan plan = planner.choose(observe(*e, state));
    for (std::size_t u = 0; u < 3; ++u) {
      EXPECT_GE(state[at.battery() + u],
                e->travel(u, static_cast<std::size_t>(state[at.position() + u]), plan.destinations[u]));
    }
    step(*e, state, plan.destinations, timing_index(*e, plan.timing));
    if (epoch == 2) {
      state[at.battery()] = 17500.0;  // a head wind
    }
    EXPECT_GE(state[at.battery()], 16880.0) << epoch;
  }
}

}  // namespace
}  // namespace skein
