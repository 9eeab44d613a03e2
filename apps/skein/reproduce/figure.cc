#include "apps/skein/reproduce/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/base/process.h"

namespace skein::app {
namespace {

std::string numbers(const Figure& figure) {
  const bool has_spread = std::ranges::any_of(figure.panels, [](const Panel& panel) {
    return std::ranges::any_of(panel.series, [](const Series& series) { return !series.spread.empty(); });
  });
  std::string text = has_spread ? "panel,series,x,y,spread\n" : "panel,series,x,y\n";
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      for (std::size_t i = 0; i < series.curve.values.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "\"{}\",\"{}\",{},{}", panel.title, series.title,
                       series.curve.iterations[i], series.curve.values[i]);
        if (has_spread) {
          text += series.spread.empty() ? "," : fmt::format(",{}", series.spread[i]);
        }
        text += '\n';
      }
    }
  }
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + '"';
}

// The data stand in the script itself, so nothing but the picture is left behind.
std::string script(const Figure& figure, const std::string& output) {
  const std::size_t columns = std::min<std::size_t>(figure.panels.size(), 2);
  const std::size_t rows = (figure.panels.size() + 1) / 2;
  // The legend stands below, so that it hides nothing; the curves keep their height.
  std::size_t most_series = 0;
  for (const Panel& panel : figure.panels) {
    most_series = std::max(most_series, panel.series.size());
  }
  std::string text = fmt::format(
      "set terminal svg size {},{} dynamic background rgb 'white' font 'sans-serif,13' noenhanced\nset "
      "output {}\n"
      "set multiplot layout {},{} title {}\nset grid lc rgb '#dddddd'\nset key below center samplen 2\n"
      "set xlabel {} offset 0,0.5\nset ylabel {}\n",
      480 * columns, (300 + 19 * most_series) * rows + 30, quoted(output), rows, columns,
      quoted(figure.title), quoted(figure.x_label), quoted(figure.y_label));
  auto out = std::back_inserter(text);
  std::size_t block = 0;
  std::string plots;
  for (const Panel& panel : figure.panels) {
    fmt::format_to(std::back_inserter(plots), "set title {}\nplot ", quoted(panel.title));
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      const Series& series = panel.series[i];
      fmt::format_to(out, "$data{} << end_of_data\n", block);
      for (std::size_t p = 0; p < series.curve.values.size(); ++p) {
        const double value = series.curve.values[p];
        const double spread = series.spread.empty() ? 0.0 : series.spread[p];
        fmt::format_to(out, "{} {} {} {}\n", series.curve.iterations[p], value, value - spread,
                       value + spread);
      }
      text += "end_of_data\n";
      plots += i > 0 ? ", " : "";
      if (!series.spread.empty()) {
        fmt::format_to(
            std::back_inserter(plots),
            "$data{} using 1:3:4 with filledcurves lc rgb '{}' fs transparent solid 0.15 noborder notitle, ",
            block, series.colour);
      }
      fmt::format_to(std::back_inserter(plots),
                     "$data{} using 1:2 with lines lc rgb '{}' lw {} dt {} title {}", block, series.colour,
                     series.dashed ? 1.5 : 2.2, series.dashed ? 2 : 1, quoted(series.title));
      ++block;
    }
    plots += '\n';
  }
  return text + plots + "unset multiplot\nset output\n";
}

}  // namespace

bool draw(const Figure& figure, const std::filesystem::path& directory, const std::string& name) {
  std::filesystem::create_directories(directory);
  write_file(directory / (name + ".csv"), numbers(figure));
  const std::string unfinished = name + ".svg.unfinished";
  const std::string plan = name + ".gnuplot";
  write_file(directory / plan, script(figure, unfinished));
  const auto result = run_process({"gnuplot", plan}, directory);
  std::filesystem::remove(directory / plan);
  if (!result || result->exit_code != 0) {
    std::filesystem::remove(directory / unfinished);
    return false;
  }
  std::filesystem::rename(directory / unfinished, directory / (name + ".svg"));
  return true;
}

}  // namespace skein::app
