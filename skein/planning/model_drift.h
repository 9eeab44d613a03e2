// Drift of clusters as the planner assumes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace skein {

// Drift of each cluster as a straight line in time, from start to end, constant from then on. With
// sequences = 0 it is at the start for ever.
struct AffineDrift {
  std::vector<double> start;
  std::vector<double> end;
  std::size_t sequences = 0;

  [[nodiscard]] double at(std::size_t cluster, double sequence) const {
    if (sequences == 0) {
      return start[cluster];
    }
    const double share = std::min(1.0, sequence / static_cast<double>(sequences));
    return start[cluster] + share * (end[cluster] - start[cluster]);
  }
};

}  // namespace skein
