// `mpirun -n N skein ...` as people call it. Without MPI these tests are skipped, and say so.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "skein/base/random.h"
#include "tests/program/program_fixture.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::duration;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

double seconds_since(steady_clock::time_point start) {
  return duration<double>(steady_clock::now() - start).count();
}

class Mpirun : public ProgramFixture {
 protected:
  void SetUp() override {
    if (std::string(SKEIN_MPIRUN).empty()) {
      GTEST_SKIP() << "built without MPI: install libopenmpi-dev and openmpi-bin, and configure again";
    }
    // As root, on more processes than cores, over nothing but this machine.
    for (const auto& [name, value] : {std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                      {"OMPI_MCA_btl", "self,vader"},
                                      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                      {"OMPI_MCA_oob_tcp_if_include", "lo"},
                                      {"OMPI_MCA_plm_rsh_agent", "true"}}) {
      ::setenv(name, value, 1);
    }
    // No other test's mpirun tidies up after this one.
    ::setenv("OMPI_MCA_orte_tmpdir_base", directory_.path().c_str(), 1);
  }
  static std::string mpirun(int processes) {
    return "'" SKEIN_MPIRUN "' -n " + std::to_string(processes) + " ";
  }
  Outcome on(int processes, const std::string& words) {
    Outcome outcome = shell(mpirun(processes) + "'" SKEIN_PROGRAM "' " + words);
    if (outcome.exit_code == 1) {  // of no command here: mpirun's own
      ADD_FAILURE() << outcome.err;
    }
    return outcome;
  }
  // The smoke mission with more swarms than processes, and few timings to solve.
  const std::string wide_ = smoke_ +
                            " --set swarms.count=5 --set world.clusters.count=7 --set planning.durations=[4] "
                            "--set planning.local_periods=[1] --set planning.global_periods=[2]";
  // The same number of files as what is meant; names of those that differ.
  void expect_same(const std::string& run, const std::string& other, const std::string& what) {
    const auto a = files(run);
    const auto b = files(other);
    EXPECT_EQ(a.size(), b.size()) << what;
    for (const auto& [name, content] : a) {
      const auto found = b.find(name);
      ASSERT_NE(found, b.end()) << what << ": " << name;
      EXPECT_TRUE(found->second == content) << what << ": " << name;
    }
  }
  void expect_same_for_all(const std::string& scenario, const std::vector<std::pair<int, int>>& crews) {
    ASSERT_EQ(skein("run " + scenario + " --quiet --threads 1 --out alone").exit_code, 0);
    for (const auto& [processes, threads] : crews) {
      fs::remove_all(at("together"));
      const Outcome outcome = on(
          processes, "run " + scenario + " --quiet --threads " + std::to_string(threads) + " --out together");
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.out + outcome.err, "");
      expect_same("alone", "together",
                  std::to_string(processes) + " processes, " + std::to_string(threads) + " threads");
      const json manifest = json::parse(content("together/manifest.json"));
      EXPECT_EQ(manifest["processes"].size(), static_cast<std::size_t>(processes));
    }
  }

  // mpirun's processes: its children.
  static std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> list;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) {
        continue;
      }
      std::ifstream stream(entry.path() / "stat");
      std::string stat;
      std::getline(stream, stat);
      std::istringstream rest(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
      char state = 0;
      pid_t of = 0;
      if (rest >> state >> of && of == parent) {
        list.push_back(std::stoi(name));
      }
    }
    std::ranges::sort(list);
    return list;
  }

  // Kills a random process at a random moment, goes on with another number of them; as often as said.
  void expect_same_after_kills(const std::string& scenario, int times) {
    const std::string mission = "run " + scenario + " --quiet --threads 1 --out ";
    ASSERT_EQ(skein(mission + "whole").exit_code, 0);
    const steady_clock::time_point begin = steady_clock::now();
    ASSERT_EQ(on(3, mission + "cut").exit_code, 0);
    const double whole = seconds_since(begin);
    RandomStream stream(1, "moments");
    int killed = 0;
    int resumed = 0;
    for (int trial = 0; trial < times; ++trial) {
      const int processes = 2 + static_cast<int>(stream.below(3));
      const auto victim = stream.below(static_cast<std::uint64_t>(processes));
      const double moment = stream.uniform(0.1, 1.0) * whole;
      fs::remove_all(at("cut"));
      fs::remove(at("pid"));
      steady_clock::time_point death{};
      std::thread killer([&] {
        const steady_clock::time_point start = steady_clock::now();
        std::this_thread::sleep_for(duration<double>(moment));
        int pid = 0;
        while (!(std::ifstream(at("pid")) >> pid) && seconds_since(start) < 60.0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        const std::vector<pid_t> ranks = children_of(pid);
        death = steady_clock::now();
        if (ranks.size() == static_cast<std::size_t>(processes) && ::kill(ranks[victim], SIGKILL) == 0) {
          ++killed;
        }
      });
      const Outcome outcome = shell("sh -c 'echo $$ > pid; exec \"$@\"' sh " + mpirun(processes) +
                                    "'" SKEIN_PROGRAM "' " + mission + "cut");
      const steady_clock::time_point end = steady_clock::now();
      killer.join();
      const std::string what = "trial " + std::to_string(trial) + ": process " + std::to_string(victim) +
                               " of " + std::to_string(processes) + " killed after " +
                               std::to_string(moment) + " s of " + std::to_string(whole);
      if (outcome.exit_code != 0) {
        EXPECT_LT(duration<double>(end - death).count(), 10.0) << what;
        // One message, which is mpirun's.
        const std::string_view said = "exited on signal 9";
        const std::size_t first = outcome.err.find(said);
        ASSERT_NE(first, std::string::npos) << what << outcome.err;
        EXPECT_EQ(outcome.err.find(said, first + 1), std::string::npos) << what << outcome.err;
        EXPECT_EQ(outcome.err.find("skein: "), std::string::npos) << what << outcome.err;
      }
      if (!fs::exists(at("cut/checkpoint.bin"))) {
        continue;
      }
      const int others = 1 + static_cast<int>(stream.below(4));
      const Outcome rest = others == 1 ? skein("resume cut --quiet") : on(others, "resume cut --quiet");
      ASSERT_EQ(rest.exit_code, 0) << what << rest.err;
      expect_same("whole", "cut", what + ", resumed by " + std::to_string(others));
      ++resumed;
    }
    EXPECT_GE(killed, times * 6 / 10) << "most moments were before the end";
    EXPECT_GE(resumed, times * 3 / 10) << "some moments were after the first checkpoint";
  }
};

TEST_F(Mpirun, TheSmokeMissionHasTheSameBytesForAnyNumberOfProcesses) {
  const std::vector<std::pair<int, int>> crews{{1, 1}, {1, 2}, {2, 1}, {2, 2},
                                               {3, 1}, {3, 2}, {4, 1}, {4, 2}};
  expect_same_for_all(smoke_, crews);
  expect_same_for_all(wide_ + " --set run.sequences=3", crews);
  const json manifest = json::parse(content("together/manifest.json"));
  for (const json& process : manifest["processes"]) {
    EXPECT_GT(process["busy_s"], 0.0) << "everybody had something to do";
  }
}

TEST_F(Mpirun, AMissionByTheClockHasTheSameBytesForAnyNumberOfProcesses) {
  expect_same_for_all(
      wide_ +
          " --set planning.planner=sequential --set run.sequences=0 --set run.hours=0.5 --set "
          "planning.cycle_s=300 --set drift.per=hour --set drift.rotation_deg.start=90 --set "
          "drift.noise.start=0.3 --set data.arrivals_per_hour=33.3 --set learning.label_shift=0.5 --set "
          "learning.personal_steps=3 --set learning.personal_newest=4 --set learning.augment_rotation_deg=10",
      {{2, 1}, {3, 2}});
}

// Constants of drifted features for each swarm and round, and what is estimated of clusters.
TEST_F(Mpirun, AMissionThatMeasuresAllHasTheSameBytesForAnyNumberOfProcesses) {
  const std::string measures =
      " --set planning.estimates.held_out=0.2 --set planning.estimates.costs=true --set "
      "offloading.constants=measured_per_swarm --set offloading.constants_moment=aggregation --set "
      "drift.rotation_deg.start=20 --set drift.label_mix.start=0.2";
  expect_same_for_all(wide_ + measures + " --set run.sequences=3", {{2, 1}, {3, 2}});
  expect_same_after_kills(smoke_ + measures + " --set run.sequences=8", 6);
}

TEST_F(Mpirun, TheDefaultMissionHasTheSameBytesForAnyNumberOfProcesses) {
  expect_same_for_all("--set run.sequences=2", {{2, 1}, {4, 2}});
}

TEST_F(Mpirun, WritesWhatAPlainRunPrints) {
  const Outcome alone = skein("run " + smoke_ + " --format json --out here");
  const Outcome together = on(3, "run " + smoke_ + " --format json --out here");
  ASSERT_EQ(together.exit_code, 0) << together.err;
  EXPECT_EQ(alone.out, together.out);
}

TEST_F(Mpirun, KilledAtAnyMomentItGoesOnWithAnotherNumberOfProcesses) {
  expect_same_after_kills(wide_ + " --set run.sequences=8", 10);
}

TEST_F(Mpirun, DifferentProgramsScenariosAndDataRefuseToStartTogether) {
  const std::string program = "'" SKEIN_PROGRAM "' ";
  const auto refused = [&](const std::string& first, const std::string& second, const std::string& what) {
    const Outcome outcome = shell("'" SKEIN_MPIRUN "' -n 1 " + first + " : -n 1 " + second);
    EXPECT_EQ(outcome.exit_code, 2) << what << outcome.err;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("skein: process 1: " + what + " = "), HasSubstr("differs from")));
    EXPECT_FALSE(fs::exists(at("here"))) << what;
    std::size_t lines = 0;
    for (std::size_t i = outcome.err.find("skein: "); i != std::string::npos;
         i = outcome.err.find("skein: ", i + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, 1U) << outcome.err;
  };
  const std::string words = "run " + smoke_ + " --quiet --out '" + at("here").string() + "' ";
  fs::copy_file(SKEIN_PROGRAM, at("other"));
  std::ofstream(at("other"), std::ios::app) << "x";
  refused(program + words, "./other " + words, "version");
  refused(program + words, program + words + "--set run.sequences=3", "scenario");
  refused(program + words, program + "plan eval " + smoke_, "command");

  // A small data set of images, and the same with one other pixel.
  const auto word = [](std::uint32_t value) {
    return std::string{static_cast<char>(value >> 24U), static_cast<char>(value >> 16U),
                       static_cast<char>(value >> 8U), static_cast<char>(value)};
  };
  for (const std::string place : {"a", "b"}) {
    for (const std::string part : {"train", "t10k"}) {
      constexpr std::uint32_t count = 1000;
      std::string images = word(0x803) + word(count) + word(28) + word(28);
      std::string labels = word(0x801) + word(count);
      RandomStream stream(1, "pixels");
      for (std::uint32_t i = 0; i < count; ++i) {
        for (int pixel = 0; pixel < 28 * 28; ++pixel) {
          images += static_cast<char>(stream.below(256));
        }
        labels += static_cast<char>(i % 10);
      }
      images.back() = place == "b" && part == "train" ? '\1' : '\0';
      write_file(at(place) / "data" / (part + "-images-idx3-ubyte"), images);
      write_file(at(place) / "data" / (part + "-labels-idx1-ubyte"), labels);
    }
  }
  const std::string tiny = words + "--set data.source=mnist --set data.path=data ";
  const auto from = [&](const std::string& place) {
    return "-wdir '" + at(place).string() + "' " + program + tiny;
  };
  refused(from("a"), from("b"), "data");
  const Outcome same = shell("'" SKEIN_MPIRUN "' -n 1 " + from("a") + " : -n 1 " + from("a"));
  EXPECT_EQ(same.exit_code, 0) << same.err;
}

TEST_F(Mpirun, WrongInputIsToldOnce) {
  const Outcome alone = skein("run " + smoke_ + " --set learning.meta_step=0.9 --out here");
  const Outcome together = on(4, "run " + smoke_ + " --set learning.meta_step=0.9 --out here");
  EXPECT_EQ(together.exit_code, 2);
  EXPECT_THAT(together.err, HasSubstr(alone.err));
  EXPECT_EQ(together.err.find(alone.err), together.err.rfind(alone.err));
  EXPECT_FALSE(fs::exists(at("here")));
  EXPECT_THAT(on(2, "world " + smoke_).err, HasSubstr("shares no work"));
  EXPECT_THAT(on(2, "nonsense").err, Not(HasSubstr("shares no work")));
}

// Nobody waits for a process that has not understood its words, or goes another way.
TEST_F(Mpirun, WordsThatDifferAreToldAndNobodyWaits) {
  const auto refused = [&](const std::string& first, const std::string& second, const std::string& told) {
    const Outcome outcome = shell("timeout 20 '" SKEIN_MPIRUN "' -n 1 '" SKEIN_PROGRAM "' " + first +
                                  " : -n 1 '" SKEIN_PROGRAM "' " + second);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(told));
  };
  const std::string sweep = "sweep " + smoke_ + " --quiet --out here ";
  refused(sweep + "--repeat 1", sweep + "--repeat 0", "--repeat");
  refused(sweep, sweep + "--collect here", "process 1: command = ");
  refused(sweep, sweep + "--set run.sequences=3", "process 1: sweep = ");
  EXPECT_FALSE(fs::exists(at("here")));
}

TEST_F(Mpirun, StudiesAreSharedToTheSameNumbers) {
  ::setenv("SKEIN_SCENARIOS", SKEIN_SOURCE_DIR "/scenarios", 1);
  const std::string mission = "reproduce mission " + smoke_ +
                              " --quick --seeds 1 --set run.sequences=1 --set planning.learner.steps=40 "
                              "--quiet --out ";
  const std::string offloading = "reproduce offloading --quick --seeds 1 --quiet --out ";
  const std::string learning =
      "reproduce learning mnist fmnist --part text --quick --quiet --set data.source=synthetic "
      "--set learning.network.preset=mlp --set learning.points_per_worker=60 "
      "--set data.synthetic.test_per_class=20 --out ";
  const auto run_both = [&](const std::string& words) {
    fs::remove_all(at("alone"));
    fs::remove_all(at("together"));
    ASSERT_EQ(skein(words + "alone").exit_code, 0) << content("streams.err");
    ASSERT_EQ(on(3, words + "together").exit_code, 0) << content("streams.err");
  };
  for (const std::string& words : {mission, offloading}) {
    run_both(words);
    expect_same("alone", "together", words);
  }
  run_both(learning);  // whose summaries have timings
  for (const char* report : {"/quick/mnist/text/report.md", "/quick/fmnist/text/report.md"}) {
    EXPECT_EQ(content(std::string("alone") + report), content(std::string("together") + report));
  }
}

TEST_F(Mpirun, PlannersAreTrainedAndComparedToTheSameNumbers) {
  const std::string words =
      "plan eval '" SKEIN_SOURCE_DIR "/scenarios/paper/planning.toml' --environment '" SKEIN_SOURCE_DIR
      "/scenarios/paper/planning-environment.json' --set planning.learner.steps=120 "
      "--planner learned,myopic --seeds 2 --starts 3 --epochs 20 --quiet --threads 1 ";
  ASSERT_EQ(skein(words + "--out alone").exit_code, 0);
  for (const int processes : {2, 4}) {
    fs::remove_all(at("together"));
    const Outcome outcome = on(processes, words + "--out together");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(content("alone/planners.csv"), content("together/planners.csv"));
    for (const auto& entry : fs::recursive_directory_iterator(at("alone/agents"))) {
      if (entry.is_regular_file()) {
        const std::string file = "agents/" + fs::relative(entry.path(), at("alone/agents")).string();
        EXPECT_TRUE(content("alone/" + file) == content("together/" + file)) << file;
      }
    }
  }
}

TEST_F(Mpirun, ATrainingOfAPlannerGoesOnWithAnotherNumberOfProcesses) {
  const std::string words =
      "plan train '" SKEIN_SOURCE_DIR "/scenarios/paper/planning.toml' --environment '" SKEIN_SOURCE_DIR
      "/scenarios/paper/planning-environment.json' --set planning.learner.steps=120 "
      "--quiet --threads 1 ";
  ASSERT_EQ(skein(words + "--out alone").exit_code, 0);
  ASSERT_EQ(on(3, words + "--until 60 --out together").exit_code, 0);
  ASSERT_EQ(on(2, words + "--out together").exit_code, 0);
  for (const char* file : {"agent.safetensors", "curve.csv", "checkpoint.bin"}) {
    EXPECT_TRUE(content(std::string("alone/") + file) == content(std::string("together/") + file)) << file;
  }
}

TEST_F(Mpirun, ASweepIsHandedOutAndGoesOn) {
  const std::string grid = smoke_ +
                           " --set swarms.count=1,2 --set planning.planner=beam,sequential --repeat 2 "
                           "--quiet --out ";
  ASSERT_EQ(skein("sweep " + grid + "alone").exit_code, 0);
  const Outcome outcome = on(4, "sweep " + grid + "together");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_same("alone", "together", "a sweep");
  // What is finished is not run again; what is not, is.
  const fs::path kept = at("together/points/swarms.count=1,planning.planner=beam,seed=1/summary.json");
  const auto written = fs::last_write_time(kept);
  fs::remove(at("together/points/swarms.count=2,planning.planner=beam,seed=2/summary.json"));
  ASSERT_EQ(on(2, "sweep " + grid + "together").exit_code, 0);
  EXPECT_EQ(fs::last_write_time(kept), written);
  expect_same("alone", "together", "a sweep that went on");
}

// A process that others join has less in memory than it had alone, the first one too: its swarms' models, its
// clusters' models, and their data. Models are large here, so that it shows.
TEST_F(Mpirun, EachProcessHoldsItsPart) {
  const std::string words = "run " + smoke_ +
                            " --set run.sequences=5 --set swarms.count=6 --set world.clusters.count=24 "
                            "--set 'world.distance_m=[100,2000]' --set planning.planner=beam "
                            "--set learning.network.preset=layers "
                            "--set 'learning.network.layers=[\"linear 8000\",\"relu\",\"linear 10\"]' "
                            "--set planning.durations=[1] "
                            "--set planning.local_periods=[1] --set planning.global_periods=[1] "
                            "--quiet --threads 1 --out ";
  std::map<int, double> first, mean, most;  // MB; the most of the others
  for (const int processes : {1, 2, 4}) {
    const std::string out = "run" + std::to_string(processes);
    ASSERT_EQ(on(processes, words + out).exit_code, 0) << content("streams.err");
    const json manifest = json::parse(content(out + "/manifest.json"));
    first[processes] = manifest["processes"][0]["peak_memory_MB"];
    for (std::size_t rank = 0; rank < manifest["processes"].size(); ++rank) {
      const double peak = manifest["processes"][rank]["peak_memory_MB"];
      mean[processes] += peak / processes;
      most[processes] = std::max(most[processes], rank > 0 ? peak : 0.0);
    }
    RecordProperty("first_" + std::to_string(processes), std::to_string(first[processes]));
    RecordProperty("mean_" + std::to_string(processes), std::to_string(mean[processes]));
  }
  EXPECT_LT(first[2], 0.9 * first[1]);
  EXPECT_LT(first[4], first[2]);
  EXPECT_LT(mean[2], mean[1]);
  EXPECT_LT(mean[4], mean[2]);
  EXPECT_LT(most[4], most[2]);
}

// The whole default mission, as often as it has been promised; minutes.
class MpirunPaper : public Mpirun {};

TEST_F(MpirunPaper, TheDefaultMissionHasTheSameBytesForAnyNumberOfProcesses) {
  expect_same_for_all("", {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {4, 1}, {4, 2}});
}

TEST_F(MpirunPaper, TheDefaultMissionGoesOnAfterKills) { expect_same_after_kills("", 10); }

}  // namespace
}  // namespace skein
