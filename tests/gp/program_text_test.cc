#include "skein/gp/program_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/input_fault.h"
#include "skein/base/random.h"

namespace skein::gp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> faults_of(const std::string& text) {
  try {
    parse_program(text, "file.gp");
  } catch (const InputError& error) {
    std::vector<std::string> faults;
    for (const InputFault& fault : error.faults()) {
      faults.push_back(to_string(fault));
    }
    return faults;
  }
  return {};
}

double value_of(const std::string& expression, const std::vector<double>& point) {
  const Program program = parse_program("minimize " + expression, "file.gp").program;
  std::vector<double> logs;
  for (const double value : point) {
    logs.push_back(std::log(value));
  }
  return std::exp(program.objective.log_value(logs));
}

TEST(ProgramText, ExpressionsMeanWhatTheySay) {
  EXPECT_NEAR(value_of("2 * x + 3", {5.0}), 13.0, 1e-12);
  EXPECT_NEAR(value_of("2 + 3 * x", {5.0}), 17.0, 1e-12);
  EXPECT_NEAR(value_of("x / y / z", {12.0, 2.0, 3.0}), 2.0, 1e-12);
  EXPECT_NEAR(value_of("x / (y * z)", {12.0, 2.0, 3.0}), 2.0, 1e-12);
  EXPECT_NEAR(value_of("2 * x^2", {3.0}), 18.0, 1e-12);
  EXPECT_NEAR(value_of("(2 * x)^2", {3.0}), 36.0, 1e-12);
  EXPECT_NEAR(value_of("x^-2 + x^(-1/2)", {4.0}), 1.0 / 16.0 + 0.5, 1e-12);
  EXPECT_NEAR(value_of("x^(2 - 3 * (1 + 0.5) / 2)", {16.0}), 0.5, 1e-12) << "the exponent is -1/4";
  EXPECT_NEAR(value_of("(x + y)^3 / x", {2.0, 3.0}), 62.5, 1e-12);
  EXPECT_NEAR(value_of("(x + 1) * (y + 1/x)", {2.0, 3.0}), 10.5, 1e-12);
  EXPECT_NEAR(value_of("1.5e-3 * rho[1][2] + .5", {2.0}), 0.503, 1e-12);
}

TEST(ProgramText, EqualTermsAreOne) {
  const auto terms = [](const std::string& text) {
    return parse_program("minimize " + text, "file.gp").program.objective.terms().size();
  };
  EXPECT_EQ(terms("x + y + 2 * x"), 2U);
  EXPECT_EQ(terms("(x + 1)^50"), 51U);
  EXPECT_EQ(terms("x * y / x + y"), 1U);
}

TEST(ProgramText, LinesGoOnAfterOperatorsAndInParentheses) {
  const ProgramText text = parse_program(
      "# a comment\n\nminimize x +  # more\n  y\nsubject to\n  sum: (1 / x\n   + 1 / y) <=\n   1\n",
      "file.gp");
  EXPECT_EQ(text.program.objective.terms().size(), 2U);
  ASSERT_EQ(text.program.constraints.size(), 1U);
  EXPECT_EQ(text.program.constraints[0].name, "sum");
  EXPECT_EQ(text.program.constraints[0].left.terms().size(), 2U);
}

TEST(ProgramText, BoundsNamesAndChains) {
  const Program program = parse_program(
                              "minimize x * y * z\n"
                              "subject to\n"
                              "  0.1 <= x <= 10\n"
                              "  5 >= 2 * y\n"
                              "  y >= 0.25\n"
                              "  z = 3\n"
                              "  small: x <= 4\n"
                              "  both: 1 <= x * y <= 2\n"
                              "  y * z = x\n",
                              "file.gp")
                              .program;
  ASSERT_EQ(program.variables.size(), 3U);
  EXPECT_EQ(program.variables[0].lower, 0.1) << "exactly as written";
  EXPECT_EQ(program.variables[0].upper, 10.0);
  EXPECT_EQ(program.variables[1].lower, 0.25);
  EXPECT_EQ(program.variables[1].upper, 2.5);
  EXPECT_EQ(program.variables[2].lower, 3.0);
  EXPECT_EQ(program.variables[2].upper, 3.0);
  std::vector<std::string> names;
  for (const auto& constraint : program.constraints) {
    names.push_back(constraint.name);
  }
  EXPECT_THAT(names, ElementsAre("small", "both (1)", "both (2)"));
  ASSERT_EQ(program.equalities.size(), 1U);
  EXPECT_EQ(program.equalities[0].name, "line 9 (y * z = x)");
}

TEST(ProgramText, SolvesTheTextbooksBox) {
  const ProgramText text = parse_program(
      "maximize h * w * d\n"
      "subject to\n"
      "  wall: 2 * h * w + 2 * h * d <= 200\n"
      "  floor: w * d <= 10\n"
      "  0.5 <= h / w <= 2\n",
      "file.gp");
  EXPECT_TRUE(text.maximises);
  const Solution solution = solve(text.program);
  ASSERT_EQ(solution.status, Status::solved);
  // w d = 10 and h = 2 w make the walls 4 w^2 + 40 = 200.
  EXPECT_NEAR(1.0 / solution.objective, 20.0 * std::sqrt(40.0), 1e-6);
}

TEST(ProgramText, ContradictingBoundsAreInfeasible) {
  const Solution solution =
      solve(parse_program("minimize x\nsubject to\n x >= 3\n x <= 2\n", "file.gp").program);
  EXPECT_EQ(solution.status, Status::infeasible);
  EXPECT_EQ(solution.culprit, "line 4 (x <= 2)");
  EXPECT_NEAR(solution.factor, 1.5, 1e-6);
  EXPECT_EQ(solve(parse_program("minimize x\nsubject to\n x = 3\n x = 2\n", "f").program).status,
            Status::infeasible);
}

TEST(ProgramText, AllFaultsAtOnceWithTheirPlaces) {
  EXPECT_THAT(
      faults_of("minimise x - y + 0 * z\n"
                "subject to\n"
                "  x + y >= 2\n"
                "  a: x / (x + y) <= 1\n"
                "  a: (x + y)^0.5 <= 1\n"
                "  x + 2 y <= 3\n"
                "  x + y = 2\n"
                "  3 <= 2\n"
                "  x <= 1e999 $\n"
                "  x < 3\n"
                "  x * y\n"
                "  x^y <= 1\n"
                "  (x + y <= 3\n"),
      ElementsAre(AllOf(HasSubstr("file.gp: line 1, column 12: "), HasSubstr("no negative terms")),
                  AllOf(HasSubstr("line 1, column 18: "), HasSubstr("above 0")),
                  AllOf(HasSubstr("line 3, column 9: "), HasSubstr("the larger side must be a monomial")),
                  AllOf(HasSubstr("line 4, column 8: "), HasSubstr("only a monomial may divide")),
                  AllOf(HasSubstr("line 5, column 3: "), HasSubstr("line 4")),
                  AllOf(HasSubstr("line 5, column 13: "), HasSubstr("powers 1, 2, 3")),
                  AllOf(HasSubstr("line 6, column 9: "), HasSubstr("operator")),
                  AllOf(HasSubstr("line 7, column 9: "), HasSubstr("only monomials can be equal")),
                  AllOf(HasSubstr("line 8, column 5: "), HasSubstr("variable")),
                  AllOf(HasSubstr("line 9, column 8: "), HasSubstr("too large")),
                  AllOf(HasSubstr("line 9, column 14: "), HasSubstr("\"$\"")),
                  AllOf(HasSubstr("line 10, column 5: "), HasSubstr("<=, >= or =")),
                  AllOf(HasSubstr("line 11, column 8: "), HasSubstr("a constraint is a comparison")),
                  AllOf(HasSubstr("line 12, column 5: "), HasSubstr("exponents have no variables")),
                  AllOf(HasSubstr("line 13, column 10: "), HasSubstr("closing parenthesis"))));
}

TEST(ProgramText, WrongOrderIsRefused) {
  EXPECT_THAT(faults_of(""), ElementsAre(HasSubstr("minimize EXPRESSION")));
  EXPECT_THAT(faults_of("subject to\n x <= 1\n"), ElementsAre(HasSubstr("minimize EXPRESSION")));
  EXPECT_THAT(faults_of("minimize x\nx >= 1\n"),
              ElementsAre(HasSubstr("line 2, column 1: constraints come")));
  EXPECT_THAT(faults_of("minimize x\nminimize y\n"), ElementsAre(HasSubstr("one objective")));
  EXPECT_THAT(faults_of("subject to\nminimize y\n"), ElementsAre(HasSubstr("before \"subject to\"")));
  EXPECT_THAT(faults_of("minimize x\nsubject to x >= 1\n"), ElementsAre(HasSubstr("line after")));
  EXPECT_THAT(faults_of("minimize x\nsubject to\nsubject to\n"), ElementsAre(HasSubstr("already")));
  EXPECT_THAT(faults_of("minimize x <= 2\n"), ElementsAre(HasSubstr("after the objective")));
  EXPECT_THAT(faults_of("maximize x + y\n"), ElementsAre(HasSubstr("only a monomial can be maximised")));
}

TEST(ProgramText, DeepLongAndHugeTextsEndInTime) {
  EXPECT_THAT(faults_of("minimize " + std::string(100000, '(') + "x"), ElementsAre(HasSubstr("deep")));
  EXPECT_THAT(faults_of("minimize x^" + std::string(100000, '(') + "1"), ElementsAre(HasSubstr("deep")));
  EXPECT_THAT(faults_of("minimize (x + y)^1e9\n"), testing::SizeIs(1));
  EXPECT_THAT(faults_of("minimize (x + y + z)^3 * (a + b + c)^100000 + (u + v)^1e300"), testing::SizeIs(2));
  EXPECT_THAT(faults_of("minimize 1e300 * x * 1e300\n"), ElementsAre(HasSubstr("too large")));
  EXPECT_THAT(faults_of("minimize x^1e300 * x^1e300 * x^1.7e308 * x^1.7e308\n"),
              ElementsAre(HasSubstr("too large")));
  EXPECT_THAT(faults_of("minimize 1e-300^2 * x\n"), ElementsAre(HasSubstr("too small")));
}

// Random programs printed as text and read again are the same posynomials.
TEST(ProgramText, RandomProgramsSurviveBeingWritten) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "program text");
    const std::size_t n = 1 + random.below(5);
    const std::size_t m = 1 + random.below(5);
    Posynomial written;
    std::string text;
    for (std::size_t k = 0; k < m; ++k) {
      const double coefficient = 0.1 + random.uniform();
      text += fmt::format("{}{}", k > 0 ? " + " : "", coefficient);
      std::vector<Factor> factors;
      for (std::size_t i = 0; i < n; ++i) {
        const double exponent = random.uniform(-2.0, 2.0);
        const bool divides = random.uniform() < 0.5;
        text += fmt::format(" {} x{}^{}", divides ? "/" : "*", i, exponent);
        factors.push_back({i, divides ? -exponent : exponent});
      }
      written += Monomial(coefficient, factors);
    }
    const Posynomial read = parse_program("minimize " + text, "file.gp").program.objective;
    std::vector<double> point;
    for (std::size_t i = 0; i < n; ++i) {
      point.push_back(random.uniform(-1.0, 1.0));
    }
    EXPECT_NEAR(read.log_value(point), written.log_value(point), 1e-13) << text;
  }
}

// No text may do worse than be refused: parts of a good program, shuffled.
TEST(ProgramText, ShuffledPiecesAreReadOrRefused) {
  const std::vector<std::string> pieces = {"minimize ", "maximize ", "subject to", "\n", "x", "y",   " + ",
                                           " - ",       " * ",       " / ",        "^",  "(", ")",   "2",
                                           "0",         "1e400",     " <= ",       ">=", "=", ": ",  "#",
                                           "[",         "]",         "\t",         "$",  "<", "name"};
  std::size_t read = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    RandomStream random(seed, "shuffled text");
    std::string text = random.uniform() < 0.7 ? "minimize x" : "";
    for (std::size_t length = random.below(12); length > 0; --length) {
      text += random.choice(pieces);
    }
    try {
      parse_program(text, "file.gp");
      ++read;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(read, 100U) << "some of them are programs";
}

}  // namespace
}  // namespace skein::gp
