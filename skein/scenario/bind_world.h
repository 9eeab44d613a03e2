// Parts of bind_scenario: keys of the physical world.
#pragma once

#include "skein/scenario/fields.h"
#include "skein/scenario/scenario.h"

namespace skein {

void bind_world(Fields& fields, WorldOptions& options);
void bind_swarms(Fields& fields, SwarmOptions& options);
void bind_radio(Fields& fields, RadioOptions& options);

}  // namespace skein
