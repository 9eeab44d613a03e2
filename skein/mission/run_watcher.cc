#include "skein/mission/run_watcher.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "skein/mission/run_files.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto look_period = std::chrono::milliseconds(300);
constexpr auto longest_wait = std::chrono::seconds(5);

using Stamps = std::map<std::string_view, std::pair<fs::file_time_type, std::uintmax_t>>;

Stamps stamps_of(const fs::path& directory) {
  Stamps stamps;
  for (const std::string_view name : run_file_names) {
    std::error_code error;
    const auto time = fs::last_write_time(directory / name, error);
    if (!error) {
      stamps[name] = {time, fs::file_size(directory / name, error)};
    }
  }
  return stamps;
}

std::shared_ptr<const std::string> event(std::string_view kind, const Json& data) {
  std::string text = "event: ";
  text.append(kind).append("\ndata: ").append(safe_text(data)).append("\n\n");
  return std::make_shared<const std::string>(std::move(text));
}

// Files grow: what was added is enough for one who has the rest.
Json changes(const RunFiles& before, const RunFiles& after) {
  Json list = Json::array();
  for (const auto& [name, text] : after.files) {
    const auto old = before.files.find(name);
    if (old == before.files.end()) {
      list.push_back({{"file", name}, {"text", text}});
    } else if (text != old->second) {
      const bool grew = text.starts_with(old->second);
      list.push_back(
          {{"file", name}, {grew ? "added" : "text", grew ? text.substr(old->second.size()) : text}});
    }
  }
  for (const auto& [name, text] : before.files) {
    if (!after.files.contains(name)) {
      list.push_back({{"file", name}, {"text", ""}});
    }
  }
  return list;
}

}  // namespace

class RunWatcher::Run {
 public:
  Run(fs::path root, std::string name)
      : root_(std::move(root)),
        name_(std::move(name)),
        stamps_(stamps_of(root_ / name_)),
        now_(read_run_below(root_, name_)) {}

  // True if something has changed. Called by one thread at a time, without the lock.
  bool look(std::mutex& mutex) {
    Stamps stamps = stamps_of(root_ / name_);
    if (stamps == stamps_) {
      return false;
    }
    RunFiles now = read_run_below(root_, name_);
    const Json changed = changes(now_, now);
    stamps_ = std::move(stamps);
    if (changed.empty() && now.faults == now_.faults) {
      return false;
    }
    const auto text = event("change", {{"changes", changed}, {"faults", now.faults}});
    const std::lock_guard lock(mutex);
    now_ = std::move(now);
    change_ = text;
    whole_ = nullptr;
    ++version_;
    return true;
  }

  // With the lock held.
  std::shared_ptr<const std::string> since(std::uint64_t& version) {
    if (version == version_) {
      return nullptr;
    }
    const bool one_behind = version + 1 == version_ && change_ != nullptr && version > 0;
    version = version_;
    if (one_behind) {
      return change_;
    }
    if (whole_ == nullptr) {
      whole_ = event("run", now_.json());
    }
    return whole_;
  }

 private:
  fs::path root_;
  std::string name_;
  Stamps stamps_;
  RunFiles now_;
  std::uint64_t version_ = 1;
  std::shared_ptr<const std::string> change_, whole_;
};

RunWatcher::RunWatcher(fs::path root) : root_(std::move(root)), thread_([this] { watch(); }) {}

RunWatcher::~RunWatcher() {
  stop();
  thread_.join();
}

void RunWatcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

bool RunWatcher::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

std::shared_ptr<RunWatcher::Run> RunWatcher::follow(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Run>& known = runs_[name];
  std::shared_ptr<Run> run = known.lock();
  if (run == nullptr) {
    run = std::make_shared<Run>(root_, name);
    known = run;
  }
  return run;
}

std::shared_ptr<const std::string> RunWatcher::next(Run& run, std::uint64_t& version) {
  std::unique_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + longest_wait;
  while (!stopping_) {
    if (std::shared_ptr<const std::string> text = run.since(version)) {
      return text;
    }
    if (changed_.wait_until(lock, until) == std::cv_status::timeout) {
      return run.since(version);
    }
  }
  return nullptr;
}

void RunWatcher::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::vector<std::shared_ptr<Run>> followed;
    std::erase_if(runs_, [&](const auto& entry) {
      std::shared_ptr<Run> run = entry.second.lock();
      const bool forgotten = run == nullptr;
      if (!forgotten) {
        followed.push_back(std::move(run));
      }
      return forgotten;
    });
    lock.unlock();
    bool any = false;
    for (const std::shared_ptr<Run>& run : followed) {
      any = run->look(mutex_) || any;
    }
    followed.clear();
    if (any) {
      changed_.notify_all();
    }
    lock.lock();
    const auto until = std::chrono::steady_clock::now() + look_period;
    while (!stopping_ && changed_.wait_until(lock, until) != std::cv_status::timeout) {
    }
  }
}

}  // namespace skein
