// A geometric program laid out for the interior-point method: variables are logarithms y = log x.
//
// A constraint sum_k exp(a_k y + b_k) <= 1 is met as log sum <= 0, which is gentle far from the solution; of
// its curvature only the sum of p_k a_k a_k' (p_k: shares of the terms) is taken, as of the exponential form.
// What is left out, minus the square of the gradient, is dense, and next to nothing against the barrier's
// where the constraint is tight, and times nothing where it is loose. So the matrices stay as sparse as the
// program. An objective of several terms is an upper bound t that is minimised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/gp/interior_point.h"
#include "skein/gp/program.h"

namespace skein::gp {

class FlatProgram : public SmoothProgram {
 public:
  explicit FlatProgram(const Program& program);

  [[nodiscard]] std::size_t num_equalities() const override { return num_equalities_; }
  [[nodiscard]] std::size_t num_inequalities() const override { return rows_.size() - num_equalities_; }
  [[nodiscard]] std::span<const double> lower() const override { return lower_; }
  [[nodiscard]] std::span<const double> upper() const override { return upper_; }
  [[nodiscard]] std::span<const Entry> jacobian_pattern() const override { return jacobian_; }
  [[nodiscard]] std::span<const Entry> hessian_pattern() const override { return hessian_; }
  double values(std::span<const double> y, std::span<double> constraints) override;
  void derivatives(std::span<const double> y, std::span<const double> multipliers,
                   const Derivatives& result) override;

  void replace_equality(std::size_t index, const Monomial& left);
  [[nodiscard]] Monomial equality(std::size_t index) const;
  // A start in logarithms, with t where there is one.
  [[nodiscard]] std::vector<double> start(std::span<const double> log_values) const;
  [[nodiscard]] std::vector<double> middle() const;
  [[nodiscard]] bool has_bound_variable() const { return bound_variable_; }

 private:
  struct Term {
    double log_coefficient = 0.0;
    std::size_t first_factor = 0;
    std::size_t end_factor = 0;
  };
  struct FlatFactor {
    double exponent = 0.0;
    std::uint32_t variable = 0;
    std::uint32_t slot = 0;  // in the Jacobian
    std::uint32_t term = 0;
  };
  // An entry of the Hessian: of two factors of a term.
  struct Product {
    double exponents = 0.0;
    std::uint32_t term = 0;
  };
  struct Row {
    std::size_t first_term = 0;
    std::size_t end_term = 0;
  };
  // The left side of a constraint, over the variable t if it is the objective.
  void add_row(std::span<const Monomial> terms, bool is_objective);

  std::size_t num_variables_;
  std::size_t num_equalities_ = 0;
  bool bound_variable_;
  Monomial objective_;  // if of one term
  std::vector<double> lower_, upper_;
  std::vector<Row> rows_;
  std::vector<Term> terms_;
  std::vector<FlatFactor> factors_;
  std::vector<Product> products_;  // one per entry of hessian_
  std::vector<Entry> jacobian_, hessian_;
  std::vector<std::uint32_t> slots_;  // of each variable in the last row that has it
  std::vector<double> shares_;        // of each term in its row, at the last point
  std::vector<double> weights_;       // the same times the row's multiplier
};

}  // namespace skein::gp
