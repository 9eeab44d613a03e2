// Other programs, run without a shell.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skein {

struct ProcessResult {
  int exit_code = 0;   // 128 + number of the signal if one ended it
  std::string output;  // the end of what it wrote to standard output and standard error
};

// Runs a program, found as the shell would find it, in `directory`, and waits for its end. Nothing if there
// is no such program.
std::optional<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& directory);

}  // namespace skein
