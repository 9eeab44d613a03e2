// `skein run` and `skein resume` as people call them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
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
}

TEST_F(Mission, StoppedAndContinuedItLeavesTheSameBytes) {
  ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=4 --out whole").exit_code, 0);
  // Killed at several moments, from the start to near the end.
  for (const char* seconds : {"0.02", "0.06", "0.12", "0.2"}) {
    fs::remove_all(directory_.path() / "cut");
    const std::string kill = "timeout -s KILL " + std::string(seconds) + " '" SKEIN_PROGRAM "' run " +
                             smoke_ + " --set run.sequences=4 --out cut";
    static_cast<void>(
        std::system(("cd '" + directory_.path().string() + "' && " + kill + " 2> /dev/null").c_str()));
    if (!fs::exists(directory_.path() / "cut/checkpoint.bin")) {
      const Outcome early = skein("resume cut");
      EXPECT_EQ(early.exit_code, 2);
      EXPECT_THAT(early.err, HasSubstr("no checkpoint yet"));
      continue;
    }
    ASSERT_EQ(skein("resume cut --quiet").exit_code, 0) << content("streams.err");
    EXPECT_EQ(files("cut"), files("whole")) << "after " << seconds << " s";
  }
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

TEST_F(Mission, WrongInputLeavesNothing) {
  for (const char* wrong : {"learning.meta_step=0.9", "learning.algorithm='fed_avg'", "data.source='nowhere'",
                            "swarms.types.worker.battery_kj=41"}) {
    const Outcome outcome = skein("run " + smoke_ + " --set \"" + wrong + "\" --out here");
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_FALSE(outcome.err.empty()) << wrong;
    EXPECT_FALSE(fs::exists(directory_.path() / "here")) << wrong;
  }
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
        for (std::size_t kind = 5; kind < energy[i].size(); ++kind) {
          sum += std::stod(energy[i][kind]);
        }
        spent[energy[i][2]] += sum;
        level[energy[i][2]] += std::stod(energy[i][4]);
        ++uavs[energy[i][2]];
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
