// The line search: how far along a step the penalty function falls.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "skein/gp/interior_point.h"

namespace skein::gp {

// By logarithms of products that neither overflow nor vanish: there are far fewer of them.
double InteriorPoint::sum_of_logs() const {
  double sum = 0.0;
  double product = 1.0;
  const auto add = [&](double gap) {
    product *= gap;
    if (!(product > 1e-150 && product < 1e150)) {
      sum += std::log(product);
      product = 1.0;
    }
  };
  for (const std::size_t i : with_lower_) {
    add(x_[i] - lower_[i]);
  }
  for (const std::size_t i : with_upper_) {
    add(upper_[i] - x_[i]);
  }
  std::ranges::for_each(slacks_, add);
  return sum + std::log(product);
}

double InteriorPoint::constraint_violation() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < num_equalities_; ++i) {
    sum += std::abs(constraints_[i]);
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    sum += std::abs(constraints_[num_equalities_ + i] + slacks_[i]);
  }
  return sum;
}

// Moves along a step towards a barrier, as far as the penalty function falls or the conditions of optimality
// are met better. Where constraints bend so much that the whole step fails, it is bent once or twice too. At
// the new point the derivatives are up to date. Nothing has moved if it returns false.
bool InteriorPoint::take_step(double barrier, const Step* correction) {
  std::ranges::fill(curvature_, 0.0);
  find_step(barrier, correction, step_);
  const double violation = constraint_violation();
  double slope = 0.0;
  for (std::size_t i = 0; i < num_variables_; ++i) {
    slope += gradient_[i] * step_.x[i];
  }
  for (const std::size_t i : with_lower_) {
    slope -= barrier * inverse_lower_[i] * step_.x[i];
  }
  for (const std::size_t i : with_upper_) {
    slope += barrier * inverse_upper_[i] * step_.x[i];
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    slope -= barrier / slacks_[i] * step_.slacks[i];
  }
  if (slope > 0.0 && violation > 0.0) {
    penalty_ = std::max(penalty_, 2.0 * slope / violation);
  }
  const Test test{.merit = objective_ - barrier * logs_ + penalty_ * violation,
                  .decrease = slope - penalty_ * violation,
                  .error = barrier_error(barrier)};
  old_logs_ = logs_;
  old_x_ = x_;
  old_slacks_ = slacks_;
  old_multipliers_ = multipliers_;
  old_lower_ = lower_multipliers_;
  old_upper_ = upper_multipliers_;
  old_constraints_ = constraints_;
  old_dual_residual_ = dual_residual_;

  const double share = std::max(0.99, 1.0 - barrier);
  double length = longest_primal(step_, share);
  if (try_length(length, barrier, test)) {
    return true;
  }
  const double whole = length;
  for (int bend = 0; bend < 2 && length > 0.1; ++bend) {
    if (!std::isfinite(objective_) || constraint_violation() <= violation) {
      break;
    }
    for (std::size_t row = 0; row < constraints_.size(); ++row) {
      const double slack = row < num_equalities_ ? 0.0 : slacks_[row - num_equalities_];
      curvature_[row] += constraints_[row] + slack;
    }
    restore();
    find_step(barrier, correction, step_);
    length = longest_primal(step_, share);
    if (try_length(length, barrier, test)) {
      return true;
    }
  }
  restore();
  std::ranges::fill(curvature_, 0.0);
  find_step(barrier, correction, step_);
  length = whole;
  for (int trial = 0; trial < 30; ++trial) {
    length *= 0.5;
    if (try_length(length, barrier, test)) {
      return true;
    }
  }
  restore();
  evaluate_values();
  evaluate_derivatives();
  return false;
}

// Back to where the step began; the program's values are not brought back.
void InteriorPoint::restore() {
  logs_ = old_logs_;
  x_ = old_x_;
  slacks_ = old_slacks_;
  multipliers_ = old_multipliers_;
  lower_multipliers_ = old_lower_;
  upper_multipliers_ = old_upper_;
  constraints_ = old_constraints_;
}

bool InteriorPoint::try_length(double length, double barrier, const Test& test) {
  for (std::size_t i = 0; i < num_variables_; ++i) {
    x_[i] = old_x_[i] + length * step_.x[i];
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    slacks_[i] = old_slacks_[i] + length * step_.slacks[i];
  }
  evaluate_values();
  logs_ = sum_of_logs();
  const double merit = objective_ - barrier * logs_ + penalty_ * constraint_violation();
  if (!std::isfinite(merit)) {
    return false;
  }
  const bool falls =
      merit <= test.merit + 1e-4 * length * test.decrease + 1e-13 * (1.0 + std::abs(test.merit));
  if (!falls && length < 0.5) {
    return false;
  }
  const double dual_length = longest_dual(step_, std::max(0.99, 1.0 - barrier));
  for (std::size_t row = 0; row < constraints_.size(); ++row) {
    multipliers_[row] =
        old_multipliers_[row] + (row < num_equalities_ ? length : dual_length) * step_.multipliers[row];
  }
  for (std::size_t i = 0; i < num_variables_; ++i) {
    lower_multipliers_[i] = old_lower_[i] + dual_length * step_.lower[i];
    upper_multipliers_[i] = old_upper_[i] + dual_length * step_.upper[i];
  }
  keep_multipliers_near(barrier);
  evaluate_derivatives();
  if (falls || barrier_error(barrier) <= 0.9 * test.error) {
    last_length_ = length;
    return true;
  }
  multipliers_ = old_multipliers_;
  lower_multipliers_ = old_lower_;
  upper_multipliers_ = old_upper_;
  dual_residual_ = old_dual_residual_;
  return false;
}

// Products stay within a large factor of the barrier, so that no multiplier is lost to rounding.
void InteriorPoint::keep_multipliers_near(double barrier) {
  constexpr double factor = 1e10;
  const auto keep = [&](double gap, double& multiplier) {
    multiplier = std::clamp(multiplier, barrier / (factor * gap), std::max(factor * barrier / gap, 1e-300));
  };
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    keep(slacks_[i], multipliers_[num_equalities_ + i]);
  }
  for (const std::size_t i : with_lower_) {
    keep(x_[i] - lower_[i], lower_multipliers_[i]);
  }
  for (const std::size_t i : with_upper_) {
    keep(upper_[i] - x_[i], upper_multipliers_[i]);
  }
}

}  // namespace skein::gp
