// Ipopt on a program of ours, as a peer and an oracle. Compiled where Ipopt is installed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/gp/interior_point.h"
#include "skein/gp/program.h"

namespace skein {

struct IpoptResult {
  bool solved = false;
  bool infeasible = false;  // near where it stopped, constraints can be met no better
  double objective = 0.0;
  std::vector<double> x{};
  std::size_t iterations = 0;
};

// A geometric program, from values of its variables.
IpoptResult solve_with_ipopt(const gp::Program& program, std::span<const double> values, double tolerance);
// Any program; Hessians must be exact: hessian plus concave.
IpoptResult solve_with_ipopt(gp::SmoothProgram& program, std::span<const double> start, double tolerance);

}  // namespace skein
