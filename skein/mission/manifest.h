// What was run, by which program, on which machine, and what it took: manifest.json. The only file of a run
// with timings.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "skein/base/stopwatch.h"
#include "skein/data/dataset.h"
#include "skein/scenario/scenario.h"
#include "skein/simulation/mission_ranks.h"

namespace skein {

nlohmann::ordered_json manifest_of(const Scenario& scenario, const DataSplit& data, std::size_t num_threads,
                                   const Stopwatch& watch, const MissionTraffic& traffic);

}  // namespace skein
