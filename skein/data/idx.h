// IDX, the format of MNIST and Fashion-MNIST: bytes in up to three dimensions, big-endian header.
//
//   magic 0x00 0x00 0x08 (unsigned byte) D, then D sizes of four bytes, then the values, last index fastest
//
// Images are D = 3 (count, height, width), labels D = 1. Plain or gzip, decided by content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "skein/data/data_file.h"
#include "skein/data/dataset.h"

namespace skein {

struct IdxArray {
  std::vector<std::uint32_t> sizes;  // one or three
  std::vector<std::uint8_t> values;
};

// Throws InputError naming `file` if magic number, sizes or length are wrong; the length has to be exact.
IdxArray parse_idx(std::string_view bytes, std::string_view file,
                   std::size_t max_bytes = max_data_file_bytes);

IdxArray read_idx(const std::filesystem::path& path);

struct IdxFiles {
  std::filesystem::path images;
  std::filesystem::path labels;
};

// The images and labels of `files`, added to what `description` says of name, class names and normalisation.
// Throws InputError if the two do not fit together or a label has no class name.
Dataset combine_idx(IdxArray images, IdxArray labels, const IdxFiles& files, Dataset description);
Dataset read_idx_images(const IdxFiles& files, const Dataset& description);

}  // namespace skein
