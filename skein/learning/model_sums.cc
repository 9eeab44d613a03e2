#include "skein/learning/model_sums.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "skein/base/expect.h"

namespace skein {
namespace {

// One call of ModelSums::run.
class Summation {
 public:
  Summation(std::span<const ModelSums::Member> members, std::span<nn::Vector<float>> sums,
            std::span<nn::Vector<float>> buffers)
      : members_(members), sums_(sums), done_(members.size(), nullptr), queues_(sums.size()) {
    for (nn::Vector<float>& buffer : buffers) {
      free_.push_back(&buffer);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      expect(members[i].group < sums.size(), "a member's group has a sum");
      queues_[members[i].group].members.push_back(i);
    }
  }

  // A buffer for member i; nullptr if an earlier member has failed. Members get buffers in order: otherwise
  // later ones, done and waiting for an earlier one, could hold them all.
  nn::Vector<float>* begin(std::size_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == i && (!free_.empty() || failed_ < i); });
    ++next_;
    nn::Vector<float>* buffer = nullptr;
    if (failed_ > i) {
      buffer = free_.back();
      free_.pop_back();
    }
    changed_.notify_all();
    return buffer;
  }

  // Adds what is ready of the member's group, unless another thread is at it.
  void end(std::size_t i, nn::Vector<float>* buffer) {
    std::unique_lock lock(mutex_);
    done_[i] = buffer;
    const std::size_t group = members_[i].group;
    Queue& queue = queues_[group];
    if (queue.busy) {
      return;
    }
    queue.busy = true;
    while (queue.next < queue.members.size() && done_[queue.members[queue.next]] != nullptr) {
      const std::size_t ready = queue.members[queue.next++];
      lock.unlock();
      add_weighted(members_[ready].weight, done_[ready]->span(), sums_[group].span());
      lock.lock();
      free_.push_back(done_[ready]);
      changed_.notify_all();
    }
    queue.busy = false;
  }

  // Members after a failed one need not begin. Those before it go on, so that the first failure is the same
  // for any number of threads.
  void fail(std::size_t i) {
    const std::lock_guard lock(mutex_);
    failed_ = std::min(failed_, i);
    changed_.notify_all();
  }

 private:
  struct Queue {
    std::vector<std::size_t> members{};
    std::size_t next = 0;  // of them, to be added
    bool busy = false;     // a thread is adding
  };

  std::span<const ModelSums::Member> members_;
  std::span<nn::Vector<float>> sums_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<nn::Vector<float>*> free_;
  std::vector<nn::Vector<float>*> done_;                          // a member's buffer, once it is done
  std::vector<Queue> queues_;                                     // of each group
  std::size_t next_ = 0;                                          // member to begin
  std::size_t failed_ = std::numeric_limits<std::size_t>::max();  // the first that has
};

}  // namespace

// Threads at work, and half as many members that are done and wait.
ModelSums::ModelSums(std::size_t model_size, ThreadPool& pool) : pool_(pool) {
  for (std::size_t i = 0; i < pool.num_threads() + pool.num_threads() / 2; ++i) {
    buffers_.emplace_back(model_size);
  }
}

void ModelSums::run(std::span<const Member> members, std::span<nn::Vector<float>> sums,
                    const std::function<void(std::size_t, nn::Vector<float>&)>& make) {
  Summation summation(members, sums, buffers_);
  pool_.parallel_for(members.size(), [&](std::size_t i) {
    nn::Vector<float>* buffer = summation.begin(i);
    if (buffer == nullptr) {
      return;
    }
    try {
      make(i, *buffer);
    } catch (...) {
      summation.fail(i);
      throw;
    }
    summation.end(i, buffer);
  });
}

void add_weighted(float weight, std::span<const float> values, std::span<float> sum) {
  expect(values.size() == sum.size(), "models of one sum have one size");
  const float* from = values.data();
  float* to = sum.data();
  for (std::size_t i = 0; i < sum.size(); ++i) {
    to[i] += weight * from[i];
  }
}

}  // namespace skein
