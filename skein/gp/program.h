// Geometric programs: minimise a posynomial subject to posynomials <= 1, monomials = 1 and bounds.
//
//   gp::Program box;                                     // the largest box with so much wall and floor
//   const std::size_t h = box.add_variable("h"), w = box.add_variable("w"), d = box.add_variable("d");
//   using gp::Monomial;
//   box.objective = Monomial(1.0) / (Monomial::of(h) * Monomial::of(w) * Monomial::of(d));
//   box.constraints.push_back({"floor", Monomial::of(w) * Monomial::of(d) / 10.0});
//   ...
//   const gp::Solution solution = gp::solve(box);
//
// `gp::Solver` keeps what depends on the program's pattern only, for programs that are solved again and
// again.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/gp/interior_point.h"
#include "skein/gp/posynomial.h"

namespace skein::gp {

struct ProgramVariable {
  std::string name;
  double lower = 0.0;  // 0: none
  double upper = std::numeric_limits<double>::infinity();
};

struct Program {
  struct Constraint {
    std::string name;
    Posynomial left;  // <= 1
  };
  struct Equality {
    std::string name;
    Monomial left;  // = 1
  };

  std::vector<ProgramVariable> variables{};
  Posynomial objective{};
  std::vector<Constraint> constraints{};
  std::vector<Equality> equalities{};

  std::size_t add_variable(std::string name, double lower = 0.0,
                           double upper = std::numeric_limits<double>::infinity());
};

enum class Status { solved, infeasible, unbounded, iteration_limit };
std::string_view name_of(Status status);

struct Solution {
  Status status = Status::iteration_limit;
  double objective = 0.0;
  std::vector<double> values{};         // one per variable
  std::vector<double> sensitivities{};  // of log objective to the logarithm of each constraint's limit, >= 0
  std::vector<double> equality_sensitivities{};
  // Infeasible: the constraint that stands in the way most, and the factor by which all limits would have to
  // be loosened. Unbounded: the variable that runs away.
  std::string culprit{};
  double factor = 1.0;
  double residual = 0.0;  // of the conditions of optimality
  std::size_t iterations = 0;
  InteriorPointResult inner{};  // for a warm start
};

struct SolverOptions {
  double tolerance = 1e-9;
  std::size_t max_iterations = 200;
};

class Solver {
 public:
  // Throws InputError where bounds, constraints or the objective make no sense. The program must stay.
  explicit Solver(const Program& program);
  explicit Solver(Program&& program) = delete;
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  // Another monomial with the same variables.
  void replace_equality(std::size_t index, const Monomial& left);
  // From the middle of the bounds, from values, or from the solution of a program like this one.
  Solution solve(const SolverOptions& options = {});
  Solution solve_from(std::span<const double> values, const SolverOptions& options = {});
  Solution solve_from(const Solution& start, const SolverOptions& options = {});

 private:
  class Flat;
  Solution finished(InteriorPointResult inner, const SolverOptions& options, std::size_t earlier_iterations);
  std::unique_ptr<Flat> flat_;
  std::unique_ptr<InteriorPoint> method_;
};

Solution solve(const Program& program, const SolverOptions& options = {});

}  // namespace skein::gp
