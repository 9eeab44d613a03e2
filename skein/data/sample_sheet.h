// Some samples of every class as a picture, to see what a data set holds.
#pragma once

#include <cstddef>
#include <string>

#include "skein/data/dataset.h"

namespace skein {

// A self-contained SVG with one row per class, `per_class` samples spread evenly over the class in the data
// set's order. Images are shown as stored; waveforms (height 2, one channel) as lines, I and Q. The first 60
// classes are shown.
std::string sample_sheet_svg(const Dataset& dataset, std::size_t per_class = 12);

}  // namespace skein
