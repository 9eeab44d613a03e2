// A mission's tables, row by row: sequences.csv, clusters.csv, swarms.csv and energy.csv.
#pragma once

#include <string>

#include "skein/simulation/records.h"
#include "skein/world/state.h"
#include "skein/world/world.h"

namespace skein {

// Over the clusters, at the end of a sequence.
struct ClusterMeans {
  double accuracy = 0.0;  // 0 to 1
  double worst = 1.0;     // accuracy of the cluster with the least
  double age = 0.0;
};
ClusterMeans means_of(const SequenceRecord& record);

struct MissionTables {
  std::string sequences, clusters, swarms, energy;
};
// With their headers alone.
MissionTables empty_tables();
void add_rows(MissionTables& tables, const World& world, const SequenceRecord& record, const State& state);

}  // namespace skein
