#include "adapters/http/page_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace skein {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t most_request_bytes = 16 << 10U;
constexpr auto request_time = std::chrono::seconds(5);  // from the first byte to the last
constexpr int most_waiting = 1024;                      // to be accepted
constexpr int write_time_ms = 5000;                     // in which some of an answer must go out

// Set while a connection is turned away.
thread_local bool refusing = false;

class Connection final : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}

  [[nodiscard]] bool is_readable() const override { return wait(POLLIN, left_ms()); }
  [[nodiscard]] bool is_writable() const override { return wait(POLLOUT, write_time_ms); }
  ssize_t read(char* bytes, std::size_t size) override {
    if (num_read_ >= most_request_bytes || !is_readable()) {
      return -1;
    }
    const ssize_t count =
        ::recv(socket_, bytes, std::min(size, most_request_bytes - num_read_), MSG_DONTWAIT);
    num_read_ += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    return count;
  }
  ssize_t write(const char* bytes, std::size_t size) override {
    return is_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { address(::getpeername, ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { address(::getsockname, ip, port); }
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  [[nodiscard]] bool wait(short what, int milliseconds) const {
    pollfd poll{.fd = socket_, .events = what, .revents = 0};
    return ::poll(&poll, 1, milliseconds) > 0;
  }
  [[nodiscard]] int left_ms() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(start_ + request_time - Steady::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  template <class Get>
  void address(Get get, std::string& ip, int& port) const {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    auto* const name = reinterpret_cast<sockaddr*>(&storage);
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> service{};
    if (get(socket_, name, &length) == 0 &&
        ::getnameinfo(name, length, host.data(), host.size(), service.data(), service.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
      ip = host.data();
      port = std::stoi(service.data());
    }
  }

  socket_t socket_;
  Steady::time_point start_ = Steady::now();
  std::size_t num_read_ = 0;
};

// A thread for each connection, up to a limit.
class Connections final : public httplib::TaskQueue {
 public:
  explicit Connections(std::size_t most) {
    for (std::size_t i = 0; i < most; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }

  void enqueue(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      if (busy_ < threads_.size()) {
        ++busy_;
        tasks_.push_back(std::move(task));
        waiting_.notify_one();
        return;
      }
    }
    refusing = true;
    task();
    refusing = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    waiting_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      waiting_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) {
        return;
      }
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      --busy_;
    }
  }

  std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<std::function<void()>> tasks_;
  std::size_t busy_ = 0;  // connections that are served or about to be
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

PageServer::PageServer(std::size_t most_connections) {
  new_task_queue = [most_connections] { return new Connections(most_connections); };
  set_payload_max_length(0);
}

int PageServer::bind(const std::string& host, int port) {
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : 0;
  // httplib has room for five that wait to be accepted; of many who come at once it would lose some.
  return bound > 0 && ::listen(svr_sock_, most_waiting) == 0 ? bound : 0;
}

bool PageServer::process_and_close_socket(socket_t socket) {
  bool good = false;
  if (!refusing) {
    Connection connection(socket);
    bool closed = false;
    good = process_request(connection, true, closed, nullptr);
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return good;
}

}  // namespace skein
