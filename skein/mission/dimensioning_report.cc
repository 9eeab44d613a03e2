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

// What is predicted under planners by the clock, beside the energy. Worth stands there where it has a unit of
// its own.
std::vector<std::pair<std::string, double>> predictions(const DimensioningGoal& goal, const Composition& c) {
  std::vector<std::pair<std::string, double>> list{{"accuracy_percent", c.predicted_percent}};
  if (goal.has_price()) {
    list.emplace_back("worth_percent", c.predicted_rank.worth);
  }
  list.insert(list.end(), {{"energy_J", c.energy_j}, {"visits", c.visits}, {"recharges", c.recharges}});
  return list;
}

std::string clock_csv_of(const DimensioningGoal& goal, const std::vector<Composition>& candidates) {
  std::string text = "uavs,cost,";
  const std::vector<std::pair<std::string, double>> none = predictions(goal, {});
  for (const auto& [name, number] : none) {
    text += fmt::format("predicted_{},", name);
  }
  text +=
      "within_budget,on_front,missions,accuracy_percent_mean,accuracy_percent_deviation,"
      "worst_cluster_accuracy_percent_mean,energy_J_mean,visits_mean,impossible\n";
  for (const Composition& c : candidates) {
    for (const std::string& value : c.values) {
      text += csv_cell(value) + ",";
    }
    if (!c.message.empty()) {
      text += fmt::format("{}0,0,0,,,,,,{}\n", std::string(2 + none.size(), ','), csv_cell(c.message));
      continue;
    }
    text += fmt::format("{},{},", c.uavs, c.cost);
    for (const auto& [name, number] : predictions(goal, c)) {
      text += fmt::format("{},", number);
    }
    text += fmt::format("{},{},{},", c.within ? 1 : 0, c.front ? 1 : 0, c.missions);
    text += c.missions > 0 ? fmt::format("{},{},{},{},{},\n", c.accuracy_percent, c.accuracy_deviation,
                                         c.worst_percent, c.mission_energy_j, c.mission_visits)
                           : ",,,,,\n";
  }
  return text;
}

std::string csv_of(const SweepGrid& grid, const DimensioningGoal& goal,
                   const std::vector<Composition>& candidates) {
  std::string text;
  for (const std::string& key : grid.keys) {
    text += csv_cell(key) + ",";
  }
  if (goal.by_the_clock()) {
    return text + clock_csv_of(goal, candidates);
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

std::string picture(const DimensioningGoal& goal, const std::vector<Composition>& candidates,
                    const std::string& what) {
  const bool by_the_clock = goal.by_the_clock();
  XyChart model{.title = "The planner's model",
                .x_label = "energy, estimated (kJ)",
                .y_label = by_the_clock ? "accuracy, predicted (%)" : "learning cost (less is better)",
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
      const double learns = by_the_clock ? c.predicted_percent : c.learning_cost;
      series.points.push_back({c.energy_j / 1e3, learns});
      if (c.front) {
        model.series[2].points.push_back({c.energy_j / 1e3, learns});
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

Json json_of(const SweepGrid& grid, const DimensioningGoal& goal, const Composition& c) {
  Json settings = Json::object();
  for (std::size_t i = 0; i < grid.keys.size(); ++i) {
    settings[grid.keys[i]] = c.values[i];
  }
  if (!c.message.empty()) {
    return {{"settings", settings}, {"impossible", c.message}};
  }
  Json surrogate{{"objective", c.objective},
                 {"staleness", c.staleness},
                 {"learning_cost", c.learning_cost},
                 {"energy_J", c.energy_j}};
  if (goal.by_the_clock()) {
    surrogate = Json::object();
    for (const auto& [name, number] : predictions(goal, c)) {
      surrogate[name] = number;
    }
    surrogate["reaches"] = c.predicted_rank.reaches;
  }
  Json json{{"settings", settings},      {"uavs", c.uavs},     {"cost", c.cost}, {"surrogate", surrogate},
            {"within_budget", c.within}, {"on_front", c.front}};
  if (c.missions > 0) {
    json["missions"] = {{"count", c.missions},
                        {"accuracy_percent", c.accuracy_percent},
                        {"accuracy_percent_deviation", c.accuracy_deviation},
                        {"worst_cluster_accuracy_percent", c.worst_percent},
                        {"energy_J", c.mission_energy_j},
                        {"within_budget", c.confirmed_within}};
    if (goal.by_the_clock()) {
      json["missions"]["visits"] = c.mission_visits;
      json["missions"]["reaches"] = c.rank.reaches;
      if (goal.has_price()) {
        json["missions"]["worth_percent"] = c.rank.worth;
      }
    }
  }
  return json;
}

}  // namespace

std::string dimensioning_json(const Dimensioning& result) {
  Json list = Json::array();
  for (const Composition& candidate : result.compositions) {
    list.push_back(json_of(result.grid, result.goal, candidate));
  }
  return Json{{"keys", result.grid.keys},
              {"seeds", result.grid.seeds},
              {"best",
               result.best ? json_of(result.grid, result.goal, result.compositions[*result.best]) : Json()},
              {"surrogate_order",
               {{"pairs", result.agreement.pairs}, {"as_missions", result.agreement.agree}}},
              {"compositions", list},
              {"directory", result.directory.string()}}
             .dump(1) +
         "\n";
}

void write_dimensioning(const Dimensioning& result) {
  write_file(result.directory / "dimension.csv", csv_of(result.grid, result.goal, result.compositions));
  write_file(result.directory / "dimension.json", dimensioning_json(result));
  write_file(result.directory / "dimension.svg",
             picture(result.goal, result.compositions, fmt::format("{}", fmt::join(result.names, "/"))));
}

}  // namespace skein
