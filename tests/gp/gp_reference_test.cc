// Programs that cvxopt has solved (tests/reference/gp_reference.py).

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/gp/program.h"

namespace skein::gp {
namespace {

using Json = nlohmann::json;

Monomial monomial(const Json& term) {
  std::vector<Factor> factors;
  for (const Json& factor : term[1]) {
    factors.push_back({factor[0].get<std::size_t>(), factor[1].get<double>()});
  }
  return Monomial::with_log_coefficient(term[0].get<double>(), std::move(factors));
}

Posynomial posynomial(const Json& terms) {
  Posynomial sum;
  for (const Json& term : terms) {
    sum += monomial(term);
  }
  return sum;
}

Program program_of(const Json& json) {
  Program program;
  for (std::size_t i = 0; i < json["size"].get<std::size_t>(); ++i) {
    program.add_variable("x" + std::to_string(i));
  }
  for (const Json& bound : json["bounds"]) {
    program.variables[bound[0].get<std::size_t>()].lower = bound[1].get<double>();
    program.variables[bound[0].get<std::size_t>()].upper = bound[2].get<double>();
  }
  program.objective = posynomial(json["objective"]);
  for (const Json& constraint : json["constraints"]) {
    program.constraints.push_back({"constraint", posynomial(constraint)});
  }
  for (const Json& equality : json["equalities"]) {
    program.equalities.push_back({"equality", monomial(equality)});
  }
  return program;
}

TEST(GpReference, AgreesWithCvxopt) {
  const Json reference =
      Json::parse(read_file(SKEIN_SOURCE_DIR "/tests/reference/gp_reference.json", std::size_t{1} << 24U));
  ASSERT_GE(reference["programs"].size(), 20U);
  for (const Json& json : reference["programs"]) {
    const Solution solution = solve(program_of(json));
    ASSERT_EQ(solution.status, Status::solved) << "program " << json["seed"];
    EXPECT_NEAR(std::log(solution.objective), json["log_optimum"].get<double>(), 1e-6)
        << "program " << json["seed"];
  }
}

}  // namespace
}  // namespace skein::gp
