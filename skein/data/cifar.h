// CIFAR-10's binary batches: per image one label byte, then 1024 red, 1024 green and 1024 blue bytes, row by
// row.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "skein/data/dataset.h"

namespace skein {

inline constexpr std::size_t cifar_side = 32;
inline constexpr std::size_t cifar_image_bytes = 3 * cifar_side * cifar_side;
inline constexpr std::size_t cifar_record_bytes = 1 + cifar_image_bytes;
inline constexpr std::size_t cifar_batch_images = 10'000;

// Adds a batch of exactly `images` images to `data`, which holds bytes and has its class names; colours go
// innermost. Throws InputError naming `file` if the length is not exact or a label has no class name.
void append_cifar_batch(std::string_view bytes, std::string_view file, std::size_t images, Dataset& data);

// data_batch_1.bin to data_batch_5.bin and test_batch.bin of `directory` (or of its cifar-10-batches-bin, as
// the official archive unpacks), added to what `description` says of name, class names and normalisation.
DataSplit read_cifar10(const std::filesystem::path& directory, const Dataset& description);

}  // namespace skein
