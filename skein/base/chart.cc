#include "skein/base/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace skein {
namespace {

constexpr double width = 760.0;
constexpr double left = 84.0, right = 20.0, top = 36.0;
constexpr double plot_height = 300.0;
constexpr double row_height = 18.0;
constexpr double bar_height = 22.0;
// Colours that everyone can tell apart.
constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#E69F00", "#56B4E9", "#000000", "#999999"};

const char* colour(std::size_t i) { return colours[i % colours.size()]; }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return out;
}

struct Axis {
  double low = 0.0, high = 1.0, step = 1.0;
  double from = 0.0, to = 1.0;  // on the page

  [[nodiscard]] double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

// With ends and ticks at round numbers.
Axis axis_over(double low, double high, double from, double to) {
  if (!(low < high)) {
    const double room = low == 0.0 ? 1.0 : 0.1 * std::abs(low);
    low -= room;
    high += room;
  }
  const double rough = (high - low) / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    step = factor * power >= rough ? factor * power : step;
  }
  return {.low = step * std::floor(low / step + 1e-9),
          .high = step * std::ceil(high / step - 1e-9),
          .step = step,
          .from = from,
          .to = to};
}

class Page {
 public:
  void text(double x, double y, const std::string& what, const char* more) {
    fmt::format_to(out(), "<text x='{:.1f}' y='{:.1f}' {}>{}</text>\n", x, y, more, escaped(what));
  }
  void line(double x1, double y1, double x2, double y2, const char* stroke) {
    fmt::format_to(out(), "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}'/>\n", x1, y1, x2,
                   y2, stroke);
  }
  void box(double x, double y, double w, double h, const char* fill) {
    fmt::format_to(out(), "<rect x='{:.1f}' y='{:.1f}' width='{:.2f}' height='{:.1f}' fill='{}'/>\n", x, y, w,
                   h, fill);
  }
  void add(const std::string& raw) { body_ += raw; }
  double bottom = 0.0;  // of everything so far

  [[nodiscard]] std::string svg() const {
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' "
        "height='{1:.0f}' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' "
        "fill='white'/>\n{2}</svg>\n",
        width, bottom, body_);
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(body_); }
  std::string body_;
};

void ticks(Page& page, const Axis& axis, bool horizontal, double begin, double end) {
  const auto count = static_cast<int>(std::lround((axis.high - axis.low) / axis.step));
  for (int i = 0; i <= count; ++i) {
    const double value = axis.low + i * axis.step;
    const double place = axis.at(value);
    const std::string label = fmt::format("{:g}", std::abs(value) < 1e-9 * axis.step ? 0.0 : value);
    if (horizontal) {
      page.line(place, begin, place, end, "#dddddd");
      page.text(place, end + 15.0, label, "text-anchor='middle'");
    } else {
      page.line(begin, place, end, place, "#dddddd");
      page.text(begin - 6.0, place + 4.0, label, "text-anchor='end'");
    }
  }
}

void legend(Page& page, const std::vector<std::string>& titles) {
  double x = left;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (titles[i].empty()) {
      continue;
    }
    const double room = 24.0 + 7.0 * static_cast<double>(titles[i].size());
    if (x > left && x + room > width - right) {
      x = left;
      page.bottom += row_height;
    }
    page.box(x, page.bottom - 9.0, 12.0, 10.0, colour(i));
    page.text(x + 17.0, page.bottom, titles[i], "");
    x += room;
  }
  page.bottom += row_height;
}

struct Box {
  double x = 0.0, y = 0.0, w = 0.0, h = 0.0;  // the left upper corner, and sizes

  [[nodiscard]] bool meets(const Box& other) const {
    return x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h;
  }
};

// Names of points: beside their dot where there is room, else as near as there is, with a line to it.
void add_labels(Page& page, const XyChart& chart, const Axis& xs, const Axis& ys) {
  constexpr double letter = 5.6, height = 11.0, gap = 7.0;
  constexpr int most_rows = 12;  // up or down, until labels may cover one another
  std::vector<Box> taken;
  for (const XySeries& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      if (!series.labels.empty()) {
        taken.push_back({xs.at(x) - 4.0, ys.at(y) - 4.0, 8.0, 8.0});
      }
    }
  }
  for (const XySeries& series : chart.series) {
    for (std::size_t p = 0; p < series.labels.size(); ++p) {
      const double x = xs.at(series.points[p][0]);
      const double y = ys.at(series.points[p][1]);
      const double room = letter * static_cast<double>(series.labels[p].size());
      const bool late = x > 0.75 * width;  // room is on the other side
      const auto box_at = [&](int row, bool to_left) {
        return Box{to_left ? x - gap - room : x + gap, y - height + row * height, room, height};
      };
      int row = 0;
      bool to_left = late;
      const auto is_free = [&] {
        const Box box = box_at(row, to_left);
        return box.x > left && box.x + box.w < width && box.y > std::min(ys.from, ys.to) - height &&
               box.y + box.h < std::max(ys.from, ys.to) &&
               std::ranges::none_of(taken, [&](const Box& other) { return box.meets(other); });
      };
      for (int trial = 0; trial < 4 * most_rows && !is_free(); ++trial) {
        to_left = (trial % 2 == 0) != late;
        row = (trial / 2 + 1) / 2 * (trial / 2 % 2 == 0 ? 1 : -1);
      }
      const Box box = box_at(row, to_left);
      taken.push_back(box);
      if (row < -1 || row > 1) {
        page.line(x, y, to_left ? box.x + box.w : box.x, box.y + 0.5 * height, "#999999");
      }
      page.text(to_left ? box.x + box.w : box.x, box.y + height - 2.5, series.labels[p],
                to_left ? "font-size='10' text-anchor='end'" : "font-size='10'");
    }
  }
}

void add_chart(Page& page, const XyChart& chart) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double low_x = inf, high_x = -inf, low_y = inf, high_y = -inf;
  std::vector<std::string> titles;
  for (const XySeries& series : chart.series) {
    titles.push_back(series.title);
    for (const auto& [x, y] : series.points) {
      low_x = std::min(low_x, x), high_x = std::max(high_x, x);
      low_y = std::min(low_y, y), high_y = std::max(high_y, y);
    }
  }
  if (low_x > high_x) {
    low_x = high_x = low_y = high_y = 0.0;
  }
  const double upper = page.bottom + top;
  const double lower = upper + plot_height;
  const Axis xs = axis_over(low_x, high_x, left, width - right);
  const Axis ys = axis_over(low_y, high_y, lower, upper);
  page.text(left, upper - 14.0, chart.title, "font-weight='bold' font-size='14'");
  ticks(page, xs, true, upper, lower);
  ticks(page, ys, false, left, width - right);
  page.text((left + width - right) / 2.0, lower + 32.0, chart.x_label, "text-anchor='middle'");
  page.add(fmt::format("<text transform='translate(16,{:.1f}) rotate(-90)' text-anchor='middle'>{}</text>\n",
                       (upper + lower) / 2.0, escaped(chart.y_label)));
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const XySeries& series = chart.series[i];
    if (series.style == XySeries::Style::dots) {
      for (const auto& [x, y] : series.points) {
        page.add(fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='{}' fill-opacity='0.8'/>\n",
                             xs.at(x), ys.at(y), colour(i)));
      }
    } else {
      std::string path;
      for (std::size_t p = 0; p < series.points.size(); ++p) {
        const auto& [x, y] = series.points[p];
        if (p > 0 && series.style == XySeries::Style::steps) {
          path += fmt::format("H{:.1f} ", xs.at(x));
        }
        path += fmt::format("{}{:.1f},{:.1f} ", p == 0 ? "M" : "L", xs.at(x), ys.at(y));
      }
      page.add(fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='2'/>\n", path, colour(i)));
    }
  }
  add_labels(page, chart, xs, ys);
  page.bottom = lower + 52.0;
  legend(page, titles);
}

void add_chart(Page& page, const BarChart& chart) {
  double most = 0.0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    double sum = 0.0;
    for (const double length : chart.lengths[i]) {
      sum += length;
    }
    most = std::max(most, sum);
    longest = std::max(longest, chart.names[i].size());
  }
  const double begin = std::min(left + 6.5 * static_cast<double>(longest), width / 2.0);
  const double upper = page.bottom + top;
  const double lower = upper + bar_height * static_cast<double>(chart.names.size()) + 6.0;
  const Axis xs = axis_over(0.0, most, begin, width - right);
  page.text(left, upper - 14.0, chart.title, "font-weight='bold' font-size='14'");
  ticks(page, xs, true, upper, lower);
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    const double y = upper + 4.0 + bar_height * static_cast<double>(i);
    double sum = 0.0;
    for (std::size_t part = 0; part < chart.parts.size(); ++part) {
      const double next = sum + chart.lengths[i][part];
      page.box(xs.at(sum), y, xs.at(next) - xs.at(sum), bar_height - 6.0, colour(part));
      sum = next;
    }
    page.text(begin - 6.0, y + 13.0, chart.names[i], "text-anchor='end'");
  }
  page.text((begin + width - right) / 2.0, lower + 32.0, chart.label, "text-anchor='middle'");
  page.bottom = lower + 52.0;
  legend(page, chart.parts);
}

}  // namespace

std::string charts_svg(const std::vector<std::variant<XyChart, BarChart>>& charts) {
  Page page;
  for (const auto& chart : charts) {
    std::visit([&](const auto& one) { add_chart(page, one); }, chart);
  }
  return page.svg();
}

}  // namespace skein
