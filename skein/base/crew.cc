#include "skein/base/crew.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "skein/base/expect.h"

namespace skein {
namespace {

// Hands out indices to the other processes while the first one works itself.
class Dealer {
 public:
  Dealer(Crew& crew, std::size_t count) : crew_(crew), results_(count), thread_([this] { run(); }) {}
  ~Dealer() {
    stop_ = true;
    join();
  }
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;
  Dealer(Dealer&&) = delete;
  Dealer& operator=(Dealer&&) = delete;

  // The next index, below the count; none if all are taken.
  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (error_) {
      std::rethrow_exception(error_);
    }
    return next_ < results_.size() ? std::optional(next_++) : std::nullopt;
  }
  void set(std::size_t index, std::string result) {
    const std::lock_guard lock(mutex_);
    results_[index] = std::move(result);
  }
  // Once everybody is done.
  std::vector<std::string> finish() {
    join();
    if (error_) {
      std::rethrow_exception(error_);
    }
    return std::move(results_);
  }

 private:
  void join() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  void run() {
    try {
      for (std::size_t left = crew_.size() - 1; left > 0 && !stop_;) {
        const std::optional<Crew::Message> message = crew_.poll();
        if (!message) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          continue;
        }
        // A process that is free says what it has done, if anything, and is told what comes next.
        ByteCursor said(message->bytes);
        if (said.get<std::uint8_t>() != 0) {
          const auto index = said.get<std::uint64_t>();
          set(index, said.get_text());
        }
        const std::optional<std::size_t> index = next();
        ByteWriter answer;
        answer.put<std::uint64_t>(index.value_or(results_.size()));
        crew_.send(message->from, answer.take());
        left -= index ? 0 : 1;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
  }

  Crew& crew_;
  std::mutex mutex_;
  std::vector<std::string> results_;
  std::size_t next_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace

void Crew::send(std::size_t /*to*/, std::string_view /*bytes*/) { expect(false, "nobody else is there"); }
std::string Crew::receive(std::size_t /*from*/) {
  expect(false, "nobody else is there");
  return {};
}
std::optional<Crew::Message> Crew::poll() { return std::nullopt; }

Crew& alone() {
  static Crew crew;
  return crew;
}

std::string said_by_first(Crew& crew, std::string bytes) {
  if (!crew.is_first()) {
    return crew.receive(0);
  }
  for (std::size_t rank = 1; rank < crew.size(); ++rank) {
    crew.send(rank, bytes);
  }
  return bytes;
}

std::vector<std::string> said_by_all(Crew& crew, std::string_view bytes) {
  std::vector<std::string> all{std::string(bytes)};
  if (crew.size() == 1) {
    return all;
  }
  ByteWriter together;
  if (crew.is_first()) {
    for (std::size_t rank = 1; rank < crew.size(); ++rank) {
      all.push_back(crew.receive(rank));
    }
    for (const std::string& one : all) {
      together.put_text(one);
    }
  } else {
    crew.send(0, bytes);
  }
  const std::string said = said_by_first(crew, together.take());
  ByteCursor cursor(said);
  all.clear();
  while (!cursor.at_end()) {
    all.push_back(cursor.get_text());
  }
  return all;
}

double sum_over(Crew& crew, double value) {
  ByteWriter own;
  own.put(value);
  double sum = 0.0;
  for (const std::string& one : said_by_all(crew, own.take())) {
    sum += ByteCursor(one).get<double>();
  }
  return sum;
}

void shared_for(Crew& crew, ThreadPool& pool, std::size_t count, const SharedLoop& loop) {
  const std::size_t size = crew.size();
  const std::size_t rank = crew.rank();
  const std::size_t own = count > rank ? (count - rank - 1) / size + 1 : 0;
  pool.parallel_for(own, [&](std::size_t i) { loop.body(rank + i * size); });
  if (size == 1) {
    return;
  }
  ByteWriter bytes;
  for (std::size_t i = rank; i < count; i += size) {
    loop.write(i, bytes);
  }
  const auto take = [&](std::size_t from, const std::string& text) {
    ByteCursor cursor(text);
    for (std::size_t i = from; i < count; i += size) {
      loop.read(i, cursor);
    }
  };
  if (loop.for_all) {
    const std::vector<std::string> all = said_by_all(crew, bytes.take());
    for (std::size_t other = 0; other < size; ++other) {
      if (other != rank) {
        take(other, all[other]);
      }
    }
  } else if (crew.is_first()) {
    for (std::size_t other = 1; other < size; ++other) {
      take(other, crew.receive(other));
    }
  } else {
    crew.send(0, bytes.take());
  }
}

std::vector<std::string> deal(Crew& crew, std::size_t count,
                              const std::function<std::string(std::size_t)>& body) {
  if (!crew.is_first()) {
    ByteWriter free;
    free.put<std::uint8_t>(0);
    crew.send(0, free.take());
    while (true) {
      const std::string answer = crew.receive(0);
      const auto index = ByteCursor(answer).get<std::uint64_t>();
      if (index >= count) {
        return {};
      }
      ByteWriter done;
      done.put<std::uint8_t>(1);
      done.put<std::uint64_t>(index);
      done.put_text(body(index));
      crew.send(0, done.take());
    }
  }
  Dealer dealer(crew, count);
  while (const std::optional<std::size_t> index = dealer.next()) {
    dealer.set(*index, body(*index));
  }
  return dealer.finish();
}

}  // namespace skein
