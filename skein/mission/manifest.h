// What was run, by which program, on which machine, and what it took: manifest.json. The only file of a run
// with timings.
#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "skein/data/dataset.h"
#include "skein/scenario/scenario.h"
#include "skein/simulation/mission_ranks.h"

namespace skein {

// Of this process, from its making on.
class StopWatch {
 public:
  [[nodiscard]] double seconds() const;
  [[nodiscard]] double processor_seconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t processor_start_ = std::clock();
};

nlohmann::ordered_json manifest_of(const Scenario& scenario, const DataSplit& data, std::size_t num_threads,
                                   const StopWatch& watch, const MissionTraffic& traffic);

}  // namespace skein
