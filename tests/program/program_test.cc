// The program as people call it: exit codes, messages, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(::testing::TempDir()) /
                 ("program_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Runs `skein WORDS` in the test's own directory.
  Outcome skein(const std::string& words) {
    const fs::path out = directory_ / "stdout.txt";
    const fs::path err = directory_ / "stderr.txt";
    const std::string command = "cd '" + directory_.string() + "' && '" SKEIN_PROGRAM "' " + words + " > '" +
                                out.string() + "' 2> '" + err.string() + "'";
    const int status = std::system(command.c_str());
    Outcome outcome{WEXITSTATUS(status), content(out), content(err)};
    fs::remove(out);
    fs::remove(err);
    return outcome;
  }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return directory_ / name;
  }

  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(directory_), fs::recursive_directory_iterator{}));
  }

  fs::path directory_;
};

TEST_F(Program, RunsTheDefaultMission) {
  const Outcome outcome = skein("run --set run.sequences=1 --out here");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("accuracy of clusters' models"));
  for (const std::string name :
       {"scenario.toml", "world.json", "world.geojson", "world.svg", "sequences.csv", "clusters.csv",
        "swarms.csv", "energy.csv", "events.jsonl", "trajectory.geojson", "summary.json", "manifest.json",
        "checkpoint.bin", "models/global.safetensors", "models/cluster-8.safetensors",
        "tensorboard/events.out.tfevents.0.skein"}) {
    EXPECT_TRUE(fs::exists(directory_ / "here" / name)) << name;
  }
  // A report is made where the page was built.
  EXPECT_EQ(num_files(), fs::exists(directory_ / "here" / "report.html") ? 27U : 26U)
      << "nothing but the directory and its files: its planner needs no agent";
}

TEST_F(Program, KeepsThePlannersAgentForTheNextMission) {
  const std::string words = "run '" SKEIN_SOURCE_DIR
                            "/scenarios/smoke.toml' --set run.sequences=1 --set planning.planner=guided "
                            "--set planning.learner.steps=20 --quiet --out ";
  EXPECT_EQ(skein(words + "here").exit_code, 0);
  const fs::path agents = directory_ / "runs" / "agents";
  ASSERT_TRUE(fs::exists(agents));
  const auto trained = fs::last_write_time(fs::directory_iterator(agents)->path());
  EXPECT_EQ(skein(words + "there").exit_code, 0);
  EXPECT_EQ(fs::last_write_time(fs::directory_iterator(agents)->path()), trained);
}

TEST_F(Program, TheDefaultMissionIsThatOfTheScenarioFile) {
  EXPECT_EQ(skein("check --resolved").out,
            skein("check --resolved '" SKEIN_SOURCE_DIR "/scenarios/default.toml'").out);
}

TEST_F(Program, WritesTheSameBytesForAnyNumberOfThreads) {
  for (const std::string threads : {"1", "2", "7"}) {
    ASSERT_EQ(skein("world --seed 11 --quiet --set radio.shadowing_db=3 --threads " + threads + " --out t" +
                    threads)
                  .exit_code,
              0);
  }
  for (const std::string name : {"scenario.toml", "world.json", "world.geojson", "world.svg"}) {
    EXPECT_EQ(content(directory_ / "t1" / name), content(directory_ / "t2" / name)) << name;
    EXPECT_EQ(content(directory_ / "t1" / name), content(directory_ / "t7" / name)) << name;
  }
}

TEST_F(Program, TheResolvedScenarioGivesTheSameWorld) {
  ASSERT_EQ(skein("world --seed 4 --quiet --set swarms.count=5 --out a").exit_code, 0);
  ASSERT_EQ(skein("world a/scenario.toml --quiet --out b").exit_code, 0);
  EXPECT_EQ(content(directory_ / "a/world.json"), content(directory_ / "b/world.json"));
  EXPECT_EQ(content(directory_ / "a/scenario.toml"), content(directory_ / "b/scenario.toml"));
}

TEST_F(Program, NewThenCheck) {
  EXPECT_EQ(skein("new my.toml").exit_code, 0);
  EXPECT_EQ(skein("check my.toml").exit_code, 0);
  EXPECT_EQ(skein("new my.toml").exit_code, 2) << "does not write over a file";
  EXPECT_EQ(skein("new my.toml --force --set swarms.count=2").exit_code, 0);
  EXPECT_THAT(content(directory_ / "my.toml"), HasSubstr("count = 2 "));
}

TEST_F(Program, CheckTellsTheNetworkAndWhetherTheBoundsHold) {
  const Outcome holds = skein("check");
  EXPECT_THAT(holds.out, HasSubstr("network mnist_cnn_stride2: 9 layers, 151034 parameters"));
  EXPECT_THAT(holds.out, Not(HasSubstr("do not hold")));
  const std::string paper =
      "check '" SKEIN_SOURCE_DIR "/scenarios/paper/mission.toml' --set learning.meta_step=0.2";
  const Outcome broken = skein(paper);
  EXPECT_EQ(broken.exit_code, 0) << "training does not need them";
  EXPECT_THAT(broken.out, HasSubstr("learning.meta_step = 0.2: is not below"));
  EXPECT_FALSE(nlohmann::json::parse(skein(paper + " --format json").out)["bounds_hold"]);
}

TEST_F(Program, SpeaksJson) {
  const Outcome world = skein("world --format json --out here");
  EXPECT_EQ(nlohmann::json::parse(world.out)["clusters"].size(), 8U);
  EXPECT_EQ(nlohmann::json::parse(world.out), nlohmann::json::parse(content(directory_ / "here/world.json")));
  EXPECT_EQ(nlohmann::json::parse(content(directory_ / "here/world.geojson"))["type"], "FeatureCollection");
  EXPECT_TRUE(nlohmann::json::parse(skein("check --format json").out)["valid"]);
  const Outcome wrong = skein("check --format json --set run.seed=x --set radio.los_psi=-1");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(nlohmann::json::parse(wrong.out)["faults"].size(), 2U);
  EXPECT_TRUE(nlohmann::json::parse(
                  skein("run '" SKEIN_SOURCE_DIR "/scenarios/smoke.toml' --format json --out here").out)
                  .contains("mean_accuracy_percent"));
}

TEST_F(Program, QuietIsQuiet) {
  for (const std::string& command : std::vector<std::string>{
           "run '" SKEIN_SOURCE_DIR "/scenarios/smoke.toml'", "world", "check", "new x.toml"}) {
    const Outcome outcome = skein(command + " --quiet --out here");
    EXPECT_EQ(outcome.exit_code, 0) << command << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "") << command;
  }
}

TEST_F(Program, EveryCommandHasHelpWithAnExample) {
  EXPECT_THAT(skein("--help").out, HasSubstr("Start with:"));
  for (const std::string command : {"run", "world", "check", "new", "train", "gradcheck", "data list",
                                    "data fetch", "data info", "data split"}) {
    const Outcome outcome = skein(command + " --help");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("Example:")) << command;
    for (const std::string option : {"--set", "--seed", "--threads", "--out", "--quiet", "--format"}) {
      EXPECT_THAT(outcome.out, HasSubstr(option)) << command;
    }
  }
  EXPECT_THAT(skein("--version").out, HasSubstr("skein "));
}

TEST_F(Program, ShowsWhoGetsWhichData) {
  EXPECT_THAT(skein("data list").out, HasSubstr("fashion-mnist"));
  const Outcome info = skein("data info synthetic --out info");
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_TRUE(fs::exists(directory_ / "info/samples.svg"));
  const Outcome split = skein("data split '" SKEIN_SOURCE_DIR "/scenarios/smoke.toml' --out split");
  EXPECT_EQ(split.exit_code, 0) << split.err;
  EXPECT_THAT(split.out, HasSubstr("C:3"));
  EXPECT_TRUE(fs::exists(directory_ / "split/split.svg"));
  EXPECT_EQ(skein("data info nothing").exit_code, 2);
  EXPECT_EQ(skein("data fetch nothing").exit_code, 2);
  const Outcome impossible = skein("data split '" SKEIN_SOURCE_DIR
                                   "/scenarios/smoke.toml' --out no --set data.disjoint=true "
                                   "--set data.points_per_device=900 --set data.buffer_points=900");
  EXPECT_EQ(impossible.exit_code, 2);
  EXPECT_THAT(impossible.err, HasSubstr("data.points_per_device"));
  EXPECT_FALSE(fs::exists(directory_ / "no"));
}

// Wrong input of every kind: exit code 2, a message, and nothing written.
TEST_F(Program, RefusesWrongInputAndWritesNothing) {
  write("junk.toml", std::string("\x7f"
                                 "ELF\0\0\xff\xfe",
                                 8));
  write("large.toml", std::string(10'000'000, 'x'));
  write("negative.toml", "[swarms.types.worker]\nbattery_kj = -1\n");
  write("nan.toml", "[radio]\nbandwidth_mhz = nan\n");
  write("empty_cluster.toml", "[world.clusters]\ndevices = [1, 2, 3, 0, 1, 1, 1, 1]\n");
  write("crowded.toml", "[world.clusters]\ncount = 500\n");
  fs::create_directory(directory_ / "folder.toml");
  const std::size_t before = num_files();
  for (const std::string words :
       {"run junk.toml", "run large.toml", "run negative.toml", "run nan.toml", "run empty_cluster.toml",
        "run crowded.toml", "run folder.toml", "run missing.toml", "run --seed -1", "run --threads many",
        "run --set", "run --format xml", "run --no-such-option", "fly", "", "run a b"}) {
    const Outcome outcome = skein(words);
    EXPECT_EQ(outcome.exit_code, 2) << words << "\n" << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("skein: ")) << words;
    EXPECT_EQ(num_files(), before) << words << " wrote something";
  }
}

TEST_F(Program, AnUnwritableDirectoryIsSaidOnce) {
  write("file", "");
  const Outcome outcome = skein("run --out file/below");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cannot be created"));
  const Outcome json =
      skein("optimize '" SKEIN_SOURCE_DIR "/scenarios/smoke.toml' --out file/below --format json");
  EXPECT_EQ(json.exit_code, 2);
  const nlohmann::json answer = nlohmann::json::parse(json.out);
  EXPECT_FALSE(answer["valid"]);
  ASSERT_EQ(answer["faults"].size(), 1U);
  EXPECT_EQ(answer["faults"][0]["file"], "file/below");
}

}  // namespace
