// A line of progress on a terminal, with the time left. Silent elsewhere, and with --quiet.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "command.h"

namespace skein::app {

class Progress {
 public:
  Progress(const CommonOptions& options, std::string title);
  // Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  // How far a stage is, from 0 to 1.
  void show(std::string_view stage, double fraction);

 private:
  using Clock = std::chrono::steady_clock;

  bool visible_;
  std::string title_;
  std::string stage_;
  Clock::time_point stage_start_;
  Clock::time_point last_shown_;
};

// "[####......]  40 %, 12 s left"; the time left only once it can be told.
std::string progress_text(double fraction, double seconds_so_far);

}  // namespace skein::app
