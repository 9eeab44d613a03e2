#include "skein/gp/solution_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace skein::gp {
namespace {

using Json = nlohmann::ordered_json;

constexpr double noticeable = 1e-6;  // sensitivities below this are those of limits that are not tight

}  // namespace

bool Limit::is_tight() const { return std::abs(sensitivity) > noticeable; }

std::vector<Limit> limits_of(const Program& program, const Solution& solution) {
  std::vector<double> logs;
  for (const double value : solution.values) {
    logs.push_back(std::log(value));
  }
  std::vector<Limit> limits;
  for (std::size_t i = 0; i < program.constraints.size(); ++i) {
    const auto& constraint = program.constraints[i];
    limits.push_back({constraint.name, std::exp(constraint.left.log_value(logs)), solution.sensitivities[i]});
  }
  for (std::size_t i = 0; i < program.equalities.size(); ++i) {
    const auto& equality = program.equalities[i];
    limits.push_back(
        {equality.name, std::exp(equality.left.log_value(logs)), solution.equality_sensitivities[i]});
  }
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    const ProgramVariable& variable = program.variables[i];
    if (variable.lower == variable.upper) {
      continue;  // a number
    }
    if (variable.lower > 0.0) {
      limits.push_back({fmt::format("{} >= {:g}", variable.name, variable.lower),
                        variable.lower / solution.values[i], solution.inner.lower_multipliers[i]});
    }
    if (std::isfinite(variable.upper)) {
      limits.push_back({fmt::format("{} <= {:g}", variable.name, variable.upper),
                        solution.values[i] / variable.upper, solution.inner.upper_multipliers[i]});
    }
  }
  return limits;
}

std::string verdict(const Solution& solution) {
  switch (solution.status) {
    case Status::solved:
      return fmt::format("solved in {} steps, residual {:.1e}", solution.iterations, solution.residual);
    case Status::infeasible:
      return fmt::format(
          "infeasible: {} stands in the way most; all limits would have to be wider by a factor of {:.6g}",
          solution.culprit, solution.factor);
    case Status::unbounded:
      return fmt::format("unbounded: the objective gets better and better as {} {}", solution.culprit,
                         solution.factor > 1.0 ? "grows" : "goes to 0");
    case Status::iteration_limit:
      return fmt::format("not solved: residual {:.1e} after {} steps", solution.residual,
                         solution.iterations);
  }
  return "";
}

double objective_of(const ProgramText& text, const Solution& solution) {
  return text.maximises ? 1.0 / solution.objective : solution.objective;
}

std::string solution_json(const ProgramText& text, const Solution& solution, double milliseconds) {
  Json object;
  object["status"] = name_of(solution.status);
  object["message"] = verdict(solution);
  object["iterations"] = solution.iterations;
  object["milliseconds"] = milliseconds;
  if (!solution.culprit.empty()) {
    object["culprit"] = solution.culprit;
  }
  if (solution.status == Status::infeasible) {
    object["factor"] = solution.factor;
  }
  if (solution.status != Status::solved) {
    return object.dump(2) + "\n";
  }
  object["objective"] = objective_of(text, solution);
  object["residual"] = solution.residual;
  Json variables;
  for (std::size_t i = 0; i < solution.values.size(); ++i) {
    variables[text.program.variables[i].name] = solution.values[i];
  }
  object["variables"] = std::move(variables);
  Json limits = Json::array();
  for (const Limit& limit : limits_of(text.program, solution)) {
    limits.push_back({{"name", limit.name}, {"used", limit.used}, {"sensitivity", limit.sensitivity}});
  }
  object["limits"] = std::move(limits);
  return object.dump(2) + "\n";
}

}  // namespace skein::gp
