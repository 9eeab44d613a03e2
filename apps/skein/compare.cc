#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "chart.h"
#include "command.h"
#include "csv.h"
#include "headline.h"
#include "skein/base/file.h"
#include "text_table.h"
#include "tools.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_differences_shown = 30;

struct CompareOptions {
  CommonOptions common;
  std::vector<std::string> directories;
};

struct ComparedRun {
  std::string name;  // of the directory; the shortest that tells it from the others
  fs::path directory;
  Json summary;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> keys;        // of the resolved scenario
  std::vector<std::array<double, 2>> accuracy{};  // mean over clusters, in percent, from these seconds on
};

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
  const CsvFile sequences(directory / "sequences.csv");
  const CsvFile clusters(directory / "clusters.csv");
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
      throw InputError({(directory / "clusters.csv").string(), "sequence", fmt::format("{}", sequence),
                        "is in sequences.csv but not here"});
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
    throw InputError({(directory / "sequences.csv").string(), "", "", "has no training sequence"});
  }
  curve.push_back({end, curve.back()[1]});
  return curve;
}

ComparedRun read_run(const fs::path& directory, std::vector<InputFault>& faults) {
  ComparedRun run{.name = {}, .directory = directory, .summary = {}, .numbers = {}, .keys = {}};
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const InputError& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  };
  if (!fs::is_directory(directory)) {
    faults.push_back({directory.string(), "", "", "is not the directory of a run"});
    return run;
  }
  attempt([&] {
    run.summary = read_json(directory / "summary.json");
    for (auto& [name, value] : numbers_of(run.summary)) {
      run.numbers[name] = value;
    }
    for (const HeadlineNumber& number : headline_numbers()) {
      if (!run.numbers.contains(number.name)) {
        faults.push_back({(directory / "summary.json").string(), number.name, "", "is missing"});
      }
    }
  });
  attempt([&] { run.keys = keys_of(read_file(directory / "scenario.toml", std::size_t{1} << 24U)); });
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

std::string signed_text(const HeadlineNumber& number, double difference) {
  const std::string text = number.text(difference);
  return difference >= 0.0 ? "+" + text : text;
}

double number_or_nan(const ComparedRun& run, const std::string& name) {
  const auto found = run.numbers.find(name);
  return found == run.numbers.end() ? std::nan("") : found->second;
}

// Headline numbers, and energies by kind below them: in joules where all are small.
std::vector<HeadlineNumber> rows_of(const std::vector<ComparedRun>& runs) {
  const std::string kinds = "energy_by_kind.";
  std::vector<HeadlineNumber> rows = headline_numbers();
  for (const auto& [name, value] : runs.front().numbers) {
    if (name.starts_with(kinds) && name.ends_with("_J")) {
      const bool small = std::ranges::all_of(
          runs, [&](const ComparedRun& run) { return !(number_or_nan(run, name) >= 1000.0); });
      const std::string kind = name.substr(kinds.size(), name.size() - kinds.size() - 2);
      rows.push_back({name, kind + (small ? " (J)" : " (kJ)"), small ? 1.0 : 1e-3, small ? 4 : 1});
    }
  }
  return rows;
}

std::string table_text(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> headers{"<"};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    headers.push_back(runs[i].name);
    if (i > 0) {
      headers.emplace_back("difference");
    }
  }
  TextTable table(headers);
  for (const HeadlineNumber& number : rows_of(runs)) {
    const double first = number_or_nan(runs.front(), number.name);
    std::vector<std::string> row{number.title};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double value = number_or_nan(runs[i], number.name);
      row.push_back(number.text(value));
      if (i > 0) {
        row.push_back(signed_text(number, value - first));
      }
    }
    table.add(std::move(row));
  }
  return table.text();
}

// Keys that are not the same everywhere, with each run's value.
std::vector<std::pair<std::string, std::vector<std::string>>> differing_keys(
    const std::vector<ComparedRun>& runs) {
  std::set<std::string> all;
  for (const ComparedRun& run : runs) {
    for (const auto& [key, value] : run.keys) {
      all.insert(key);
    }
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> list;
  for (const std::string& key : all) {
    std::vector<std::string> values;
    for (const ComparedRun& run : runs) {
      const auto found = run.keys.find(key);
      values.push_back(found == run.keys.end() ? "-" : found->second);
    }
    if (std::ranges::any_of(values, [&](const std::string& value) { return value != values.front(); })) {
      list.emplace_back(key, std::move(values));
    }
  }
  return list;
}

std::string picture(const std::vector<ComparedRun>& runs) {
  XyChart accuracy{.title = "Accuracy of the clusters' models on their data, mean",
                   .x_label = "simulated time (s)",
                   .y_label = "accuracy (%)",
                   .series = {}};
  BarChart energy{.title = "Energy by kind", .label = "energy (kJ)", .names = {}, .parts = {}, .lengths = {}};
  std::vector<std::string> kinds;
  for (const HeadlineNumber& number : rows_of(runs)) {
    if (number.name.starts_with("energy_by_kind.")) {
      kinds.push_back(number.name);
      energy.parts.push_back(number.title.substr(0, number.title.rfind(' ')));
    }
  }
  for (const ComparedRun& run : runs) {
    accuracy.series.push_back({.title = run.name, .points = run.accuracy, .style = XySeries::Style::steps});
    energy.names.push_back(run.name);
    std::vector<double>& lengths = energy.lengths.emplace_back();
    for (const std::string& kind : kinds) {
      const double joules = number_or_nan(run, kind);
      lengths.push_back(std::isnan(joules) ? 0.0 : joules / 1e3);
    }
  }
  return charts_svg({accuracy, energy});
}

Json json_of(const std::vector<ComparedRun>& runs, const fs::path& directory) {
  Json list = Json::array();
  for (const ComparedRun& run : runs) {
    Json difference = Json::object();
    for (const auto& [name, value] : numbers_of(run.summary)) {
      if (const double first = number_or_nan(runs.front(), name); !std::isnan(first)) {
        difference[name] = value - first;
      }
    }
    list.push_back({{"name", run.name},
                    {"directory", run.directory.string()},
                    {"summary", run.summary},
                    {"difference_from_first", difference}});
  }
  Json differing = Json::object();
  for (const auto& [key, values] : differing_keys(runs)) {
    differing[key] = values;
  }
  return {{"runs", list}, {"differing_keys", differing}, {"picture", (directory / "compare.svg").string()}};
}

void compare(const CompareOptions& options) {
  std::vector<ComparedRun> runs;
  std::vector<InputFault> faults;
  for (const std::string& directory : options.directories) {
    runs.push_back(read_run(directory, faults));
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
  name_runs(runs);
  const fs::path directory =
      options.common.out.empty() ? fs::path("runs") / "compare" : fs::path(options.common.out);
  const Json json = json_of(runs, directory);
  write_file(directory / "compare.svg", picture(runs));
  write_file(directory / "compare.json", json.dump(1) + "\n");
  if (options.common.json()) {
    fmt::print("{}\n", json.dump(1));
  } else if (options.common.talks()) {
    fmt::print("Differences are from {}\n\n{}\n", runs.front().name, table_text(runs));
    const auto differing = differing_keys(runs);
    if (!differing.empty()) {
      std::vector<std::string> headers{"<scenario key"};
      for (const ComparedRun& run : runs) {
        headers.push_back(run.name);
      }
      TextTable table(headers);
      for (std::size_t i = 0; i < std::min(differing.size(), most_differences_shown); ++i) {
        std::vector<std::string> row{differing[i].first};
        row.insert(row.end(), differing[i].second.begin(), differing[i].second.end());
        table.add(std::move(row));
      }
      fmt::print("{}", table.text());
      if (differing.size() > most_differences_shown) {
        fmt::print("and {} more keys\n", differing.size() - most_differences_shown);
      }
      fmt::print("\n");
    }
    fmt::print("Wrote compare.svg and compare.json to {}\n", directory.string());
  }
}

}  // namespace

void add_compare_command(CLI::App& program) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = program.add_subcommand("compare", "Set missions side by side: table and picture");
  command
      ->add_option("RUN", options->directories, "Directories of finished missions, the first to compare with")
      ->required()
      ->expected(1, 1000);
  command->add_option("--out", options->common.out, "Write results to this directory; default runs/compare")
      ->type_name("DIR");
  add_output_options(*command, options->common, "skein compare runs/mission runs/smoke");
  command->callback([options] { compare(*options); });
}

}  // namespace skein::app
