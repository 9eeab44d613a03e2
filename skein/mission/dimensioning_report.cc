#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "skein/base/chart.h"
#include "skein/base/csv.h"
#include "skein/base/file.h"
#include "skein/mission/dimensioning.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const Composition& candidate) {
  return fmt::format("{}", fmt::join(candidate.values, "/"));
}

std::string csv_of(const SweepGrid& grid, const std::vector<Composition>& candidates) {
  std::string text;
  for (const std::string& key : grid.keys) {
    text += csv_cell(key) + ",";
  }
  text +=
      "uavs,cost,surrogate_objective,surrogate_staleness,surrogate_learning_cost,surrogate_energy_J,"
      "surrogate_recharges,within_budget,on_front,"
      "missions,"
      "accuracy_percent_mean,accuracy_percent_deviation,worst_cluster_accuracy_percent_mean,energy_J_mean,"
      "impossible\n";
  for (const Composition& c : candidates) {
    for (const std::string& value : c.values) {
      text += csv_cell(value) + ",";
    }
    if (!c.message.empty()) {
      text += fmt::format(",,,,,,,0,0,0,,,,,{}\n", csv_cell(c.message));
      continue;
    }
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},", c.uavs, c.cost, c.objective, c.staleness,
                    c.learning_cost, c.energy_j, c.recharges, c.within ? 1 : 0, c.front ? 1 : 0, c.missions);
    text += c.missions > 0 ? fmt::format("{},{},{},{},\n", c.accuracy_percent, c.accuracy_deviation,
                                         c.worst_percent, c.mission_energy_j)
                           : ",,,,\n";
  }
  return text;
}

std::string picture(const std::vector<Composition>& candidates, const std::string& what) {
  XyChart model{.title = "The planner's model",
                .x_label = "energy, estimated (kJ)",
                .y_label = "learning cost (less is better)",
                .series = {{.title = "within the budget", .points = {}, .style = XySeries::Style::dots},
                           {.title = "too much", .points = {}, .style = XySeries::Style::dots},
                           {.title = "best trade-offs", .points = {}}}};
  XyChart missions{.title = "Missions: " + what,
                   .x_label = "energy (kJ)",
                   .y_label = "accuracy, mean over clusters and time (%)",
                   .series = {{.title = "run", .points = {}, .style = XySeries::Style::dots},
                              {.title = "as the scenario is", .points = {}, .style = XySeries::Style::dots}}};
  for (const Composition& c : candidates) {
    if (c.message.empty()) {
      XySeries& series = model.series[c.within ? 0 : 1];
      series.points.push_back({c.energy_j / 1e3, c.learning_cost});
      if (c.front) {
        model.series[2].points.push_back({c.energy_j / 1e3, c.learning_cost});
      }
    }
    if (c.missions > 0) {
      XySeries& series = missions.series[&c == &candidates.front() ? 1 : 0];
      series.points.push_back({c.mission_energy_j / 1e3, c.accuracy_percent});
      series.labels.push_back(&c == &candidates.front() ? "" : name_of(c));
    }
  }
  std::ranges::sort(model.series[2].points);
  return charts_svg({model, missions});
}

Json json_of(const SweepGrid& grid, const Composition& c) {
  Json settings = Json::object();
  for (std::size_t i = 0; i < grid.keys.size(); ++i) {
    settings[grid.keys[i]] = c.values[i];
  }
  if (!c.message.empty()) {
    return {{"settings", settings}, {"impossible", c.message}};
  }
  Json json{{"settings", settings},
            {"uavs", c.uavs},
            {"cost", c.cost},
            {"surrogate",
             {{"objective", c.objective},
              {"staleness", c.staleness},
              {"learning_cost", c.learning_cost},
              {"energy_J", c.energy_j}}},
            {"within_budget", c.within},
            {"on_front", c.front}};
  if (c.missions > 0) {
    json["missions"] = {{"count", c.missions},
                        {"accuracy_percent", c.accuracy_percent},
                        {"accuracy_percent_deviation", c.accuracy_deviation},
                        {"worst_cluster_accuracy_percent", c.worst_percent},
                        {"energy_J", c.mission_energy_j},
                        {"within_budget", c.confirmed_within}};
  }
  return json;
}

}  // namespace

std::string dimensioning_json(const Dimensioning& result) {
  Json list = Json::array();
  for (const Composition& candidate : result.compositions) {
    list.push_back(json_of(result.grid, candidate));
  }
  return Json{{"keys", result.grid.keys},
              {"seeds", result.grid.seeds},
              {"best", result.best ? json_of(result.grid, result.compositions[*result.best]) : Json()},
              {"surrogate_order",
               {{"pairs", result.agreement.pairs}, {"as_missions", result.agreement.agree}}},
              {"compositions", list},
              {"directory", result.directory.string()}}
             .dump(1) +
         "\n";
}

void write_dimensioning(const Dimensioning& result) {
  write_file(result.directory / "dimension.csv", csv_of(result.grid, result.compositions));
  write_file(result.directory / "dimension.json", dimensioning_json(result));
  write_file(result.directory / "dimension.svg",
             picture(result.compositions, fmt::format("{}", fmt::join(result.names, "/"))));
}

}  // namespace skein
