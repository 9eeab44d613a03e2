#include "skein/mission/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "skein/base/chart.h"
#include "skein/base/csv.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/simulation/mission_files.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kinds_prefix = "energy_by_kind.";

// Keys of a resolved scenario, which has one on each line.
std::map<std::string, std::string> keys_of(const std::string& resolved) {
  std::map<std::string, std::string> keys;
  std::string section;
  std::istringstream lines(resolved);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('[')) {
      section = line.substr(1, line.find(']') - 1) + ".";
    } else if (equals != std::string::npos) {
      keys[section + line.substr(0, equals)] = line.substr(equals + 3);
    }
  }
  return keys;
}

// What devices see: each cluster has its old model until the new one is handed over.
std::vector<std::array<double, 2>> accuracy_over_time(const fs::path& directory) {
  const CsvFile sequences(directory / mission_file::sequences);
  const CsvFile clusters(directory / mission_file::clusters);
  std::vector<std::array<double, 2>> curve;
  std::size_t row = 0;
  double end = 0.0;
  for (std::size_t s = 0; s < sequences.num_rows(); ++s) {
    const double sequence = sequences.number(s, "sequence");
    const std::size_t first = row;
    double sum = 0.0;
    std::vector<std::array<double, 2>> changes;  // when, by how much
    for (; row < clusters.num_rows() && clusters.number(row, "sequence") == sequence; ++row) {
      const double before = clusters.number(row, "accuracy_before_percent");
      sum += before;
      if (clusters.number(row, "visited") != 0.0) {
        changes.push_back(
            {clusters.number(row, "handed_over_s"), clusters.number(row, "accuracy_after_percent") - before});
      }
    }
    if (row == first) {
      throw InputError({(directory / mission_file::clusters).string(), "sequence",
                        fmt::format("{}", sequence), "is in sequences.csv but not here"});
    }
    const auto count = static_cast<double>(row - first);
    curve.push_back({sequences.number(s, "start_s"), sum / count});
    std::ranges::sort(changes);
    for (const auto& [when, change] : changes) {
      sum += change;
      curve.push_back({when, sum / count});
    }
    end = sequences.number(s, "end_s");
  }
  if (curve.empty()) {
    throw InputError({(directory / mission_file::sequences).string(), "", "", "has no training sequence"});
  }
  curve.push_back({end, curve.back()[1]});
  return curve;
}

ComparedRun read_compared(const fs::path& directory, InputFaults& faults) {
  ComparedRun run{.name = {}, .directory = directory};
  if (!fs::is_directory(directory)) {
    faults.add({directory.string(), "", "", "is not the directory of a run"});
    return run;
  }
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const InputError& error) {
      faults.add_all(error.faults());
    }
  };
  attempt([&] {
    const fs::path file = directory / mission_file::summary;
    run.numbers = numbers_of(read_json(file));
    for (const HeadlineNumber& number : headline_columns()) {
      if (std::isnan(run.number(number.name))) {
        faults.add({file.string(), number.name, "", "is missing"});
      }
    }
  });
  attempt([&] { run.keys = keys_of(read_file(directory / mission_file::scenario, std::size_t{1} << 24U)); });
  attempt([&] { run.accuracy = accuracy_over_time(directory); });
  return run;
}

// The last parts of the paths, as many as it takes to tell them apart.
void name_runs(std::vector<ComparedRun>& runs) {
  for (int parts = 1; parts < 20; ++parts) {
    std::set<std::string> names;
    for (ComparedRun& run : runs) {
      const fs::path whole = fs::absolute(run.directory).lexically_normal();
      fs::path name;
      auto at = whole.end();
      for (int i = 0; i < parts && at != whole.begin(); ++i) {
        --at;
        if (at->empty()) {  // a slash at the end
          --at;
        }
        name = name.empty() ? *at : *at / name;
      }
      run.name = name.string();
      names.insert(run.name);
    }
    if (names.size() == runs.size()) {
      return;
    }
  }
}

}  // namespace

double ComparedRun::number(const std::string& wanted) const {
  const auto found = std::ranges::find(numbers, wanted, &std::pair<std::string, double>::first);
  return found == numbers.end() ? std::nan("") : found->second;
}

Comparison::Comparison(const std::vector<std::string>& directories) {
  InputFaults faults;
  for (const std::string& directory : directories) {
    runs_.push_back(read_compared(directory, faults));
  }
  faults.throw_if_any();
  name_runs(runs_);
}

std::vector<HeadlineNumber> Comparison::rows() const {
  std::vector<HeadlineNumber> rows = headline_columns();
  const auto energies = static_cast<std::ptrdiff_t>(rows.size());
  for (const auto& [name, value] : runs_.front().numbers) {
    if (name.starts_with(kinds_prefix) && name.ends_with("_J")) {
      const bool small = std::ranges::all_of(
          runs_, [&, &key = name](const ComparedRun& run) { return !(run.number(key) >= 1000.0); });
      const std::string kind = name.substr(kinds_prefix.size(), name.size() - kinds_prefix.size() - 2);
      rows.push_back({.name = name,
                      .column = kind + (small ? " (J)" : " (kJ)"),
                      .factor = small ? 1.0 : 1e-3,
                      .digits = small ? 4 : 1});
    }
  }
  std::sort(rows.begin() + energies, rows.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return rows;
}

std::vector<std::pair<std::string, std::vector<std::string>>> Comparison::differing_keys() const {
  std::set<std::string> all;
  for (const ComparedRun& run : runs_) {
    for (const auto& [key, value] : run.keys) {
      all.insert(key);
    }
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> list;
  for (const std::string& key : all) {
    std::vector<std::string> values;
    for (const ComparedRun& run : runs_) {
      const auto found = run.keys.find(key);
      values.push_back(found == run.keys.end() ? "-" : found->second);
    }
    if (std::ranges::any_of(values, [&](const std::string& value) { return value != values.front(); })) {
      list.emplace_back(key, std::move(values));
    }
  }
  return list;
}

std::string Comparison::svg() const {
  XyChart accuracy{.title = "Accuracy of the clusters' models on their data, mean",
                   .x_label = "simulated time (s)",
                   .y_label = "accuracy (%)",
                   .series = {}};
  BarChart energy{.title = "Energy by kind", .label = "energy (kJ)", .names = {}, .parts = {}, .lengths = {}};
  std::vector<std::string> kinds;
  for (const HeadlineNumber& number : rows()) {
    if (number.name.starts_with(kinds_prefix)) {
      kinds.push_back(number.name);
      energy.parts.push_back(number.column.substr(0, number.column.rfind(' ')));
    }
  }
  for (const ComparedRun& run : runs_) {
    accuracy.series.push_back({.title = run.name, .points = run.accuracy, .style = XySeries::Style::steps});
    energy.names.push_back(run.name);
    std::vector<double>& lengths = energy.lengths.emplace_back();
    for (const std::string& kind : kinds) {
      const double joules = run.number(kind);
      lengths.push_back(std::isnan(joules) ? 0.0 : joules / 1e3);
    }
  }
  return charts_svg({accuracy, energy});
}

Json Comparison::json(const fs::path& picture) const {
  Json list = Json::array();
  for (const ComparedRun& run : runs_) {
    Json difference = Json::object();
    for (const auto& [name, value] : run.numbers) {
      if (const double first = runs_.front().number(name); !std::isnan(first)) {
        difference[name] = value - first;
      }
    }
    list.push_back({{"name", run.name},
                    {"directory", run.directory.string()},
                    {"summary", read_json(run.directory / mission_file::summary)},
                    {"difference_from_first", difference}});
  }
  Json differing = Json::object();
  for (const auto& [key, values] : differing_keys()) {
    differing[key] = values;
  }
  return {{"runs", list}, {"differing_keys", differing}, {"picture", picture.string()}};
}

}  // namespace skein
