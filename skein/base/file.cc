#include "skein/base/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include "skein/base/input_fault.h"

namespace skein {
namespace {

[[noreturn]] void throw_fault(const std::filesystem::path& path, std::string message) {
  throw InputError(InputFault{.file = path.string(), .key = "", .value = "", .message = std::move(message)});
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw_fault(path, "no such file");
  }
  if (status.type() == std::filesystem::file_type::directory) {
    throw_fault(path, "is a directory, not a file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw_fault(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  std::string content;
  if (const std::uintmax_t size = std::filesystem::file_size(path, error); !error && size <= max_bytes) {
    content.reserve(size);
  }
  std::array<char, 1 << 16> buffer{};
  while (stream.read(buffer.data(), buffer.size()), stream.gcount() > 0) {
    content.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    if (content.size() > max_bytes) {
      throw_fault(path, fmt::format("is larger than the {} bytes allowed", max_bytes));
    }
  }
  if (stream.bad()) {
    throw_fault(path, "cannot be read to its end");
  }
  return content;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  write_file(path, [&](std::ostream& stream) {
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
  std::error_code error;
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      throw_fault(path.parent_path(), fmt::format("cannot be created: {}", error.message()));
    }
  }
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  try {
    write(stream);
  } catch (...) {
    stream.close();
    std::filesystem::remove(temporary, error);
    throw;
  }
  stream.close();
  if (!stream) {
    const std::string reason = std::strerror(errno);
    std::filesystem::remove(temporary, error);
    throw_fault(path, fmt::format("cannot be written: {}", reason));
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    throw_fault(path, fmt::format("cannot be written: {}", reason));
  }
}

void remove_unfinished_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> unfinished;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    // NAME.PROCESS.tmp
    const std::filesystem::path stem = entry.path().stem();
    const std::string process = stem.extension().string();
    if (entry.path().extension() == ".tmp" && process.size() > 1 &&
        process.find_first_not_of("0123456789", 1) == std::string::npos) {
      unfinished.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& file : unfinished) {
    std::filesystem::remove(file);
  }
}

}  // namespace skein
