// The numbers of a mission's summary.json that people look at first.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skein::app {

struct HeadlineNumber {
  std::string name;        // in summary.json; "a.b" for b in a
  std::string_view title;  // for people, with the unit
  double factor;           // from the file's unit to the title's
  int digits;              // after the point

  [[nodiscard]] std::string text(double value) const;
};

// In the order in which they are shown.
const std::vector<HeadlineNumber>& headline_numbers();

// All numbers of a summary, those in objects as "a.b", in its order; without the seed.
std::vector<std::pair<std::string, double>> numbers_of(const nlohmann::ordered_json& summary);

}  // namespace skein::app
