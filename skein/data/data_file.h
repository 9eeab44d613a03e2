// What the readers of data files share: bytes read with a limit, gzip, and faults that name file and field.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skein/base/input_fault.h"

namespace skein {

// No data file of ours is larger than this, packed or unpacked, unless a reader says otherwise.
inline constexpr std::size_t max_data_file_bytes = std::size_t{1} << 30U;

[[noreturn]] void throw_data_fault(std::string_view file, std::string key, std::string value,
                                   std::string message);

// True if the bytes begin as a gzip file does, whatever its name.
bool is_gzip(std::string_view bytes);

// The unpacked bytes of a gzip file of one or more members. Throws InputError naming `file` if it is cut
// short, corrupt (CRC-32 and length of each member are checked), followed by something else, or larger than
// `max_bytes` when unpacked.
std::string gunzip(std::string_view bytes, std::string_view file, std::size_t max_bytes);

// The file's bytes, unpacked if they are gzip.
std::string read_data_file(const std::filesystem::path& path, std::size_t max_bytes = max_data_file_bytes);

// What `read` returns; or nothing, with its faults added to `faults`, so that the next file is read as well.
template <class Read>
auto read_or_note(InputFaults& faults, Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const InputError& error) {
    faults.add_all(error.faults());
    return std::nullopt;
  }
}

}  // namespace skein
