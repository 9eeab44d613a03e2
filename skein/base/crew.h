// Processes that run the same command side by side and share its work: one alone, unless an adapter brings
// more. All talk is between the first process and the others, so whoever waits, waits for one that answers.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/base/thread_pool.h"

namespace skein {

// What it is here: the only process.
class Crew {
 public:
  struct Message {
    std::size_t from = 0;
    std::string bytes{};
  };

  Crew() = default;
  virtual ~Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

  [[nodiscard]] virtual std::size_t rank() const { return 0; }
  [[nodiscard]] virtual std::size_t size() const { return 1; }
  [[nodiscard]] bool is_first() const { return rank() == 0; }

  // Whole messages, in order. One of the two is the first process. Throws what another process has failed
  // with.
  virtual void send(std::size_t to, std::string_view bytes);
  virtual std::string receive(std::size_t from);
  // For the first process: a message from any other, if there is one.
  virtual std::optional<Message> poll();
};

// This process, whoever else there may be.
Crew& alone();

// What the first process says, at all of them.
std::string said_by_first(Crew& crew, std::string bytes);
// Everybody's, in order, at all of them.
std::vector<std::string> said_by_all(Crew& crew, std::string_view bytes);
// Each process gives its own, and has the sum.
double sum_over(Crew& crew, double value);

// A loop over all processes and their threads. Every process calls it alike; body(i) is called once for every
// i in [0, count) by one of them, `write` tells what it has left and `read` takes that over elsewhere: at the
// first process, or at all. Small bodies: indices are dealt out before it begins.
struct SharedLoop {
  std::function<void(std::size_t)> body;
  std::function<void(std::size_t, ByteWriter&)> write;
  std::function<void(std::size_t, ByteCursor&)> read;
  bool for_all = true;
};
void shared_for(Crew& crew, ThreadPool& pool, std::size_t count, const SharedLoop& loop);

// A loop with long bodies: each process takes the next index when it is free. Every process calls it alike;
// the first has what the bodies returned, in order, the others nothing. The bodies must leave the crew alone.
std::vector<std::string> deal(Crew& crew, std::size_t count,
                              const std::function<std::string(std::size_t)>& body);

}  // namespace skein
