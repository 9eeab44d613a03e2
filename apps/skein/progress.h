// A line of progress on a terminal, with the time left. Silent elsewhere, and with --quiet.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "command.h"
#include "skein/mission/progress.h"

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

  // How far a stage is, from 0 to 1, and what else is worth knowing of it.
  void show(std::string_view stage, double fraction, std::string_view detail = "");
  // Shows what it is told; there is none where nobody sees it. The line must outlive it.
  ProgressListener listener();

 private:
  using Clock = std::chrono::steady_clock;

  bool visible_;
  std::string title_;
  std::string stage_;
  Clock::time_point stage_start_;
  double stage_before_ = 0.0;  // of it that was done when it began: a mission that goes on
  Clock::time_point last_shown_;
};

// " 40 %, 12 s left"; the time left only once it can be told. What was done `before` took none of the
// seconds.
std::string progress_text(double fraction, double before, double seconds_so_far);

// "mission: solving [####......]  40 %, 12 s left | detail", in less than so many columns: a line that is
// wrapped cannot be cleared. The bar is as long as there is room; for a detail the stage is left out too.
// What is still too long is cut.
struct ProgressLine {
  std::string_view title;
  std::string_view stage;
  double fraction = 0.0;
  std::string_view text;  // of progress_text
  std::string_view detail;
};
std::string fitting(const ProgressLine& line, std::size_t columns);

}  // namespace skein::app
