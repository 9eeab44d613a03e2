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

std::string fitting(const ProgressLine& line, std::size_t columns) {
  constexpr std::size_t longest_bar = 30;
  constexpr std::size_t shortest_bar = 5;
  std::string start = fmt::format("{}: {} ", line.title, line.stage);
  const std::string end = fmt::format("{}{}{}", line.text, line.detail.empty() ? "" : " | ", line.detail);
  const std::size_t needed = start.size() + end.size();
  constexpr std::size_t around = 4;  // the bar's brackets, the space behind it, and the last column
  if (needed + around + shortest_bar <= columns) {
    const std::size_t width = std::min(longest_bar, columns - needed - around);
    const auto filled = static_cast<std::size_t>(line.fraction * static_cast<double>(width));
    start += fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", width - filled);
  } else if (needed >= columns && !line.detail.empty()) {
    start = fmt::format("{}: ", line.title);
  }
  std::string whole = start + end;
  if (whole.size() >= columns && columns > 3) {
    whole.replace(columns - 4, std::string::npos, "...");
  }
  return whole;
}

std::string progress_text(double fraction, double before, double seconds_so_far) {
  const std::string share = fmt::format("{:3.0f} %", 100.0 * fraction);
  if (fraction - before < 0.01 || seconds_so_far < 1.0) {
    return share;
  }
  const double left = seconds_so_far * (1.0 - fraction) / (fraction - before);
  return left < 90.0 ? fmt::format("{}, {:.0f} s left", share, left)
                     : fmt::format("{}, {:.0f} min left", share, left / 60.0);
}

Progress::Progress(const CommonOptions& options, std::string title)
    : visible_(options.talks() && ::isatty(STDERR_FILENO) == 1), title_(std::move(title)) {}

Progress::~Progress() {
  if (visible_) {
    fmt::print(stderr, "{}", clear_line);
  }
}

ProgressListener Progress::listener() {
  if (!visible_) {
    return {};
  }
  return [this](std::string_view stage, double fraction, std::string_view detail) {
    show(stage, fraction, detail);
  };
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
    const double done = std::clamp(fraction, 0.0, 1.0);
    const std::string text = progress_text(done, stage_before_, seconds(now - stage_start_));
    fmt::print(stderr, "{}{}", clear_line,
               fitting({.title = title_, .stage = stage_, .fraction = done, .text = text, .detail = detail},
                       terminal_columns()));
    std::fflush(stderr);
  }
}

}  // namespace skein::app
