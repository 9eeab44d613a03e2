#include "skein/gp/solution_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace skein::gp {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Least x + y with x y >= 4: 2 + 2.
ProgramText sum() {
  return parse_program("minimize x + y\nsubject to\n  area: 4 <= x * y\n  x <= 100\n", "sum.gp");
}

TEST(SolutionReport, ATightLimitIsUsedWhollyAndHasASensitivity) {
  const ProgramText text = sum();
  const Solution solution = solve(text.program);
  const std::vector<Limit> limits = limits_of(text.program, solution);
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].name, "area");
  EXPECT_TRUE(limits[0].is_tight());
  EXPECT_NEAR(limits[0].used, 1.0, 1e-6);
  EXPECT_NEAR(limits[0].sensitivity, 0.5, 1e-6);  // x + y goes with the root of the area
  EXPECT_FALSE(limits[1].is_tight());
  EXPECT_NEAR(limits[1].used, 0.02, 1e-6);
}

TEST(SolutionReport, WhatIsMaximisedIsNotItsInverse) {
  const ProgramText text = parse_program("maximize x * y\nsubject to\n  x + y <= 4\n", "area.gp");
  EXPECT_NEAR(objective_of(text, solve(text.program)), 4.0, 1e-6);
}

TEST(SolutionReport, JsonHasAllOfASolutionAndTheCulpritOfNone) {
  const ProgramText text = sum();
  const auto json = nlohmann::json::parse(solution_json(text, solve(text.program), 1.5));
  EXPECT_EQ(json["status"], "solved");
  EXPECT_EQ(json["milliseconds"], 1.5);
  EXPECT_NEAR(json["objective"].get<double>(), 4.0, 1e-6);
  EXPECT_NEAR(json["variables"]["x"].get<double>(), 2.0, 1e-4);
  EXPECT_EQ(json["limits"].size(), 2U);

  const ProgramText none =
      parse_program("minimize x\nsubject to\n  low: 2 <= x\n  high: x <= 1\n", "none.gp");
  const Solution solution = solve(none.program);
  EXPECT_THAT(verdict(solution), HasSubstr("infeasible: "));
  const auto refused = nlohmann::json::parse(solution_json(none, solution, 0.0));
  EXPECT_TRUE(refused.contains("culprit"));
  EXPECT_NEAR(refused["factor"].get<double>(), std::sqrt(2.0), 1e-5);
  EXPECT_FALSE(refused.contains("variables"));
}

}  // namespace
}  // namespace skein::gp
