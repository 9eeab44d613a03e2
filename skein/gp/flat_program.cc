#include "skein/gp/flat_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein::gp {
namespace {

constexpr double least_exponent = -700.0;

// e^x to about 1 ulp, from there to 0. Without branches, so that several are computed at once.
double exponential(double x) {
  constexpr double log2_e = 1.4426950408889634;
  constexpr double ln2_high = 6.93147180369123816490e-01;
  constexpr double ln2_low = 1.90821492927058770002e-10;
  constexpr double rounding = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves a whole number
  const double shifted = x * log2_e + rounding;
  const double n = shifted - rounding;
  const double r = (x - n * ln2_high) - n * ln2_low;  // |r| <= log(2) / 2
  double sum = 1.0 / 6227020800.0;                    // 1 / 13!
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  // Times 2^n: n is in the lowest bits of `shifted`, and goes to the exponent.
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                               (std::bit_cast<std::uint64_t>(shifted) << 52U));
}

}  // namespace

FlatProgram::FlatProgram(const Program& program)
    : num_variables_(program.variables.size()), bound_variable_(program.objective.terms().size() > 1) {
  const std::size_t size = num_variables_ + (bound_variable_ ? 1 : 0);
  const std::size_t most_rows = program.equalities.size() + program.constraints.size() + 1;
  std::size_t num_terms = program.equalities.size() + program.objective.terms().size();
  for (const Program::Constraint& constraint : program.constraints) {
    num_terms += constraint.left.terms().size();
  }
  lower_.reserve(size);
  upper_.reserve(size);
  rows_.reserve(most_rows);
  terms_.reserve(num_terms);
  factors_.reserve(3 * num_terms);
  jacobian_.reserve(2 * num_terms);
  hessian_.reserve(3 * num_terms);
  products_.reserve(3 * num_terms);
  slots_.assign(size, 0);
  for (const ProgramVariable& variable : program.variables) {
    lower_.push_back(variable.lower > 0.0 ? std::log(variable.lower)
                                          : -std::numeric_limits<double>::infinity());
    upper_.push_back(std::log(variable.upper));
  }
  for (const Program::Equality& equality : program.equalities) {
    add_row({&equality.left, 1}, false);
  }
  num_equalities_ = rows_.size();
  for (const Program::Constraint& constraint : program.constraints) {
    add_row(constraint.left.terms(), false);
  }
  if (bound_variable_) {
    add_row(program.objective.terms(), true);
    lower_.push_back(-std::numeric_limits<double>::infinity());
    upper_.push_back(std::numeric_limits<double>::infinity());
  } else {
    objective_ = program.objective.terms().front();
  }
  shares_.resize(terms_.size());
  weights_.resize(terms_.size());
}

void FlatProgram::add_row(std::span<const Monomial> terms, bool is_objective) {
  const std::size_t row = rows_.size();
  const std::size_t first_slot = jacobian_.size();
  Row& added = rows_.emplace_back();
  added.first_term = terms_.size();
  const auto add_factor = [&](std::size_t variable, double exponent) {
    std::uint32_t& slot = slots_[variable];
    const bool is_new = slot < first_slot || slot >= jacobian_.size() || jacobian_[slot].column != variable;
    if (is_new) {
      slot = static_cast<std::uint32_t>(jacobian_.size());
      jacobian_.push_back({row, variable});
    }
    factors_.push_back({exponent, static_cast<std::uint32_t>(variable), slot,
                        static_cast<std::uint32_t>(terms_.size() - 1)});
  };
  for (const Monomial& monomial : terms) {
    Term& term = terms_.emplace_back();
    term.log_coefficient = monomial.log_coefficient();
    term.first_factor = factors_.size();
    for (const Factor& factor : monomial.factors()) {
      add_factor(factor.variable, factor.exponent);
    }
    if (is_objective) {
      add_factor(num_variables_, -1.0);
    }
    term.end_factor = factors_.size();
    if (terms.size() > 1) {
      for (std::size_t a = term.first_factor; a < term.end_factor; ++a) {
        for (std::size_t b = term.first_factor; b <= a; ++b) {
          hessian_.push_back({factors_[a].variable, factors_[b].variable});
          products_.push_back({factors_[a].exponent * factors_[b].exponent, factors_[a].term});
        }
      }
    }
  }
  added.end_term = terms_.size();
}

void FlatProgram::replace_equality(std::size_t index, const Monomial& left) {
  expect(index < num_equalities_, "there is no such equality");
  Term& term = terms_[rows_[index].first_term];
  term.log_coefficient = left.log_coefficient();
  const std::vector<Factor>& factors = left.factors();
  expect(factors.size() == term.end_factor - term.first_factor, "a replaced monomial keeps its variables");
  for (std::size_t i = 0; i < factors.size(); ++i) {
    FlatFactor& factor = factors_[term.first_factor + i];
    expect(factor.variable == factors[i].variable, "a replaced monomial keeps its variables");
    factor.exponent = factors[i].exponent;
  }
}

Monomial FlatProgram::equality(std::size_t index) const {
  expect(index < num_equalities_, "there is no such equality");
  const Term& term = terms_[rows_[index].first_term];
  std::vector<Factor> factors;
  for (std::size_t f = term.first_factor; f < term.end_factor; ++f) {
    factors.push_back({factors_[f].variable, factors_[f].exponent});
  }
  return Monomial::with_log_coefficient(term.log_coefficient, std::move(factors));
}

std::vector<double> FlatProgram::middle() const {
  std::vector<double> y(num_variables_);
  for (std::size_t i = 0; i < num_variables_; ++i) {
    if (std::isfinite(lower_[i]) && std::isfinite(upper_[i])) {
      y[i] = 0.5 * (lower_[i] + upper_[i]);
    } else {
      y[i] = std::clamp(0.0, lower_[i], upper_[i]);
    }
  }
  return y;
}

std::vector<double> FlatProgram::start(std::span<const double> log_values) const {
  std::vector<double> y(log_values.begin(), log_values.end());
  expect(y.size() == num_variables_, "a start has a value for every variable");
  if (bound_variable_) {
    double most = -std::numeric_limits<double>::infinity();
    const Row& row = rows_.back();
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      double sum = terms_[k].log_coefficient;
      for (std::size_t f = terms_[k].first_factor; f < terms_[k].end_factor; ++f) {
        if (factors_[f].variable < num_variables_) {
          sum += factors_[f].exponent * y[factors_[f].variable];
        }
      }
      most = std::max(most, sum);
    }
    y.push_back(most + 1.0);
  }
  return y;
}

double FlatProgram::values(std::span<const double> y, std::span<double> constraints) {
  // Logarithms of the terms against the largest of their row, which is kept in `constraints`.
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      const Term& term = terms_[k];
      double sum = term.log_coefficient;
      for (std::size_t f = term.first_factor; f < term.end_factor; ++f) {
        sum += factors_[f].exponent * y[factors_[f].variable];
      }
      shares_[k] = sum;
      most = std::max(most, sum);
    }
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      shares_[k] = std::max(shares_[k] - most, least_exponent);
    }
    constraints[r] = most;
  }
  for (double& share : shares_) {
    share = exponential(share);
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    if (row.end_term - row.first_term == 1) {
      continue;
    }
    double total = 0.0;
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      total += shares_[k];
    }
    const double scale = 1.0 / total;
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      shares_[k] *= scale;
    }
    constraints[r] += std::log(total);
  }
  return bound_variable_ ? y[num_variables_] : objective_.log_value(y);
}

void FlatProgram::derivatives(std::span<const double> /*y*/, std::span<const double> multipliers,
                              const Derivatives& result) {
  std::ranges::fill(result.gradient, 0.0);
  if (bound_variable_) {
    result.gradient[num_variables_] = 1.0;
  } else {
    for (const Factor& factor : objective_.factors()) {
      result.gradient[factor.variable] = factor.exponent;
    }
  }
  std::ranges::fill(result.jacobian, 0.0);
  for (const FlatFactor& factor : factors_) {
    result.jacobian[factor.slot] += shares_[factor.term] * factor.exponent;
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t k = rows_[r].first_term; k < rows_[r].end_term; ++k) {
      weights_[k] = multipliers[r] * shares_[k];
    }
  }
  for (std::size_t e = 0; e < products_.size(); ++e) {
    result.hessian[e] = weights_[products_[e].term] * products_[e].exponents;
  }
}

}  // namespace skein::gp
