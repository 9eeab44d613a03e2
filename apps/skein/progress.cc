#include "progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace skein::app {
namespace {

constexpr std::string_view clear_line = "\r\x1b[K";
constexpr auto least_interval = std::chrono::milliseconds(100);

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string fitting(std::string line, std::size_t columns) {
  if (line.size() >= columns && columns > 3) {
    line.replace(columns - 4, std::string::npos, "...");
  }
  return line;
}

std::string progress_text(double fraction, double before, double seconds_so_far) {
  constexpr int width = 30;
  const double done = std::clamp(fraction, 0.0, 1.0);
  const int filled = static_cast<int>(done * width);
  std::string bar = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %", "", filled, "", width - filled, 100.0 * done);
  if (done - before < 0.01 || seconds_so_far < 1.0) {
    return bar;
  }
  const double left = seconds_so_far * (1.0 - done) / (done - before);
  return left < 90.0 ? fmt::format("{}, {:.0f} s left", bar, left)
                     : fmt::format("{}, {:.0f} min left", bar, left / 60.0);
}

Progress::Progress(const CommonOptions& options, std::string title)
    : visible_(options.talks() && ::isatty(STDERR_FILENO) == 1), title_(std::move(title)) {}

Progress::~Progress() {
  if (visible_) {
    fmt::print(stderr, "{}", clear_line);
  }
}

void Progress::show(std::string_view stage, double fraction, std::string_view detail) {
  const Clock::time_point now = Clock::now();
  if (stage != stage_) {
    stage_ = stage;
    stage_start_ = now;
    stage_before_ = fraction;
    last_shown_ = {};
  }
  if (visible_ && now - last_shown_ >= least_interval) {
    last_shown_ = now;
    const std::string line = fmt::format("{}: {} {}{}{}", title_, stage_,
                                         progress_text(fraction, stage_before_, seconds(now - stage_start_)),
                                         detail.empty() ? "" : " | ", detail);
    fmt::print(stderr, "{}{}", clear_line, fitting(line, terminal_columns()));
    std::fflush(stderr);
  }
}

}  // namespace skein::app
