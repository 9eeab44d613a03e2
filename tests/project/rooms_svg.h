// The picture of the rooms in docs/architecture.md: drawn from their list, so that it shows what is held.
#pragma once

#include <string>

namespace skein {

// Rooms from the ground up, a row per level; a line from each to those below that it sees and that nothing
// between them sees already. A dashed one: through some headers only.
std::string rooms_svg();

}  // namespace skein
