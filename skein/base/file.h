// Files: read whole with a limit, written to a temporary name and renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace skein {

// The file's bytes. Throws InputError naming the file if it cannot be read or is larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

// All or nothing: the file has its old content, or the whole new one. Creates missing directories. Throws
// InputError naming the file if it cannot be written.
void write_file(const std::filesystem::path& path, std::string_view content);
// The same of content that is written piece by piece.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

// Removes what write_file has left anywhere under a directory when its process was killed.
void remove_unfinished_files(const std::filesystem::path& directory);

}  // namespace skein
