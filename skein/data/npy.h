// NumPy's .npy files, versions 1 to 3.
//
//   "\x93NUMPY", version (two bytes), length of the header (two bytes; four from version 2), the header (a
//   Python dictionary of descr, fortran_order and shape), the values
//
// The header is read as the plain literals that it has to consist of; nothing in it is evaluated.
#pragma once

#include <filesystem>
#include <string_view>

#include "skein/data/numpy_array.h"

namespace skein {

// Throws InputError naming `file` if anything is wrong: format, type, order, length, or a value that is not
// finite.
NumpyArray parse_npy(std::string_view bytes, std::string_view file);
NumpyArray read_npy(const std::filesystem::path& path);

}  // namespace skein
