// Who solves problem P, by name: the only list of offloading methods.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "skein/offloading/offloader.h"

namespace skein {

// newton, algorithm_1, greedy, ...
std::vector<std::string_view> offloader_names();
// The name must be one of these.
// Whether the method decides on every share, so that P is infeasible only where culprit_of says so.
bool decides_all_shares(std::string_view name);
std::unique_ptr<Offloader> build_offloader(std::string_view name);

}  // namespace skein
