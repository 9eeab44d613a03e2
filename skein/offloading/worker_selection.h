// Which workers to use at all. In P every worker of the swarm counts, used or not: the bound charges an idle
// worker as much as a busy one. Leaving it out of the swarm's training lowers the optimum further.
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
  // or exchanged while that helps.
  [[nodiscard]] OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                    const OffloadResult* previous) const override;
};

}  // namespace skein
