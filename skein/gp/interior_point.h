// A primal-dual interior-point method for smooth programs with sparse derivatives:
//
//   minimise f(x)  subject to  c_E(x) = 0,  c_I(x) <= 0,  lower <= x <= upper.
//
// Newton's method on the conditions of optimality with complementarity relaxed to mu, which goes to 0. Slacks
// make inequalities equalities: c_I + s = 0, s > 0. Where the Hessian of the Lagrangian is not convex enough,
// less of its concave part is taken (none: the step of the program's convex majorant), then a multiple of the
// identity is added, until the step is one of descent; so the method ends at minima, not at saddles. Steps
// are accepted by an exact penalty function, or because the conditions of optimality are better met.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "skein/gp/sparse_ldl.h"

namespace skein::gp {

// What a program must tell. Patterns never change.
class SmoothProgram {
 public:
  SmoothProgram() = default;
  virtual ~SmoothProgram() = default;
  SmoothProgram(const SmoothProgram&) = delete;
  SmoothProgram& operator=(const SmoothProgram&) = delete;
  SmoothProgram(SmoothProgram&&) = delete;
  SmoothProgram& operator=(SmoothProgram&&) = delete;

  [[nodiscard]] virtual std::size_t num_equalities() const = 0;
  [[nodiscard]] virtual std::size_t num_inequalities() const = 0;
  // One per variable; may be infinite. Where both are the same the variable is fixed.
  [[nodiscard]] virtual std::span<const double> lower() const = 0;
  [[nodiscard]] virtual std::span<const double> upper() const = 0;
  // Rows are equalities, then inequalities; columns variables.
  [[nodiscard]] virtual std::span<const Entry> jacobian_pattern() const = 0;
  // One triangle; entries of one place add up.
  [[nodiscard]] virtual std::span<const Entry> hessian_pattern() const = 0;

  // The objective and the constraints. May be infinite or no number: then the step was too long.
  virtual double values(std::span<const double> x, std::span<double> constraints) = 0;

  struct Derivatives {
    std::span<double> gradient;  // of the objective
    std::span<double> jacobian;  // by its pattern
    std::span<double>
        hessian;  // of f + sum multiplier c: convex part (or an upper bound of it), by its pattern
    std::span<double> concave;  // what is left of it; 0 where nothing is written
  };
  // At the point of the last call of values().
  virtual void derivatives(std::span<const double> x, std::span<const double> multipliers,
                           const Derivatives& result) = 0;
};

struct InteriorPointOptions {
  double tolerance = 1e-9;  // of the conditions of optimality, as they are scaled in the program
  std::size_t max_iterations = 300;
  double first_barrier = 0.1;  // mu at the start
  bool convex = false;         // takes Mehrotra's second-order correction too
};

enum class InteriorPointStatus { solved, iteration_limit, stalled };

struct InteriorPointResult {
  InteriorPointStatus status = InteriorPointStatus::stalled;
  double objective = 0.0;
  std::vector<double> x{};
  std::vector<double> slacks{};             // of inequalities
  std::vector<double> multipliers{};        // of equalities, then of inequalities (those >= 0)
  std::vector<double> lower_multipliers{};  // of bounds, >= 0
  std::vector<double> upper_multipliers{};
  double stationarity = 0.0;  // largest of |grad f + J' multipliers - lower + upper|
  double infeasibility = 0.0;
  double complementarity = 0.0;
  std::size_t iterations = 0;
  std::size_t factorisations = 0;
};

class InteriorPoint {
 public:
  explicit InteriorPoint(SmoothProgram& program);

  // From x, moved inside its bounds.
  InteriorPointResult solve(std::span<const double> x, const InteriorPointOptions& options);
  // From an earlier result of a program like this one: its multipliers and slacks too.
  InteriorPointResult solve(const InteriorPointResult& start, const InteriorPointOptions& options);

 private:
  struct Step {
    std::vector<double> x, slacks, multipliers, lower, upper;
  };

  // The barrier, from iteration to iteration.
  struct Course {
    // Freely chosen in each iteration while that gets on; else kept until its own problem is solved.
    bool free = true;
    double barrier = 0.0;
    double least = 0.0;
    double best_error = std::numeric_limits<double>::infinity();
    std::size_t since_best = 0;  // iterations
    std::size_t failures = 0;    // steps in a row that were not found
  };

  InteriorPointResult iterate(const InteriorPointOptions& options);
  void watch(double error, Course& course) const;
  const Step* choose_barrier(bool convex, Course& course);
  void back_off(Course& course);
  void report(InteriorPointResult& result) const;

  void find_bounds();
  void push_inside(double share);
  void find_constant_rows();
  void evaluate_values();
  void evaluate_derivatives();
  double barrier_error(double barrier);
  [[nodiscard]] double mean_complementarity() const;
  bool factorise();
  void assemble(double concave_share, double shift);
  void find_step(double barrier, const Step* correction, Step& step);
  [[nodiscard]] double longest_primal(const Step& step, double share) const;
  [[nodiscard]] double longest_dual(const Step& step, double share) const;
  // What a step is held against.
  struct Test {
    double merit;
    double decrease;  // of the merit, by the step's slope
    double error;
  };
  bool take_step(double barrier, const Step* correction);
  bool try_length(double length, double barrier, const Test& test);
  void restore();
  [[nodiscard]] double sum_of_logs() const;           // of all that the barrier keeps above 0
  [[nodiscard]] double constraint_violation() const;  // sum
  [[nodiscard]] double largest_violation() const;
  void keep_multipliers_near(double barrier);

  [[nodiscard]] bool has_lower(std::size_t i) const;
  [[nodiscard]] bool has_upper(std::size_t i) const;
  void find_inverse_gaps();

  SmoothProgram& program_;
  std::size_t num_variables_;
  std::size_t num_equalities_;
  std::size_t num_inequalities_;
  std::span<const double> lower_;
  std::span<const double> upper_;
  std::vector<unsigned char> fixed_;
  std::vector<std::size_t> with_lower_, with_upper_;  // variables, of those that are not fixed
  std::vector<std::size_t> constant_rows_;
  SparseLdl ldl_;
  std::vector<double> kkt_;

  // The iterate and what the program says of it.
  std::vector<double> x_, slacks_, multipliers_, lower_multipliers_, upper_multipliers_;
  double objective_ = 0.0;
  double logs_ = 0.0;  // sum_of_logs()
  std::vector<double> constraints_, gradient_, jacobian_, hessian_, concave_;
  std::vector<double> dual_residual_;  // grad f + J' multipliers, without bounds

  // Where a step begins: 1 / (x - lower), 1 / (upper - x).
  std::vector<double> inverse_lower_, inverse_upper_;
  double penalty_ = 1.0;
  double shift_ = 0.0;  // added to the Hessian's diagonal in this iteration
  double least_shift_ = 0.0;
  double damping_ = 0.0;
  double last_length_ = 0.0;
  double last_shift_ = 0.0;     // the last that was needed
  double concave_share_ = 1.0;  // in this iteration
  std::size_t factorisations_ = 0;
  Step affine_, step_;
  std::vector<double> right_;
  std::vector<double> curvature_;  // what constraints were off after a whole step
  double old_logs_ = 0.0;
  std::vector<double> old_x_, old_slacks_, old_multipliers_, old_lower_, old_upper_, old_constraints_,
      old_dual_residual_;
};

}  // namespace skein::gp
