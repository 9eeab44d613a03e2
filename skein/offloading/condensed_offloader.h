// The paper's Algorithm 1: replace the denominators of P by their best monomials at the present point, solve
// the geometric program that results (CondensedProgram), and repeat.
//
// Each program is an upper bound of P that touches it at the present point, so the objective cannot rise: a
// rise is counted and reported.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "skein/offloading/offloader.h"

namespace skein {

struct CondensedOptions {
  double tolerance = 1e-6;              // relative change of the objective between two condensations
  std::size_t max_condensations = 500;  // the published study takes 2
  double least_share = 1e-6;            // logarithms need a floor: of rho, varrho and alpha
};

class CondensedOffloader final : public Offloader {
 public:
  explicit CondensedOffloader(const CondensedOptions& options = {}) : options_(options) {}

  [[nodiscard]] std::string_view name() const override { return "algorithm_1"; }
  // Several rounds are split evenly, as in the published code.
  [[nodiscard]] OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                    const OffloadResult* previous) const override;

 private:
  CondensedOptions options_;
};

}  // namespace skein
