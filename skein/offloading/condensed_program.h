// The geometric program that stands for problem P near one decision: a convex upper bound that touches it
// there, because the denominators of P, all data and all that is processed, are replaced by their best
// monomials.
//
// Data and sums of ratios appear twice, once bounded from above where they cost and once condensed where they
// gain; nested, so that a program has a few terms per link instead of thousands per worker.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/gp/program.h"
#include "skein/offloading/instance.h"

namespace skein {

// The geometric program at a point, and how to make the next one.
class CondensedProgram {
 public:
  CondensedProgram(const OffloadingInstance& instance, double least_share);

  [[nodiscard]] const gp::Program& program() const { return program_; }
  // Values of all variables for a decision.
  [[nodiscard]] std::vector<double> point_of(const OffloadDecision& decision) const;
  [[nodiscard]] OffloadDecision decision_of(std::span<const double> values) const;
  // The condensed equalities at a point, in the program's order.
  [[nodiscard]] std::vector<gp::Monomial> condensed(std::span<const double> values) const;
  void condense_at(std::span<const double> values);
  // What a solution's multipliers say of P's limits, for a decision's evaluation.
  [[nodiscard]] LimitMultipliers multipliers_of(const gp::Solution& solution,
                                                const OffloadEvaluation& evaluation) const;

 private:
  [[nodiscard]] std::size_t rho(std::size_t i, std::size_t u) const { return i * uavs_ + u; }
  [[nodiscard]] std::size_t varrho(std::size_t h, std::size_t j) const {
    return devices_ * uavs_ + h * workers_ + j;
  }
  [[nodiscard]] std::size_t alpha(std::size_t j, std::size_t n) const { return first_alpha_ + 3 * j + n; }
  [[nodiscard]] std::size_t clock(std::size_t j) const { return first_alpha_ + 3 * workers_ + j; }
  void add_variables(double least_share);
  void add_constraints();
  void add_objective();
  void add_learning(std::size_t worker);
  void add_denominators();

  const OffloadingInstance& instance_;
  std::size_t devices_, workers_, coordinators_, uavs_;
  std::size_t first_alpha_ = 0;
  std::size_t most_data_ = 0, most_ratio_ = 0;                // where it costs
  std::size_t least_data_ = 0, least_ratio_ = 0, delta_ = 0;  // where it gains
  std::size_t time_ = 0;                                      // what the round lasts, where that has a price
  std::size_t first_share_ = 0, first_relay_ = 0, first_time_ = 0, first_energy_ = 0;
  std::vector<gp::Posynomial> denominators_;  // what the condensed variables stand for
  std::vector<std::size_t> condensed_variables_;
  gp::Program program_;
};

}  // namespace skein
