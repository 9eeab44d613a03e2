// The program's frame: bounds of variables, the rows that are linear, and where the others have entries.

#include <algorithm>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"
#include "skein/offloading/direct_program.h"

namespace skein {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least_log_data = -30.0;  // of a worker's share of all data: never reached, as b / D_j grows

}  // namespace

DirectProgram::DirectProgram(std::span<const OffloadingInstance> rounds,
                             const OffloadRestrictions& restrictions, std::span<const double> time_units)
    : rounds_(rounds),
      devices_(rounds.front().num_devices()),
      workers_(rounds.front().num_workers()),
      coordinators_(rounds.front().num_coordinators()),
      uavs_(workers_ + coordinators_),
      prices_time_(std::ranges::any_of(rounds, &OffloadingInstance::prices_time)),
      round_size_(devices_ * uavs_ + coordinators_ * workers_ + core_size * workers_ +
                  (prices_time_ ? 1 : 0)),
      round_rows_(devices_ + 2 * coordinators_ + uavs_),
      num_inequalities_(rounds.size() * round_rows_ + uavs_) {
  for (const OffloadingInstance& round : rounds_) {
    expect(round.num_devices() == devices_ && round.num_workers() == workers_ &&
               round.num_coordinators() == coordinators_,
           "rounds have the same devices and UAVs");
    total_data_.push_back(round.total_data());
    expect(total_data_.back() > 0.0, "a round has data");
    const std::size_t r = time_unit_.size();
    time_unit_.push_back(prices_time_ && !time_units.empty() ? time_units[r] : round.local_time_limit);
  }
  set_bounds(restrictions);
  lay_out_linear_rows();
  lay_out_curved_rows();
}

void DirectProgram::set_bounds(const OffloadRestrictions& restrictions) {
  lower_.assign(rounds_.size() * round_size_, 0.0);
  upper_.assign(lower_.size(), infinity);
  const double even = 1.0 / static_cast<double>(uavs_);
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const OffloadingInstance& p = rounds_[r];
    for (std::size_t i = 0; i < devices_; ++i) {
      for (std::size_t u = 0; u < uavs_; ++u) {
        const bool closed = p.device_data[i] == 0.0 || p.buffer[u] == 0.0;
        upper_[rho(r, i, u)] = closed ? 0.0 : infinity;  // 1 by the device's limit
        if (restrictions.even_rho) {
          lower_[rho(r, i, u)] = upper_[rho(r, i, u)] = even;
        }
      }
    }
    for (std::size_t h = 0; h < coordinators_; ++h) {
      const bool closed = rounds_.front().energy_budget[workers_ + h] <= 0.0 || p.buffer[workers_ + h] == 0.0;
      for (std::size_t j = 0; j < workers_; ++j) {
        const std::size_t at = relay(r, h, j);
        upper_[at] = closed ? 0.0 : infinity;  // by the coordinator's limit
        if (restrictions.even_rho && !closed) {
          // Evenly sent: a coordinator holds `even` of all data.
          lower_[at] = even * restrictions.least_varrho(p);
          if (restrictions.relays == OffloadRestrictions::Relays::even) {
            upper_[at] = lower_[at];
          }
        }
      }
      // What it cannot relay is not sent to it.
      for (std::size_t i = 0; i < devices_ && closed && !restrictions.even_rho; ++i) {
        upper_[rho(r, i, workers_ + h)] = 0.0;
      }
    }
    if (prices_time_) {
      upper_[time(r)] = p.local_time_limit / time_unit_[r];
    }
    for (std::size_t j = 0; j < workers_; ++j) {
      const std::size_t at = core(r, j);
      lower_[at + log_data] = least_log_data;
      upper_[at + log_data] = std::min(0.5, std::log(p.buffer[j] / total_data_[r]));
      for (std::size_t n = 0; n < 3; ++n) {
        lower_[at + log_alpha + n] = std::log(restrictions.least_alpha);
        upper_[at + log_alpha + n] = 0.0;
      }
      lower_[at + log_clock] = restrictions.full_clock ? 0.0 : std::log(p.least_clock[j] / p.most_clock[j]);
      upper_[at + log_clock] = 0.0;
    }
  }
}

// What the round lasts: all UAVs are done by then, and batteries pay for hovering so long.
void DirectProgram::lay_out_time(std::size_t r) {
  const OffloadingInstance& p = rounds_[r];
  const std::vector<double>& budget = rounds_.front().energy_budget;
  const auto add = [&](std::size_t row, double value) {
    jacobian_.push_back({num_equalities() + row, time(r)});
    linear_values_.push_back(value);
  };
  linear_objective_[time(r)] = p.weight_of_energy() * p.whole_hover_power() * time_unit_[r];
  for (std::size_t u = 0; u < uavs_; ++u) {
    add(time_row(r, u), -1.0);
    if (p.hover_power_of(u) > 0.0) {
      add(energy_row(u), p.hover_power_of(u) * time_unit_[r] / budget[u]);
    }
  }
}

void DirectProgram::lay_out_linear_rows() {
  row_offsets_.assign(num_equalities() + num_inequalities_, 0.0);
  linear_objective_.assign(lower_.size(), 0.0);
  const auto add = [&](std::size_t row, std::size_t column, double value) {
    jacobian_.push_back({row, column});
    linear_values_.push_back(value);
  };
  const std::size_t first = num_equalities();
  const std::vector<double>& budget = rounds_.front().energy_budget;
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const OffloadingInstance& p = rounds_[r];
    const double total = total_data_[r];
    const double energy_weight = p.weight_of_energy();
    for (std::size_t i = 0; i < devices_; ++i) {
      const double share = p.device_data[i] / total;
      row_offsets_[first + share_row(r, i)] = 1.0;
      for (std::size_t u = 0; u < uavs_; ++u) {
        const std::size_t at = rho(r, i, u);
        const double seconds = p.device_data[i] * p.point_bits / p.device_rate(i, u);
        linear_objective_[at] = energy_weight * seconds * p.device_power[i];
        add(first + share_row(r, i), at, 1.0);
        add(first + time_row(r, u), at, seconds / time_unit_[r]);
        if (u < workers_) {
          add(r * workers_ + u, at, -share);
        } else {
          add(first + relay_row(r, u - workers_), at, -share);
          if (p.buffer[u] > 0.0) {
            add(first + buffer_row(r, u - workers_), at, p.device_data[i] / p.buffer[u]);
          }
        }
      }
    }
    for (std::size_t h = 0; h < coordinators_; ++h) {
      row_offsets_[first + buffer_row(r, h)] = 1.0;
      // Nothing relayed, nothing received: a limit with nothing left over has no interior, so it goes.
      row_offsets_[first + relay_row(r, h)] = upper_[relay(r, h, 0)] == 0.0 ? 1.0 : 0.0;
      for (std::size_t j = 0; j < workers_; ++j) {
        const std::size_t at = relay(r, h, j);
        const double seconds = total * p.point_bits / p.coordinator_rate(h, j);
        const double energy = seconds * p.coordinator_power[h];
        linear_objective_[at] = energy_weight * energy;
        add(r * workers_ + j, at, -1.0);
        add(first + relay_row(r, h), at, 1.0);
        add(first + time_row(r, j), at, seconds / time_unit_[r]);
        if (budget[workers_ + h] > 0.0) {
          add(first + energy_row(workers_ + h), at, energy / budget[workers_ + h]);
        }
      }
    }
    for (std::size_t u = 0; u < uavs_; ++u) {
      row_offsets_[first + time_row(r, u)] = prices_time_ ? 0.0 : 1.0;
    }
    if (prices_time_) {
      lay_out_time(r);
    }
  }
  for (std::size_t u = 0; u < uavs_; ++u) {
    row_offsets_[first + energy_row(u)] = 1.0;
  }
  first_curved_ = jacobian_.size();
}

void DirectProgram::lay_out_curved_rows() {
  const std::size_t first = num_equalities();
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    for (std::size_t j = 0; j < workers_; ++j) {
      const std::size_t at = core(r, j);
      jacobian_.push_back({r * workers_ + j, at + log_data});
      for (const std::size_t row : {time_row(r, j), energy_row(j)}) {
        for (std::size_t k = 0; k < core_size; ++k) {
          jacobian_.push_back({first + row, at + k});
        }
      }
    }
    // The objective couples all workers of a round.
    for (std::size_t a = 0; a < core_size * workers_; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        hessian_.push_back({core(r, 0) + a, core(r, 0) + b});
      }
    }
  }
}

}  // namespace skein
