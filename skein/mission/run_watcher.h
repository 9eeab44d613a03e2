// Runs that somebody follows. One thread looks for what has been written, however many look on; each change
// is put into words once, and all who follow send the same bytes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace skein {

class RunWatcher {
 public:
  explicit RunWatcher(std::filesystem::path root);
  ~RunWatcher();
  RunWatcher(const RunWatcher&) = delete;
  RunWatcher& operator=(const RunWatcher&) = delete;
  RunWatcher(RunWatcher&&) = delete;
  RunWatcher& operator=(RunWatcher&&) = delete;

  class Run;
  // Looks at it as long as somebody holds it.
  std::shared_ptr<Run> follow(const std::string& name);

  // Waits for something newer than `version` (0: for anything) and makes it `version`: server-sent events.
  // Nothing (a null pointer) if there was none for some seconds, or the watcher stops.
  std::shared_ptr<const std::string> next(Run& run, std::uint64_t& version);
  [[nodiscard]] bool stopping();
  void stop();

 private:
  void watch();

  std::filesystem::path root_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<std::string, std::weak_ptr<Run>> runs_;
  std::thread thread_;
};

}  // namespace skein
