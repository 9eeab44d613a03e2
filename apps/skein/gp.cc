#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "skein/base/file.h"
#include "skein/gp/program.h"
#include "skein/gp/program_text.h"
#include "text_table.h"

namespace skein::app {
namespace {

using Json = nlohmann::ordered_json;

struct GpOptions {
  CommonOptions common;
  std::string file;
  double tolerance = 1e-9;
};

// A limit of the program and how much of the objective hangs on it.
struct Limit {
  std::string name;
  double used;         // left side over right side: 1 is all of it
  double sensitivity;  // relative change of the objective per relative change of the limit
};

// Constraints, equalities and bounds; those that are tight have a sensitivity.
std::vector<Limit> limits_of(const gp::Program& program, const gp::Solution& solution) {
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
    const gp::ProgramVariable& variable = program.variables[i];
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

constexpr double noticeable = 1e-6;  // sensitivities below this are those of limits that are not tight

// One line: what came out, in words.
std::string verdict(const gp::Solution& solution) {
  switch (solution.status) {
    case gp::Status::solved:
      return fmt::format("solved in {} steps, residual {:.1e}", solution.iterations, solution.residual);
    case gp::Status::infeasible:
      return fmt::format(
          "infeasible: {} stands in the way most; all limits would have to be wider by a factor of {:.6g}",
          solution.culprit, solution.factor);
    case gp::Status::unbounded:
      return fmt::format("unbounded: the objective gets better and better as {} {}", solution.culprit,
                         solution.factor > 1.0 ? "grows" : "goes to 0");
    case gp::Status::iteration_limit:
      return fmt::format("not solved: residual {:.1e} after {} steps", solution.residual,
                         solution.iterations);
  }
  return "";
}

Json json_of(const gp::ProgramText& text, const gp::Solution& solution, double objective,
             double milliseconds) {
  Json object;
  object["status"] = name_of(solution.status);
  object["message"] = verdict(solution);
  object["iterations"] = solution.iterations;
  object["milliseconds"] = milliseconds;
  if (!solution.culprit.empty()) {
    object["culprit"] = solution.culprit;
  }
  if (solution.status == gp::Status::infeasible) {
    object["factor"] = solution.factor;
  }
  if (solution.status != gp::Status::solved) {
    return object;
  }
  object["objective"] = objective;
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
  return object;
}

void print(const gp::ProgramText& text, const gp::Solution& solution, double objective) {
  fmt::print("{}\n", verdict(solution));
  if (solution.status != gp::Status::solved) {
    return;
  }
  fmt::print("\n{} {:.9g}\n\n", text.maximises ? "largest objective" : "least objective", objective);
  TextTable variables({"<variable", "value"});
  for (std::size_t i = 0; i < solution.values.size(); ++i) {
    variables.add({text.program.variables[i].name, fmt::format("{:.9g}", solution.values[i])});
  }
  fmt::print("{}\n", variables.text());
  TextTable tight({"<tight", "sensitivity"});
  std::size_t count = 0;
  for (const Limit& limit : limits_of(text.program, solution)) {
    if (std::abs(limit.sensitivity) > noticeable) {
      tight.add({limit.name, fmt::format("{:.6g}", limit.sensitivity)});
      ++count;
    }
  }
  fmt::print("{}", count == 0 ? "No limit is tight.\n"
                              : tight.text() +
                                    "\nSensitivity: percent by which the objective gets better "
                                    "if the limit is wider by 1 %.\n");
}

void solve_file(const GpOptions& options) {
  constexpr std::size_t most_bytes = std::size_t{1} << 26U;
  const gp::ProgramText text = gp::parse_program(read_file(options.file, most_bytes), options.file);
  const auto start = std::chrono::steady_clock::now();
  const gp::Solution solution = gp::solve(text.program, {.tolerance = options.tolerance});
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const double objective = text.maximises ? 1.0 / solution.objective : solution.objective;
  const std::string json = json_of(text, solution, objective, milliseconds).dump(2) + "\n";
  if (!options.common.out.empty()) {
    write_file(std::filesystem::path(options.common.out) / "solution.json", json);
  }
  if (options.common.json()) {
    fmt::print("{}", json);
  } else if (options.common.talks()) {
    print(text, solution, objective);
  }
  if (solution.status != gp::Status::solved) {
    throw CLI::RuntimeError(static_cast<int>(Exit::answer_is_no));
  }
}

}  // namespace

void add_gp_command(CLI::App& program) {
  auto options = std::make_shared<GpOptions>();
  CLI::App* command = program.add_subcommand(
      "gp",
      "Solve a geometric program written as text\n\n"
      "  # the largest box with so much wall and floor\n"
      "  maximize h * w * d\n"
      "  subject to\n"
      "    wall:  2 * h * w + 2 * h * d <= 200\n"
      "    floor: w * d <= 10\n"
      "    0.5 <= h / w <= 2\n"
      "    0.1 <= d <= 5\n\n"
      "minimize takes a sum of monomials, maximize a monomial. Every name is a positive variable.\n"
      "Expressions: numbers, names, + * / ^ and parentheses; sums are divided by monomials only and\n"
      "raised to whole powers only. Comparisons: sum <= monomial, monomial >= sum, monomial = monomial.\n"
      "A variable compared with a number is a bound, unless the line has a name.\n"
      "Exit code 1: the program is infeasible, unbounded or was not solved.");
  command->add_option("FILE", options->file, "The program")->required();
  command->add_option("--tolerance", options->tolerance, "Of the conditions of optimality")
      ->check(CLI::Range(1e-12, 1e-2))
      ->capture_default_str();
  add_common_options(*command, options->common, "skein gp box.gp --format json");
  command->callback([options] { solve_file(*options); });
}

}  // namespace skein::app
