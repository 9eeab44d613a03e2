// How whoever waits is told how far a mission is.
#pragma once

#include <functional>
#include <string_view>

namespace skein {

// A stage's name, how much of it is done, from 0 to 1, and what else is worth knowing.
using ProgressListener =
    std::function<void(std::string_view stage, double fraction, std::string_view detail)>;

}  // namespace skein
