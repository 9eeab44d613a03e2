#include "skein/base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "skein/base/expect.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace skein {
namespace {

constexpr std::size_t max_output = 4000;

class FileActions {
 public:
  FileActions() { expect(posix_spawn_file_actions_init(&actions_) == 0, "there is memory for a process"); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Reads until the other side closes; keeps the end.
std::string read_end(int descriptor) {
  std::string output;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return output;
    }
    output.append(buffer.data(), static_cast<std::size_t>(count));
    if (output.size() > max_output) {
      output.erase(0, output.size() - max_output);
    }
  }
}

}  // namespace

std::optional<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& directory) {
  expect(!arguments.empty(), "a process has a program");
  std::array<int, 2> ends{};
  expect(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be opened");

  FileActions actions;
  posix_spawn_file_actions_addchdir_np(actions.get(), directory.c_str());
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDERR_FILENO);

  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers;
  for (std::string& argument : copies) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  pid_t process = 0;
  const int status = posix_spawnp(&process, pointers[0], actions.get(), nullptr, pointers.data(), environ);
  ::close(ends[1]);
  if (status != 0) {
    ::close(ends[0]);
    return std::nullopt;
  }
  ProcessResult result{.exit_code = 0, .output = read_end(ends[0])};
  ::close(ends[0]);
  int ending = 0;
  while (::waitpid(process, &ending, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(ending) ? WEXITSTATUS(ending) : 128 + WTERMSIG(ending);
  return result;
}

}  // namespace skein
