#include "skein/learning/algorithm.h"

#include <algorithm>
#include <array>

#include "skein/base/expect.h"

namespace skein {

std::span<const Algorithm> algorithms() {
  static const std::array rows{
      Algorithm{},
      Algorithm{.name = "h_fl",
                .title = "H-FL",
                .local_update = LocalUpdate::gradient,
                .personal_step = PersonalStep::step},
      Algorithm{.name = "fed_avg",
                .title = "FedAvg",
                .local_update = LocalUpdate::gradient,
                .topology = Topology::star,
                .weights = MergeWeights::by_data,
                .personal_step = PersonalStep::step},
      Algorithm{.name = "per_fed_avg",
                .title = "Per-FedAvg",
                .topology = Topology::star,
                .weights = MergeWeights::by_data},
      Algorithm{.name = "local",
                .title = "swarms alone",
                .local_update = LocalUpdate::gradient,
                .shared = Sharing::nothing,
                .personal_step = PersonalStep::step},
      Algorithm{.name = "central",
                .title = "all data in one place",
                .local_update = LocalUpdate::gradient,
                .topology = Topology::pooled,
                .personal_step = PersonalStep::step},
  };
  return rows;
}

const Algorithm& algorithm(std::string_view name) {
  const std::span<const Algorithm> rows = algorithms();
  const auto found = std::ranges::find(rows, name, &Algorithm::name);
  expect(found != rows.end(), "no algorithm of this name");
  return *found;
}

}  // namespace skein
