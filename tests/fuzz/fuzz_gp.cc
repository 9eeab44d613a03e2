// Any text is a program or an InputError; small programs can be solved, or the solver says why not.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "skein/base/input_fault.h"
#include "skein/gp/program.h"
#include "skein/gp/program_text.h"

namespace {

// Larger ones are left out: the fuzzer looks for faults, not for time.
constexpr std::size_t most_terms = 200;

bool is_small(const skein::gp::Program& program) {
  std::size_t terms = program.objective.terms().size() + program.equalities.size();
  for (const auto& constraint : program.constraints) {
    terms += constraint.left.terms().size();
  }
  return terms <= most_terms;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const skein::gp::Program program =
        skein::gp::parse_program({reinterpret_cast<const char*>(data), size}, "fuzz.gp").program;
    if (is_small(program)) {
      const skein::gp::Solution solution = skein::gp::solve(program, {.max_iterations = 50});
      if (solution.status == skein::gp::Status::solved && !std::isfinite(std::log(solution.objective))) {
        std::abort();
      }
    }
  } catch (const skein::InputError&) {
  }
  return 0;
}
