#include "skein/gp/interior_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein::gp {
namespace {

constexpr double equality_shift = 1e-10;  // keeps the matrix quasi-definite

std::vector<Entry> kkt_pattern(const SmoothProgram& program) {
  const std::size_t n = program.lower().size();
  const std::size_t m = program.num_equalities() + program.num_inequalities();
  std::vector<Entry> entries(program.hessian_pattern().begin(), program.hessian_pattern().end());
  for (const Entry& entry : program.jacobian_pattern()) {
    entries.push_back({n + entry.row, entry.column});
  }
  for (std::size_t i = 0; i < n + m; ++i) {
    entries.push_back({i, i});
  }
  return entries;
}

double largest(std::span<const double> values) {
  double most = 0.0;
  for (const double value : values) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

}  // namespace

InteriorPoint::InteriorPoint(SmoothProgram& program)
    : program_(program),
      num_variables_(program.lower().size()),
      num_equalities_(program.num_equalities()),
      num_inequalities_(program.num_inequalities()),
      lower_(program.lower()),
      upper_(program.upper()),
      fixed_(num_variables_),
      ldl_(num_variables_ + num_equalities_ + num_inequalities_, kkt_pattern(program)),
      kkt_(program.hessian_pattern().size() + program.jacobian_pattern().size() + ldl_.dimension()),
      constraints_(num_equalities_ + num_inequalities_),
      gradient_(num_variables_),
      jacobian_(program.jacobian_pattern().size()),
      hessian_(program.hessian_pattern().size()),
      concave_(program.hessian_pattern().size()),
      dual_residual_(num_variables_),
      right_(ldl_.dimension()),
      curvature_(constraints_.size()) {
  for (Step* step : {&affine_, &step_}) {
    step->x.resize(num_variables_);
    step->slacks.resize(num_inequalities_);
    step->multipliers.resize(num_equalities_ + num_inequalities_);
    step->lower.resize(num_variables_);
    step->upper.resize(num_variables_);
  }
}

bool InteriorPoint::has_lower(std::size_t i) const { return fixed_[i] == 0 && std::isfinite(lower_[i]); }
bool InteriorPoint::has_upper(std::size_t i) const { return fixed_[i] == 0 && std::isfinite(upper_[i]); }

InteriorPointResult InteriorPoint::solve(std::span<const double> x, const InteriorPointOptions& options) {
  expect(x.size() == num_variables_, "a start has as many numbers as the program has variables");
  x_.assign(x.begin(), x.end());
  // A start that is meant to be good, by its barrier, is moved less.
  const double inside = std::clamp(options.first_barrier, 1e-6, 1e-2);
  find_bounds();
  push_inside(inside);
  find_constant_rows();
  evaluate_values();
  slacks_.resize(num_inequalities_);
  multipliers_.assign(num_equalities_ + num_inequalities_, 0.0);
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    slacks_[i] = std::max(-constraints_[num_equalities_ + i], inside);
    multipliers_[num_equalities_ + i] = options.first_barrier / slacks_[i];
  }
  lower_multipliers_.assign(num_variables_, 0.0);
  upper_multipliers_.assign(num_variables_, 0.0);
  for (const std::size_t i : with_lower_) {
    lower_multipliers_[i] = options.first_barrier / (x_[i] - lower_[i]);
  }
  for (const std::size_t i : with_upper_) {
    upper_multipliers_[i] = options.first_barrier / (upper_[i] - x_[i]);
  }
  return iterate(options);
}

InteriorPointResult InteriorPoint::solve(const InteriorPointResult& start,
                                         const InteriorPointOptions& options) {
  expect(start.x.size() == num_variables_ && start.multipliers.size() == constraints_.size(),
         "a warm start is the result of a program of the same size");
  x_ = start.x;
  find_bounds();
  push_inside(1e-12);
  find_constant_rows();
  // What was at its limit stays near it: of a gap and its multiplier whose product is below the first
  // barrier, the larger stays and the other grows.
  const double barrier = options.first_barrier;
  const auto wider = [&](double gap, double multiplier) {
    return multiplier > gap ? std::max(gap, barrier / multiplier) : gap;
  };
  lower_multipliers_.assign(num_variables_, 0.0);
  upper_multipliers_.assign(num_variables_, 0.0);
  for (std::size_t i = 0; i < num_variables_; ++i) {
    if (fixed_[i] != 0) {
      continue;
    }
    const double middle = 0.5 * (lower_[i] + upper_[i]);  // not finite where a bound is not
    if (has_lower(i)) {
      const double moved = lower_[i] + wider(x_[i] - lower_[i], start.lower_multipliers[i]);
      x_[i] = has_upper(i) ? std::max(x_[i], std::min(moved, middle)) : moved;
    }
    if (has_upper(i)) {
      const double moved = upper_[i] - wider(upper_[i] - x_[i], start.upper_multipliers[i]);
      x_[i] = has_lower(i) ? std::min(x_[i], std::max(moved, middle)) : moved;
    }
    if (has_lower(i)) {
      lower_multipliers_[i] = std::max(start.lower_multipliers[i], barrier / (x_[i] - lower_[i]));
    }
    if (has_upper(i)) {
      upper_multipliers_[i] = std::max(start.upper_multipliers[i], barrier / (upper_[i] - x_[i]));
    }
  }
  evaluate_values();
  multipliers_ = start.multipliers;
  slacks_.resize(num_inequalities_);
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    double& multiplier = multipliers_[num_equalities_ + i];
    slacks_[i] = wider(std::max({-constraints_[num_equalities_ + i], start.slacks[i], 1e-12}), multiplier);
    multiplier = std::max(multiplier, barrier / slacks_[i]);
  }
  return iterate(options);
}

// They may have changed since the last solve.
void InteriorPoint::find_bounds() {
  with_lower_.clear();
  with_upper_.clear();
  for (std::size_t i = 0; i < num_variables_; ++i) {
    fixed_[i] = lower_[i] == upper_[i] ? 1 : 0;
    if (has_lower(i)) {
      with_lower_.push_back(i);
    }
    if (has_upper(i)) {
      with_upper_.push_back(i);
    }
  }
}

// By at least a share of a bound's width, or of 1.
void InteriorPoint::push_inside(double share) {
  for (std::size_t i = 0; i < num_variables_; ++i) {
    if (fixed_[i] != 0) {
      x_[i] = lower_[i];
      continue;
    }
    const double width = upper_[i] - lower_[i];  // may be infinite
    const double inside = share * std::min(1.0, width);
    if (std::isfinite(lower_[i])) {
      x_[i] = std::max(x_[i], lower_[i] + inside);
    }
    if (std::isfinite(upper_[i])) {
      x_[i] = std::min(x_[i], upper_[i] - inside);
    }
  }
}

// Inequalities of fixed variables only hold or do not. Those that hold are loose: were one tight, its
// multiplier would grow without end, for nothing.
void InteriorPoint::find_constant_rows() {
  std::vector<bool> moves(constraints_.size(), false);
  for (const Entry& entry : program_.jacobian_pattern()) {
    moves[entry.row] = moves[entry.row] || fixed_[entry.column] == 0;
  }
  constant_rows_.clear();
  for (std::size_t row = num_equalities_; row < moves.size(); ++row) {
    if (!moves[row]) {
      constant_rows_.push_back(row);
    }
  }
}

void InteriorPoint::evaluate_values() {
  constexpr double rounding = 1e-12;
  objective_ = program_.values(x_, constraints_);
  for (const std::size_t row : constant_rows_) {
    constraints_[row] = constraints_[row] <= rounding ? -1.0 : constraints_[row];
  }
}

void InteriorPoint::evaluate_derivatives() {
  program_.derivatives(x_, multipliers_, {gradient_, jacobian_, hessian_, concave_});
  dual_residual_ = gradient_;
  const std::span<const Entry> pattern = program_.jacobian_pattern();
  for (std::size_t e = 0; e < pattern.size(); ++e) {
    dual_residual_[pattern[e].column] += jacobian_[e] * multipliers_[pattern[e].row];
  }
}

double InteriorPoint::mean_complementarity() const {
  double sum = 0.0;
  const std::size_t count = num_inequalities_ + with_lower_.size() + with_upper_.size();
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    sum += slacks_[i] * multipliers_[num_equalities_ + i];
  }
  for (const std::size_t i : with_lower_) {
    sum += (x_[i] - lower_[i]) * lower_multipliers_[i];
  }
  for (const std::size_t i : with_upper_) {
    sum += (upper_[i] - x_[i]) * upper_multipliers_[i];
  }
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

// The largest residual of the conditions of optimality, with products equal to the barrier. Where multipliers
// are large, those that they enter count in proportion.
double InteriorPoint::barrier_error(double barrier) {
  double stationarity = 0.0;
  double products = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < num_variables_; ++i) {
    const double residual = dual_residual_[i] - lower_multipliers_[i] + upper_multipliers_[i];
    stationarity = std::max(stationarity, fixed_[i] != 0 ? 0.0 : std::abs(residual));
    sum += lower_multipliers_[i] + upper_multipliers_[i];
  }
  for (const std::size_t i : with_lower_) {
    products = std::max(products, std::abs((x_[i] - lower_[i]) * lower_multipliers_[i] - barrier));
  }
  for (const std::size_t i : with_upper_) {
    products = std::max(products, std::abs((upper_[i] - x_[i]) * upper_multipliers_[i] - barrier));
  }
  double violation = 0.0;
  for (std::size_t i = 0; i < num_equalities_; ++i) {
    violation = std::max(violation, std::abs(constraints_[i]));
    sum += std::abs(multipliers_[i]);
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    const double multiplier = multipliers_[num_equalities_ + i];
    violation = std::max(violation, std::abs(constraints_[num_equalities_ + i] + slacks_[i]));
    products = std::max(products, std::abs(slacks_[i] * multiplier - barrier));
    sum += multiplier;
  }
  const double mean = sum / static_cast<double>(2 * num_variables_ + constraints_.size());
  const double scale = std::max(1.0, mean / 100.0);
  const double error = std::max({stationarity / scale, violation, products / scale});
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

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

double InteriorPoint::largest_violation() const {
  double most = 0.0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const double slack = i < num_equalities_ ? 0.0 : slacks_[i - num_equalities_];
    most = std::max(most, std::abs(constraints_[i] + slack));
  }
  return most;
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

InteriorPointResult InteriorPoint::iterate(const InteriorPointOptions& options) {
  InteriorPointResult result;
  factorisations_ = 0;
  penalty_ = 1.0;
  last_shift_ = 0.0;
  damping_ = 0.0;
  logs_ = sum_of_logs();
  evaluate_derivatives();
  const double least_barrier = options.tolerance / 10.0;
  // Freely chosen in each iteration while that gets on; else kept until its own problem is solved.
  bool free = true;
  double barrier = std::max(mean_complementarity(), least_barrier);
  double best_error = std::numeric_limits<double>::infinity();
  std::size_t since_best = 0;
  std::size_t failures = 0;
  for (;; ++result.iterations) {
    const double error = barrier_error(0.0);
    if (error <= options.tolerance) {
      result.status = InteriorPointStatus::solved;
      break;
    }
    if (result.iterations >= options.max_iterations) {
      result.status = InteriorPointStatus::iteration_limit;
      break;
    }
    if (error < 0.9 * best_error) {
      best_error = error;
      since_best = 0;
      free = true;
    } else if (++since_best > 8) {
      if (free) {
        barrier = std::max(mean_complementarity(), least_barrier);
      }
      free = false;
    }
    // Where the program is flat the step would be long for nothing; near the solution this vanishes. A convex
    // program needs no more than what keeps the matrix regular: more would cost steps.
    least_shift_ = std::max(options.convex ? 1e-13 : std::clamp(0.1 * error, 1e-13, 1e-4), damping_);
    if (!factorise()) {
      result.status = InteriorPointStatus::stalled;
      break;
    }
    const Step* correction = nullptr;
    if (free) {
      const double mean = mean_complementarity();
      find_step(0.0, nullptr, affine_);
      const double primal = longest_primal(affine_, 1.0);
      const double dual = longest_dual(affine_, 1.0);
      const double length = std::min(primal, dual);
      // What the step to products of 0 would leave of them tells how far it can be trusted.
      const double left = (1.0 - length) * (1.0 - length) * (1.0 - length);
      // Nor may products run ahead of the constraints: steps would end at slacks near 0.
      const double violated = std::min(1.0, largest_violation());
      barrier = std::max({mean * std::clamp(left, options.convex ? 1e-4 : 1e-3, 1.0),
                          (options.convex ? 1e-3 : 1e-2) * violated, least_barrier});
      correction = options.convex && length > 0.1 ? &affine_ : nullptr;
    } else if (barrier_error(barrier) <= 10.0 * barrier) {
      barrier = std::max(std::min(0.2 * barrier, std::pow(barrier, 1.5)), least_barrier);
    }
    last_length_ = 0.0;
    bool moved = take_step(barrier, correction);
    if (!moved && correction != nullptr) {
      moved = take_step(barrier, nullptr);
    }
    if (!moved) {
      // A larger barrier first, then a shorter and safer step.
      if (++failures > 8) {
        result.status = InteriorPointStatus::stalled;
        break;
      }
      free = false;
      barrier = std::max(10.0 * barrier, 1e-8);
      last_shift_ = std::max(1e-6, 16.0 * last_shift_);
      penalty_ = std::max(1.0, 10.0 * largest(multipliers_));
      keep_multipliers_near(barrier);
      evaluate_derivatives();
    } else {
      failures = 0;
    }
    // A step that had to be cut was too long for what the derivatives tell: hold the next ones back.
    if (last_length_ < 0.1) {
      damping_ = 10.0 * least_shift_;
    } else if (last_length_ > 0.5) {
      damping_ *= 0.1;
    }
  }
  // Rounding may end the steps a little early, or make them circle.
  const double enough = result.status == InteriorPointStatus::stalled ? 100.0 : 10.0;
  if (barrier_error(0.0) <= enough * options.tolerance) {
    result.status = InteriorPointStatus::solved;
  }
  result.objective = objective_;
  result.x = x_;
  result.slacks = slacks_;
  result.multipliers = multipliers_;
  result.lower_multipliers = lower_multipliers_;
  result.upper_multipliers = upper_multipliers_;
  result.factorisations = factorisations_;
  for (std::size_t i = 0; i < num_variables_; ++i) {
    if (fixed_[i] == 0) {
      result.stationarity = std::max(
          result.stationarity, std::abs(dual_residual_[i] - lower_multipliers_[i] + upper_multipliers_[i]));
    }
  }
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    result.infeasibility =
        std::max(result.infeasibility,
                 i < num_equalities_ ? std::abs(constraints_[i]) : std::max(0.0, constraints_[i]));
  }
  for (std::size_t i = 0; i < num_inequalities_; ++i) {
    result.complementarity = std::max(result.complementarity, slacks_[i] * multipliers_[num_equalities_ + i]);
  }
  return result;
}

}  // namespace skein::gp
