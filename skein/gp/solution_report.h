// What a solution says of its program: in words, limit by limit, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "skein/gp/program.h"
#include "skein/gp/program_text.h"

namespace skein::gp {

// A limit of the program and how much of the objective hangs on it.
struct Limit {
  std::string name;
  double used = 0.0;         // left side over right side: 1 is all of it
  double sensitivity = 0.0;  // relative change of the objective per relative change of the limit

  [[nodiscard]] bool is_tight() const;
};

// Constraints, equalities and bounds of a solved program; those that are tight have a sensitivity.
std::vector<Limit> limits_of(const Program& program, const Solution& solution);

// One line: what came out, in words.
std::string verdict(const Solution& solution);

// What the text minimises or maximises.
double objective_of(const ProgramText& text, const Solution& solution);

// An object with what is known: all of it where the program is solved.
std::string solution_json(const ProgramText& text, const Solution& solution, double milliseconds);

}  // namespace skein::gp
