// Pictures of curves, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "skein/learning/curve.h"

namespace skein::app {

struct Series {
  std::string title;
  Curve curve;
  std::string colour;            // "#0072B2"
  bool dashed = false;           // for what others measured
  std::vector<double> spread{};  // of each value, drawn as a band around the curve; none if empty
};

struct Panel {
  std::string title;
  std::vector<Series> series;
};

struct Figure {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Panel> panels;  // two in a row
};

// Colours that everyone can tell apart.
inline constexpr const char* blue = "#0072B2";
inline constexpr const char* orange = "#D55E00";
inline constexpr const char* green = "#009E73";
inline constexpr const char* purple = "#CC79A7";

// Writes NAME.csv (the numbers) and NAME.svg (the picture). False if there is no gnuplot, or it
// failed; the numbers are there.
bool draw(const Figure& figure, const std::filesystem::path& directory, const std::string& name);

}  // namespace skein::app
