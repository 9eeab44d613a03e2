#include "skein/gp/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"
#include "skein/base/input_fault.h"
#include "skein/gp/flat_program.h"

namespace skein::gp {
namespace {

void check(const Program& program) {
  InputFaults faults;
  for (const ProgramVariable& variable : program.variables) {
    if (!(variable.lower >= 0.0) || !(variable.upper > 0.0) || !(variable.lower <= variable.upper) ||
        std::isinf(variable.lower)) {
      faults.add({"", variable.name, fmt::format("{} to {}", variable.lower, variable.upper),
                  "bounds of a positive variable: 0 <= lower <= upper, upper > 0"});
    }
  }
  const auto check_terms = [&](const std::string& name, std::span<const Monomial> terms) {
    if (terms.empty()) {
      faults.add({"", name, "0", "a posynomial has at least one term"});
    }
    for (const Monomial& term : terms) {
      if (!std::isfinite(term.log_coefficient())) {
        faults.add({"", name, "", "coefficients must be positive and finite"});
      }
      for (const Factor& factor : term.factors()) {
        if (factor.variable >= program.variables.size() || !std::isfinite(factor.exponent)) {
          faults.add({"", name, "", "exponents must be finite, variables must be declared"});
        }
      }
    }
  };
  check_terms("objective", program.objective.terms());
  for (const Program::Constraint& constraint : program.constraints) {
    check_terms(constraint.name, constraint.left.terms());
  }
  for (const Program::Equality& equality : program.equalities) {
    check_terms(equality.name, {&equality.left, 1});
  }
  faults.throw_if_any();
}

struct Diagnosis {
  std::string culprit;
  double factor = 1.0;
};

// The least factor by which all limits must be loosened for all constraints to be met: itself a geometric
// program, with a solution inside. Nothing if there is no need to.
std::optional<Diagnosis> diagnose_infeasibility(const Program& program, const SolverOptions& options) {
  Program loosened;
  loosened.variables = program.variables;
  for (ProgramVariable& variable : loosened.variables) {
    // Far limits, so that nothing runs away; a fixed variable stays.
    variable.lower = std::max(variable.lower, 1e-12 * std::min(1.0, variable.upper));
    variable.upper = std::min(variable.upper, 1e12 * std::max(1.0, variable.lower));
  }
  const std::size_t factor = loosened.add_variable("factor", 0.5);
  const Monomial loosening = Monomial::of(factor);
  loosened.objective = loosening;
  for (const Program::Constraint& constraint : program.constraints) {
    loosened.constraints.push_back({constraint.name, constraint.left / loosening});
  }
  for (const Program::Equality& equality : program.equalities) {
    loosened.constraints.push_back({equality.name, equality.left / loosening});
    loosened.constraints.push_back({equality.name, equality.left.power(-1.0) / loosening});
  }
  if (loosened.constraints.empty()) {
    return std::nullopt;
  }
  FlatProgram flat(loosened);
  InteriorPoint method(flat);
  const InteriorPointResult result = method.solve(
      flat.start(flat.middle()), {.tolerance = std::max(options.tolerance, 1e-9), .convex = true});
  const double needed = std::exp(result.x[factor]);
  if (!(needed > 1.0 + 1e-7)) {
    return std::nullopt;
  }
  const auto hardest = std::ranges::max_element(result.multipliers);
  const auto index = static_cast<std::size_t>(hardest - result.multipliers.begin());
  return Diagnosis{.culprit = loosened.constraints[index].name, .factor = needed};
}

// A direction in which no constraint gets tighter and no term of the objective grows, but one falls: then
// there is no solution. Also a geometric program, in a box. Nothing if there is none.
std::optional<Diagnosis> diagnose_unboundedness(const Program& program) {
  Program directions;
  const double box = std::exp(5.0);
  for (const ProgramVariable& variable : program.variables) {
    directions.add_variable(variable.name, variable.lower > 0.0 ? 1.0 : 1.0 / box,
                            std::isfinite(variable.upper) ? 1.0 : box);
  }
  const double slack = std::exp(1e-3);  // an interior
  const auto direction_of = [](const Monomial& term) { return Monomial(1.0, term.factors()); };
  const auto limit = [&](const Monomial& term) {
    if (!term.factors().empty()) {
      directions.constraints.push_back({"", direction_of(term) / slack});
    }
  };
  for (const Program::Constraint& constraint : program.constraints) {
    std::ranges::for_each(constraint.left.terms(), limit);
  }
  for (const Program::Equality& equality : program.equalities) {
    limit(equality.left);
    limit(equality.left.power(-1.0));
  }
  for (const Monomial& term : program.objective.terms()) {
    limit(term);
    directions.objective += direction_of(term);
  }
  FlatProgram flat(directions);
  InteriorPoint method(flat);
  const InteriorPointResult result = method.solve(
      flat.start(std::vector<double>(program.variables.size(), 0.0)), {.tolerance = 1e-7, .convex = true});
  const std::span<const double> y(result.x.data(), program.variables.size());
  const double start = std::log(static_cast<double>(directions.objective.terms().size()));
  if (directions.objective.log_value(y) > start - 0.05) {
    return std::nullopt;
  }
  const auto runaway = std::ranges::max_element(y, {}, [](double change) { return std::abs(change); });
  return Diagnosis{.culprit = program.variables[static_cast<std::size_t>(runaway - y.begin())].name,
                   .factor = *runaway > 0.0 ? std::numeric_limits<double>::infinity() : 0.0};
}

}  // namespace

std::size_t Program::add_variable(std::string name, double lower, double upper) {
  variables.push_back({std::move(name), lower, upper});
  return variables.size() - 1;
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::solved:
      return "solved";
    case Status::infeasible:
      return "infeasible";
    case Status::unbounded:
      return "unbounded";
    case Status::iteration_limit:
      return "iteration limit";
  }
  return "";
}

class Solver::Flat {
 public:
  explicit Flat(const Program& given) : program(given), flat(given) {}
  // With the equalities of the moment.
  [[nodiscard]] Program whole() const {
    Program result = program;
    for (std::size_t i = 0; i < result.equalities.size(); ++i) {
      result.equalities[i].left = flat.equality(i);
    }
    return result;
  }

  const Program& program;
  FlatProgram flat;
};

Solver::Solver(const Program& program) {
  check(program);
  flat_ = std::make_unique<Flat>(program);
  method_ = std::make_unique<InteriorPoint>(flat_->flat);
}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

void Solver::replace_equality(std::size_t index, const Monomial& left) {
  flat_->flat.replace_equality(index, left);
}

Solution Solver::solve(const SolverOptions& options) {
  const FlatProgram& flat = flat_->flat;
  return finished(method_->solve(flat.start(flat.middle()), {.tolerance = options.tolerance,
                                                             .max_iterations = options.max_iterations,
                                                             .convex = true}),
                  options, 0);
}

Solution Solver::solve_from(std::span<const double> values, const SolverOptions& options) {
  std::vector<double> logs(values.begin(), values.end());
  std::ranges::transform(logs, logs.begin(), [](double value) { return std::log(value); });
  InteriorPointResult inner = method_->solve(
      flat_->flat.start(logs),
      {.tolerance = options.tolerance, .max_iterations = options.max_iterations, .convex = true});
  if (inner.status != InteriorPointStatus::solved) {
    Solution again = solve(options);
    again.iterations += inner.iterations;
    return again;
  }
  return finished(std::move(inner), options, 0);
}

Solution Solver::solve_from(const Solution& start, const SolverOptions& options) {
  InteriorPointResult inner = method_->solve(start.inner, {.tolerance = options.tolerance,
                                                           .max_iterations = options.max_iterations,
                                                           .first_barrier = 1e-7,
                                                           .convex = true});
  if (inner.status != InteriorPointStatus::solved) {
    const std::size_t lost = inner.iterations;
    inner = method_->solve(
        start.inner.x,
        {.tolerance = options.tolerance, .max_iterations = options.max_iterations, .convex = true});
    return finished(std::move(inner), options, lost);
  }
  return finished(std::move(inner), options, 0);
}

Solution Solver::finished(InteriorPointResult inner, const SolverOptions& options,
                          std::size_t earlier_iterations) {
  const Program& program = flat_->program;
  Solution solution;
  solution.iterations = inner.iterations + earlier_iterations;
  solution.objective = std::exp(inner.objective);
  solution.residual = std::max({inner.stationarity, inner.infeasibility, inner.complementarity});
  solution.values.reserve(program.variables.size());
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    solution.values.push_back(std::exp(inner.x[i]));
  }
  const auto middle = inner.multipliers.begin() + static_cast<std::ptrdiff_t>(program.equalities.size());
  solution.equality_sensitivities.assign(inner.multipliers.begin(), middle);
  solution.sensitivities.assign(middle, middle + static_cast<std::ptrdiff_t>(program.constraints.size()));

  bool far = false;
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    const ProgramVariable& variable = program.variables[i];
    far = far || (inner.x[i] > 14.0 && std::isinf(variable.upper)) ||
          (inner.x[i] < -14.0 && variable.lower == 0.0);
  }
  const bool solved = inner.status == InteriorPointStatus::solved;
  solution.status = solved ? Status::solved : Status::iteration_limit;
  if (!solved) {
    if (const std::optional<Diagnosis> diagnosis = diagnose_infeasibility(flat_->whole(), options)) {
      solution.status = Status::infeasible;
      solution.culprit = diagnosis->culprit;
      solution.factor = diagnosis->factor;
    }
  }
  if ((!solved && solution.status != Status::infeasible) || (solved && far)) {
    if (const std::optional<Diagnosis> diagnosis = diagnose_unboundedness(flat_->whole())) {
      solution.status = Status::unbounded;
      solution.culprit = diagnosis->culprit;
      solution.factor = diagnosis->factor;
    }
  }
  solution.inner = std::move(inner);
  return solution;
}

Solution solve(const Program& program, const SolverOptions& options) {
  return Solver(program).solve(options);
}

}  // namespace skein::gp
