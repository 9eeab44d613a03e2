// The numbers that a mission comes down to, each listed once: for summary.json, for the table at its end, and
// for tables of many missions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "skein/scenario/scenario.h"
#include "skein/simulation/recorder.h"

namespace skein {

struct HeadlineNumber {
  std::string name;  // in summary.json; "a.b" for b in a
  // In the file's unit; nothing where the mission has not measured it.
  std::variant<std::monostate, double, std::uint64_t> (*of)(const Headline&){};
  int place = 0;           // among those that people see, from 1; 0: they do not
  std::string line{};      // what it is called in the table of one mission; empty: not there
  std::string unit{};      // of that line
  std::string column{};    // what it is called, with the unit, in tables of many; empty: not there
  double factor = 1.0;     // from the file's unit to the one for people
  int digits = 1;          // after the point
  bool of_faults = false;  // shown only of a mission that had some

  // In the unit for people.
  [[nodiscard]] std::string text(double value) const;
};

// In the order of summary.json.
const std::vector<HeadlineNumber>& headline_numbers();
// Those with a column, in the order in which they are shown.
const std::vector<HeadlineNumber>& headline_columns();

// The table of one mission, with energy by kind below energy.
struct HeadlineLine {
  std::string line, value, unit;
};
std::vector<HeadlineLine> headline_lines(const Headline& headline);

// summary.json.
nlohmann::ordered_json summary_of(const Scenario& scenario, const Headline& headline);

// All numbers of a summary, those in objects as "a.b", in its order; without the seed.
std::vector<std::pair<std::string, double>> numbers_of(const nlohmann::ordered_json& summary);

// A JSON object in a file. Throws InputError.
nlohmann::ordered_json read_json(const std::filesystem::path& file);

}  // namespace skein
