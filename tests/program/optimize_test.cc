// `skein optimize` and `skein reproduce offloading` as people call them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

class Optimize : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  Outcome skein(const std::string& words) {
    const std::string streams = (directory_.path() / "streams").string();
    const std::string command = "cd '" + directory_.path().string() +
                                "' && SKEIN_SCENARIOS='" SKEIN_SOURCE_DIR "/scenarios' '" SKEIN_PROGRAM "' " +
                                words + " > " + streams + ".out 2> " + streams + ".err";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content("streams.out"), content("streams.err")};
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    return read_file(directory_.path() / file, 1 << 24);
  }

  TemporaryDirectory directory_;
  const std::string study_ = SKEIN_SOURCE_DIR "/scenarios/paper/offloading-published.toml";
};

TEST_F(Optimize, WritesADecisionWithItsCertificate) {
  const Outcome outcome = skein("optimize " + study_ + " --out here");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("clock (MHz)"));
  EXPECT_THAT(outcome.out, HasSubstr("KKT residual"));
  const nlohmann::json swarm = nlohmann::json::parse(content("here/decision.json")).at(0);
  EXPECT_EQ(swarm.at("status"), "solved");
  EXPECT_LE(swarm.at("certificate").at("kkt_residual").get<double>(), 1e-6);
  EXPECT_LE(swarm.at("certificate").at("violation").get<double>(), 1e-9);
  EXPECT_EQ(swarm.at("rounds").size(), 2U);
  const nlohmann::json& round = swarm.at("rounds").at(0);
  const nlohmann::json& rho = round.at("decision").at("rho");
  const nlohmann::json& costs = round.at("reduced_costs").at("rho");
  ASSERT_EQ(rho.size(), 10U);
  for (std::size_t i = 0; i < rho.size(); ++i) {
    for (std::size_t u = 0; u < rho[i].size(); ++u) {
      EXPECT_EQ(costs[i][u].is_number(), rho[i][u] == 0.0) << "a share at zero has a reduced cost";
    }
  }
  // Of ten devices, two coordinators, and three of each of four UAVs.
  EXPECT_EQ(round.at("evaluation").at("limits_used").size(), 10U + 2U + 3U * 4U);
  EXPECT_LE(round.at("evaluation").at("limits_used").at("worker 1: time").get<double>(), 1.0 + 1e-9);
}

TEST_F(Optimize, JointRoundsAreNoWorseThanAnEvenSplit) {
  const auto objective = [&](const std::string& sharing) {
    const Outcome outcome = skein("optimize " + study_ +
                                  " --format json --set offloading.battery=" + sharing + " --out " + sharing);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out).at(0).at("objective").get<double>();
  };
  EXPECT_LE(objective("joint"), objective("even") * (1.0 + 1e-6));
}

TEST_F(Optimize, MoreWeightOnLearningMovesMoreData) {
  const Outcome outcome = skein("optimize " + study_ + " --weights 0.01,0.1,0.5,0.9 --format json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (const char* key : {"mean_rho", "processed_points", "mean_clock_hz"}) {
      EXPECT_GT(rows[i].at(key).get<double>(), rows[i - 1].at(key).get<double>()) << key;
    }
  }
}

TEST_F(Optimize, ComparesAllMethodsOnTheSameProblems) {
  const Outcome outcome =
      skein("optimize " + study_ + " --compare --set offloading.learning_weight=0.01 --format json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, nlohmann::json> rows;
  for (const nlohmann::json& row : nlohmann::json::parse(outcome.out)) {
    rows[row.at("method")] = row;
  }
  ASSERT_EQ(rows.size(), 5U);
  const auto of = [&](const char* method, const char* key) { return rows.at(method).at(key).get<double>(); };
  for (const char* baseline : {"greedy", "maximum_processing"}) {
    EXPECT_LT(of("newton", "objective"), 0.2 * of(baseline, "objective")) << "more than 80 % saved";
    EXPECT_LT(of("newton", "energy_j"), 0.2 * of(baseline, "energy_j"));
  }
  EXPECT_LT(of("worker_selection", "objective"), 0.9 * of("newton", "objective"));
  EXPECT_LE(of("newton", "objective"), of("algorithm_1", "objective") * (1.0 + 1e-9));
}

TEST_F(Optimize, AnImpossibleProblemNamesItsCulprit) {
  const Outcome outcome = skein("optimize " + study_ +
                                " --out here --set swarms.types.worker.battery_kj=0.05 --set "
                                "swarms.types.worker.threshold_kj=0.02");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex(
                               "worker 1: hovering and models alone exceed the battery by [0-9.]+ J"));
  EXPECT_THAT(content("here/decision.json"), HasSubstr("\"infeasible\""));
}

TEST_F(Optimize, LongPeriodsAreReportedAndStillTradeEnergy) {
  const std::string periods =
      " --set learning.local_period=8 --set learning.global_period=8 --set learning.iterations=64";
  const Outcome told = skein("optimize " + study_ + periods + " --weights 0.01,0.5");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("10^"));
  const nlohmann::json rows =
      nlohmann::json::parse(skein("optimize " + study_ + periods + " --weights 0.01,0.5 --format json").out);
  EXPECT_LT(rows[0].at("processed_points").get<double>(), 0.5 * rows[1].at("processed_points").get<double>());
}

TEST_F(Optimize, BoundsThatDoNotHoldAreRefused) {
  const Outcome outcome = skein("optimize " + study_ + " --set learning.meta_step=0.1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("meta_step"));
}

TEST_F(Optimize, SolvesInstancesOfAFile) {
  std::istringstream lines(
      read_file(SKEIN_SOURCE_DIR "/tests/reference/offloading_instances.jsonl", 1 << 24));
  std::string first;
  std::string second;
  std::getline(lines, first);
  std::getline(lines, second);
  write_file(directory_.path() / "two.jsonl", first + "\n" + second + "\n");
  const Outcome outcome = skein("optimize --instances two.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream results(outcome.out);
  std::string line;
  for (const std::string& given : {first, second}) {
    ASSERT_TRUE(std::getline(results, line));
    const nlohmann::json instance = nlohmann::json::parse(given);
    const nlohmann::json result = nlohmann::json::parse(line);
    EXPECT_EQ(result.at("name"), instance.at("name"));
    EXPECT_EQ(result.at("status"), "solved");
    EXPECT_LE(result.at("objective").get<double>(),
              instance.at("best_known_objective").get<double>() * 1.0001);
    EXPECT_EQ(result.at("decision").at("g").size(), instance.at("workers").get<std::size_t>());
    EXPECT_TRUE(result.contains("milliseconds"));
  }
}

TEST_F(Optimize, SolvesInstancesWhoseTimeHasAPrice) {
  const std::string file = SKEIN_SOURCE_DIR "/tests/reference/offloading_time_instances.jsonl";
  const Outcome outcome = skein("optimize --instances " + file);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(read_file(file, 1 << 24));
  std::istringstream results(outcome.out);
  std::string given;
  std::string found;
  std::size_t count = 0;
  for (; std::getline(lines, given); ++count) {
    ASSERT_TRUE(std::getline(results, found));
    const nlohmann::json instance = nlohmann::json::parse(given);
    const nlohmann::json result = nlohmann::json::parse(found);
    EXPECT_EQ(result.at("name"), instance.at("name"));
    EXPECT_EQ(result.at("status"), "solved");
    EXPECT_LE(result.at("objective").get<double>(),
              instance.at("best_known_objective").get<double>() * 1.0001);
    // A round that costs 1 % more or less may last 10 % longer or shorter: it is flat at its best.
    const double best_s = instance.at("best_known_round_time_s").get<double>();
    EXPECT_NEAR(result.at("round_time_s").get<double>(), best_s, 0.1 * best_s);
  }
  EXPECT_EQ(count, 20U);
}

TEST_F(Optimize, FaultyInstancesAreAllNamed) {
  write_file(directory_.path() / "bad.jsonl", "{\"name\": \"a\"}\nnonsense\n");
  const Outcome outcome = skein("optimize --instances bad.jsonl");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("line 1: device_data"));
  EXPECT_THAT(outcome.err, HasSubstr("line 2"));
  EXPECT_EQ(outcome.out, "");
}

// The curve of a picture's numbers: what stands in column y for each x.
std::vector<double> curve(const std::string& numbers, const std::string& panel, const std::string& series) {
  std::istringstream lines(numbers);
  const std::string start = "\"" + panel + "\",\"" + series + "\",";
  std::vector<double> values;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) {
      values.push_back(std::stod(line.substr(line.find(',', start.size()) + 1)));
    }
  }
  return values;
}

TEST_F(Optimize, TheStudyIsMadeAgain) {
  const Outcome outcome = skein("reproduce offloading --quick --seeds 2 --out study");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(content("study/report.md"), HasSubstr("saved against greedy"));
  const std::string savings = content("study/offloading-published-savings.csv");
  for (const char* baseline : {"against greedy offloading", "against maximum processing"}) {
    for (const char* part : {"objective", "energy"}) {
      const std::vector<double> ours = curve(savings, baseline, part);
      ASSERT_EQ(ours.size(), 4U) << baseline;
      EXPECT_GT(ours.front(), 80.0) << baseline << ", " << part << ", at a weight of 0.01";
      EXPECT_EQ(curve(savings, baseline, std::string(part) + ", published").size(), 4U);
    }
  }
  const std::string behaviour = content("study/offloading-published-behaviour.csv");
  EXPECT_THAT(behaviour, HasSubstr("panel,series,x,y,spread\n"));
  for (const char* what : {"mean rho", "mean clock (MHz)", "processed (points a worker)"}) {
    const std::vector<double> ours = curve(behaviour, what, "ours");
    ASSERT_EQ(ours.size(), 4U) << what;
    EXPECT_EQ(std::ranges::adjacent_find(ours, std::ranges::greater_equal{}), ours.end())
        << what << " rises with the weight";
  }
  EXPECT_EQ(curve(behaviour, "mean alpha", "ours").size(), 4U);
}

}  // namespace
}  // namespace skein
