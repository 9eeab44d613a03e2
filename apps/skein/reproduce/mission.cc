#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/skein/ranks.h"
#include "apps/skein/reproduce/mission_study.h"
#include "skein/base/chart.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/data/data_source.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct Column {
  const char* title;
  const char* number;  // of the summary
  double factor;
  int digits;
};

constexpr Column accuracy{"accuracy (%)", "mean_accuracy_percent", 1.0, 1};
constexpr Column worst{"worst cluster (%)", "worst_cluster_accuracy_percent", 1.0, 1};
constexpr Column oracle{"oracle (%)", "oracle_accuracy_percent", 1.0, 1};
constexpr Column energy{"energy (kJ)", "energy_J", 1e-3, 0};
constexpr std::array parts_of_energy{Column{"travel", "energy_by_kind.travel_J", 1e-3, 0},
                                     Column{"trips", "energy_by_kind.access_point_trips_J", 1e-3, 0},
                                     Column{"hovering", "energy_by_kind.hovering_J", 1e-3, 0},
                                     Column{"take-offs", "energy_by_kind.take_off_J", 1e-3, 0},
                                     Column{"landed", "energy_by_kind.landed_J", 1e-3, 0}};
constexpr Column visits{"visits", "visits", 1.0, 0};

// What has come of a row.
struct FlownRow {
  const MissionRow* row;
  SweepTable table;

  [[nodiscard]] std::vector<double> values(const Column& column) const {
    std::vector<double> values = table.values(0, column.number);
    for (double& value : values) {
      value *= column.factor;
    }
    return values;
  }
  [[nodiscard]] std::optional<MeanInterval> mean(const Column& column) const {
    const std::vector<double> all = values(column);
    return all.empty() ? std::nullopt : std::optional(mean_interval(all));
  }
};

std::string text_of(const std::optional<MeanInterval>& mean, int digits) {
  return mean ? fmt::format("{:.{}f}", mean->mean, digits) : "-";
}

std::string interval_of(const std::optional<MeanInterval>& mean, int digits) {
  return mean && mean->half_width > 0.0
             ? fmt::format("{:.{}f} +- {:.{}f}", mean->mean, digits, mean->half_width, digits)
             : text_of(mean, digits);
}

std::string range_of(const std::vector<double>& values, int digits) {
  if (values.empty()) {
    return "-";
  }
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{:.{}f} to {:.{}f}", least, digits, most, digits);
}

// Seed by seed, what the first row has more.
std::optional<MeanInterval> lead(const FlownRow& first, const FlownRow& other, const Column& column) {
  std::vector<double> lead = first.values(column);
  const std::vector<double> theirs = other.values(column);
  if (lead.empty() || lead.size() != theirs.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < lead.size(); ++i) {
    lead[i] -= theirs[i];
  }
  return mean_interval(lead);
}

std::string table_of(const std::vector<FlownRow>& rows) {
  std::vector<std::vector<std::string>> lines{{"mission", accuracy.title, "over seeds", worst.title,
                                               "over seeds", energy.title, "the first row's lead (points)",
                                               "its energy"}};
  for (const Column& part : parts_of_energy) {
    lines.front().emplace_back(part.title);
  }
  lines.front().emplace_back(visits.title);
  for (const FlownRow& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    line = {row.row->name,
            interval_of(row.mean(accuracy), 1),
            range_of(row.values(accuracy), 1),
            text_of(row.mean(worst), 1),
            range_of(row.values(worst), 1),
            interval_of(row.mean(energy), 0),
            "",
            ""};
    if (&row != &rows.front() && row.mean(energy) && rows.front().mean(energy)) {
      line[6] = interval_of(lead(rows.front(), row, accuracy), 1);
      line[7] = fmt::format("x {:.3g}", rows.front().mean(energy)->mean / row.mean(energy)->mean);
    }
    for (const Column& part : parts_of_energy) {
      line.push_back(text_of(row.mean(part), part.digits));
    }
    line.push_back(text_of(row.mean(visits), visits.digits));
  }
  return markdown_table(lines);
}

std::string picture_of(const MissionPart& part, const std::vector<FlownRow>& rows) {
  XyChart both{.title = part.title + ": mean over seeds",
               .x_label = "energy (kJ)",
               .y_label = "accuracy, mean over clusters and time (%)",
               .series = {{.title = "", .points = {}, .style = XySeries::Style::dots}}};
  BarChart kinds{.title = "Energy by kind", .label = "energy (kJ)", .names = {}, .parts = {}, .lengths = {}};
  for (const Column& kind : parts_of_energy) {
    kinds.parts.emplace_back(kind.title);
  }
  for (const FlownRow& row : rows) {
    if (!row.mean(accuracy)) {
      continue;
    }
    both.series.front().points.push_back({row.mean(energy)->mean, row.mean(accuracy)->mean});
    both.series.front().labels.push_back(row.row->name);
    kinds.names.push_back(row.row->name);
    std::vector<double>& lengths = kinds.lengths.emplace_back();
    for (const Column& kind : parts_of_energy) {
      lengths.push_back(row.mean(kind)->mean);
    }
  }
  return charts_svg({both, kinds});
}

Sweep sweep_of(const MissionRow& row, const ReproduceOptions& options, const fs::path& directory) {
  Sweep sweep{.base = {.file = (scenario_directory() / row.scenario).string(), .settings = row.settings},
              .grid = {.keys = {}, .cells = {{}}, .seeds = {}},
              .directory = directory};
  if (options.quick) {
    sweep.base.settings.insert(sweep.base.settings.end(), {"run.sequences=4", "planning.learner.steps=1000"});
  }
  sweep.base.settings.insert(sweep.base.settings.end(), options.common.settings.begin(),
                             options.common.settings.end());
  // Settings were chosen on seeds 1 to 3.
  constexpr std::size_t first_seed = 101;
  const std::size_t seeds = options.seeds > 0 ? options.seeds : options.quick ? 1 : 5;
  for (std::size_t i = 0; i < seeds; ++i) {
    sweep.grid.seeds.push_back(first_seed + i);
  }
  require_data(load_scenario(sweep.source_of(0)).data.source);
  return sweep;
}

std::string folder_of(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '-');
  return name;
}

}  // namespace

std::string failures_of(const SweepTable& table) {
  std::string text;
  for (std::size_t point = 0; point < table.points.size(); ++point) {
    if (table.points[point].status != PointStatus::finished) {
      text += fmt::format("- {}: {}: {}\n", (table.directory / table.grid.place_of(point)).string(),
                          to_string(table.points[point].status), table.points[point].message);
      answer_no();
    }
  }
  return text;
}

std::string reproduce_mission_part(const MissionPart& part, const ReproduceOptions& options,
                                   const fs::path& directory) {
  std::vector<Sweep> sweeps;
  for (const MissionRow& row : part.rows) {
    sweeps.push_back(sweep_of(row, options, directory / folder_of(row.name)));
  }
  for (const Sweep& sweep : sweeps) {
    start_sweep(sweep, crew());
  }
  {
    Progress progress(options.common, "reproduce");
    run_points(sweeps, options.common.threads, crew(),
               [&](double fraction) { progress.show(part.name, fraction); });
  }
  if (!crew().is_first()) {
    return "";
  }
  std::vector<FlownRow> rows;
  std::string failures;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    rows.push_back({&part.rows[i], collect_sweep(sweeps[i].directory)});
    write_table(rows.back().table);
    failures += failures_of(rows.back().table);
  }
  write_file(directory / (part.name + ".svg"), picture_of(part, rows));
  const std::size_t seeds = sweeps.front().grid.seeds.size();
  std::string text = fmt::format(
      "## {}\n\n{} {} seeds from {} on, on which nothing was tuned: mean with its 95 % "
      "interval.\n\n{}",
      part.title, part.about, seeds, sweeps.front().grid.seeds.front(), table_of(rows));
  for (const FlownRow& row : rows) {
    if (row.mean(oracle)) {
      text += fmt::format("\nAn oracle beside \"{}\" has {} %.\n", row.row->name,
                          interval_of(row.mean(oracle), 1));
    }
  }
  return text + failures;
}

fs::path reproduce_mission(const ReproduceOptions& options) {
  const fs::path out =
      options.common.out.empty() ? fs::path("runs") / "reproduce" / "mission" : fs::path(options.common.out);
  const fs::path directory = out / (options.quick ? "quick" : "full");
  std::string text = "# Whole missions\n";
  const bool own_scenario = !options.common.scenario.empty();
  const auto asked = [&](const std::string& name) {
    return std::ranges::find(options.parts, name) != options.parts.end();
  };
  std::vector<MissionPart> parts = mission_parts();
  std::erase_if(parts, [&](const MissionPart& part) {
    return options.parts.empty() ? own_scenario || (options.quick && !part.quick) : !asked(part.name);
  });
  for (const MissionPart& part : parts) {  // what is missing is said before anything is flown
    for (const MissionRow& row : part.rows) {
      static_cast<void>(sweep_of(row, options, directory));
    }
  }
  for (const MissionPart& part : parts) {
    text += "\n" + reproduce_mission_part(part, options, directory / part.name);
  }
  if (options.parts.empty() || asked(mission_blocks)) {
    text += "\n" + reproduce_mission_blocks(options, own_scenario ? directory : directory / mission_blocks);
  }
  if (!crew().is_first()) {
    return directory;
  }
  write_file(directory / "report.md", text);
  if (options.common.talks()) {
    fmt::print(
        "{}\nWrote report.md, and tables, a picture and a directory per mission of each part to {}\n\n", text,
        directory.string());
  }
  return directory;
}

}  // namespace skein::app
