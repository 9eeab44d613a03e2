// Runs the program in a directory of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {

class ProgramFixture : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  // `skein WORDS`.
  Outcome skein(const std::string& words) { return shell("'" SKEIN_PROGRAM "' " + words); }
  // Any command, in the test's directory.
  Outcome shell(const std::string& command) {
    const std::string streams = at("streams").string();
    const int status = std::system(("cd '" + directory_.path().string() + "' && { " + command + "; } > " +
                                    streams + ".out 2> " + streams + ".err")
                                       .c_str());
    return {WEXITSTATUS(status), content("streams.out"), content("streams.err")};
  }
  [[nodiscard]] std::filesystem::path at(const std::string& file) const { return directory_.path() / file; }
  [[nodiscard]] std::string content(const std::string& file) const { return read_file(at(file), 1 << 28); }
  // All files below a directory but manifests, which have timings.
  [[nodiscard]] std::map<std::string, std::string> files(const std::string& below) const {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(at(below))) {
      if (entry.is_regular_file() && entry.path().filename() != "manifest.json") {
        result[std::filesystem::relative(entry.path(), at(below)).string()] =
            read_file(entry.path(), std::size_t{1} << 28U);
      }
    }
    return result;
  }

  TemporaryDirectory directory_;
  const std::string smoke_ = "'" SKEIN_SOURCE_DIR "/scenarios/smoke.toml'";
};

}  // namespace skein
