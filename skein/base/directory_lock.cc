#include "skein/base/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "skein/base/input_fault.h"

namespace skein {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : file_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (file_ < 0) {
    throw InputError({directory.string(), "", "", std::string("cannot be opened: ") + std::strerror(errno)});
  }
  while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

DirectoryLock::~DirectoryLock() { ::close(file_); }

}  // namespace skein
