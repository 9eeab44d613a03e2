// `skein reproduce` as people call it, on made-up data, so that it takes seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Reproduce : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  Outcome reproduce(const std::string& words) {
    return run("learning mnist " + words +
               " --set data.source=synthetic --set learning.network.preset=mlp"
               " --set learning.points_per_worker=60 --set data.synthetic.test_per_class=20");
  }
  Outcome run(const std::string& words, const std::string& detail = "--quick") {
    const std::string streams = (directory_.path() / "streams").string();
    const std::string command = "cd '" + directory_.path().string() + "' && SKEIN_SCENARIOS='" +
                                scenarios_.string() + "' '" SKEIN_PROGRAM "' reproduce " + words + " " +
                                detail + " --out here > " + streams + ".out 2> " + streams + ".err";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content("streams.out"), content("streams.err")};
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    return read_file(directory_.path() / file, 1 << 24);
  }
  [[nodiscard]] fs::path at(const std::string& file) const { return directory_.path() / file; }

  TemporaryDirectory directory_;
  fs::path scenarios_ = SKEIN_SOURCE_DIR "/scenarios";
};

TEST_F(Reproduce, NamesAllDataThatIsMissingBeforeItBegins) {
  const Outcome outcome = run("learning cifar10 fmnist mnist --set data.path=nowhere");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cifar10"));
  EXPECT_THAT(outcome.err, HasSubstr("fashion-mnist"));
  EXPECT_THAT(outcome.err, HasSubstr("skein data fetch mnist"));
  EXPECT_FALSE(fs::exists(at("here")));
}

TEST_F(Reproduce, MakesThePublishedStudysTablesAndKeepsItsRuns) {
  const Outcome first = reproduce("--part published");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string place = "here/quick/mnist/published/";
  EXPECT_THAT(content(place + "report.md"), HasSubstr("MNIST, published setting"));
  EXPECT_THAT(content(place + "final.csv"), HasSubstr("\"1, 4\""));
  EXPECT_THAT(content(place + "energy.csv"), HasSubstr("\"56.0\""))
      << "saved at (1, 1), by the published curves";
  EXPECT_THAT(content(place + "accuracy_fixed_tau_l.csv"), HasSubstr("\"HN-PFL, published\",40,88.3"));
  const fs::path kept = at(place + "runs/hn_pfl-L1-G1-seed1/metrics.csv");
  const auto written = fs::last_write_time(kept);
  const std::string report = content(place + "report.md");

  // A second call finds everything; a run that was stopped is run again, to the same end.
  fs::remove(at(place + "runs/h_fl-L4-G1-seed1/summary.json"));
  ASSERT_EQ(reproduce("--part published").exit_code, 0);
  EXPECT_EQ(fs::last_write_time(kept), written);
  EXPECT_TRUE(fs::exists(at(place + "runs/h_fl-L4-G1-seed1/summary.json")));
  EXPECT_EQ(content(place + "report.md"), report);

  // Another scenario is another run.
  ASSERT_EQ(reproduce("--part published --set learning.meta_step=0.02").exit_code, 0);
  EXPECT_NE(fs::last_write_time(kept), written);
}

// Runs that end at the level give the table of whole ones, and whole ones are taken where they are.
TEST_F(Reproduce, EnergyTablesNeedNoWholeRuns) {
  const std::string large_steps = " --set learning.step=0.3 --set learning.meta_step=0.3";
  const std::string place = "here/quick/mnist/published/";
  ASSERT_EQ(reproduce("--part energy" + large_steps).exit_code, 0);
  const std::string early = content(place + "energy_to_level.csv");
  EXPECT_THAT(content(place + "energy.md"), HasSubstr("only until 65 % are reached"));
  EXPECT_TRUE(fs::exists(at(place + "runs/hn_pfl-L1-G1-seed1-to65/metrics.csv")));
  ASSERT_EQ(reproduce("--part published" + large_steps).exit_code, 0);
  EXPECT_EQ(content(place + "energy.csv"), early);
  EXPECT_THAT(early, Not(HasSubstr("never"))) << "else nothing ended early";
  fs::remove_all(at(place + "runs/hn_pfl-L1-G1-seed1-to65"));
  ASSERT_EQ(reproduce("--part energy" + large_steps).exit_code, 0);
  EXPECT_EQ(content(place + "energy_to_level.csv"), early);
  EXPECT_FALSE(fs::exists(at(place + "runs/hn_pfl-L1-G1-seed1-to65")));

  // Several seeds end where each reaches the level: mean and deviation.
  ASSERT_EQ(reproduce("--part energy --periods 1,4 --seeds 2" + large_steps).exit_code, 0);
  EXPECT_TRUE(fs::exists(at(place + "runs/hn_pfl-L1-G4-seed2-to65/metrics.csv")));
  EXPECT_THAT(content(place + "energy_to_level.csv"), HasSubstr(" +- "));
}

TEST_F(Reproduce, ComparesFairlyAndKeepsItsCells) {
  const Outcome first = reproduce("--part fair");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string report = content("here/quick/mnist/fair/report.md");
  EXPECT_THAT(report, HasSubstr("drifted, one step"));
  EXPECT_THAT(report, HasSubstr("Hessian-free"));
  EXPECT_THAT(report, HasSubstr(", own step "));
  EXPECT_THAT(report, HasSubstr("sixth of the training samples"));
  EXPECT_THAT(report, Not(HasSubstr("nan")));
  const auto written = fs::last_write_time(at("here/quick/mnist/fair/cells"));
  ASSERT_EQ(reproduce("--part fair").exit_code, 0);
  EXPECT_EQ(fs::last_write_time(at("here/quick/mnist/fair/cells")), written);
  EXPECT_EQ(content("here/quick/mnist/fair/report.md"), report);
}

TEST_F(Reproduce, TakesTheTextSetting) {
  const Outcome outcome = reproduce("--part text");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the paper's text"));
  const std::string place = "here/quick/mnist/text/";
  for (const std::string periods : {"\"1, 1\"", "\"1, 4\"", "\"4, 1\""}) {
    EXPECT_THAT(content(place + "final.csv"), HasSubstr(periods));
    EXPECT_THAT(content(place + "energy.csv"), HasSubstr(periods));
  }
  EXPECT_THAT(content(place + "loss_fixed_tau_l.csv"), HasSubstr("\"HN-PFL, ours\",24,"));
  const std::string accuracy = content(place + "accuracy_fixed_tau_g.csv");
  EXPECT_THAT(accuracy, Not(HasSubstr("published")));
  for (const std::string local : {"1", "4"}) {
    for (const std::string iteration : {"8", "16"}) {
      EXPECT_THAT(accuracy,
                  HasSubstr("\"tau_L = " + local + ", tau_G = 1\",\"HN-PFL, ours\"," + iteration + ","));
    }
  }

  ASSERT_EQ(reproduce("--part text --periods 4,1").exit_code, 0);
  EXPECT_THAT(content(place + "final.csv"), Not(HasSubstr("\"1, 1\"")));
}

// Settings that the study chooses would stand under titles that are not theirs.
TEST_F(Reproduce, RefusesWhatItChoosesItself) {
  const Outcome outcome = reproduce(
      "--seed 3 --set run.seed=7 --set learning.local_period=2 --set learning.algorithm=h_fl"
      " --set learning.target_accuracy_percent=45 --set learning.step=0.1");
  EXPECT_EQ(outcome.exit_code, 2);
  for (const std::string key : {"--seed", "run.seed", "learning.local_period", "learning.algorithm",
                                "learning.target_accuracy_percent", "learning.step"}) {
    EXPECT_THAT(outcome.err, HasSubstr(key));
  }
  EXPECT_FALSE(fs::exists(at("here")));
}

// Whatever step H-FL is given, the control has HN-PFL's.
TEST_F(Reproduce, ControlKeepsItsStep) {
  ASSERT_EQ(reproduce("--part published --periods 1,1 --set learning.step=0.5").exit_code, 0);
  const std::string runs = "here/quick/mnist/published/runs/";
  EXPECT_THAT(content(runs + "h_fl-L1-G1-seed1/scenario.toml"), HasSubstr("\nstep = 0.5\n"));
  EXPECT_THAT(content(runs + "h_fl_control-L1-G1-seed1/scenario.toml"), HasSubstr("\nstep = 0.01\n"));
}

TEST_F(Reproduce, RunsAgainWhatAnotherVersionMade) {
  const std::string words = "--part published --periods 1,1";
  const std::string summary = "here/quick/mnist/published/runs/h_fl-L1-G1-seed1/summary.json";
  ASSERT_EQ(reproduce(words).exit_code, 0);
  std::string text = content(summary);
  const std::size_t place = text.find("\"version\": \"");
  ASSERT_NE(place, std::string::npos);
  text.insert(place + 12, "9");
  write_file(at(summary), text);
  const auto other =
      fs::last_write_time(at("here/quick/mnist/published/runs/hn_pfl-L1-G1-seed1/summary.json"));
  ASSERT_EQ(reproduce(words).exit_code, 0);
  EXPECT_NE(content(summary), text);
  EXPECT_EQ(fs::last_write_time(at("here/quick/mnist/published/runs/hn_pfl-L1-G1-seed1/summary.json")),
            other);
}

// Deep linear networks with steps of size 10 leave the numbers in a few updates.
class ReproduceDivergence : public Reproduce {
 protected:
  Outcome reproduce_linear(const std::string& words) {
    return run("learning mnist --periods 1,1 " + words +
               " --set data.source=synthetic --set learning.points_per_worker=60"
               " --set data.synthetic.test_per_class=20 --set learning.iterations=80"
               " --set learning.network.preset=layers --set 'learning.network.layers="
               "[\"linear 100\", \"linear 100\", \"linear 100\", \"linear 10\"]'");
  }
};

TEST_F(ReproduceDivergence, IsLeftOutOfMeansAndSaid) {
  const Outcome outcome = reproduce_linear("--part published --seeds 2 --set learning.step=10");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string place = "here/quick/mnist/published/";
  EXPECT_THAT(content(place + "final.csv"), HasSubstr("\"1, 1\",\"diverged\""));
  EXPECT_THAT(content(place + "energy.csv"), HasSubstr("\"1, 1\",\"diverged\""));
  const std::string curves = content(place + "accuracy_fixed_tau_l.csv");
  EXPECT_THAT(curves, HasSubstr("\"HN-PFL, ours\""));
  EXPECT_THAT(curves, HasSubstr("\"H-FL, published\""));
  EXPECT_THAT(curves, Not(HasSubstr("\"H-FL, ours\"")));
}

TEST_F(ReproduceDivergence, OfAllRunsLeavesTables) {
  const Outcome outcome = reproduce_linear("--part text --set learning.step=10 --set learning.meta_step=10");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(content("here/quick/mnist/text/final.csv"), HasSubstr("\"diverged\""));
  EXPECT_FALSE(fs::exists(at("here/quick/mnist/text/accuracy_fixed_tau_l.csv")));
}

// Runs that start from another starter are other runs, though their own file is the same.
TEST_F(Reproduce, RunsAgainWhatStartsFromAnotherStarter) {
  fs::copy(scenarios_, at("scenarios"), fs::copy_options::recursive);
  scenarios_ = at("scenarios");
  const std::string words =
      "learning radioml --part published --periods 1,1 --set data.source=synthetic"
      " --set learning.network.preset=mlp --set learning.points_per_worker=60"
      " --set data.synthetic.test_per_class=20";
  const std::string run_file = "here/quick/radioml/published/runs/hn_pfl-L1-G1-seed1/scenario.toml";
  ASSERT_EQ(run(words).exit_code, 0);
  const std::string before = content(run_file);
  EXPECT_THAT(before, HasSubstr("starter-seed1-"));
  const fs::path starter = at("scenarios/paper/radioml-starter.toml");
  std::string text = read_file(starter, 1 << 20);
  const std::string iterations = "iterations = 100";
  ASSERT_NE(text.find(iterations), std::string::npos);
  text.replace(text.find(iterations), iterations.size(), "iterations = 10");
  write_file(starter, text);
  ASSERT_EQ(run(words).exit_code, 0);
  EXPECT_NE(content(run_file), before);
}

// Five labels per swarm need five classes; RADIOML has four.
TEST_F(Reproduce, ComparesFairlyOnlyWithLabelsThatThereAre) {
  const Outcome outcome =
      run("learning mnist --part fair --seeds 1 --set data.source=synthetic --set data.synthetic.classes=4"
          " --set learning.network.preset=mlp --set learning.points_per_worker=30"
          " --set data.synthetic.test_per_class=20 --set learning.iterations=1",
          "");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 labels"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("5 labels")));
  EXPECT_THAT(outcome.out, HasSubstr("Dirichlet 0.3"));
  EXPECT_THAT(outcome.out, HasSubstr("| HN-PFL minus H-FL, inner step 0.1 |"));
  EXPECT_THAT(outcome.out, Not(HasSubstr(" +- 0.0"))) << "one seed has no interval";
  EXPECT_THAT(outcome.out, ContainsRegex("\n\\| 0\\.003 \\| +global \\| +[0-9.]+ \\| +[+-][0-9.]+ \\|"));
  EXPECT_THAT(outcome.out, ContainsRegex("\n\\| +0\\.3 \\| +global \\|"));
}

TEST_F(Reproduce, TracksDriftAndKeepsAgentsAndMissions) {
  const std::string words =
      "planning --part tracking --set planning.learner.memory=8 --set planning.learner.hidden=16";
  const Outcome first = run(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("the training itself"));
  const std::string report = content("here/quick/tracking.md");
  EXPECT_THAT(content("here/quick/tracking-table.csv"), HasSubstr("myopic,start,"));
  EXPECT_THAT(content("here/quick/tracking.csv"), HasSubstr("C:8"));

  // Some missions are there, others are flown again, with the agents as they were on the way.
  const std::vector<fs::path> missions{fs::directory_iterator(at("here/quick/missions")),
                                       fs::directory_iterator()};
  EXPECT_EQ(missions.size(), 8U);
  for (const fs::path& file : missions) {
    if (file.filename().string().starts_with("learned")) {
      fs::remove(file);
    }
  }
  ASSERT_EQ(run(words).exit_code, 0);
  EXPECT_EQ(content("here/quick/tracking.md"), report);
}

TEST_F(Reproduce, RefusesWhatItDoesNotKnow) { EXPECT_EQ(reproduce("--part nonsense").exit_code, 2); }

}  // namespace
}  // namespace skein
