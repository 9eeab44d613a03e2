#include "skein/learning/algorithm.h"

#include <array>

namespace skein {

const Algorithm& algorithm(LearningAlgorithm which) {
  // In the order of LearningAlgorithm.
  static constexpr std::array algorithms{
      Algorithm{"hn_pfl", "HN-PFL", true, Topology::hierarchy},
      Algorithm{"h_fl", "H-FL", false, Topology::hierarchy},
      Algorithm{"fed_avg", "FedAvg", false, Topology::star},
      Algorithm{"per_fed_avg", "Per-FedAvg", true, Topology::star},
      Algorithm{"local", "swarms alone", false, Topology::swarms},
      Algorithm{"central", "all data in one place", false, Topology::pooled},
  };
  return algorithms.at(static_cast<std::size_t>(which));
}

}  // namespace skein
