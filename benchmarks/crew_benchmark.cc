// Messages between two processes: mpirun -n 2 crew_benchmark. Prints size in bytes and seconds one way.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "adapters/mpi/mpi_crew.h"

int main(int argc, char** argv) {
  skein::MpiCrew crew(argc, argv);
  for (std::size_t size = 8; size <= std::size_t{1} << 26U; size *= 8) {
    const std::string bytes(size, 'x');
    double best = 1e9;
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (!crew.is_first()) {
        crew.send(0, crew.receive(0));
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      crew.send(1, bytes);
      crew.receive(1);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (crew.is_first()) {
      fmt::print("{} {:.3e}\n", size, best / 2.0);
    }
  }
  crew.leave(nullptr, 0);
}
