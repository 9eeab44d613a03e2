// A lock that threads and processes share.
#pragma once

#include <filesystem>

namespace skein {

// While it lives, no other thread or process holds a lock of this directory; waits until then.
class DirectoryLock {
 public:
  // The directory is there. Throws InputError if it cannot be opened.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  DirectoryLock(DirectoryLock&&) = delete;
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  int file_;
};

}  // namespace skein
