// Geometric programs written as text:
//
//   # the largest box with so much wall and floor
//   maximize h * w * d
//   subject to
//     wall:  2 * h * w + 2 * h * d <= 200
//     floor: w * d <= 10
//     0.5 <= h / w <= 2
//     0.1 <= d <= 5
//
// One statement a line; a line goes on after an operator and inside parentheses; # begins a comment.
// Expressions have numbers, names, + * / ^ and parentheses. Every name is a positive variable. A sum may be
// divided by a monomial only, and raised to whole powers only; a monomial may be raised to any power, which
// is a number: x^-0.5, x^(2/3). `minimize` takes a posynomial, `maximize` a monomial. Comparisons: posynomial
// <= monomial, monomial >= posynomial, monomial = monomial, and chains of them. A comparison of one variable
// with a number is a bound, unless it has a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skein/gp/program.h"

namespace skein::gp {

struct ProgramText {
  Program program{};
  bool maximises = false;  // the program's objective is then 1 / what is maximised
};

// Throws InputError with all faults, each with its line and column. `name` is the file's.
ProgramText parse_program(std::string_view text, const std::string& name);

}  // namespace skein::gp
