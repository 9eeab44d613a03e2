// Our default: Newton steps on problem P itself (DirectProgram), from several starts.
//
// P has several minima: its bound gives nothing for spreading data over workers, so most minima have one
// worker or few do nearly everything. Starts are: all alike, one for each worker that favours it, and then
// the best result's workers with one more or one less. Starts are judged at a low precision; the best is
// refined. Where time has a price all workers and coordinators stay up, but for coordinators that cannot
// relay: which of them are worth it, worker selection knows. Where accuracy is predicted, workers that end
// with nothing are idle.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "skein/offloading/offloader.h"
#include "skein/offloading/restrictions.h"

namespace skein {

struct NewtonOptions {
  OffloadRestrictions restrictions{};
  bool several_starts = true;
  double tolerance = 1e-9;
  std::size_t max_iterations = 300;
};

class NewtonOffloader final : public Offloader {
 public:
  explicit NewtonOffloader(const NewtonOptions& options = {}, std::string_view name = "newton")
      : options_(options), name_(name) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                    const OffloadResult* previous) const override;

 private:
  [[nodiscard]] OffloadResult without_idle(std::span<const OffloadingInstance> rounds,
                                           const std::vector<std::size_t>& busy,
                                           std::size_t iterations) const;
  NewtonOptions options_;
  std::string_view name_;
};

// A decision that meets all limits, in closed form: shares for the favoured workers (all, if empty), as large
// as the limits allow up to most of the data; then processors as slow as the time allows. Where time has a
// price: within that part of the time limit where this comes out best.
OffloadDecision feasible_start(const OffloadingInstance& instance, std::span<const std::size_t> favoured,
                               double budget_share, const OffloadRestrictions& restrictions);

}  // namespace skein
