// `skein bounds` as people call it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <toml++/toml.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

class BoundsCommand : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  // On the smallest scenario, in the test's own directory.
  Outcome run(const std::string& command, const std::string& words) {
    const std::string streams = (directory_.path() / "streams").string();
    const std::string line = "cd '" + directory_.path().string() + "' && '" SKEIN_PROGRAM "' " + command +
                             " '" SKEIN_SOURCE_DIR "/scenarios/smoke.toml' " + words + " > " + streams +
                             ".out 2> " + streams + ".err";
    const int status = std::system(line.c_str());
    return {WEXITSTATUS(status), content("streams.out"), content("streams.err")};
  }
  Outcome bounds(const std::string& words) { return run("bounds --probes 2 --draws 4", words); }
  [[nodiscard]] std::string content(const std::string& file) const {
    return read_file(directory_.path() / file, 1 << 24);
  }
  [[nodiscard]] bool exists(const std::string& file) const {
    return std::filesystem::exists(directory_.path() / file);
  }

  TemporaryDirectory directory_;
};

TEST_F(BoundsCommand, PrintsEveryTermBesideItsBound) {
  const Outcome outcome = bounds("");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"sigma^F", "gamma_u^F", "gamma^F", "Upsilon", "Xi", "mu^H", "nat^2", "drift",
                            "Warning, scenario's constants: mu^F = 20 is below 4 mu^G = 40"}) {
    EXPECT_THAT(outcome.out, HasSubstr(words));
  }
  EXPECT_FALSE(exists("runs")) << "nothing is written unless asked for";
}

TEST_F(BoundsCommand, WritesJson) {
  const Outcome outcome = bounds("--format json --out here");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, content("here/bounds.json"));
  EXPECT_TRUE(exists("here/scenario.toml"));
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["constants"]["gradient_bound"]["scenario"], 500.0);
  EXPECT_TRUE(json["constants"]["hessian_lipschitz"]["scenario"].is_null());
  EXPECT_EQ(json["drift"].size(), 2U);
  for (const auto& [name, term] : json["terms"].items()) {
    EXPECT_TRUE(term["bound_by_scenario"]["value"].is_number()) << name;
    if (!term["measured"].is_null()) {
      EXPECT_LT(term["measured"].get<double>(), term["bound_by_measurement"]["value"].get<double>()) << name;
    }
  }
}

// So that offloading can run on what was measured.
TEST_F(BoundsCommand, WritesTheScenarioWithMeasuredConstants) {
  ASSERT_EQ(bounds("--quiet --out here").exit_code, 0);
  const auto constants = nlohmann::json::parse(content("here/bounds.json"))["constants"];
  const auto resolved = toml::parse(content("here/measured.toml"));
  for (const auto& [name, value] : constants.items()) {
    if (!value["scenario"].is_null()) {
      EXPECT_EQ(resolved["learning"]["bound"][name].value<double>(), value["measured"].get<double>()) << name;
    }
  }
  EXPECT_EQ(resolved["learning"]["iterations"].value<int>(), 40) << "as in the scenario";
  const int status = std::system(
      ("cd '" + directory_.path().string() + "' && '" SKEIN_PROGRAM "' check --quiet here/measured.toml")
          .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(BoundsCommand, LongPeriodsAreReported) {
  const Outcome outcome = bounds(
      "--format json --rounds 1 --set learning.local_period=8 --set learning.global_period=8 "
      "--set learning.meta_step=1e-4");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GT(json["terms"]["gradient"]["bound_by_scenario"]["log10"].get<double>(), 50.0);
  EXPECT_THAT(json["growth"].get<std::string>(), HasSubstr("10^54.6"));
}

TEST_F(BoundsCommand, WarnsWhereThereIsNoBound) {
  const Outcome outcome = bounds("--set learning.meta_step=0.02");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("meta_step = 0.02 is not below 1 / (6 mu^F) = 0.00833333"));
  EXPECT_THAT(outcome.out, HasSubstr("none"));

  const Outcome small = bounds("--set learning.bound.network_gradient_variability=1e-6");
  EXPECT_THAT(small.out, HasSubstr("Warning, scenario's constants: gamma^F: "));
}

TEST_F(BoundsCommand, BeginsWithAModel) {
  ASSERT_EQ(run("train", "--quiet --out a --set learning.iterations=6").exit_code, 0);
  const Outcome fresh = bounds("--format json");
  const Outcome trained = bounds("--format json --model a/models/global.safetensors");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto start = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.out)["terms"]["gradient_start"]["bound_by_scenario"]["value"]
        .get<double>();
  };
  EXPECT_LT(start(trained), start(fresh)) << "training has lowered the meta-loss";
  EXPECT_EQ(bounds("--model nothing.safetensors").exit_code, 2);
}

TEST_F(BoundsCommand, TheSameBytesForAnyNumberOfThreads) {
  const Outcome one = bounds("--format json --threads 1");
  EXPECT_EQ(one.out, bounds("--format json --threads 3").out);
  EXPECT_EQ(one.exit_code, 0) << one.err;
}

TEST_F(BoundsCommand, RefusesWrongInputAndIsQuietWhenAsked) {
  for (const std::string words : {"--rounds 0", "--points -1", "--set learning.algorithm=magic"}) {
    const Outcome outcome = bounds(words + " --out here");
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_FALSE(exists("here")) << words;
  }
  EXPECT_EQ(bounds("--quiet").out, "");
  EXPECT_THAT(run("bounds --help", "").out, HasSubstr("skein bounds scenarios/smoke.toml"));
}

}  // namespace
}  // namespace skein
