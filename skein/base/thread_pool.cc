#include "skein/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace skein {
namespace {

thread_local bool inside_loop = false;

// One call of parallel_for.
struct Loop {
  std::size_t count;
  const std::function<void(std::size_t)>* body;
  std::atomic<std::size_t> next{0};
  std::mutex mutex{};
  std::exception_ptr error{};
  std::size_t error_index = 0;

  void run() {
    const bool was_inside = inside_loop;
    inside_loop = true;
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        (*body)(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error || i < error_index) {
          error = std::current_exception();
          error_index = i;
        }
      }
    }
    inside_loop = was_inside;
  }
};

}  // namespace

struct ThreadPool::Shared {
  std::mutex mutex;
  std::condition_variable start;
  std::condition_variable done;
  Loop* loop = nullptr;
  std::size_t generation = 0;
  std::size_t running = 0;
  bool stopping = false;
  std::mutex one_loop_at_a_time;
  std::vector<std::thread> threads;

  void work() {
    std::size_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      start.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) {
        return;
      }
      seen = generation;
      Loop* mine = loop;
      lock.unlock();
      mine->run();
      lock.lock();
      if (--running == 0) {
        done.notify_one();
      }
    }
  }
};

ThreadPool::ThreadPool(std::size_t num_threads) : shared_(std::make_unique<Shared>()) {
  if (num_threads == 0) {
    num_threads = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  }
  shared_->threads.reserve(num_threads - 1);
  for (std::size_t i = 1; i < num_threads; ++i) {
    shared_->threads.emplace_back([shared = shared_.get()] { shared->work(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->start.notify_all();
  for (std::thread& thread : shared_->threads) {
    thread.join();
  }
}

std::size_t ThreadPool::num_threads() const { return shared_->threads.size() + 1; }

void ThreadPool::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  Loop loop{.count = count, .body = &body};
  if (inside_loop || shared_->threads.empty() || count <= 1) {
    loop.run();
  } else {
    const std::lock_guard one(shared_->one_loop_at_a_time);
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->loop = &loop;
      shared_->running = shared_->threads.size();
      ++shared_->generation;
    }
    shared_->start.notify_all();
    loop.run();
    std::unique_lock lock(shared_->mutex);
    shared_->done.wait(lock, [&] { return shared_->running == 0; });
  }
  if (loop.error) {
    std::rethrow_exception(loop.error);
  }
}

}  // namespace skein
