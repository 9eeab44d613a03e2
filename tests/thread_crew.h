// A crew whose processes are threads of the test.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "skein/base/crew.h"

namespace skein {

class ThreadCrew final : public Crew {
 public:
  struct Post {
    std::mutex mutex;
    std::condition_variable news;
    std::map<std::pair<std::size_t, std::size_t>, std::deque<std::string>> letters;  // from, to
  };

  ThreadCrew(Post& post, std::size_t rank, std::size_t size) : post_(post), rank_(rank), size_(size) {}

  [[nodiscard]] std::size_t rank() const override { return rank_; }
  [[nodiscard]] std::size_t size() const override { return size_; }
  void send(std::size_t to, std::string_view bytes) override {
    const std::lock_guard lock(post_.mutex);
    post_.letters[{rank_, to}].emplace_back(bytes);
    post_.news.notify_all();
  }
  std::string receive(std::size_t from) override {
    std::unique_lock lock(post_.mutex);
    std::deque<std::string>& mine = post_.letters[{from, rank_}];
    post_.news.wait(lock, [&] { return !mine.empty(); });
    return taken(mine);
  }
  std::optional<Message> poll() override {
    const std::lock_guard lock(post_.mutex);
    for (std::size_t from = 0; from < size_; ++from) {
      if (std::deque<std::string>& mine = post_.letters[{from, rank_}]; !mine.empty()) {
        return Message{from, taken(mine)};
      }
    }
    return std::nullopt;
  }

 private:
  static std::string taken(std::deque<std::string>& letters) {
    std::string first = std::move(letters.front());
    letters.pop_front();
    return first;
  }

  Post& post_;
  std::size_t rank_;
  std::size_t size_;
};

// Runs the same in every process.
inline void run_crew(std::size_t size, const std::function<void(Crew&)>& process) {
  ThreadCrew::Post post;
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCrew crew(post, rank, size);
      process(crew);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace skein
