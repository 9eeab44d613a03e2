#include "skein/mission/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_file_bytes = std::size_t{64} << 20U;
constexpr std::size_t most_runs = 500;
constexpr std::size_t most_entries = 50'000;  // looked at while searching for runs
constexpr int most_levels = 4;

// Why there is no content, or nothing if there is no such file.
std::string read_plain_file(int directory, const char* name, std::string& content) {
  // Not blocking: opening a pipe must not wait for whoever writes to it.
  const int file = ::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    return errno == ENOENT  ? ""
           : errno == ELOOP ? "is a link"
           : errno == EBADF ? "cannot be reached"
                            : std::strerror(errno);
  }
  struct stat status {};
  std::string why;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    why = "is no regular file";
  } else if (status.st_size > static_cast<off_t>(most_file_bytes)) {
    why = fmt::format("is larger than the {} MiB allowed", most_file_bytes >> 20U);
  } else {
    content.resize(static_cast<std::size_t>(status.st_size));
    std::size_t size = 0;
    while (size < content.size()) {
      const ssize_t count = ::read(file, &content[size], content.size() - size);
      if (count <= 0) {
        break;
      }
      size += static_cast<std::size_t>(count);
    }
    content.resize(size);
  }
  ::close(file);
  return why;
}

RunFiles read_files(int directory, std::string name) {
  RunFiles run{.name = std::move(name), .files = {}, .faults = {}};
  for (const std::string_view file : run_file_names) {
    std::string content;
    const std::string why = read_plain_file(directory, file.data(), content);
    if (!why.empty()) {
      run.faults.push_back(fmt::format("{} {}", file, why));
    } else if (!content.empty()) {
      run.files.emplace(file, std::move(content));
    }
  }
  return run;
}

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::regular;
}

}  // namespace

Json RunFiles::json() const { return {{"name", name}, {"files", files}, {"faults", faults}}; }

RunFiles read_run(const fs::path& directory, std::string name) {
  const int opened = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  RunFiles run = read_files(opened, std::move(name));
  ::close(opened);
  return run;
}

RunFiles read_run_below(const fs::path& root, const std::string& name) {
  int directory = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const fs::path& part : fs::path(name)) {
    const int next = ::openat(directory, part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ::close(directory);
    directory = next;
  }
  RunFiles run = read_files(directory, name);
  ::close(directory);
  return run;
}

bool is_run(const fs::path& directory) {
  return is_plain_file(directory / mission_file::scenario) && is_plain_file(directory / mission_file::world);
}

bool is_finished(const fs::path& directory) { return is_plain_file(directory / mission_file::summary); }

std::map<std::string, fs::path> find_runs(const fs::path& root) {
  std::map<std::string, fs::path> runs;
  if (is_run(root)) {
    runs.emplace(".", root);
  }
  std::error_code error;
  std::size_t entries = 0;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (++entries > most_entries || runs.size() >= most_runs) {
      break;
    }
    if (entry.depth() + 1 >= most_levels) {
      entry.disable_recursion_pending();
    }
    if (entry->symlink_status(ignored).type() == fs::file_type::directory && is_run(entry->path())) {
      runs.emplace(entry->path().lexically_relative(root).generic_string(), entry->path());
    }
  }
  return runs;
}

std::string safe_text(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace skein
