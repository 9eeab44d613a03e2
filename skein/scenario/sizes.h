// Sizes of messages and work of a data point, where a scenario leaves them to its own network and data.
#pragma once

#include "skein/scenario/scenario.h"

namespace skein {

// Where offloading.model_kbit, offloading.point_kbit or a UAV type's cycles_per_point is 0: a model has 32
// bits for each parameter; a point has what its source takes, and a byte for the label; a gradient of a point
// needs three times the operations of the network's forward pass (the backward pass has two products for each
// of it), so many in a cycle as the type's processor can. Everything else stays. Throws InputError where the
// network does not fit the data.
Scenario with_sizes(Scenario scenario);

}  // namespace skein
