#include "skein/simulation/mission_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "skein/base/random.h"
#include "skein/data/data_source.h"
#include "skein/mission/prepare_mission.h"
#include "skein/planning/planners.h"
#include "tests/thread_crew.h"

namespace skein {
namespace {

TEST(MissionRanks, HeavyTasksAreSpread) {
  EXPECT_THAT(balance(std::vector{1.0, 1.0, 5.0, 1.0, 1.0}, 2),
              testing::ElementsAre(testing::ElementsAre(2), testing::ElementsAre(0, 1, 3, 4)));
  EXPECT_THAT(balance(std::vector<double>{}, 2),
              testing::ElementsAre(testing::IsEmpty(), testing::IsEmpty()));
  EXPECT_THAT(balance(std::vector{1.0}, 3).front(), testing::ElementsAre(0));
}

TEST(MissionRanks, NobodyHasMoreThanTheMeanAndOneTask) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "loads");
    std::vector<double> loads(1 + stream.below(60));
    std::ranges::generate(loads, [&] { return stream.uniform(0.1, 3.0); });
    const std::size_t processes = 1 + stream.below(8);
    const auto parts = balance(loads, processes);
    const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(processes);
    std::vector<int> times(loads.size(), 0);
    for (const auto& part : parts) {
      EXPECT_TRUE(std::ranges::is_sorted(part));
      double sum = 0.0;
      for (const std::size_t task : part) {
        sum += loads[task];
        ++times[task];
      }
      EXPECT_LE(sum, mean + std::ranges::max(loads));
    }
    EXPECT_THAT(times, testing::Each(1));
  }
}

// The smoke mission over several processes, here threads: what the core network is at the end.
struct Flown {
  std::string core;
  MissionTraffic traffic;
};
Flown fly(std::size_t processes, std::size_t restart_after, const std::vector<std::string>& settings) {
  const Scenario scenario = load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = settings});
  const auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
  Flown flown;
  std::string saved;
  // Begun by one crew more than goes on.
  for (const std::size_t size : {processes + 1, processes}) {
    if (size > processes && restart_after == 0) {
      continue;
    }
    run_crew(size, [&](Crew& crew) {
      ThreadPool pool(1 + crew.rank() % 2);
      PreparedMission prepared(scenario, data, pool, crew, [](double) {});
      MissionRanks ranks(crew, prepared.field(), prepared.fleet());
      if (!crew.is_first()) {
        ranks.serve();
        return;
      }
      const std::unique_ptr<Planner> planner =
          planner_factory(scenario.planning.planner, prepared.environment(), scenario.planning, {})();
      CoreNetwork core = prepared.start(*planner, ranks.field(), ranks.fleet());
      if (!saved.empty()) {
        ByteCursor bytes(saved);
        core.restore(bytes);
      }
      while (!core.done() && (size == processes || core.state().sequence < restart_after)) {
        core.step([](double) {});
      }
      ByteWriter bytes;
      core.save(bytes);
      ranks.finish();
      saved = bytes.take();
      flown = {.core = saved, .traffic = ranks.traffic()};
    });
  }
  return flown;
}

class ManyRanks : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ManyRanks, AnyNumberOfProcessesHasTheSameBits) {
  std::vector<std::string> settings{
      "planning.planner=beam",      "run.sequences=3",        "swarms.count=4",
      "world.clusters.count=6",     "planning.durations=[4]", "planning.local_periods=[1]",
      "planning.global_periods=[2]"};
  settings.insert(settings.end(), GetParam().begin(), GetParam().end());
  const Flown one = fly(1, 0, settings);
  EXPECT_EQ(one.traffic.messages, 0U);
  for (const std::size_t processes : {2U, 3U, 6U}) {
    const Flown several = fly(processes, 0, settings);
    EXPECT_TRUE(several.core == one.core) << processes;
    EXPECT_GT(several.traffic.messages, 0U);
    EXPECT_EQ(several.traffic.ranks.size(), processes);
  }
  EXPECT_TRUE(fly(2, 1, settings).core == one.core) << "begun by three, finished by two";
}

INSTANTIATE_TEST_SUITE_P(Settings, ManyRanks,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{
                                               "planning.estimates.held_out=0.3",
                                               "planning.estimates.costs=true",
                                               "offloading.constants=measured_per_swarm",
                                               "offloading.constants_moment=aggregation"}));

TEST(MissionRanks, TheFirstDivergenceIsTold) {
  const std::vector<std::string> settings{"planning.planner=beam",
                                          "swarms.count=4",
                                          "world.clusters.count=6",
                                          "planning.durations=[4]",
                                          "planning.local_periods=[1]",
                                          "planning.global_periods=[2]",
                                          "learning.inner_step=10",
                                          "learning.bound.meta_lipschitz=1e-4",
                                          "learning.bound.gradient_lipschitz=1e-4",
                                          "learning.meta_step=10"};
  std::optional<std::string> expected;
  for (const std::size_t processes : {1U, 2U, 3U}) {
    const Scenario scenario = load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = settings});
    const auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
    std::string message;
    run_crew(processes, [&](Crew& crew) {
      ThreadPool pool(1);
      PreparedMission prepared(scenario, data, pool, crew, [](double) {});
      MissionRanks ranks(crew, prepared.field(), prepared.fleet());
      if (!crew.is_first()) {
        ranks.serve();
        return;
      }
      const std::unique_ptr<Planner> planner =
          planner_factory(scenario.planning.planner, prepared.environment(), scenario.planning, {})();
      CoreNetwork core = prepared.start(*planner, ranks.field(), ranks.fleet());
      try {
        while (!core.done()) {
          core.step([](double) {});
        }
      } catch (const Divergence& divergence) {
        message = divergence.what();
      }
      ranks.finish();
    });
    EXPECT_FALSE(message.empty());
    expected = expected.value_or(message);
    EXPECT_EQ(message, *expected) << processes << " processes";
  }
}

}  // namespace
}  // namespace skein
