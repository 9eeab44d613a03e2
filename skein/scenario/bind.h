// The list of all keys of a scenario.
#pragma once

#include "skein/scenario/fields.h"
#include "skein/scenario/scenario.h"

namespace skein {

void bind_scenario(Fields& fields, Scenario& scenario);

}  // namespace skein
