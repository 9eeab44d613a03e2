#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/skein/ranks.h"
#include "apps/skein/reproduce/mission_study.h"
#include "skein/base/chart.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/data/data_source.h"
#include "skein/mission/sweep.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array planners{"guided",
                              "learned",
                              "beam",
                              "myopic",
                              "sequential_best",
                              "nearest_best",
                              "threshold_nearest_best",
                              "sequential",
                              "nearest",
                              "threshold_nearest",
                              "random"};
constexpr std::array offloaders{"newton", "worker_selection", "algorithm_1", "greedy", "maximum_processing"};

// Every planner with the optimizer, every offloader under the scenario's planner, and both of the simplest.
SweepGrid cells_of(const Scenario& scenario, std::size_t seeds) {
  SweepGrid grid{.keys = {"planning.planner", "offloading.method"}, .cells = {}, .seeds = {}};
  const auto add = [&](const std::string& planner, const std::string& offloader) {
    const std::vector<std::string> cell{planner, offloader};
    if (std::ranges::find(grid.cells, cell) == grid.cells.end()) {
      grid.cells.push_back(cell);
    }
  };
  for (const char* planner : planners) {
    add(planner, "newton");
  }
  for (const char* offloader : offloaders) {
    add(scenario.planning.planner, offloader);
  }
  add("sequential", "greedy");
  for (std::size_t i = 0; i < seeds; ++i) {
    grid.seeds.push_back(scenario.run.seed + i);
  }
  return grid;
}

struct Column {
  const char* title;
  std::vector<std::string> names;  // of the summary, added up
  double factor;
  int digits;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> list{
      {"accuracy (%)", {"mean_accuracy_percent"}, 1.0, 1},
      {"worst (%)", {"worst_cluster_accuracy_percent"}, 1.0, 1},
      {"end (%)", {"last_accuracy_percent"}, 1.0, 1},
      {"reward", {"mean_reward"}, 1.0, 0},
      {"energy (kJ)", {"energy_J"}, 1e-3, 0},
      {"hovering", {"energy_by_kind.hovering_J"}, 1e-3, 0},
      {"trips", {"energy_by_kind.access_point_trips_J"}, 1e-3, 0},
      {"travel", {"energy_by_kind.travel_J"}, 1e-3, 0},
      {"processing (J)", {"energy_by_kind.processing_J"}, 1.0, 2},
      {"radio (J)",
       {"energy_by_kind.data_transmission_J", "energy_by_kind.relay_J", "energy_by_kind.model_upload_J",
        "energy_by_kind.model_broadcast_J"},
       1.0,
       1},
      {"recharges", {"recharges"}, 1.0, 1},
      {"flown (km)", {"distance_m"}, 1e-3, 1},
  };
  return list;
}

std::vector<double> values_of(const SweepTable& table, std::size_t cell, const Column& column) {
  std::vector<double> sums;
  for (const std::string& name : column.names) {
    const std::vector<double> values = table.values(cell, name);
    sums.resize(values.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i] += column.factor * values[i];
    }
  }
  return sums;
}

double mean(const SweepTable& table, std::size_t cell, const Column& column) {
  const std::vector<double> values = values_of(table, cell, column);
  return values.empty() ? 0.0 : mean_interval(values).mean;
}

std::string table_of(const SweepTable& table) {
  std::vector<std::vector<std::string>> rows{{"planner", "offloader"}};
  for (const Column& column : columns()) {
    rows.front().emplace_back(column.title);
  }
  for (std::size_t cell = 0; cell < table.grid.cells.size(); ++cell) {
    std::vector<std::string>& row = rows.emplace_back(table.grid.cells[cell]);
    for (const Column& column : columns()) {
      const std::vector<double> values = values_of(table, cell, column);
      if (values.empty()) {
        row.emplace_back("-");
        continue;
      }
      const MeanInterval m = mean_interval(values);
      row.push_back(values.size() > 1
                        ? fmt::format("{:.{}f} +- {:.{}f}", m.mean, column.digits, m.deviation, column.digits)
                        : fmt::format("{:.{}f}", m.mean, column.digits));
    }
  }
  return markdown_table(rows);
}

std::string picture(const SweepTable& table) {
  XyChart both{.title = "What a mission's energy buys, mean over seeds",
               .x_label = "energy (kJ)",
               .y_label = "accuracy, mean over clusters and time (%)",
               .series = {{.title = "planners, with newton", .points = {}, .style = XySeries::Style::dots},
                          {.title = "other offloaders", .points = {}, .style = XySeries::Style::dots}}};
  BarChart energy{.title = "Energy by kind",
                  .label = "energy (kJ)",
                  .names = {},
                  .parts = {"hovering", "trips to access points", "travel"},
                  .lengths = {}};
  const auto& list = columns();
  for (std::size_t cell = 0; cell < table.grid.cells.size(); ++cell) {
    if (values_of(table, cell, list[0]).empty()) {
      continue;
    }
    const std::vector<std::string>& names = table.grid.cells[cell];
    XySeries& series = both.series[names[1] == "newton" ? 0 : 1];
    series.points.push_back({mean(table, cell, list[4]), mean(table, cell, list[0])});
    series.labels.push_back(names[1] == "newton" ? names[0] : names[0] + ", " + names[1]);
    energy.names.push_back(names[0] + ", " + names[1]);
    energy.lengths.push_back(
        {mean(table, cell, list[5]), mean(table, cell, list[6]), mean(table, cell, list[7])});
  }
  return charts_svg({both, energy});
}

// The question that the study is for.
std::string verdict(const SweepTable& table, const Scenario& scenario) {
  const auto cell_of = [&](const std::string& planner, const std::string& offloader) {
    return static_cast<std::size_t>(
        std::ranges::find(table.grid.cells, std::vector<std::string>{planner, offloader}) -
        table.grid.cells.begin());
  };
  const std::size_t ours = cell_of(scenario.planning.planner, "newton");
  const std::size_t simplest = cell_of("sequential", "greedy");
  if (values_of(table, ours, columns()[0]).empty() || values_of(table, simplest, columns()[0]).empty()) {
    return "";
  }
  return fmt::format(
      "The scenario's planner ({}) with newton against the sequential heuristic with greedy offloading: "
      "accuracy {:+.1f} points, energy {:+.0f} kJ.\n\n",
      scenario.planning.planner, mean(table, ours, columns()[0]) - mean(table, simplest, columns()[0]),
      mean(table, ours, columns()[4]) - mean(table, simplest, columns()[4]));
}

}  // namespace

std::string reproduce_mission_blocks(const ReproduceOptions& options, const fs::path& directory) {
  CommonOptions common = options.common;
  if (common.scenario.empty()) {
    common.scenario = (scenario_directory() / "paper" / "mission.toml").string();
  }
  Sweep sweep{.base = source_of(common), .grid = {}, .directory = directory};
  if (options.quick) {
    sweep.base.settings.insert(sweep.base.settings.begin(),
                               {"run.sequences=4", "planning.learner.steps=1000"});
  }
  const Scenario scenario = load_scenario(sweep.base);
  require_data(scenario.data.source);
  sweep.grid = cells_of(scenario, options.seeds > 0 ? options.seeds : options.quick ? 1 : 5);
  start_sweep(sweep, crew());
  {
    Progress progress(options.common, "reproduce");
    run_points(sweep, options.common.threads, crew(),
               [&](double fraction) { progress.show("blocks", fraction); });
  }
  if (!crew().is_first()) {
    return "";
  }
  const SweepTable table = collect_sweep(sweep.directory);
  write_table(table);
  write_file(sweep.directory / "mission.svg", picture(table));
  return fmt::format(
      "## Planners and offloaders, end to end\n\nThe mission \"{}\", {} training sequences, {} seeds: mean "
      "+- "
      "standard deviation. Accuracy of the clusters' models on their data, averaged over clusters and "
      "simulated time; of the worst cluster; at the end.\n\n{}\n{}{}",
      scenario.run.name, scenario.run.sequences, sweep.grid.seeds.size(), table_of(table),
      verdict(table, scenario), failures_of(table));
}

}  // namespace skein::app
