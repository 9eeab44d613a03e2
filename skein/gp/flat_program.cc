#include "skein/gp/flat_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "skein/base/expect.h"

namespace skein::gp {

FlatProgram::FlatProgram(const Program& program)
    : num_variables_(program.variables.size()), bound_variable_(program.objective.terms().size() > 1) {
  for (const ProgramVariable& variable : program.variables) {
    lower_.push_back(variable.lower > 0.0 ? std::log(variable.lower)
                                          : -std::numeric_limits<double>::infinity());
    upper_.push_back(std::log(variable.upper));
  }
  for (const Program::Equality& equality : program.equalities) {
    add_row(equality.left, nullptr);
  }
  num_equalities_ = rows_.size();
  for (const Program::Constraint& constraint : program.constraints) {
    add_row(constraint.left, nullptr);
  }
  if (bound_variable_) {
    const Monomial bound = Monomial::of(num_variables_);
    add_row(program.objective, &bound);
    lower_.push_back(-std::numeric_limits<double>::infinity());
    upper_.push_back(std::numeric_limits<double>::infinity());
  } else {
    objective_ = program.objective.terms().front();
  }
  shares_.resize(terms_.size());
}

void FlatProgram::add_row(const Posynomial& left, const Monomial* divisor) {
  const std::size_t row = rows_.size();
  Row& added = rows_.emplace_back();
  added.first_term = terms_.size();
  std::map<std::size_t, std::size_t> slots;
  const bool curved = left.terms().size() > 1;
  for (const Monomial& monomial : left.terms()) {
    const Monomial whole = divisor != nullptr ? monomial / *divisor : monomial;
    Term& term = terms_.emplace_back();
    term.log_coefficient = whole.log_coefficient();
    term.first_factor = factors_.size();
    for (const Factor& factor : whole.factors()) {
      const auto [slot, is_new] = slots.try_emplace(factor.variable, jacobian_.size());
      if (is_new) {
        jacobian_.push_back({row, factor.variable});
      }
      factors_.push_back({factor.variable, factor.exponent, slot->second});
    }
    term.end_factor = factors_.size();
    term.first_hessian = hessian_.size();
    if (curved) {
      for (std::size_t a = term.first_factor; a < term.end_factor; ++a) {
        for (std::size_t b = term.first_factor; b <= a; ++b) {
          hessian_.push_back({factors_[a].variable, factors_[b].variable});
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
    if (row.end_term - row.first_term == 1) {
      constraints[r] = most;
      shares_[row.first_term] = 1.0;
      continue;
    }
    double total = 0.0;
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      shares_[k] = std::exp(shares_[k] - most);
      total += shares_[k];
    }
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      shares_[k] /= total;
    }
    constraints[r] = most + std::log(total);
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
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    const bool curved = row.end_term - row.first_term > 1;
    for (std::size_t k = row.first_term; k < row.end_term; ++k) {
      const Term& term = terms_[k];
      for (std::size_t f = term.first_factor; f < term.end_factor; ++f) {
        result.jacobian[factors_[f].slot] += shares_[k] * factors_[f].exponent;
      }
      if (curved) {
        std::size_t entry = term.first_hessian;
        const double weight = multipliers[r] * shares_[k];
        for (std::size_t a = term.first_factor; a < term.end_factor; ++a) {
          for (std::size_t b = term.first_factor; b <= a; ++b) {
            result.hessian[entry++] = weight * factors_[a].exponent * factors_[b].exponent;
          }
        }
      }
    }
  }
  std::ranges::fill(result.concave, 0.0);
}

}  // namespace skein::gp
