// Charts as SVG, drawn here: they need no other program, and the same numbers are the same bytes.
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

namespace skein {

struct XySeries {
  enum class Style { line, steps, dots };  // steps hold a value until the next one
  std::string title;                       // in the legend; empty: not there
  std::vector<std::array<double, 2>> points;
  Style style = Style::line;
  std::vector<std::string> labels{};  // beside the points; empty: none
};

struct XyChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<XySeries> series;
};

// A bar for each name, made of parts.
struct BarChart {
  std::string title;
  std::string label;  // of the axis
  std::vector<std::string> names;
  std::vector<std::string> parts;            // in the legend
  std::vector<std::vector<double>> lengths;  // of a bar's parts
};

// One below the other.
std::string charts_svg(const std::vector<std::variant<XyChart, BarChart>>& charts);

}  // namespace skein
