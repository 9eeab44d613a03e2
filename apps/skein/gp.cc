#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "command.h"
#include "skein/base/file.h"
#include "skein/gp/program.h"
#include "skein/gp/program_text.h"
#include "skein/gp/solution_report.h"
#include "text_table.h"

namespace skein::app {
namespace {

struct GpOptions {
  CommonOptions common;
  std::string file;
  double tolerance = 1e-9;
};

void print(const gp::ProgramText& text, const gp::Solution& solution) {
  fmt::print("{}\n", gp::verdict(solution));
  if (solution.status != gp::Status::solved) {
    return;
  }
  fmt::print("\n{} {:.9g}\n\n", text.maximises ? "largest objective" : "least objective",
             gp::objective_of(text, solution));
  TextTable variables({"<variable", "value"});
  for (std::size_t i = 0; i < solution.values.size(); ++i) {
    variables.add({text.program.variables[i].name, fmt::format("{:.9g}", solution.values[i])});
  }
  fmt::print("{}\n", variables.text());
  TextTable tight({"<tight", "sensitivity"});
  std::size_t count = 0;
  for (const gp::Limit& limit : gp::limits_of(text.program, solution)) {
    if (limit.is_tight()) {
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
  const std::string json = gp::solution_json(text, solution, milliseconds);
  if (!options.common.out.empty()) {
    write_file(std::filesystem::path(options.common.out) / "solution.json", json);
  }
  if (options.common.json()) {
    fmt::print("{}", json);
  } else if (options.common.talks()) {
    print(text, solution);
  }
  if (solution.status != gp::Status::solved) {
    leave_with(Exit::answer_is_no);
  }
}

}  // namespace

void add_gp_command(Command& program) {
  auto options = std::make_shared<GpOptions>();
  Command* command = program.add_subcommand(
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
      ->check(within(1e-12, 1e-2))
      ->capture_default_str();
  add_common_options(*command, options->common, "skein gp box.gp --format json");
  command->callback([options] { solve_file(*options); });
}

}  // namespace skein::app
