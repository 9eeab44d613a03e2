// Solves a geometric program: how strongly three devices send to their UAVs on one channel, so that the worst
// of them is heard best. Each is heard above noise and above the others:
//
//   maximise s   subject to   s (noise + sum_{j != i} gain_ij p_j) <= gain_ii p_i,   p_i <= 200 mW.
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "skein/gp/program.h"

int main() {
  using skein::gp::Monomial;
  using skein::gp::Posynomial;
  constexpr double noise_w = 8e-15;
  constexpr double most_w = 0.2;
  // From device j (columns) to UAV i.
  constexpr std::array<std::array<double, 3>, 3> gain{
      {{4e-9, 2e-10, 1e-11}, {1e-10, 1e-9, 6e-11}, {2e-11, 5e-11, 2e-10}}};

  skein::gp::Program program;
  const std::size_t heard = program.add_variable("s");
  std::vector<std::size_t> powers;
  for (int i = 1; i <= 3; ++i) {
    powers.push_back(program.add_variable("p" + std::to_string(i), 0.0, most_w));
  }
  program.objective = Monomial::of(heard, -1.0);  // the least of 1 / s
  for (std::size_t i = 0; i < powers.size(); ++i) {
    Posynomial disturbance = Monomial(noise_w);
    for (std::size_t j = 0; j < powers.size(); ++j) {
      if (j != i) {
        disturbance += gain[i][j] * Monomial::of(powers[j]);
      }
    }
    const Monomial signal = gain[i][i] * Monomial::of(powers[i]);
    program.constraints.push_back(
        {"UAV " + std::to_string(i + 1) + " hears", disturbance * Monomial::of(heard) / signal});
  }

  const skein::gp::Solution solution = skein::gp::solve(program);
  if (solution.status != skein::gp::Status::solved) {
    std::printf("not solved: %s\n", std::string(skein::gp::name_of(solution.status)).c_str());
    return 1;
  }
  std::printf("Solved in %zu steps, residual %.1e\n", solution.iterations, solution.residual);
  std::printf("Every device is heard %.2f dB above noise and the others\n",
              10.0 * std::log10(solution.values[heard]));
  for (std::size_t i = 0; i < powers.size(); ++i) {
    std::printf(
        "  device %zu sends at %6.2f mW; %.0f %% of what the objective gains by 1 %% more at UAV %zu\n",
        i + 1, 1e3 * solution.values[powers[i]], 100.0 * solution.sensitivities[i], i + 1);
  }
}
