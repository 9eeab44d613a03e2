// Newton's step: the linear system, its factorisation with just enough of a shift, and how far a step may go.

#include <algorithm>
#include <cmath>
#include <span>

#include "skein/gp/interior_point.h"

namespace skein::gp {
namespace {

constexpr double equality_shift = 1e-10;  // keeps the matrix quasi-definite

}  // namespace

void InteriorPoint::find_inverse_gaps() {
  inverse_lower_.resize(num_variables_);
  inverse_upper_.resize(num_variables_);
  for (const std::size_t i : with_lower_) {
    inverse_lower_[i] = 1.0 / (x_[i] - lower_[i]);
  }
  for (const std::size_t i : with_upper_) {
    inverse_upper_[i] = 1.0 / (upper_[i] - x_[i]);
  }
}

void InteriorPoint::assemble(double concave_share, double shift) {
  const std::span<const Entry> hessian = program_.hessian_pattern();
  const std::span<const Entry> jacobian = program_.jacobian_pattern();
  const std::size_t first_jacobian = hessian.size();
  const std::size_t first_diagonal = first_jacobian + jacobian.size();
  for (std::size_t e = 0; e < hessian.size(); ++e) {
    kkt_[e] = hessian_[e] + concave_share * concave_[e];
  }
  std::ranges::copy(jacobian_, kkt_.begin() + static_cast<std::ptrdiff_t>(first_jacobian));
  for (std::size_t i = 0; i < num_variables_; ++i) {
    kkt_[first_diagonal + i] = fixed_[i] != 0 ? 1.0 : shift;
  }
  if (std::ranges::find(fixed_, 1) != fixed_.end()) {
    for (std::size_t e = 0; e < hessian.size(); ++e) {
      if (fixed_[hessian[e].row] != 0 || fixed_[hessian[e].column] != 0) {
        kkt_[e] = 0.0;
      }
    }
    for (std::size_t e = 0; e < jacobian.size(); ++e) {
      if (fixed_[jacobian[e].column] != 0) {
        kkt_[first_jacobian + e] = 0.0;
      }
    }
  }
  for (const std::size_t i : with_lower_) {
    kkt_[first_diagonal + i] += lower_multipliers_[i] * inverse_lower_[i];
  }
  for (const std::size_t i : with_upper_) {
    kkt_[first_diagonal + i] += upper_multipliers_[i] * inverse_upper_[i];
  }
  std::size_t at = first_diagonal + num_variables_;
  for (std::size_t i = 0; i < num_equalities_; ++i) {
    kkt_[at++] = -equality_shift;
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    kkt_[at++] = -slacks_[i] / multipliers_[num_equalities_ + i];
  }
}

// With as much of the concave curvature, and as little of a shift, as makes the step one of descent.
bool InteriorPoint::factorise() {
  constexpr double shares[] = {1.0, 0.9, 0.5, 0.0};
  find_inverse_gaps();
  for (const double share : shares) {
    concave_share_ = share;
    shift_ = least_shift_;
    assemble(concave_share_, shift_);
    ldl_.factorise(kkt_);
    ++factorisations_;
    if (ldl_.num_positive() == num_variables_) {
      return true;
    }
  }
  shift_ = std::max(1e-8, last_shift_ / 4.0);
  while (shift_ < 1e20) {
    assemble(concave_share_, shift_);
    ldl_.factorise(kkt_);
    ++factorisations_;
    if (ldl_.num_positive() == num_variables_) {
      last_shift_ = shift_;
      return true;
    }
    shift_ *= 8.0;
  }
  return false;
}

// Newton's step towards products equal to the barrier; with the products of an earlier step's changes as
// Mehrotra's correction.
void InteriorPoint::find_step(double barrier, const Step* correction, Step& step) {
  // What a gap times its multiplier is to be.
  const auto goal = [&](double gap_change, double multiplier_change) {
    return barrier - gap_change * multiplier_change;
  };
  for (std::size_t i = 0; i < num_variables_; ++i) {
    right_[i] = fixed_[i] != 0 ? 0.0 : -dual_residual_[i];
    step.lower[i] = 0.0;
    step.upper[i] = 0.0;
  }
  for (const std::size_t i : with_lower_) {
    const double product = correction != nullptr ? goal(correction->x[i], correction->lower[i]) : barrier;
    step.lower[i] = product * inverse_lower_[i];
    right_[i] += step.lower[i];
  }
  for (const std::size_t i : with_upper_) {
    const double product = correction != nullptr ? goal(-correction->x[i], correction->upper[i]) : barrier;
    step.upper[i] = product * inverse_upper_[i];
    right_[i] -= step.upper[i];
  }
  for (std::size_t i = 0; i < num_equalities_; ++i) {
    right_[num_variables_ + i] = -constraints_[i] - curvature_[i];
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    const std::size_t row = num_equalities_ + i;
    const double product =
        correction != nullptr ? goal(correction->slacks[i], correction->multipliers[row]) : barrier;
    step.slacks[i] = product / multipliers_[row];
    right_[num_variables_ + row] = -constraints_[row] - curvature_[row] - step.slacks[i];
  }
  ldl_.solve(right_);
  std::copy_n(right_.begin(), num_variables_, step.x.begin());
  for (const std::size_t i : with_lower_) {
    step.lower[i] -= lower_multipliers_[i] * (1.0 + step.x[i] * inverse_lower_[i]);
  }
  for (const std::size_t i : with_upper_) {
    step.upper[i] -= upper_multipliers_[i] * (1.0 - step.x[i] * inverse_upper_[i]);
  }
  for (std::size_t row = 0; row < constraints_.size(); ++row) {
    step.multipliers[row] = right_[num_variables_ + row];
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    const std::size_t row = num_equalities_ + i;
    step.slacks[i] -= slacks_[i] * (1.0 + step.multipliers[row] / multipliers_[row]);
  }
}

double InteriorPoint::longest_primal(const Step& step, double share) const {
  double length = 1.0;
  const auto limit = [&](double gap, double change) {
    if (change < 0.0) {
      length = std::min(length, -share * gap / change);
    }
  };
  for (const std::size_t i : with_lower_) {
    limit(x_[i] - lower_[i], step.x[i]);
  }
  for (const std::size_t i : with_upper_) {
    limit(upper_[i] - x_[i], -step.x[i]);
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    limit(slacks_[i], step.slacks[i]);
  }
  return length;
}

// Of the iterate before the step.
double InteriorPoint::longest_dual(const Step& step, double share) const {
  double length = 1.0;
  const auto limit = [&](double value, double change) {
    if (change < 0.0) {
      length = std::min(length, -share * value / change);
    }
  };
  for (const std::size_t i : with_lower_) {
    limit(lower_multipliers_[i], step.lower[i]);
  }
  for (const std::size_t i : with_upper_) {
    limit(upper_multipliers_[i], step.upper[i]);
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    limit(multipliers_[num_equalities_ + i], step.multipliers[num_equalities_ + i]);
  }
  return length;
}

}  // namespace skein::gp
