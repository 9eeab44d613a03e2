// Which workers to use at all. In P every worker of the swarm counts, used or not: the bound charges an idle
// worker as much as a busy one. Leaving it out of the swarm's training lowers the optimum further.
// Where time has a price, whoever is left out lands, coordinators too: the decision says who is idle.
#pragma once

#include <span>
#include <string_view>

#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/offloader.h"

namespace skein {

class WorkerSelection final : public Offloader {
 public:
  [[nodiscard]] std::string_view name() const override { return "worker_selection"; }
  // Of up to 4 workers, all sets are tried; of more, from the best single worker on, one is added, taken away
  // or exchanged while that helps. Coordinators that cost nothing all stay; others are added while that
  // helps, from pairs of a worker and a coordinator on.
  [[nodiscard]] OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                    const OffloadResult* previous) const override;
};

}  // namespace skein
