#include "skein/gp/interior_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein::gp {
namespace {

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

double InteriorPoint::largest_violation() const {
  double most = 0.0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const double slack = i < num_equalities_ ? 0.0 : slacks_[i - num_equalities_];
    most = std::max(most, std::abs(constraints_[i] + slack));
  }
  return most;
}

InteriorPointResult InteriorPoint::iterate(const InteriorPointOptions& options) {
  InteriorPointResult result;
  factorisations_ = 0;
  penalty_ = 1.0;
  last_shift_ = 0.0;
  damping_ = 0.0;
  logs_ = sum_of_logs();
  evaluate_derivatives();
  Course course{.least = options.tolerance / 10.0};
  course.barrier = std::max(mean_complementarity(), course.least);
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
    watch(error, course);
    // Where the program is flat the step would be long for nothing; near the solution this vanishes. A convex
    // program needs no more than what keeps the matrix regular: more would cost steps.
    least_shift_ = std::max(options.convex ? 1e-13 : std::clamp(0.1 * error, 1e-13, 1e-4), damping_);
    if (!factorise()) {
      break;  // stalled
    }
    const Step* correction = choose_barrier(options.convex, course);
    last_length_ = 0.0;
    bool moved = take_step(course.barrier, correction);
    if (!moved && correction != nullptr) {
      moved = take_step(course.barrier, nullptr);
    }
    if (moved) {
      course.failures = 0;
    } else if (++course.failures > 8) {
      break;  // stalled
    } else {
      back_off(course);
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
  report(result);
  return result;
}

// While the error falls the barrier is chosen freely; where it does not, it is kept.
void InteriorPoint::watch(double error, Course& course) const {
  if (error < 0.9 * course.best_error) {
    course.best_error = error;
    course.since_best = 0;
    course.free = true;
  } else if (++course.since_best > 8) {
    if (course.free) {
      course.barrier = std::max(mean_complementarity(), course.least);
    }
    course.free = false;
  }
}

// The barrier of the step to come, and what corrects that step, if anything.
const InteriorPoint::Step* InteriorPoint::choose_barrier(bool convex, Course& course) {
  if (!course.free) {
    if (barrier_error(course.barrier) <= 10.0 * course.barrier) {
      course.barrier = std::max(std::min(0.2 * course.barrier, std::pow(course.barrier, 1.5)), course.least);
    }
    return nullptr;
  }
  const double mean = mean_complementarity();
  find_step(0.0, nullptr, affine_);
  const double primal = longest_primal(affine_, 1.0);
  const double dual = longest_dual(affine_, 1.0);
  const double length = std::min(primal, dual);
  // What the step to products of 0 would leave of them tells how far it can be trusted.
  const double left = (1.0 - length) * (1.0 - length) * (1.0 - length);
  // Nor may products run ahead of the constraints: steps would end at slacks near 0.
  const double violated = std::min(1.0, largest_violation());
  course.barrier = std::max(
      {mean * std::clamp(left, convex ? 1e-4 : 1e-3, 1.0), (convex ? 1e-3 : 1e-2) * violated, course.least});
  return convex && length > 0.1 ? &affine_ : nullptr;
}

// Where no step was found: a larger barrier first, then a shorter and safer step.
void InteriorPoint::back_off(Course& course) {
  course.free = false;
  course.barrier = std::max(10.0 * course.barrier, 1e-8);
  last_shift_ = std::max(1e-6, 16.0 * last_shift_);
  penalty_ = std::max(1.0, 10.0 * largest(multipliers_));
  keep_multipliers_near(course.barrier);
  evaluate_derivatives();
}

void InteriorPoint::report(InteriorPointResult& result) const {
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
}

}  // namespace skein::gp
