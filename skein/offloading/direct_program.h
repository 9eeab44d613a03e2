// Problem P itself for the interior-point method, for one or several local rounds that share the batteries.
//
// Variables are flows, so that who sends nothing is a plain zero and all transport is linear:
//   rho[i][u]       share of a device's data, 0 to 1
//   relay[h][j]     data that a coordinator relays to a worker, in units of all data of the round
//   time            what the round lasts, where that has a price, in a unit of its size
// and logarithms of what multiplies: delta_j = log of a worker's data (in the same units), log alpha, log g.
// The one equality says that a worker's data is what it is sent. The objective is convex in these but for the
// logarithm of Delta, all that is processed; without its curvature a step is that of the condensed program.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/gp/interior_point.h"
#include "skein/offloading/instance.h"
#include "skein/offloading/restrictions.h"

namespace skein {

class DirectProgram : public gp::SmoothProgram {
 public:
  // Rounds have the same devices and UAVs; budgets are those of the first, for all of them together. Time
  // units are seconds that rounds may last: as rows are scaled by them, better not far from what they do
  // last.
  DirectProgram(std::span<const OffloadingInstance> rounds, const OffloadRestrictions& restrictions,
                std::span<const double> time_units = {});

  [[nodiscard]] std::size_t num_equalities() const override { return rounds_.size() * workers_; }
  [[nodiscard]] std::size_t num_inequalities() const override { return num_inequalities_; }
  [[nodiscard]] std::span<const double> lower() const override { return lower_; }
  [[nodiscard]] std::span<const double> upper() const override { return upper_; }
  [[nodiscard]] std::span<const gp::Entry> jacobian_pattern() const override { return jacobian_; }
  [[nodiscard]] std::span<const gp::Entry> hessian_pattern() const override { return hessian_; }
  double values(std::span<const double> x, std::span<double> constraints) override;
  void derivatives(std::span<const double> x, std::span<const double> multipliers,
                   const Derivatives& result) override;

  // The objective is divided by this.
  void set_scale(double scale) { scale_ = scale; }
  [[nodiscard]] double scale() const { return scale_; }

  // Fixes shares and relays at zero, and mini-batch ratios at one, that a more precise result shows to go
  // there: what is left shrinks as the barrier does. Where time has a price, processors at their ends too.
  void fix_ends(const gp::InteriorPointResult& rough, const gp::InteriorPointResult& precise);

  [[nodiscard]] std::vector<double> point_of(std::span<const OffloadDecision> decisions) const;
  [[nodiscard]] OffloadDecision decision_of(std::span<const double> x, std::size_t round) const;
  [[nodiscard]] LimitMultipliers multipliers_of(const gp::InteriorPointResult& result, std::size_t round,
                                                double factor) const;

 private:
  // A worker's five variables that multiply, from core() on.
  static constexpr std::size_t core_size = 5;
  enum Core : std::size_t { log_data = 0, log_alpha = 1, log_clock = 4 };

  // Where variables of a round are.
  [[nodiscard]] std::size_t rho(std::size_t round, std::size_t device, std::size_t uav) const {
    return round * round_size_ + device * uavs_ + uav;
  }
  [[nodiscard]] std::size_t relay(std::size_t round, std::size_t coordinator, std::size_t worker) const {
    return round * round_size_ + devices_ * uavs_ + coordinator * workers_ + worker;
  }
  [[nodiscard]] std::size_t core(std::size_t round, std::size_t worker) const {
    return round * round_size_ + devices_ * uavs_ + coordinators_ * workers_ + worker * core_size;
  }
  // Where time has a price.
  [[nodiscard]] std::size_t time(std::size_t round) const { return core(round, workers_); }
  // Rows of inequalities, counted from the first inequality.
  [[nodiscard]] std::size_t share_row(std::size_t round, std::size_t device) const {
    return round * round_rows_ + device;
  }
  [[nodiscard]] std::size_t relay_row(std::size_t round, std::size_t coordinator) const {
    return round * round_rows_ + devices_ + coordinator;
  }
  [[nodiscard]] std::size_t buffer_row(std::size_t round, std::size_t coordinator) const {
    return round * round_rows_ + devices_ + coordinators_ + coordinator;
  }
  [[nodiscard]] std::size_t time_row(std::size_t round, std::size_t uav) const {
    return round * round_rows_ + devices_ + 2 * coordinators_ + uav;
  }
  [[nodiscard]] std::size_t energy_row(std::size_t uav) const { return rounds_.size() * round_rows_ + uav; }

  void set_bounds(const OffloadRestrictions& restrictions);
  void lay_out_linear_rows();
  void lay_out_time(std::size_t round);
  void lay_out_curved_rows();
  double learning(std::size_t round, const double* core, std::span<double> gradient, std::span<double> convex,
                  std::span<double> concave) const;

  std::span<const OffloadingInstance> rounds_;
  std::size_t devices_;
  std::size_t workers_;
  std::size_t coordinators_;
  std::size_t uavs_;
  bool prices_time_;  // of any round
  std::size_t round_size_;
  std::size_t round_rows_;
  std::size_t num_inequalities_;
  std::vector<double> total_data_;  // of each round, points
  std::vector<double> time_unit_;   // of each round, s: the limit, unless time has a price
  double scale_ = 1.0;

  std::vector<double> lower_, upper_;
  std::vector<gp::Entry> jacobian_, hessian_;
  std::vector<double> linear_values_;     // of the Jacobian's first entries, which never change
  std::vector<double> linear_objective_;  // energy of transmissions, of each variable
  std::vector<double> row_offsets_;       // of linear rows: the constraint is values - offset
  std::size_t first_curved_ = 0;          // of the Jacobian's entries: those of curved rows
};

}  // namespace skein
