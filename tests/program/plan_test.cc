// `skein plan` as people call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* reference = SKEIN_SOURCE_DIR "/tests/reference/planning_environment.json";
constexpr const char* short_training =
    " --set planning.learner.steps=120 --set planning.learner.memory=8 --set planning.learner.hidden=16 ";

class PlanCommand : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  // In the test's own directory. `before` stands before the program.
  Outcome plan(const std::string& words, const std::string& before = "") {
    const std::string command = "cd '" + directory_.path().string() + "' && " + before +
                                " '" SKEIN_PROGRAM "' plan " + words + " > out 2> err";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content("out"), content("err")};
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    return read_file(directory_.path() / file, std::size_t{1} << 26U);
  }
  [[nodiscard]] bool exists(const std::string& file) const { return fs::exists(directory_.path() / file); }
  [[nodiscard]] std::string environment() const { return std::string("--environment '") + reference + "' "; }

  TemporaryDirectory directory_;
};

TEST_F(PlanCommand, ReplaysATrace) {
  const Outcome good = plan("replay " + std::string(reference));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("The trace comes out."));
  const auto answer = nlohmann::json::parse(plan("replay --format json " + std::string(reference)).out);
  EXPECT_TRUE(answer["fits"]);
  EXPECT_LT(answer["deviation"], 1e-6);
  EXPECT_EQ(plan("replay --quiet " + std::string(reference)).out, "");

  std::string changed = read_file(reference, 1 << 20);
  const std::string weight = "\"c2\": 0.25";
  changed.replace(changed.find(weight), weight.size(), "\"c2\": 0.26");
  write_file(directory_.path() / "changed.json", changed);
  const Outcome bad = plan("replay changed.json");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.out, HasSubstr("does not come out"));
  write_file(directory_.path() / "half.json", changed.substr(0, 5000));
  EXPECT_EQ(plan("replay half.json").exit_code, 2);
  EXPECT_EQ(plan("replay nothing.json").exit_code, 2);
}

// Stopped, killed or in one go, with one thread or more: the same agent.
TEST_F(PlanCommand, TrainingGoesOnWithTheSameBits) {
  const std::string train = "train " + environment() + short_training;
  ASSERT_EQ(plan(train + "--out whole --threads 2").exit_code, 0) << content("err");
  EXPECT_THAT(content("out"), HasSubstr("Greedy"));
  ASSERT_EQ(plan(train + "--out parts --threads 1 --until 33").exit_code, 0) << content("err");
  EXPECT_FALSE(exists("parts/agent.safetensors"));
  EXPECT_THAT(content("out"), HasSubstr("the next call goes on"));
  ASSERT_EQ(plan(train + "--out parts --threads 1").exit_code, 0) << content("err");
  EXPECT_EQ(content("whole/agent.safetensors"), content("parts/agent.safetensors"));
  EXPECT_EQ(content("whole/curve.csv"), content("parts/curve.csv"));

  const std::string longer =
      "train " + environment() + short_training + "--set planning.learner.steps=2000 --quiet --out ";
  ASSERT_EQ(plan(longer + "long").exit_code, 0) << content("err");
  for (const char* seconds : {"0.3", "0.7", "1.1"}) {
    plan(longer + "killed", std::string("timeout -s KILL ") + seconds);
  }
  ASSERT_EQ(plan(longer + "killed").exit_code, 0) << content("err");
  EXPECT_EQ(content("long/agent.safetensors"), content("killed/agent.safetensors"));

  const Outcome other = plan(train + "--out parts --seed 9");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("another environment, seed or options"));
  EXPECT_EQ(plan(train + "--out parts --seed 9 --restart --quiet").exit_code, 0);
}

TEST_F(PlanCommand, ComparesPlannersOnTheSameMissions) {
  const std::string words =
      "eval " + environment() + short_training +
      "--planner guided,learned,myopic,threshold_nearest --seeds 2 --starts 2 --epochs 30 --geometries 2 ";
  const Outcome text = plan(words + "--out e --threads 2");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("beats threshold_nearest"));
  const auto one = nlohmann::json::parse(plan(words + "--out f --threads 1 --format json").out);
  const auto two = nlohmann::json::parse(content("e/planners.json"));
  ASSERT_EQ(one["planners"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(one["planners"][i]["rewards"], two["planners"][i]["rewards"]);
  }
  EXPECT_GT(one["planners"][2]["reward"], 500.0);
  EXPECT_EQ(one["planners"][2]["improvement_probability"]["value"], 1.0);
  EXPECT_EQ(plan("eval --planner best").exit_code, 2);
  EXPECT_EQ(plan(words + "--against beam --out g").exit_code, 2);
}

TEST_F(PlanCommand, ShowsAMission) {
  const Outcome shown = plan("show --planner beam --epochs 12 --out s");
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("tau_L, tau_G"));
  EXPECT_THAT(content("s/trajectory.svg"), HasSubstr("</svg>"));
  EXPECT_EQ(
      nlohmann::json::parse(plan("show --planner myopic --epochs 5 --format json --out s").out)["epochs"]
          .size(),
      5U);
}

TEST_F(PlanCommand, PlansWithTablesThatTheOffloaderSolved) {
  const Outcome solved =
      plan("tables '" SKEIN_SOURCE_DIR "/scenarios/paper/mission.toml' --out solved --quiet");
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const nlohmann::json tables = nlohmann::json::parse(content("solved/tables.json"));
  EXPECT_EQ(tables.at("timings").size(), 2U) << "the mission's two durations, one pair of periods";
  for (const nlohmann::json& swarms : tables.at("objective")) {
    for (const nlohmann::json& clusters : swarms) {
      for (const nlohmann::json& objective : clusters) {
        EXPECT_GT(objective.get<double>(), 0.0);
        EXPECT_LT(objective.get<double>(), 1e6) << "feasible with full batteries";
      }
    }
  }
  const Outcome evaluated =
      plan("eval '" SKEIN_SOURCE_DIR
           "/scenarios/paper/mission.toml' --planner myopic --seeds 2 --starts 2 --epochs 20 "
           "--set planning.tables=solved/tables.json");
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
}

TEST_F(PlanCommand, RefusesImpossibleWorlds) {
  const Outcome threshold = plan("eval --planner myopic --threshold 60 " + environment());
  EXPECT_EQ(threshold.exit_code, 2);
  EXPECT_THAT(threshold.err, HasSubstr("below the battery's capacity of 48600 J"));
  const Outcome far = plan("eval --planner myopic --set world.distance_m='[60000, 200000]'");
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_THAT(far.err, HasSubstr("out of reach of every cluster"));
  const Outcome large = plan("bound");
  EXPECT_EQ(large.exit_code, 2);
  EXPECT_THAT(large.err, HasSubstr("no bound for this world"));
  EXPECT_FALSE(exists("runs"));
}

}  // namespace
}  // namespace skein
