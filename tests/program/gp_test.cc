// `skein gp` as people call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GpCommand : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  Outcome gp(const std::string& program, const std::string& words = "") {
    write_file(directory_.path() / "file.gp", program);
    const std::string streams = (directory_.path() / "streams").string();
    const std::string line = "cd '" + directory_.path().string() + "' && '" SKEIN_PROGRAM "' gp file.gp " +
                             words + " > " + streams + ".out 2> " + streams + ".err";
    const int status = std::system(line.c_str());
    return {WEXITSTATUS(status), read_file(streams + ".out", 1 << 20), read_file(streams + ".err", 1 << 20)};
  }

  const std::string box_ =
      "maximize h * w * d\n"
      "subject to\n"
      "  wall: 2 * h * w + 2 * h * d <= 200\n"
      "  floor: w * d <= 10\n"
      "  0.5 <= h / w <= 2\n"
      "  0.1 <= d <= 1\n";
  TemporaryDirectory directory_;
};

TEST_F(GpCommand, PrintsTheSolutionAndWhatIsTight) {
  const Outcome outcome = gp(box_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // d = 1 makes w = 10 and h = 100 / 11.
  EXPECT_THAT(outcome.out, HasSubstr("largest objective 90.9090909"));
  EXPECT_THAT(outcome.out, HasSubstr("wall"));
  EXPECT_THAT(outcome.out, HasSubstr("d <= 1"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("h / w"))) << "it is not tight";
}

TEST_F(GpCommand, WritesJson) {
  const Outcome outcome = gp(box_, "--format json --out here");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["status"], "solved");
  EXPECT_NEAR(json["objective"].get<double>(), 1000.0 / 11.0, 1e-6);
  EXPECT_NEAR(json["variables"]["d"].get<double>(), 1.0, 1e-8);
  EXPECT_EQ(json["limits"].size(), 6U);
  EXPECT_EQ(read_file(directory_.path() / "here/solution.json", 1 << 20), outcome.out);
}

TEST_F(GpCommand, SaysNoWithTheReason) {
  const Outcome infeasible = gp("minimize x\nsubject to\n  most: x <= 2\n  least: x >= 8\n");
  EXPECT_EQ(infeasible.exit_code, 1);
  EXPECT_THAT(infeasible.out, HasSubstr("infeasible"));
  EXPECT_THAT(infeasible.out, HasSubstr("a factor of 2")) << "each of the two limits by 2";
  const Outcome unbounded = gp("minimize y / x\nsubject to\n  y >= 1\n", "--format json");
  EXPECT_EQ(unbounded.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(unbounded.out)["culprit"], "x");
}

TEST_F(GpCommand, RefusesWrongInputWithAllFaults) {
  const Outcome outcome = gp("minimize x - y\nsubject to\n  x + y >= 1\n", "--out here");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("file.gp: line 1, column 12"));
  EXPECT_THAT(outcome.err, HasSubstr("file.gp: line 3, column 9"));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "here"));
  EXPECT_EQ(gp(box_, "--tolerance 2").exit_code, 2);
}

TEST_F(GpCommand, IsQuietWhenAskedAndExplainsItself) {
  EXPECT_EQ(gp(box_, "--quiet").out, "");
  EXPECT_THAT(gp("", "--help").out, HasSubstr("Example:"));
}

}  // namespace
}  // namespace skein
