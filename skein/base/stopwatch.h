// How long something takes, in seconds: of wall time, and of all threads of this process.
#pragma once

#include <chrono>
#include <ctime>

namespace skein {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] double processor_seconds() const {
    return static_cast<double>(std::clock() - processor_start_) / static_cast<double>(CLOCKS_PER_SEC);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t processor_start_ = std::clock();
};

// Adds the wall time that it lives to a sum.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  ~Timed() { seconds_ += watch_.seconds(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  Timed(Timed&&) = delete;
  Timed& operator=(Timed&&) = delete;

 private:
  double& seconds_;
  Stopwatch watch_{};
};

}  // namespace skein
