#include "skein/mission/dimensioning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/base/thread_pool.h"
#include "skein/base/with_file_named.h"
#include "skein/mission/headline_numbers.h"
#include "skein/mission/surrogate.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_compositions = 2000;

// The scenario as it is, then every combination.
SweepGrid composition_grid(const Scenario& scenario, const std::vector<CountRange>& ranges,
                           std::size_t repeat) {
  SweepGrid grid{.keys = {}, .cells = {{}}, .seeds = {}};
  std::vector<std::string> own;
  for (const CountRange& range : ranges) {
    grid.keys.push_back(range.name == "swarms" ? "swarms.count"
                                               : fmt::format("swarms.types.{}.count", range.name));
    const auto type = std::ranges::find(scenario.swarms.types, range.name, &UavType::name);
    own.push_back(range.name == "swarms" ? fmt::format("{}", scenario.swarms.count)
                                         : type->count.spread.to_toml());
    std::vector<std::vector<std::string>> finer;
    for (const auto& cell : grid.cells) {
      for (std::size_t count = range.low; count <= range.high; ++count) {
        finer.push_back(cell);
        finer.back().push_back(fmt::format("{}", count));
      }
    }
    grid.cells = std::move(finer);
    if (grid.cells.size() > most_compositions) {
      throw InputError({"", "--vary", "", fmt::format("makes more than {} compositions", most_compositions)});
    }
  }
  std::erase(grid.cells, own);
  grid.cells.insert(grid.cells.begin(), own);
  for (std::size_t i = 0; i < repeat; ++i) {
    grid.seeds.push_back(scenario.run.seed + i);
  }
  return grid;
}

// Of a point: read if it was flown before, flown now otherwise; what is impossible says why.
Json surrogate_of(const Sweep& sweep, std::size_t point, const std::optional<ClusterForecast>& forecast) {
  const fs::path file = sweep.place_of(point) / "surrogate.json";
  const Json assumed = forecast ? Json{{"visited_accuracy_percent", 100.0 * forecast->visited_accuracy},
                                       {"loss_per_hour_percent", 3600.0 * 100.0 * forecast->loss_per_s}}
                                : Json();
  std::string digest;
  Json json;
  try {
    const ScenarioSource source = sweep.source_of(point);
    const Scenario scenario = load_scenario(source);
    digest = sha256(resolved_scenario(scenario));
    if (fs::exists(file)) {
      Json kept = read_json(file);
      if (kept.value("scenario_sha256", "") == digest && kept.value("forecast", Json()) == assumed) {
        return kept;
      }
    }
    const Surrogate s = with_file_named(source.name(), [&] {
      return forecast ? fly_surrogate(scenario, *forecast) : fly_surrogate(scenario);
    });
    if (forecast) {
      json = {{"scenario_sha256", digest},
              {"forecast", assumed},
              {"uavs", s.uavs},
              {"accuracy_percent", s.accuracy_percent},
              {"energy_J", s.energy_j},
              {"hours", s.hours},
              {"visits", s.visits},
              {"recharges", s.recharges},
              {"below_threshold", s.below_threshold}};
    } else {
      json = {{"scenario_sha256", digest}, {"uavs", s.uavs},
              {"objective", s.objective},  {"staleness", s.staleness},
              {"energy_J", s.energy_j},    {"visits", s.visits},
              {"recharges", s.recharges},  {"below_threshold", s.below_threshold}};
    }
    if (!std::isfinite(s.objective)) {
      json["impossible"] = "its swarms never train";
    } else if (s.below_threshold > 0) {
      json["impossible"] = "its swarms fall below their threshold";
    }
  } catch (const InputError& error) {
    json = {{"scenario_sha256", digest}, {"impossible", error.what()}};
  }
  write_file(file, json.dump(1) + "\n");
  return json;
}

double price_of(const DimensioningSetup& setup, const std::string& type) {
  const auto price = setup.prices.find(type);
  return price == setup.prices.end() ? 1.0 : price->second;
}

void fly_all(const Sweep& sweep, const DimensioningSetup& setup,
             const std::optional<ClusterForecast>& forecast, std::vector<Composition>& candidates,
             FractionListener progress) {
  const std::size_t count = sweep.grid.num_points();
  std::vector<Json> results(count);
  std::mutex mutex;
  std::size_t done = 0;
  ThreadPool(setup.num_threads).parallel_for(count, [&](std::size_t point) {
    results[point] = surrogate_of(sweep, point, forecast);
    const std::lock_guard lock(mutex);
    progress(static_cast<double>(++done) / static_cast<double>(count));
  });
  const double share = 1.0 / static_cast<double>(sweep.grid.seeds.size());
  for (std::size_t point = 0; point < count; ++point) {
    Composition& candidate = candidates[sweep.grid.cell_of(point)];
    const Json& result = results[point];
    if (result.contains("impossible")) {
      candidate.message = result["impossible"].get<std::string>();
      continue;
    }
    for (const auto& [type, number] : result["uavs"].items()) {
      candidate.uavs += share * number.get<double>();
      candidate.cost += share * number.get<double>() * price_of(setup, type);
    }
    if (forecast) {
      candidate.predicted_percent += share * result["accuracy_percent"].get<double>();
      candidate.hours += share * result["hours"].get<double>();
      candidate.visits += share * result["visits"].get<double>();
    } else {
      candidate.objective += share * result["objective"].get<double>();
      candidate.staleness += share * result["staleness"].get<double>();
    }
    candidate.energy_j += share * result["energy_J"].get<double>();
    candidate.recharges += share * result["recharges"].get<double>();
  }
}

void add_learning_costs(std::vector<Composition>& candidates) {
  // Neither number alone says how good models are: O what a visit brings, G how long it lasts. Both count
  // by their ratio to the scenario's own, since their scales have nothing to do with each other.
  const Composition own = candidates.front();
  for (Composition& c : candidates) {
    c.learning_cost = 0.5 * c.objective / own.objective +
                      0.5 * (own.staleness > 0.0 ? c.staleness / own.staleness : 1.0 + c.staleness);
  }
}

// Runs missions of these candidates and takes over what comes out.
void confirm(const Sweep& all, std::size_t num_threads, const DimensioningGoal& goal,
             const std::vector<std::size_t>& chosen, std::vector<Composition>& candidates,
             FractionListener progress) {
  Sweep sweep = all;
  sweep.grid.cells.clear();
  for (const std::size_t i : chosen) {
    sweep.grid.cells.push_back(candidates[i].values);
  }
  write_grid(sweep);
  run_points(sweep, num_threads, alone(), progress);
  const SweepTable table = collect_sweep(sweep.directory);
  write_table(table);
  for (std::size_t cell = 0; cell < chosen.size(); ++cell) {
    Composition& candidate = candidates[chosen[cell]];
    const std::vector<double> accuracy = table.values(cell, "mean_accuracy_percent");
    candidate.missions = accuracy.size();
    if (accuracy.empty()) {
      continue;
    }
    const MeanInterval m = mean_interval(accuracy);
    candidate.accuracy_percent = m.mean;
    candidate.accuracy_deviation = m.deviation;
    candidate.worst_percent = mean_interval(table.values(cell, "worst_cluster_accuracy_percent")).mean;
    candidate.mission_energy_j = mean_interval(table.values(cell, "energy_J")).mean;
    candidate.mission_visits = mean_interval(table.values(cell, "visits")).mean;
    candidate.rank = goal.rank({candidate.accuracy_percent, candidate.mission_energy_j,
                                mean_interval(table.values(cell, "duration_s")).mean / 3600.0});
  }
}

// By the planner's model: the less the better.
double badness(const DimensioningGoal& goal, const Composition& c) {
  return goal.by_the_clock() ? -c.predicted_percent : c.learning_cost;
}
bool is_better(const DimensioningGoal& goal, const Composition& a, const Composition& b) {
  return goal.by_the_clock() ? a.predicted_rank > b.predicted_rank : a.learning_cost < b.learning_cost;
}

void mark_front(const DimensioningGoal& goal, std::vector<Composition>& candidates) {
  for (Composition& a : candidates) {
    a.front = a.within && std::ranges::none_of(candidates, [&](const Composition& b) {
                const double more = badness(goal, b) - badness(goal, a);
                return b.within && more <= 0.0 && b.energy_j <= a.energy_j &&
                       (more < 0.0 || b.energy_j < a.energy_j);
              });
  }
}

OrderAgreement agreement_of(const DimensioningGoal& goal, const std::vector<Composition>& candidates) {
  OrderAgreement result;
  for (const Composition& a : candidates) {
    for (const Composition& b : candidates) {
      if (a.missions > 0 && b.missions > 0 && a.rank > b.rank) {
        ++result.pairs;
        result.agree += is_better(goal, a, b) ? 1 : 0;
      }
    }
  }
  return result;
}

// Marks those within the budget by the planner's model, and returns them without the scenario's own, the best
// first.
std::vector<std::size_t> within_budget(const Budget& budget, const DimensioningGoal& goal,
                                       std::vector<Composition>& candidates) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Composition& c = candidates[i];
    c.within = c.message.empty() && (!budget.most_uavs || c.uavs <= static_cast<double>(*budget.most_uavs)) &&
               (!budget.most_cost || c.cost <= *budget.most_cost) &&
               (!budget.most_energy_j || c.energy_j <= *budget.most_energy_j);
    if (i > 0 && c.within) {
      order.push_back(i);
    }
  }
  mark_front(goal, candidates);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return is_better(goal, candidates[a], candidates[b]); });
  return order;
}

// The best mission that stayed within the budget and reached what is wanted.
std::optional<std::size_t> best_of(const Budget& budget, const std::vector<std::size_t>& chosen,
                                   std::vector<Composition>& candidates) {
  std::optional<std::size_t> best;
  for (const std::size_t i : chosen) {
    Composition& c = candidates[i];
    c.confirmed_within =
        c.within && c.missions > 0 && (!budget.most_energy_j || c.mission_energy_j <= *budget.most_energy_j);
    if (c.confirmed_within && c.rank.reaches && (!best || c.rank > candidates[*best].rank)) {
      best = i;
    }
  }
  return best;
}

// By the missions of the scenario as it is, where they were run.
ClusterForecast forecast_of(const Sweep& sweep, const Scenario& scenario, const Composition& own) {
  std::vector<fs::path> runs;
  for (std::size_t point = 0; own.missions > 0 && point < sweep.grid.seeds.size(); ++point) {
    if (read_point(sweep.place_of(point)).status == PointStatus::finished) {
      runs.push_back(sweep.place_of(point));
    }
  }
  return flown_forecast(scenario, runs);
}

}  // namespace

std::vector<CountRange> usual_ranges(const Scenario& scenario) {
  std::vector<CountRange> ranges;
  for (const UavType& type : scenario.swarms.types) {
    if (type.role != Role::leader) {
      ranges.push_back({type.name, type.role == Role::worker ? std::size_t{1} : std::size_t{0},
                        type.role == Role::worker ? std::size_t{6} : std::size_t{2}});
    }
  }
  return ranges;
}

Dimensioning dimension(const DimensioningSetup& setup, const DimensioningProgress& progress) {
  const Scenario scenario = load_scenario(setup.source);
  const Sweep sweep{.base = setup.source,
                    .grid = composition_grid(scenario, setup.ranges, setup.repeat),
                    .directory = setup.directory.empty()
                                     ? fs::path("runs") / (scenario.run.name + "-dimension")
                                     : setup.directory};
  Dimensioning result{
      .grid = sweep.grid, .goal = DimensioningGoal(scenario), .directory = sweep.directory, .chosen = {0}};
  const DimensioningGoal& goal = result.goal;
  std::ranges::transform(setup.ranges, std::back_inserter(result.names), &CountRange::name);
  const auto stage = [&](const char* name) {
    return [&progress, name](double fraction) { progress(name, fraction); };
  };
  std::vector<Composition>& candidates = result.compositions;
  for (const std::vector<std::string>& cell : sweep.grid.cells) {
    candidates.push_back({.values = cell});
  }
  const auto confirm_chosen = [&](const char* name) {
    confirm(sweep, setup.num_threads, goal, result.chosen, candidates, stage(name));
  };
  constexpr const char* model = "the planner's model";
  // What the scenario's own swarms really spend tells how much too high the estimates are.
  constexpr const char* as_it_is = "the scenario as it is";
  if (goal.by_the_clock()) {
    confirm_chosen(as_it_is);
    fly_all(sweep, setup, forecast_of(sweep, scenario, candidates.front()), candidates, stage(model));
  } else {
    fly_all(sweep, setup, std::nullopt, candidates, stage(model));
  }
  if (!candidates.front().message.empty()) {
    throw InputError({setup.source.name(), "", "", candidates.front().message});
  }
  if (!goal.by_the_clock()) {
    add_learning_costs(candidates);
    confirm_chosen(as_it_is);
  }
  const Composition& own = candidates.front();
  const double scale = own.missions > 0 ? own.mission_energy_j / own.energy_j : 1.0;
  for (Composition& c : candidates) {
    c.energy_j *= scale;
    c.predicted_rank = goal.rank({c.predicted_percent, c.energy_j, c.hours});
  }
  std::vector<std::size_t> order = within_budget(setup.budget, goal, candidates);
  order.resize(std::min(order.size(), setup.confirm));
  result.chosen.insert(result.chosen.end(), order.begin(), order.end());
  confirm_chosen("missions");
  result.best = best_of(setup.budget, result.chosen, candidates);
  std::ranges::stable_sort(result.chosen, std::greater{}, [&](std::size_t i) { return candidates[i].rank; });
  result.agreement = agreement_of(goal, candidates);
  return result;
}

}  // namespace skein
