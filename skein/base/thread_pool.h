// A pool of threads with one deterministic parallel loop.
//
// parallel_for(n, body) calls body(i) once for every i in [0, n), in any order and on any thread. Results
// are the same for any number of threads as long as body(i) writes only what belongs to i; sums are taken
// afterwards, in index order. If bodies throw, the exception of the lowest index is rethrown.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace skein {

class ThreadPool {
 public:
  // 0 means all cores of this machine.
  explicit ThreadPool(std::size_t num_threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  [[nodiscard]] std::size_t num_threads() const;

  // The calling thread takes part. A loop inside a body runs on the body's own thread.
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace skein
