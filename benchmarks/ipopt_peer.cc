#include "ipopt_peer.h"

#include <IpIpoptApplication.hpp>
#include <IpSolveStatistics.hpp>
#include <IpTNLP.hpp>
#include <algorithm>
#include <cmath>

namespace skein {
namespace {

using Ipopt::Index;
using Ipopt::Number;

class Adapter : public Ipopt::TNLP {
 public:
  Adapter(gp::SmoothProgram& program, std::span<const double> start)
      : program_(program),
        start_(start.begin(), start.end()),
        n_(program.lower().size()),
        m_(program.num_equalities() + program.num_inequalities()),
        constraints_(m_),
        gradient_(n_),
        jacobian_(program.jacobian_pattern().size()),
        hessian_(program.hessian_pattern().size()),
        concave_(hessian_.size()),
        multipliers_(m_) {}

  bool get_nlp_info(Index& n, Index& m, Index& jacobian, Index& hessian, IndexStyleEnum& style) override {
    n = static_cast<Index>(n_);
    m = static_cast<Index>(m_);
    jacobian = static_cast<Index>(jacobian_.size());
    hessian = static_cast<Index>(hessian_.size());
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Index /*n*/, Number* low, Number* high, Index /*m*/, Number* row_low,
                       Number* row_high) override {
    for (std::size_t i = 0; i < n_; ++i) {
      low[i] = std::max(program_.lower()[i], -1e19);
      high[i] = std::min(program_.upper()[i], 1e19);
    }
    for (std::size_t row = 0; row < m_; ++row) {
      row_low[row] = row < program_.num_equalities() ? 0.0 : -1e19;
      row_high[row] = 0.0;
    }
    return true;
  }
  bool get_starting_point(Index /*n*/, bool /*init_x*/, Number* x, bool /*init_z*/, Number* /*z_low*/,
                          Number* /*z_high*/, Index /*m*/, bool /*init_lambda*/,
                          Number* /*lambda*/) override {
    std::ranges::copy(start_, x);
    return true;
  }
  bool eval_f(Index /*n*/, const Number* x, bool /*new_x*/, Number& value) override {
    value = values(x);
    return std::isfinite(value);
  }
  bool eval_grad_f(Index /*n*/, const Number* x, bool /*new_x*/, Number* gradient) override {
    derivatives(x);
    std::ranges::copy(gradient_, gradient);
    return true;
  }
  bool eval_g(Index /*n*/, const Number* x, bool /*new_x*/, Index /*m*/, Number* g) override {
    values(x);
    std::ranges::copy(constraints_, g);
    return std::ranges::all_of(constraints_, [](double value) { return std::isfinite(value); });
  }
  bool eval_jac_g(Index /*n*/, const Number* x, bool /*new_x*/, Index /*m*/, Index count, Index* rows,
                  Index* columns, Number* jacobian) override {
    if (jacobian == nullptr) {
      for (Index e = 0; e < count; ++e) {
        rows[e] = static_cast<Index>(program_.jacobian_pattern()[static_cast<std::size_t>(e)].row);
        columns[e] = static_cast<Index>(program_.jacobian_pattern()[static_cast<std::size_t>(e)].column);
      }
      return true;
    }
    derivatives(x);
    std::ranges::copy(jacobian_, jacobian);
    return true;
  }
  bool eval_h(Index /*n*/, const Number* x, bool /*new_x*/, Number factor, Index /*m*/, const Number* lambda,
              bool /*new_lambda*/, Index count, Index* rows, Index* columns, Number* hessian) override {
    if (hessian == nullptr) {
      for (Index e = 0; e < count; ++e) {
        const gp::Entry& entry = program_.hessian_pattern()[static_cast<std::size_t>(e)];
        rows[e] = static_cast<Index>(std::max(entry.row, entry.column));
        columns[e] = static_cast<Index>(std::min(entry.row, entry.column));
      }
      return true;
    }
    // Ours is of f + sum multiplier c, theirs of factor f + sum lambda c, where the factor may be 0: linear
    // in the multipliers, so that a difference of two gives the constraints' part.
    std::vector<double> objective_part(hessian_.size());
    std::ranges::fill(multipliers_, 0.0);
    derivatives(x);
    for (std::size_t e = 0; e < hessian_.size(); ++e) {
      objective_part[e] = hessian_[e] + concave_[e];
    }
    std::copy(lambda, lambda + m_, multipliers_.begin());
    derivatives(x);
    for (std::size_t e = 0; e < hessian_.size(); ++e) {
      hessian[e] = hessian_[e] + concave_[e] + (factor - 1.0) * objective_part[e];
    }
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn /*status*/, Index /*n*/, const Number* x,
                         const Number* /*z_low*/, const Number* /*z_high*/, Index /*m*/, const Number* /*g*/,
                         const Number* /*lambda*/, Number objective, const Ipopt::IpoptData* /*data*/,
                         Ipopt::IpoptCalculatedQuantities* /*quantities*/) override {
    result.objective = objective;
    result.x.assign(x, x + n_);
  }

  IpoptResult result;

 private:
  double values(const Number* x) { return program_.values({x, n_}, constraints_); }
  void derivatives(const Number* x) {
    values(x);
    program_.derivatives({x, n_}, multipliers_, {gradient_, jacobian_, hessian_, concave_});
  }

  gp::SmoothProgram& program_;
  std::vector<double> start_;
  std::size_t n_;
  std::size_t m_;
  std::vector<double> constraints_, gradient_, jacobian_, hessian_, concave_, multipliers_;
};

// A geometric program in logarithms with constraints sum exp(...) <= 1: sparse, exact derivatives.
class ExponentialProgram : public gp::SmoothProgram {
 public:
  ExponentialProgram(const gp::Program& program, double scale) : program_(program), scale_(scale) {
    for (const gp::ProgramVariable& variable : program.variables) {
      lower_.push_back(std::log(variable.lower));
      upper_.push_back(std::log(variable.upper));
    }
    std::size_t row = 0;
    for (const auto& equality : program.equalities) {
      for (const gp::Factor& factor : equality.left.factors()) {
        jacobian_.push_back({row, factor.variable});
      }
      ++row;
    }
    add_pairs(program.objective);
    for (const auto& constraint : program.constraints) {
      for (const gp::Monomial& term : constraint.left.terms()) {
        for (const gp::Factor& factor : term.factors()) {
          jacobian_.push_back({row, factor.variable});
        }
      }
      add_pairs(constraint.left);
      ++row;
    }
  }

  [[nodiscard]] std::size_t num_equalities() const override { return program_.equalities.size(); }
  [[nodiscard]] std::size_t num_inequalities() const override { return program_.constraints.size(); }
  [[nodiscard]] std::span<const double> lower() const override { return lower_; }
  [[nodiscard]] std::span<const double> upper() const override { return upper_; }
  [[nodiscard]] std::span<const gp::Entry> jacobian_pattern() const override { return jacobian_; }
  [[nodiscard]] std::span<const gp::Entry> hessian_pattern() const override { return hessian_; }

  double values(std::span<const double> y, std::span<double> constraints) override {
    std::size_t row = 0;
    for (const auto& equality : program_.equalities) {
      constraints[row++] = equality.left.log_value(y);
    }
    for (const auto& constraint : program_.constraints) {
      constraints[row] = -1.0;
      for (const gp::Monomial& term : constraint.left.terms()) {
        constraints[row] += std::exp(term.log_value(y));
      }
      ++row;
    }
    double sum = 0.0;
    for (const gp::Monomial& term : program_.objective.terms()) {
      sum += std::exp(term.log_value(y));
    }
    return sum / scale_;
  }
  void derivatives(std::span<const double> y, std::span<const double> multipliers,
                   const Derivatives& result) override {
    std::ranges::fill(result.gradient, 0.0);
    std::ranges::fill(result.concave, 0.0);
    std::size_t j = 0;
    std::size_t h = 0;
    for (const auto& equality : program_.equalities) {
      for (const gp::Factor& factor : equality.left.factors()) {
        result.jacobian[j++] = factor.exponent;
      }
    }
    const auto bend = [&](const gp::Monomial& term, double value) {
      for (const gp::Factor& a : term.factors()) {
        for (const gp::Factor& b : term.factors()) {
          if (b.variable <= a.variable) {
            result.hessian[h++] = value * a.exponent * b.exponent;
          }
        }
      }
    };
    for (const gp::Monomial& term : program_.objective.terms()) {
      const double value = std::exp(term.log_value(y)) / scale_;
      for (const gp::Factor& factor : term.factors()) {
        result.gradient[factor.variable] += value * factor.exponent;
      }
      bend(term, value);
    }
    std::size_t row = num_equalities();
    for (const auto& constraint : program_.constraints) {
      for (const gp::Monomial& term : constraint.left.terms()) {
        const double value = std::exp(term.log_value(y));
        for (const gp::Factor& factor : term.factors()) {
          result.jacobian[j++] = value * factor.exponent;
        }
        bend(term, multipliers[row] * value);
      }
      ++row;
    }
  }

 private:
  void add_pairs(const gp::Posynomial& posynomial) {
    for (const gp::Monomial& term : posynomial.terms()) {
      for (const gp::Factor& a : term.factors()) {
        for (const gp::Factor& b : term.factors()) {
          if (b.variable <= a.variable) {
            hessian_.push_back({a.variable, b.variable});
          }
        }
      }
    }
  }

  const gp::Program& program_;
  double scale_;  // the objective is divided by it
  std::vector<double> lower_, upper_;
  std::vector<gp::Entry> jacobian_, hessian_;
};

}  // namespace

IpoptResult solve_with_ipopt(const gp::Program& program, std::span<const double> values, double tolerance) {
  std::vector<double> start(values.begin(), values.end());
  std::ranges::transform(start, start.begin(), [](double value) { return std::log(value); });
  const double scale = std::exp(program.objective.log_value(start));
  ExponentialProgram exponential(program, scale);
  IpoptResult result = solve_with_ipopt(exponential, start, tolerance);
  result.objective *= scale;
  return result;
}

IpoptResult solve_with_ipopt(gp::SmoothProgram& program, std::span<const double> start, double tolerance) {
  const Ipopt::SmartPtr<Adapter> adapter = new Adapter(program, start);
  const Ipopt::SmartPtr<Ipopt::IpoptApplication> application = new Ipopt::IpoptApplication(false);
  application->Options()->SetIntegerValue("print_level", 0);
  application->Options()->SetStringValue("sb", "yes");
  application->Options()->SetNumericValue("tol", tolerance);
  application->Options()->SetIntegerValue("max_iter", 1000);
  // By itself it widens limits by 1e-8, which may bring 1e-5 of an objective.
  application->Options()->SetNumericValue("bound_relax_factor", 0.0);
  if (application->Initialize() != Ipopt::Solve_Succeeded) {
    return {};
  }
  const Ipopt::ApplicationReturnStatus status = application->OptimizeTNLP(
      Ipopt::SmartPtr<Ipopt::TNLP>(static_cast<Ipopt::TNLP*>(Ipopt::GetRawPtr(adapter))));
  IpoptResult result = adapter->result;
  result.solved = status == Ipopt::Solve_Succeeded || status == Ipopt::Solved_To_Acceptable_Level;
  result.infeasible = status == Ipopt::Infeasible_Problem_Detected;
  if (Ipopt::IsValid(application->Statistics())) {
    result.iterations = static_cast<std::size_t>(application->Statistics()->IterationCount());
  }
  return result;
}

}  // namespace skein
