#include "skein/planning/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/file.h"
#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

// 200 epochs of a plan that an independent implementation in Python carried out.
TEST(PlanningEnvironment, TheReferenceTraceComesOut) {
  const EnvironmentFile file = reference_file();
  const Replay result = replay(file);
  EXPECT_EQ(result.epochs, 200U);
  EXPECT_LT(result.reward, 1e-6);
  EXPECT_LT(result.learning_objective, 1e-6);
  EXPECT_LT(result.battery, 1e-6);
  EXPECT_EQ(result.age, 0.0);
  EXPECT_EQ(result.below_threshold, 0U);
  EXPECT_LT(result.deviation, 1e-6);
  EXPECT_LT(result.battery_j, 1e-4);
}

TEST(PlanningEnvironment, AReplayNoticesAnyChange) {
  const EnvironmentFile original = reference_file();
  const auto deviates = [&](const std::function<void(EnvironmentFile&)>& change) {
    EnvironmentFile file = original;
    change(file);
    return replay(file).deviation > 1e-6;
  };
  EXPECT_FALSE(deviates([](EnvironmentFile&) {}));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.reward.travel_weight *= 1.0001; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.reward.recharge_cost = 0.0; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.reward.age_cap = 5.0; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.reward.zero_on_violation = false; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.reward.gradient = GradientForm::bound; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.threshold_j.assign(3, 25320.0); }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.environment.recharge_j = 1000.0; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.trace[100].ages[3] += 1.0; }));
  EXPECT_TRUE(deviates([](EnvironmentFile& f) { f.trace[199].battery_j[0] = std::nan(""); }));
}

// By hand, 1 swarm, 2 clusters, 1 station, 10 J per metre of 100 m: flight 1000 J, training 50 J, O = 100.
// Cluster 2 is not visited: age 2, drift 3, G = 6. V = 1000 / (0.2 * 100 + 0.25 * 6 + 0.005 * 1000) = 1000 /
// 26.5; the learning objective leaves out travel: 1000 / 21.5.
TEST(PlanningEnvironment, AStepByHand) {
  Environment e{.num_swarms = 1,
                .num_clusters = 2,
                .num_stations = 1,
                .travel_j = std::vector<double>(9, 1000.0),
                .distance_m = std::vector<double>(9, 100.0),
                .capacity_j = {5000.0},
                .threshold_j = {500.0},
                .tables = {.num_swarms = 1,
                           .num_clusters = 2,
                           .timings = {{100, 1, 1}},
                           .objective = {100, 100},
                           .training_energy_j = {50, 50}},
                .reward = {.scale = 1000.0},
                .drift = {.start = {1, 3}, .end = {1, 3}}};
  ASSERT_TRUE(faults_of(e).empty());
  std::vector<double> state(StateLayout(e).size());
  start_at(e, std::vector<Site>{2}, state);
  const Outcome outcome = step(e, state, std::vector<Site>{0}, 0);
  EXPECT_DOUBLE_EQ(outcome.reward, 1000.0 / 26.5);
  EXPECT_DOUBLE_EQ(outcome.learning_objective, 1000.0 / 21.5);
  EXPECT_DOUBLE_EQ(outcome.travel_j, 1000.0);
  Observation seen = observe(e, state);
  EXPECT_EQ(seen.batteries[0], Energy(3950.0));
  EXPECT_EQ(seen.ages, (std::vector<double>{0.0, 2.0}));
  EXPECT_EQ(seen.sequence, 1U);
  EXPECT_TRUE(seen.active[0]);

  // The lemma instead: (2 + 1) (1 + 2 * 3) = 21 for cluster 2.
  e.reward.gradient = GradientForm::bound;
  start_at(e, std::vector<Site>{2}, state);
  EXPECT_DOUBLE_EQ(step(e, state, std::vector<Site>{0}, 0).reward, 1000.0 / (20.0 + 0.25 * 21.0 + 5.0));

  // Below the threshold: only the penalty, or both.
  e.threshold_j = {4500.0};
  start_at(e, std::vector<Site>{2}, state);
  EXPECT_DOUBLE_EQ(step(e, state, std::vector<Site>{0}, 0).reward, -1000.0);
  e.reward.zero_on_violation = false;
  start_at(e, std::vector<Site>{2}, state);
  EXPECT_DOUBLE_EQ(step(e, state, std::vector<Site>{0}, 0).reward, 1000.0 / 30.25 - 1000.0);

  // At the station: 200 instead of O, full again, or by so much.
  e.reward = {.scale = 1000.0};
  state[StateLayout(e).battery()] = 2000.0;
  EXPECT_DOUBLE_EQ(step(e, state, std::vector<Site>{2}, 0).reward,
                   1000.0 / (200.0 + 0.25 * (1.0 + 9.0) + 5.0));
  EXPECT_DOUBLE_EQ(state[StateLayout(e).battery()], 5000.0);
  e.recharge_j = 100.0;
  step(e, state, std::vector<Site>{2}, 0);
  EXPECT_DOUBLE_EQ(state[StateLayout(e).battery()], 4100.0);
}

TEST(PlanningEnvironment, DriftMovesWithTheSequences) {
  const auto e = reference_environment();
  e->drift.end = {15, 15, 21, 11, 12, 17, 19, 17};
  e->drift.sequences = 4;
  std::vector<double> state = reference_file().start;
  for (int i = 0; i < 6; ++i) {
    step(*e, state, std::vector<Site>{0, 1, 2}, 0);
    EXPECT_DOUBLE_EQ(observe(*e, state).drifts[2], 6.0 + 15.0 * std::min(1.0, (i + 1) / 4.0));
  }
}

TEST(PlanningEnvironment, ObservationsRestoreTheState) {
  const auto e = reference_environment();
  const EnvironmentFile file = reference_file();
  std::vector<double> state = file.start;
  std::vector<double> restored(state.size());
  for (const TraceEpoch& epoch : file.trace) {
    step(*e, state, epoch.destinations, epoch.timing);
    restore(*e, observe(*e, state), restored);
    ASSERT_EQ(restored, state);
  }
}

TEST(PlanningEnvironment, ManySideBySideAreTheSameForAnyNumberOfThreads) {
  const auto e = reference_environment();
  const EnvironmentFile file = reference_file();
  const auto run = [&](std::size_t threads) {
    ThreadPool pool(threads);
    States states(*e, 1000);
    std::vector<Site> destinations;
    std::vector<std::size_t> timings;
    for (std::size_t i = 0; i < states.size(); ++i) {
      std::ranges::copy(file.start, states[i].begin());
      const TraceEpoch& epoch = file.trace[i % file.trace.size()];
      destinations.insert(destinations.end(), epoch.destinations.begin(), epoch.destinations.end());
      timings.push_back(epoch.timing);
    }
    std::vector<Outcome> outcomes(states.size());
    step_all(*e, states, destinations, timings, outcomes, pool);
    std::vector<double> numbers = states.numbers();
    for (const Outcome& outcome : outcomes) {
      numbers.push_back(outcome.reward);
    }
    return numbers;
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(PlanningEnvironment, ImpossibleWorldsAreRefusedWithTheReason) {
  const auto message = [](const std::function<void(Environment&)>& change) {
    Environment e = *reference_environment();
    change(e);
    const std::vector<InputFault> faults = faults_of(e);
    return faults.empty() ? std::string() : to_string(faults.front());
  };
  EXPECT_EQ(message([](Environment&) {}), "");
  EXPECT_THAT(message([](Environment& e) { e.threshold_j[1] = 48600.0; }),
              HasSubstr("below the battery's capacity"));
  EXPECT_THAT(message([](Environment& e) {
                for (std::size_t c = 0; c < 8; ++c) {
                  e.travel_j[(2 * 10 + c) * 10 + 9] = 50000.0;
                }
              }),
              HasSubstr("station R:2 is out of reach of every cluster: swarm 3 needs 50.0 kJ"));
  EXPECT_THAT(message([](Environment& e) { e.threshold_j[0] = 48000.0; }),
              HasSubstr("cannot fly from any station to any cluster"));
  EXPECT_THAT(message([](Environment& e) { e.drift.start[3] = -1.0; }), HasSubstr("drift"));
  EXPECT_THAT(message([](Environment& e) { e.tables.objective.pop_back(); }), HasSubstr("objective"));
}

TEST(PlanningEnvironment, DamagedFilesAreRefused) {
  const std::string text = read_file(SKEIN_SOURCE_DIR "/tests/reference/planning_environment.json", 1 << 20);
  const auto fault = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    try {
      parse_environment(changed, "env.json");
    } catch (const InputError& error) {
      return to_string(error.faults().front());
    }
    return std::string();
  };
  EXPECT_EQ(fault("speed_mps", "speed_mps"), "");
  EXPECT_THAT(fault("\"speed_mps\"", "\"speed\""), HasSubstr("speed_mps: is missing"));
  EXPECT_THAT(fault("\"threshold_j\": 16880", "\"threshold_j\": 50000"),
              HasSubstr("could never leave a station"));
  EXPECT_THAT(fault("\"idle_cost\": 200.0", "\"idle_cost\": \"much\""), HasSubstr("reward.idle_cost"));
  EXPECT_THROW(parse_environment(text.substr(0, text.size() / 2), "env.json"), InputError);
  EXPECT_THROW(parse_environment("[]", "env.json"), InputError);
  for (std::size_t i = 0; i < 400; ++i) {  // whatever a byte is, there is an answer
    std::string changed = text;
    changed[RandomStream(i, "test.byte").below(changed.size())] = "x[]{},\"9-"[i % 9];
    try {
      parse_environment(changed, "env.json");
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace skein
