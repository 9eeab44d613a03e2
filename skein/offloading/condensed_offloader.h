// The paper's Algorithm 1: replace the denominators of P, all data and all that is processed, by their best
// monomials at the present point, solve the geometric program that results, and repeat.
//
// Each program is a convex upper bound of P that touches it at the present point, so the objective cannot
// rise: a rise is counted and reported. Data and sums of ratios appear twice, once bounded from above where
// they cost and once condensed where they gain; nested, so that a program has a few terms per link instead of
// thousands per worker.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "skein/gp/program.h"
#include "skein/offloading/offloader.h"

namespace skein {

struct CondensedOptions {
  double tolerance = 1e-6;              // relative change of the objective between two condensations
  std::size_t max_condensations = 500;  // the published study takes 2
  double least_share = 1e-6;            // logarithms need a floor: of rho, varrho and alpha
};

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
  [[nodiscard]] std::size_t num_uavs() const { return uavs_; }
  // Where constraints and variables are, for their multipliers.
  [[nodiscard]] std::size_t share_constraint(std::size_t device) const { return first_share_ + device; }
  [[nodiscard]] std::size_t relay_constraint(std::size_t coordinator) const {
    return first_relay_ + coordinator;
  }
  [[nodiscard]] std::size_t time_constraint(std::size_t uav) const { return first_time_ + uav; }
  [[nodiscard]] std::size_t energy_constraint(std::size_t uav) const { return first_energy_ + uav; }
  [[nodiscard]] std::size_t data_variable(std::size_t uav) const { return most_data_ + uav; }

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
  void add_denominators();

  const OffloadingInstance& instance_;
  std::size_t devices_, workers_, coordinators_, uavs_;
  std::size_t first_alpha_ = 0;
  std::size_t most_data_ = 0, most_ratio_ = 0;                // where it costs
  std::size_t least_data_ = 0, least_ratio_ = 0, delta_ = 0;  // where it gains
  std::size_t first_share_ = 0, first_relay_ = 0, first_time_ = 0, first_energy_ = 0;
  std::vector<gp::Posynomial> denominators_;  // what the condensed variables stand for
  std::vector<std::size_t> condensed_variables_;
  gp::Program program_;
};

class CondensedOffloader final : public Offloader {
 public:
  explicit CondensedOffloader(const CondensedOptions& options = {}) : options_(options) {}

  [[nodiscard]] std::string_view name() const override { return "algorithm_1"; }
  // Several rounds are split evenly, as in the published code.
  [[nodiscard]] OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                    const OffloadResult* previous) const override;

 private:
  [[nodiscard]] OffloadResult solve_without_closed(const OffloadingInstance& instance,
                                                   const std::vector<std::size_t>& open) const;
  CondensedOptions options_;
};

}  // namespace skein
