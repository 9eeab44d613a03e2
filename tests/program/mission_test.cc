// `skein run` and `skein resume` as people call them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "skein/base/random.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Mission : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  Outcome skein(const std::string& words) {
    const std::string streams = (directory_.path() / "streams").string();
    const std::string command = "cd '" + directory_.path().string() + "' && '" SKEIN_PROGRAM "' " + words +
                                " > " + streams + ".out 2> " + streams + ".err";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content("streams.out"), content("streams.err")};
  }
  [[nodiscard]] std::string content(const fs::path& file) const {
    return read_file(directory_.path() / file, 1 << 28);
  }
  // All files of a run but the manifest, which has timings.
  [[nodiscard]] std::map<std::string, std::string> files(const std::string& run) const {
    std::map<std::string, std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() / run)) {
      if (entry.is_regular_file() && entry.path().filename() != "manifest.json") {
        result[fs::relative(entry.path(), directory_.path() / run).string()] =
            read_file(entry.path(), std::size_t{1} << 28U);
      }
    }
    return result;
  }
  static std::vector<std::vector<std::string>> rows(const std::string& csv) {
    std::vector<std::vector<std::string>> table;
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string>& row = table.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) {
        row.push_back(cell);
      }
    }
    return table;
  }

  TemporaryDirectory directory_;
  const std::string smoke_ = "'" SKEIN_SOURCE_DIR "/scenarios/smoke.toml' --quiet";
};

TEST_F(Mission, HasTheSameBytesForAnyNumberOfThreads) {
  ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=3 --threads 1 --out one").exit_code, 0);
  ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=3 --threads 2 --out two").exit_code, 0);
  EXPECT_EQ(files("one"), files("two"));
  // Of the manifest only what it took, and the threads, may differ.
  nlohmann::json manifests[2] = {nlohmann::json::parse(content("one/manifest.json")),
                                 nlohmann::json::parse(content("two/manifest.json"))};
  for (nlohmann::json& manifest : manifests) {
    EXPECT_EQ(manifest.at("data_sha256").get<std::string>().size(), 64U);
    EXPECT_FALSE(manifest.at("machine").at("system").get<std::string>().empty());
    for (const char* key : {"seconds", "processor_seconds", "threads", "processes"}) {
      EXPECT_EQ(manifest.erase(key), 1U) << key;
    }
  }
  EXPECT_EQ(manifests[0], manifests[1]);
}

TEST_F(Mission, ARunDirectoryIsComplete) {
  ASSERT_EQ(skein("run " + smoke_ + " --out here").exit_code, 0);
  for (const char* file : {"scenario.toml", "manifest.json", "events.jsonl", "sequences.csv", "clusters.csv",
                           "swarms.csv", "energy.csv", "trajectory.geojson", "summary.json", "checkpoint.bin",
                           "models/global.safetensors", "models/cluster-1.safetensors",
                           "models/cluster-3.safetensors", "tensorboard/events.out.tfevents.0.skein"}) {
    EXPECT_TRUE(fs::exists(directory_.path() / "here" / file)) << file;
  }
  // The resolved scenario is the same mission.
  ASSERT_EQ(skein("run here/scenario.toml --quiet --out again").exit_code, 0);
  EXPECT_EQ(content("here/summary.json"), content("again/summary.json"));
}

// With everything that core networks measure.
TEST_F(Mission, EstimatesComeBackWithACheckpointAndWithOtherThreads) {
  const std::string words = "run " + smoke_ +
                            " --set planning.estimates.held_out=0.2 --set planning.estimates.costs=true"
                            " --set offloading.constants=measured_per_swarm"
                            " --set offloading.constants_moment=aggregation --set run.sequences=";
  ASSERT_EQ(skein(words + "5 --threads 1 --out whole").exit_code, 0);
  ASSERT_EQ(skein(words + "5 --threads 2 --out two").exit_code, 0);
  EXPECT_EQ(files("whole"), files("two"));
  RandomStream random(1, "moments of estimates");
  for (int kill = 0; kill < 5; ++kill) {
    fs::remove_all(directory_.path() / "cut");
    static_cast<void>(std::system(("cd '" + directory_.path().string() + "' && timeout -s KILL " +
                                   std::to_string(random.uniform(0.2, 1.5)) + " '" SKEIN_PROGRAM "' " +
                                   words + "5 --out cut 2> /dev/null")
                                      .c_str()));
    if (fs::exists(directory_.path() / "cut/checkpoint.bin")) {
      ASSERT_EQ(skein("resume cut --quiet").exit_code, 0) << content("streams.err");
      EXPECT_EQ(files("cut"), files("whole"));
    }
  }
}

TEST_F(Mission, KilledAndContinuedItLeavesTheSameBytes) {
  const std::string words = " run " + smoke_ + " --set run.sequences=8 --out ";
  ASSERT_EQ(skein(words + "first").exit_code,
            0);  // trains the planner: the next run is as long as those below
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(skein(words + "whole").exit_code, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto whole = files("whole");
  RandomStream random(1, "moments");
  std::size_t continued = 0;
  for (int kill = 0; kill < 20; ++kill) {
    const std::string moment = std::to_string(random.uniform(0.0, seconds));
    fs::remove_all(directory_.path() / "cut");
    static_cast<void>(std::system(("cd '" + directory_.path().string() + "' && timeout -s KILL " + moment +
                                   " '" SKEIN_PROGRAM "'" + words + "cut 2> /dev/null")
                                      .c_str()));
    if (!fs::exists(directory_.path() / "cut/checkpoint.bin")) {
      const Outcome early = skein("resume cut");
      EXPECT_EQ(early.exit_code, 2);
      EXPECT_THAT(early.err, HasSubstr("no checkpoint yet"));
      continue;
    }
    ++continued;
    ASSERT_EQ(skein("resume cut --quiet").exit_code, 0) << content("streams.err");
    EXPECT_EQ(files("cut"), whole) << "after " << moment << " s";
  }
  EXPECT_GT(continued, 0U);
}

TEST_F(Mission, ADamagedCheckpointIsRefused) {
  ASSERT_EQ(skein("run " + smoke_ + " --out here").exit_code, 0);
  std::string bytes = content("here/checkpoint.bin");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(directory_.path() / "here/checkpoint.bin", bytes);
  const Outcome outcome = skein("resume here");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is damaged"));
}

TEST_F(Mission, GoesOnOnlyInItsOwnDirectory) {
  ASSERT_EQ(skein("run " + smoke_ + " --out here").exit_code, 0);
  const Outcome outcome = skein("resume here --out there");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--out = there: a mission goes on in its own directory, here"));
  EXPECT_FALSE(fs::exists(directory_.path() / "there"));
}

// Smoke has 2 swarms; its devices are more than 2.
TEST_F(Mission, NamesEveryListOfTheWrongLength) {
  const std::vector<std::string> keys{"data.points_per_device",     "data.buffer_points",
                                      "data.arrivals_per_sequence", "offloading.point_kbit",
                                      "offloading.model_kbit",      "offloading.local_time_s"};
  std::string settings;
  for (const std::string& key : keys) {
    settings += " --set '" + key + "=[5,5,5]'";
  }
  for (const char* command : {"check ", "run ", "optimize ", "plan tables ", "sweep --point 1 "}) {
    const Outcome outcome = skein(command + smoke_ + settings + " --out here");
    EXPECT_EQ(outcome.exit_code, 2) << command << outcome.err;
    for (const std::string& key : keys) {
      EXPECT_THAT(outcome.err, HasSubstr(key + " = [5, 5, 5]: has 3 values; a list needs one per "))
          << command;
    }
  }
}

// On a terminal of 80 columns, no line is longer, and the detail is seen.
TEST_F(Mission, TheLineOfProgressShowsTheDetail) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  const std::string command = "cd '" + directory_.path().string() + "' && '" SKEIN_PROGRAM "' run '" +
                              SKEIN_SOURCE_DIR "/scenarios/smoke.toml' --out here > out 2> " +
                              ::ptsname(terminal);
  std::future<int> status = std::async(std::launch::async, [&] { return std::system(command.c_str()); });
  std::string shown;
  // The end of the terminal is an error: whoever wrote to it has closed it.
  for (std::array<char, 4096> part{};;) {
    const ssize_t count = ::read(terminal, part.data(), part.size());
    if (count <= 0) {
      break;
    }
    shown.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(terminal);
  EXPECT_EQ(WEXITSTATUS(status.get()), 0);
  const std::string clear_line = "\r\x1b[K";
  bool whole = false;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t next = std::min(shown.find(clear_line, at), shown.size());
    const std::string line = shown.substr(at, next - at);
    EXPECT_LT(line.size(), 80U) << line;
    whole = whole || (line.find(" of ") != std::string::npos && line.find("battery C:") != std::string::npos);
    at = next + clear_line.size();
  }
  EXPECT_TRUE(whole) << shown;
}

TEST_F(Mission, WrongInputLeavesNothing) {
  for (const char* wrong : {"learning.meta_step=0.9", "learning.algorithm='fed_avg'", "data.source='nowhere'",
                            "swarms.types.worker.battery_kj=41"}) {
    const Outcome outcome = skein("run " + smoke_ + " --set \"" + wrong + "\" --out here");
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_FALSE(outcome.err.empty()) << wrong;
    EXPECT_FALSE(fs::exists(directory_.path() / "here")) << wrong;
  }
}

// Of energy.csv's columns: from here on each is a kind of energy.
std::size_t first_kind(const std::vector<std::vector<std::string>>& energy) {
  return static_cast<std::size_t>(std::ranges::find(energy[0], "processing_J") - energy[0].begin());
}

TEST_F(Mission, BatteriesAddUp) {
  for (const std::string seed : {"1", "2", "3", "4"}) {
    ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=6 --seed " + seed + " --out here").exit_code, 0);
    const auto energy = rows(content("here/energy.csv"));
    const auto swarms = rows(content("here/swarms.csv"));
    // What a swarm has recharged, and what its UAVs have spent and still have, make up full batteries.
    std::map<std::string, double> spent, level, recharged;
    std::map<std::string, int> uavs;
    for (std::size_t i = 1; i < energy.size(); ++i) {
      if (energy[i][0] == "5") {
        double sum = 0.0;
        for (std::size_t kind = first_kind(energy); kind < energy[i].size(); ++kind) {
          sum += std::stod(energy[i][kind]);
        }
        spent[energy[i][2]] += sum;
        level[energy[i][2]] += std::stod(energy[i][4]);
        ++uavs[energy[i][2]];
        EXPECT_NEAR(std::stod(energy[i][4]) + sum - std::stod(energy[i][5]), 200e3, 1e-3) << "UAV " << i;
      }
    }
    for (std::size_t i = 1; i < swarms.size(); ++i) {
      recharged[swarms[i][1]] += std::stod(swarms[i][9]);
    }
    for (const auto& [swarm, count] : uavs) {
      EXPECT_NEAR(level[swarm] + spent[swarm] - recharged[swarm], count * 200e3, 1e-3) << "swarm " << swarm;
    }
    const nlohmann::json summary = nlohmann::json::parse(content("here/summary.json"));
    EXPECT_EQ(summary.at("swarms_below_threshold"), 0);
    EXPECT_EQ(summary.at("shortfall_J"), 0.0);
  }
}

// Faults of every kind at once, over several missions: batteries add up all the same, nothing is trained
// that was not sent, and no swarm is below its threshold away from a station unless a fault says why.
TEST_F(Mission, AddsUpWithFaultsToo) {
  const std::string rates =
      " --set faults.worker_rate=0.15 --set faults.coordinator_rate=0.15 --set faults.leader_rate=0.15"
      " --set faults.device_rate=0.1 --set faults.link_rate=0.2 --set faults.access_point_rate=0.2"
      " --set faults.update_rate=0.3 --set faults.battery_rate=0.1";
  bool any_rejected = false;
  for (const std::string seed : {"1", "2", "3", "4", "5", "6"}) {
    ASSERT_EQ(
        skein("run " + smoke_ + rates + " --set run.sequences=6 --seed " + seed + " --out here").exit_code, 0)
        << content("streams.err");
    const auto energy = rows(content("here/energy.csv"));
    const auto swarms = rows(content("here/swarms.csv"));
    std::map<std::string, double> total, recharged;
    std::map<std::string, int> uavs;
    for (std::size_t i = 1; i < energy.size(); ++i) {
      if (energy[i][0] == "5") {
        total[energy[i][2]] += std::stod(energy[i][4]);
        for (std::size_t kind = first_kind(energy); kind < energy[i].size(); ++kind) {
          total[energy[i][2]] += std::stod(energy[i][kind]);
        }
        ++uavs[energy[i][2]];
      }
    }
    for (std::size_t i = 1; i < swarms.size(); ++i) {
      recharged[swarms[i][1]] += std::stod(swarms[i][9]);
      const double sent = std::stod(swarms[i][13]);
      const double trained = std::stod(swarms[i][14]);
      EXPECT_LE(trained, sent) << "row " << i;
    }
    // Written with all digits: the sum of some 50 numbers is right to 1e-9 of 200 kJ.
    for (const auto& [swarm, count] : uavs) {
      EXPECT_NEAR((total[swarm] - recharged[swarm]) / (count * 200e3), 1.0, 1e-9) << "swarm " << swarm;
    }
    const std::string events = content("here/events.jsonl");
    EXPECT_THAT(events, HasSubstr(R"("event":"fault")"));
    const nlohmann::json summary = nlohmann::json::parse(content("here/summary.json"));
    if (summary.at("swarms_below_threshold") > 0) {
      EXPECT_THAT(events, HasSubstr("times its energy")) << "seed " << seed;
    }
    any_rejected = any_rejected || summary.at("rejected_updates") > 0;
  }
  EXPECT_TRUE(any_rejected);
}

TEST_F(Mission, GoesOnWithoutALeader) {
  ASSERT_EQ(skein("run " + smoke_ + " --set 'faults.list=[\"0 leader 1\"]' --out here").exit_code, 0);
  EXPECT_THAT(content("here/events.jsonl"), HasSubstr("the leader of swarm 1 has crashed"));
  const auto swarms = rows(content("here/swarms.csv"));
  EXPECT_GT(std::stod(swarms[1][14]), 0.0);  // swarm 1 has trained all the same
  const auto energy = rows(content("here/energy.csv"));
  double leader = 0.0;
  for (std::size_t kind = first_kind(energy); kind < energy[1].size(); ++kind) {
    leader += std::stod(energy[1][kind]);
  }
  EXPECT_EQ(leader, 0.0);  // who has crashed uses nothing
}

TEST_F(Mission, GoesOnWithoutASwarm) {
  const std::string all = R"(["1 leader 1", "1 worker 1.1", "1 worker 1.2", "1 coordinator 1.1"])";
  ASSERT_EQ(skein("run " + smoke_ + " --set 'faults.list=" + all + "' --out here").exit_code, 0)
      << content("streams.err");
  EXPECT_THAT(content("here/events.jsonl"), HasSubstr(R"("event":"is no more","swarm":1)"));
  const auto swarms = rows(content("here/swarms.csv"));
  EXPECT_EQ(swarms[3][14], "0");             // swarm 1 in the second sequence
  EXPECT_GT(std::stod(swarms[4][14]), 0.0);  // swarm 2 still trains
}

TEST_F(Mission, RejectsADamagedModel) {
  ASSERT_EQ(
      skein("run " + smoke_ + " --set 'faults.list=[\"0 update 1 nan\", \"1 update 2 flipped\"]' --out here")
          .exit_code,
      0);
  const std::string events = content("here/events.jsonl");
  EXPECT_THAT(events, HasSubstr("the model of swarm 1 is rejected: not finite"));
  const nlohmann::json summary = nlohmann::json::parse(content("here/summary.json"));
  EXPECT_GE(summary.at("rejected_updates"), 1);
  EXPECT_GT(summary.at("mean_accuracy_percent"), 0.0);
}

TEST_F(Mission, WithoutAccessPointsNothingIsMerged) {
  ASSERT_EQ(
      skein("run " + smoke_ +
            " --set world.access_points.count=1 --set 'faults.list=[\"0 access_point 1 for 1\"]' --out here")
          .exit_code,
      0)
      << content("streams.err");
  EXPECT_THAT(content("here/events.jsonl"), HasSubstr("finds no access point"));
  const nlohmann::json summary = nlohmann::json::parse(content("here/summary.json"));
  EXPECT_GE(summary.at("updates_without_access_point"), 1);
}

TEST_F(Mission, NamesEveryWrongFault) {
  const Outcome outcome = skein(
      "run " + smoke_ +
      " --set 'faults.list=[\"0 worker 9.1\", \"x leader 1\", \"0 link 1 3\", \"0 pilot 1\"]' --out here");
  EXPECT_EQ(outcome.exit_code, 2);
  for (const char* wrong : {"0 worker 9.1", "x leader 1", "0 link 1 3", "0 pilot 1"}) {
    EXPECT_THAT(outcome.err, HasSubstr(wrong));
  }
  EXPECT_FALSE(fs::exists(directory_.path() / "here"));
}

TEST_F(Mission, EndsWithOneMessageWhereItCannotWrite) {
  write_file(directory_.path() / "file", "not a directory");
  const Outcome onto_file = skein("run " + smoke_ + " --out file/here");
  EXPECT_EQ(onto_file.exit_code, 2);
  EXPECT_EQ(std::ranges::count(onto_file.err, '\n'), 1) << onto_file.err;
  // A disk that is full after 64 kB: files cannot grow beyond, and the program is told so.
  const std::string streams = (directory_.path() / "streams").string();
  const int status = std::system(("cd '" + directory_.path().string() +
                                  "' && trap '' XFSZ && ulimit -f 64 && '" SKEIN_PROGRAM "' run " + smoke_ +
                                  " --out full > " + streams + ".out 2> " + streams + ".err")
                                     .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(content("streams.err"), HasSubstr("cannot be written"));
  EXPECT_EQ(std::ranges::count(content("streams.err"), '\n'), 1) << content("streams.err");
  for (const auto& entry : fs::recursive_directory_iterator(directory_.path() / "full")) {
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr(".tmp"))) << "left behind";
  }
}

TEST_F(Mission, TrainsOnlyOnWhatWasSent) {
  ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=4 --out here").exit_code, 0);
  const auto swarms = rows(content("here/swarms.csv"));
  bool any = false;
  for (std::size_t i = 1; i < swarms.size(); ++i) {
    EXPECT_LE(std::stoull(swarms[i][14]), std::stoull(swarms[i][13]));
    any = any || std::stoull(swarms[i][14]) > 0;
  }
  EXPECT_TRUE(any) << "somebody trained";
}

}  // namespace
}  // namespace skein
