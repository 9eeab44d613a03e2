#include "skein/mission/dimensioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/mission/surrogate.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

ScenarioSource smoke() {
  return {.file = SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
          .settings = {"run.sequences=1", "swarms.count=1", "learning.iterations=4"}};
}

TEST(Dimensioning, UsualRangesAreOfAllWhoDoNotLead) {
  std::vector<std::string> names;
  for (const CountRange& range : usual_ranges(load_scenario(smoke()))) {
    names.push_back(range.name);
    EXPECT_LT(range.low, range.high);
  }
  EXPECT_THAT(names, ElementsAre("worker", "coordinator"));
}

TEST(Dimensioning, TheSurrogateCountsUavsVisitsAndEnergy) {
  const Surrogate surrogate = fly_surrogate(load_scenario(smoke()));
  EXPECT_EQ(surrogate.uavs.at("worker"), 2U);
  EXPECT_EQ(surrogate.visits + surrogate.recharges, 1.0);
  EXPECT_GT(surrogate.energy_j, 0.0);
}

TEST(Dimensioning, TheBestStaysWithinTheBudget) {
  const TemporaryDirectory directory;
  const DimensioningSetup setup{.source = smoke(),
                                .ranges = {{.name = "worker", .low = 1, .high = 3}},
                                .prices = {{"worker", 10.0}},
                                .budget = {.most_cost = 25.0},
                                .confirm = 1,
                                .repeat = 1,
                                .directory = directory.path(),
                                .num_threads = 1};
  const Dimensioning result = dimension(setup, [](std::string_view, double) {});
  // The scenario's own two workers, then one and three.
  ASSERT_THAT(result.compositions, SizeIs(3));
  EXPECT_THAT(result.compositions[0].values, ElementsAre("2"));
  EXPECT_EQ(result.compositions[0].learning_cost, 1.0);
  EXPECT_EQ(result.compositions[2].cost, 32.0);  // three workers, a leader and a coordinator
  EXPECT_TRUE(result.compositions[1].within);
  EXPECT_FALSE(result.compositions[2].within);
  EXPECT_EQ(result.compositions[2].missions, 0U);
  EXPECT_THAT(result.chosen, SizeIs(2));
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.compositions[*result.best].confirmed_within);
  write_dimensioning(result);
  EXPECT_EQ(read_file(directory.path() / "dimension.json", 1 << 20), dimensioning_json(result));
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "dimension.svg"));
}

}  // namespace
}  // namespace skein
