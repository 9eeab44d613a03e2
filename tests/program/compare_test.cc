// `skein compare` as people call it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "program_fixture.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class Compare : public ProgramFixture {
 protected:
  void run(const std::string& words) { ASSERT_EQ(skein("run " + smoke_ + " --quiet " + words).exit_code, 0); }
};

TEST_F(Compare, SetsRunsSideBySide) {
  run("--out a/run");
  run("--set planning.planner=sequential --out b/run");
  const Outcome outcome = skein("compare a/run b/run/ --out here");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("a/run")) << "the shortest names that differ";
  EXPECT_THAT(outcome.out, HasSubstr("planning.planner"));
  EXPECT_THAT(outcome.out, HasSubstr("hovering (kJ)"));
  EXPECT_THAT(content("here/compare.svg"), HasSubstr("simulated time (s)"));
  EXPECT_THAT(content("here/compare.svg"), HasSubstr("b/run"));

  const json list = json::parse(skein("compare a/run b/run --format json").out);
  const json a = json::parse(content("a/run/summary.json"));
  const json b = json::parse(content("b/run/summary.json"));
  EXPECT_EQ(list["runs"][0]["difference_from_first"]["energy_J"], 0.0);
  EXPECT_DOUBLE_EQ(list["runs"][1]["difference_from_first"]["energy_J"],
                   b["energy_J"].get<double>() - a["energy_J"].get<double>());
  EXPECT_EQ(list["runs"][1]["summary"], b);
  EXPECT_EQ(list["differing_keys"], (json{{"planning.planner", {"\"beam\"", "\"sequential\""}}}));
}

TEST_F(Compare, RefusesAllFaultsOfAllRunsAtOnce) {
  run("--out good");
  fs::copy(at("good"), at("cut"), fs::copy_options::recursive);
  fs::copy(at("good"), at("changed"), fs::copy_options::recursive);
  fs::remove(at("cut/summary.json"));
  write_file(at("cut/clusters.csv"), "sequence,cluster\n0\n");
  std::string table = content("good/sequences.csv");
  table.replace(table.find("end_s"), 5, "END_s");
  write_file(at("changed/sequences.csv"), table);
  json summary = json::parse(content("good/summary.json"));
  summary.erase("energy_J");
  write_file(at("changed/summary.json"), summary.dump());
  const Outcome outcome = skein("compare good cut changed nowhere --out here");
  EXPECT_EQ(outcome.exit_code, 2);
  for (const char* what : {"cut/summary.json: no such file", "cut/clusters.csv: row 1 has 1 cells",
                           "changed/sequences.csv: end_s", "changed/summary.json: energy_J: is missing",
                           "nowhere: is not the directory of a run"}) {
    EXPECT_THAT(outcome.err, HasSubstr(what));
  }
  EXPECT_FALSE(fs::exists(at("here")));
}

TEST_F(Compare, RefusesNumbersThatAreNone) {
  run("--out good");
  std::string table = content("good/clusters.csv");
  table.replace(table.rfind("\n2,C:") == std::string::npos ? table.rfind("1,C:") : table.rfind("\n2,C:"), 1,
                "x");
  write_file(at("good/clusters.csv"), table);
  EXPECT_EQ(skein("compare good").exit_code, 2);
}

}  // namespace
}  // namespace skein
