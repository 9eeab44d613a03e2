// `skein train` as people call it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Train : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  // Trains the smallest scenario in the test's own directory.
  Outcome train(const std::string& words) {
    const std::string streams = (directory_.path() / "streams").string();
    const std::string command = "cd '" + directory_.path().string() + "' && '" SKEIN_PROGRAM "' train '" +
                                SKEIN_SOURCE_DIR "/scenarios/smoke.toml' --set learning.iterations=6 " +
                                words + " > " + streams + ".out 2> " + streams + ".err";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content("streams.out"), content("streams.err")};
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    return read_file(directory_.path() / file, 1 << 24);
  }
  [[nodiscard]] bool exists(const std::string& file) const { return fs::exists(directory_.path() / file); }
  [[nodiscard]] std::size_t num_lines(const std::string& file) const {
    return static_cast<std::size_t>(std::ranges::count(content(file), '\n'));
  }
  // Of a table: row 0 is the first under the header.
  [[nodiscard]] std::string cell(const std::string& file, std::size_t row, const std::string& column) const {
    std::istringstream lines(content(file));
    std::string header;
    std::getline(lines, header);
    const std::size_t before = header.find("," + column);
    EXPECT_NE(before, std::string::npos) << column;
    auto place = std::count(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(before) + 1, ',');
    std::string line;
    for (std::size_t i = 0; i <= row; ++i) {
      std::getline(lines, line);
    }
    std::istringstream cells(line);
    std::string result;
    for (; place >= 0; --place) {
      std::getline(cells, result, ',');
    }
    return result;
  }

  TemporaryDirectory directory_;
};

TEST_F(Train, WritesMetricsSummaryScenarioAndModels) {
  const Outcome outcome = train("--out here");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("HN-PFL on synthetic, 2 swarms with 4 workers"));
  EXPECT_THAT(outcome.out, HasSubstr("global, all labels"));
  EXPECT_EQ(num_lines("here/metrics.csv"), 8U) << "a header, the start and six iterations";
  EXPECT_THAT(content("here/metrics.csv"), HasSubstr("iteration,simulated_s,energy_J,processing_J"));
  const auto summary = nlohmann::json::parse(content("here/summary.json"));
  EXPECT_EQ(summary["workers"], 4);
  EXPECT_EQ(summary["last"]["iteration"], 6);
  EXPECT_EQ(summary["last"]["swarms"].size(), 2U);
  EXPECT_FALSE(summary.contains("diverged"));
  for (const std::string name : {"scenario.toml", "models/global.safetensors", "models/swarm_1.safetensors",
                                 "models/swarm_2.safetensors"}) {
    EXPECT_TRUE(exists("here/" + name)) << name;
  }
}

TEST_F(Train, WritesTheSameBytesForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3}) {
    const Outcome outcome =
        train(fmt::format("--quiet --threads {0} --out t{0} --set learning.local_period=2 --set "
                          "learning.global_period=3",
                          threads));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
  }
  for (const std::string name : {"metrics.csv", "scenario.toml", "models/global.safetensors",
                                 "models/swarm_1.safetensors", "models/swarm_2.safetensors"}) {
    EXPECT_EQ(content("t1/" + name), content("t2/" + name)) << name;
    EXPECT_EQ(content("t1/" + name), content("t3/" + name)) << name;
  }
}

TEST_F(Train, EveryAlgorithmRuns) {
  for (const std::string algorithm : {"hn_pfl", "h_fl", "fed_avg", "per_fed_avg", "local", "central"}) {
    const Outcome outcome =
        train(fmt::format("--out {0} --format json --set learning.algorithm={0}", algorithm));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto summary = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(summary["algorithm"], algorithm);
    EXPECT_EQ(summary, nlohmann::json::parse(content(algorithm + "/summary.json")));
    EXPECT_EQ(exists(algorithm + "/models/global.safetensors"), algorithm != "local");
  }
}

// A model that was saved is one to start from.
TEST_F(Train, GoesOnFromASavedModel) {
  ASSERT_EQ(train("--quiet --out a").exit_code, 0);
  ASSERT_EQ(train("--quiet --out b --set learning.initial_model=a/models/global.safetensors").exit_code, 0);
  EXPECT_EQ(cell("b/metrics.csv", 0, "loss_nats"), cell("a/metrics.csv", 6, "loss_nats"));
  EXPECT_NE(cell("b/metrics.csv", 0, "loss_nats"), cell("a/metrics.csv", 5, "loss_nats"));
  EXPECT_EQ(train("--out c --set learning.initial_model=nothing.safetensors").exit_code, 2);
  EXPECT_FALSE(exists("c"));
}

TEST_F(Train, RepeatsWithOtherSeeds) {
  const Outcome outcome = train("--repeat 3 --seed 5 --out many");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("seeds 5 to 7"));
  EXPECT_THAT(outcome.out, HasSubstr("95 % interval"));
  EXPECT_EQ(num_lines("many/repeats.csv"), 4U);
  ASSERT_EQ(train("--seed 6 --quiet --out one").exit_code, 0);
  EXPECT_EQ(content("many/seed_6/metrics.csv"), content("one/metrics.csv"));
  const auto summary = nlohmann::json::parse(content("many/summary.json"));
  EXPECT_EQ(summary["seeds"], (std::vector<int>{5, 6, 7}));
  double sum = 0.0;
  for (const std::string seed : {"5", "6", "7"}) {
    const auto run = nlohmann::json::parse(content("many/seed_" + seed + "/summary.json"));
    sum += run["last"]["global"]["loss_nats"].get<double>();
  }
  EXPECT_NEAR(summary["over_seeds"]["loss_nats"]["mean"].get<double>(), sum / 3.0, 1e-12);
  EXPECT_GT(summary["over_seeds"]["loss_nats"]["half_width_95"].get<double>(), 0.0);
}

// The step grows absurd after two iterations; what was recorded before is there.
TEST_F(Train, DivergenceHasItsOwnExitCode) {
  const std::string absurd =
      "--set learning.algorithm=h_fl --set 'learning.step_schedule=[[0, 0.01], [2, 10]]' "
      "--set learning.network.preset=layers --set learning.iterations=40 "
      "--set 'learning.network.layers=[\"linear 100\", \"linear 100\", \"linear 100\", \"linear 10\"]' ";
  ASSERT_EQ(train("--quiet --out here").exit_code, 0);  // whose models must not stay
  ASSERT_TRUE(exists("here/models"));
  const Outcome outcome = train(absurd + "--out here");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("training diverged in local iteration"));
  EXPECT_THAT(outcome.err, HasSubstr("learning.step = 10"));
  EXPECT_GE(num_lines("here/metrics.csv"), 4U);
  EXPECT_TRUE(content("here/metrics.csv").ends_with('\n'));
  EXPECT_TRUE(nlohmann::json::parse(content("here/summary.json")).contains("diverged"));
  EXPECT_FALSE(exists("here/models"));

  const Outcome json = train(absurd + "--out there --format json");
  EXPECT_EQ(json.exit_code, 3);
  EXPECT_THAT(nlohmann::json::parse(json.out)["diverged"].get<std::string>(),
              HasSubstr("in local iteration"));
  EXPECT_GE(nlohmann::json::parse(content("there/summary.json"))["diverged"]["iteration"].get<int>(), 3);
}

// At a step where some seeds diverge, the others are there, and counted.
TEST_F(Train, OneSeedsDivergenceLeavesTheOthers) {
  const Outcome outcome = train(
      "--repeat 6 --out many --set learning.algorithm=h_fl --set learning.step=1 --set "
      "learning.iterations=40 "
      "--set learning.network.preset=layers "
      "--set 'learning.network.layers=[\"linear 100\", \"linear 100\", \"linear 100\", \"linear 10\"]'");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("seeds 1 to 6, without "));
  EXPECT_THAT(outcome.err, HasSubstr("training diverged in local iteration"));
  const auto summary = nlohmann::json::parse(content("many/summary.json"));
  EXPECT_GT(summary["seeds"].size(), 0U);
  EXPECT_EQ(summary["seeds"].size() + summary["diverged"].get<std::size_t>(), 6U);
  EXPECT_EQ(num_lines("many/repeats.csv"), 1 + summary["seeds"].size());
  EXPECT_TRUE(exists("many/seed_6/summary.json"));
}

TEST_F(Train, RefusesWrongInputAndWritesNothing) {
  for (const std::string words :
       {"--set learning.local_period=4", "--set learning.points_per_worker=5000", "--repeat 0",
        "--set data.source=radioml --set data.path=nowhere", "--set learning.algorithm=magic"}) {
    const Outcome outcome = train(words + " --out here");
    EXPECT_EQ(outcome.exit_code, 2) << words << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("skein: ")) << words;
    EXPECT_FALSE(exists("here")) << words;
  }
}

}  // namespace
}  // namespace skein
