// `skein dimension`: how many UAVs of which type to send.
//
// Compositions are flown in the planner's model first (surrogate.h); the best few within the budget, and the
// scenario as it is, are then run as missions. Everything is kept in the points of a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

#include "progress.h"
#include "skein/base/chart.h"
#include "skein/base/csv.h"
#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/mission/headline_numbers.h"
#include "surrogate.h"
#include "sweep.h"
#include "text_table.h"
#include "tools.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_compositions = 2000;

struct DimensionOptions {
  CommonOptions common;
  std::vector<std::string> vary;    // worker=1..4, swarms=2..3
  std::vector<std::string> prices;  // worker=3
  std::optional<std::size_t> most_uavs{};
  std::optional<double> most_cost{};
  std::optional<double> most_energy_kj{};
  std::size_t confirm = 4;
  std::size_t repeat = 2;
};

// One composition, mean over seeds.
struct Candidate {
  std::vector<std::string> values;  // of the keys
  std::string message{};            // why it is impossible
  double uavs = 0.0;
  double cost = 0.0;
  double objective = 0.0, staleness = 0.0;  // of the surrogate
  double learning_cost = 0.0;               // from both; 1 for the scenario as it is
  double energy_j = 0.0;                    // estimated
  double recharges = 0.0;
  bool within = false;  // of the budget, by these numbers
  bool front = false;   // nothing within the budget has less learning cost and less energy
  std::size_t missions = 0;
  double accuracy_percent = 0.0, accuracy_deviation = 0.0, worst_percent = 0.0, mission_energy_j = 0.0;
  bool confirmed_within = false;
};

struct CountRange {
  std::string name;  // "swarms" or a type
  std::size_t low = 1, high = 1;
};

// "1..4"; nothing if it is not of this form.
std::optional<std::pair<std::size_t, std::size_t>> whole_range(const std::string& text) {
  std::pair<std::size_t, std::size_t> ends;
  const char* const last = text.data() + text.size();
  const auto low = std::from_chars(text.data(), last, ends.first);
  if (low.ec != std::errc{} || !std::string_view(low.ptr, last).starts_with("..")) {
    return std::nullopt;
  }
  const auto high = std::from_chars(low.ptr + 2, last, ends.second);
  if (high.ec != std::errc{} || high.ptr != last || ends.first > ends.second || ends.second > 10000) {
    return std::nullopt;
  }
  return ends;
}

std::vector<std::string> type_names(const Scenario& scenario, bool with_leaders) {
  std::vector<std::string> names;
  for (const UavType& type : scenario.swarms.types) {
    if (with_leaders || type.role != Role::leader) {
      names.push_back(type.name);
    }
  }
  return names;
}

std::vector<CountRange> ranges_of(const DimensionOptions& options, const Scenario& scenario,
                                  InputFaults& faults) {
  std::vector<std::string> known = type_names(scenario, false);
  std::vector<CountRange> ranges;
  if (options.vary.empty()) {
    for (const UavType& type : scenario.swarms.types) {
      if (type.role != Role::leader) {
        ranges.push_back({type.name, type.role == Role::worker ? std::size_t{1} : std::size_t{0},
                          type.role == Role::worker ? std::size_t{6} : std::size_t{2}});
      }
    }
    return ranges;
  }
  known.emplace_back("swarms");
  for (const std::string& text : options.vary) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto range = whole_range(equals == std::string::npos ? "" : text.substr(equals + 1));
    if (std::ranges::find(known, name) == known.end()) {
      faults.add({"", "--vary", text, fmt::format("must name one of {}", fmt::join(known, ", "))});
    } else if (!range) {
      faults.add({"", "--vary", text, "must have the form NAME=LEAST..MOST, e.g. worker=1..4"});
    } else if (std::ranges::find(ranges, name, &CountRange::name) != ranges.end()) {
      faults.add({"", "--vary", text, "names what is varied already"});
    } else {
      ranges.push_back({name, range->first, range->second});
    }
  }
  return ranges;
}

std::map<std::string, double> prices_of(const DimensionOptions& options, const Scenario& scenario,
                                        InputFaults& faults) {
  std::map<std::string, double> prices;
  for (const std::string& name : type_names(scenario, true)) {
    prices[name] = 1.0;
  }
  for (const std::string& text : options.prices) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    double price = -1.0;
    if (equals != std::string::npos) {
      const auto [end, error] = std::from_chars(text.data() + equals + 1, text.data() + text.size(), price);
      price = error == std::errc{} && end == text.data() + text.size() && std::isfinite(price) ? price : -1.0;
    }
    if (!prices.contains(name)) {
      faults.add({"", "--price", text,
                  fmt::format("must name one of {}", fmt::join(type_names(scenario, true), ", "))});
    } else if (price < 0.0) {
      faults.add({"", "--price", text, "must have the form TYPE=NUMBER, e.g. worker=2.5"});
    } else {
      prices[name] = price;
    }
  }
  return prices;
}

// The scenario as it is, then every combination.
SweepGrid compositions(const Scenario& scenario, const std::vector<CountRange>& ranges, std::size_t repeat) {
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
Json surrogate_of(const Sweep& sweep, std::size_t point) {
  const fs::path file = sweep.place_of(point) / "surrogate.json";
  std::string digest;
  Json json;
  try {
    const CommonOptions options = sweep.options_of(point);
    const Scenario scenario = load(options);
    digest = sha256(resolved_scenario(scenario));
    if (fs::exists(file)) {
      Json kept = read_json(file);
      if (kept.value("scenario_sha256", "") == digest) {
        return kept;
      }
    }
    const Surrogate s = with_file_named(options, [&] { return fly_surrogate(scenario); });
    json = {{"scenario_sha256", digest}, {"uavs", s.uavs},
            {"objective", s.objective},  {"staleness", s.staleness},
            {"energy_J", s.energy_j},    {"visits", s.visits},
            {"recharges", s.recharges},  {"below_threshold", s.below_threshold}};
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

std::vector<Candidate> fly_all(const Sweep& sweep, const std::map<std::string, double>& prices,
                               const std::function<void(double)>& progress) {
  const std::size_t count = sweep.grid.num_points();
  std::vector<Json> results(count);
  std::mutex mutex;
  std::size_t done = 0;
  ThreadPool(sweep.base.threads).parallel_for(count, [&](std::size_t point) {
    results[point] = surrogate_of(sweep, point);
    const std::lock_guard lock(mutex);
    progress(static_cast<double>(++done) / static_cast<double>(count));
  });
  std::vector<Candidate> candidates;
  const double share = 1.0 / static_cast<double>(sweep.grid.seeds.size());
  for (std::size_t point = 0; point < count; ++point) {
    if (point % sweep.grid.seeds.size() == 0) {
      candidates.push_back({.values = sweep.grid.cells[sweep.grid.cell_of(point)]});
    }
    Candidate& candidate = candidates.back();
    const Json& result = results[point];
    if (result.contains("impossible")) {
      candidate.message = result["impossible"].get<std::string>();
      continue;
    }
    for (const auto& [type, number] : result["uavs"].items()) {
      candidate.uavs += share * number.get<double>();
      candidate.cost += share * number.get<double>() * prices.at(type);
    }
    candidate.objective += share * result["objective"].get<double>();
    candidate.staleness += share * result["staleness"].get<double>();
    candidate.energy_j += share * result["energy_J"].get<double>();
    candidate.recharges += share * result["recharges"].get<double>();
  }
  // Neither number alone says how good models are: O what a visit brings, G how long it lasts. Both count
  // by their ratio to the scenario's own, since their scales have nothing to do with each other.
  const Candidate own = candidates.front();
  for (Candidate& c : candidates) {
    c.learning_cost = 0.5 * c.objective / own.objective +
                      0.5 * (own.staleness > 0.0 ? c.staleness / own.staleness : 1.0 + c.staleness);
  }
  return candidates;
}

// Runs missions of these candidates and takes over what comes out.
void confirm(const Sweep& all, std::vector<Candidate>& candidates, const std::vector<std::size_t>& chosen,
             const std::function<void(double)>& progress) {
  Sweep sweep = all;
  sweep.grid.cells.clear();
  for (const std::size_t i : chosen) {
    sweep.grid.cells.push_back(candidates[i].values);
  }
  write_grid(sweep);
  run_points(sweep, progress);
  const SweepTable table = collect_sweep(sweep.directory);
  write_table(table);
  for (std::size_t cell = 0; cell < chosen.size(); ++cell) {
    Candidate& candidate = candidates[chosen[cell]];
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
  }
}

void mark_front(std::vector<Candidate>& candidates) {
  for (Candidate& a : candidates) {
    a.front = a.within && std::ranges::none_of(candidates, [&](const Candidate& b) {
                return b.within && b.learning_cost <= a.learning_cost && b.energy_j <= a.energy_j &&
                       (b.learning_cost < a.learning_cost || b.energy_j < a.energy_j);
              });
  }
}

std::string name_of(const Candidate& candidate) {
  return fmt::format("{}", fmt::join(candidate.values, "/"));
}

std::string csv_of(const SweepGrid& grid, const std::vector<Candidate>& candidates) {
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
  for (const Candidate& c : candidates) {
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

std::string picture(const std::vector<Candidate>& candidates, const std::string& what) {
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
  for (const Candidate& c : candidates) {
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

std::string table_text(const SweepGrid& grid, const std::vector<Candidate>& candidates,
                       const std::vector<std::size_t>& order) {
  std::vector<std::string> headers;
  for (const std::string& key : grid.keys) {
    headers.push_back("<" + key);
  }
  for (const char* title : {"UAVs", "cost", "learning cost", "energy, est. (kJ)", "accuracy (%)", "worst (%)",
                            "energy (kJ)", "<"}) {
    headers.emplace_back(title);
  }
  TextTable table(headers);
  for (const std::size_t i : order) {
    const Candidate& c = candidates[i];
    std::vector<std::string> row = c.values;
    row.push_back(fmt::format("{:.1f}", c.uavs));
    row.push_back(fmt::format("{:.1f}", c.cost));
    row.push_back(fmt::format("{:.3f}", c.learning_cost));
    row.push_back(fmt::format("{:.0f}", c.energy_j / 1e3));
    row.push_back(c.missions == 0 ? "-"
                  : c.missions == 1
                      ? fmt::format("{:.1f}", c.accuracy_percent)
                      : fmt::format("{:.1f} ± {:.1f}", c.accuracy_percent, c.accuracy_deviation));
    row.push_back(c.missions == 0 ? "-" : fmt::format("{:.1f}", c.worst_percent));
    row.push_back(c.missions == 0 ? "-" : fmt::format("{:.0f}", c.mission_energy_j / 1e3));
    row.emplace_back(i == 0                                  ? "as the scenario is"
                     : c.missions > 0 && !c.confirmed_within ? "over the budget"
                                                             : "");
    table.add(std::move(row));
  }
  return table.text();
}

Json json_of(const SweepGrid& grid, const Candidate& c) {
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

// Pairs of missions that differ in accuracy: how many there are, and how many the model has in this order.
struct Agreement {
  std::size_t pairs = 0;
  std::size_t agree = 0;
};
Agreement agreement(const std::vector<Candidate>& candidates) {
  Agreement result;
  for (const Candidate& a : candidates) {
    for (const Candidate& b : candidates) {
      if (a.missions > 0 && b.missions > 0 && a.accuracy_percent > b.accuracy_percent) {
        ++result.pairs;
        result.agree += a.learning_cost < b.learning_cost;
      }
    }
  }
  return result;
}

void dimension(const DimensionOptions& options) {
  const CommonOptions& common = options.common;
  const Scenario scenario = load(common);
  InputFaults faults;
  const std::vector<CountRange> ranges = ranges_of(options, scenario, faults);
  const std::map<std::string, double> prices = prices_of(options, scenario, faults);
  faults.throw_if_any();
  const Sweep sweep{.base = common,
                    .grid = compositions(scenario, ranges, options.repeat),
                    .directory = common.out.empty() ? fs::path("runs") / (scenario.run.name + "-dimension")
                                                    : fs::path(common.out)};
  std::vector<std::string> names;
  std::ranges::transform(ranges, std::back_inserter(names), &CountRange::name);
  std::vector<Candidate> candidates;
  std::vector<std::size_t> chosen{0};
  {
    Progress progress(common, "dimension");
    candidates =
        fly_all(sweep, prices, [&](double fraction) { progress.show("the planner's model", fraction); });
    if (!candidates.front().message.empty()) {
      throw InputError({scenario_name(common), "", "", candidates.front().message});
    }
    // What the scenario's own swarms really spend tells how much too high the estimates are.
    confirm(sweep, candidates, chosen,
            [&](double fraction) { progress.show("the scenario as it is", fraction); });
    const Candidate& own = candidates.front();
    const double scale = own.missions > 0 ? own.mission_energy_j / own.energy_j : 1.0;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Candidate& c = candidates[i];
      c.energy_j *= scale;
      c.within = c.message.empty() &&
                 (!options.most_uavs || c.uavs <= static_cast<double>(*options.most_uavs)) &&
                 (!options.most_cost || c.cost <= *options.most_cost) &&
                 (!options.most_energy_kj || c.energy_j <= 1e3 * *options.most_energy_kj);
      if (i > 0 && c.within) {
        order.push_back(i);
      }
    }
    mark_front(candidates);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return candidates[i].learning_cost; });
    order.resize(std::min(order.size(), options.confirm));
    chosen.insert(chosen.end(), order.begin(), order.end());
    confirm(sweep, candidates, chosen, [&](double fraction) { progress.show("missions", fraction); });
  }
  std::optional<std::size_t> best;
  for (const std::size_t i : chosen) {
    Candidate& c = candidates[i];
    c.confirmed_within = c.within && c.missions > 0 &&
                         (!options.most_energy_kj || c.mission_energy_j <= 1e3 * *options.most_energy_kj);
    if (c.confirmed_within && (!best || c.accuracy_percent > candidates[*best].accuracy_percent)) {
      best = i;
    }
  }
  std::ranges::stable_sort(chosen, std::greater{},
                           [&](std::size_t i) { return candidates[i].accuracy_percent; });
  const Agreement agree = agreement(candidates);
  Json list = Json::array();
  for (const Candidate& candidate : candidates) {
    list.push_back(json_of(sweep.grid, candidate));
  }
  const Json json{{"keys", sweep.grid.keys},
                  {"seeds", sweep.grid.seeds},
                  {"best", best ? json_of(sweep.grid, candidates[*best]) : Json()},
                  {"surrogate_order", {{"pairs", agree.pairs}, {"as_missions", agree.agree}}},
                  {"compositions", list},
                  {"directory", sweep.directory.string()}};
  write_file(sweep.directory / "dimension.csv", csv_of(sweep.grid, candidates));
  write_file(sweep.directory / "dimension.json", json.dump(1) + "\n");
  write_file(sweep.directory / "dimension.svg",
             picture(candidates, fmt::format("{}", fmt::join(names, "/"))));
  if (common.json()) {
    fmt::print("{}\n", json.dump(1));
  } else if (common.talks()) {
    const auto within = std::ranges::count_if(candidates, &Candidate::within);
    fmt::print("{} compositions, {} within the budget by the planner's model; missions of the best:\n\n{}\n",
               candidates.size(), within, table_text(sweep.grid, candidates, chosen));
    fmt::print("The model has {} of {} pairs of missions in the order of their accuracy.\n", agree.agree,
               agree.pairs);
    if (best) {
      std::string words;
      for (std::size_t i = 0; i < sweep.grid.keys.size(); ++i) {
        words += fmt::format(" --set '{}={}'", sweep.grid.keys[i], candidates[*best].values[i]);
      }
      fmt::print("Best within the budget:{}\n", words);
    } else {
      fmt::print("No mission stayed within the budget.\n");
    }
    fmt::print("Wrote dimension.csv, dimension.json, dimension.svg and a directory per mission to {}\n",
               sweep.directory.string());
  }
  if (!best) {
    throw CLI::RuntimeError(static_cast<int>(Exit::answer_is_no));
  }
}

}  // namespace

void add_dimension_command(CLI::App& program) {
  auto options = std::make_shared<DimensionOptions>();
  CLI::App* command = program.add_subcommand(
      "dimension",
      "How many UAVs of which type to send: search within a budget; exit code 1 if nothing stays within it");
  add_scenario(*command, options->common);
  command
      ->add_option(
          "--vary", options->vary,
          "Counts to try: of a UAV type in each swarm, or of swarms; may be repeated. Without: 1 to 6 "
          "of each type of worker, 0 to 2 of each type of coordinator")
      ->type_name("NAME=LEAST..MOST")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--price", options->prices, "Of a UAV of this type, in any currency; default 1")
      ->type_name("TYPE=NUMBER")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--most-uavs", options->most_uavs, "Budget: UAVs in all swarms")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_option("--most-cost", options->most_cost, "Budget: prices of all UAVs")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  command->add_option("--most-energy", options->most_energy_kj, "Budget: energy of the mission, in kJ")
      ->type_name("KJ")
      ->check(CLI::PositiveNumber);
  command->add_option("--confirm", options->confirm, "Run missions of so many of the best")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Seeds of each composition")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_common_options(
      *command, options->common,
      "skein dimension scenarios/smoke.toml --vary worker=1..3 --vary swarms=1..2 --most-uavs 8\n"
      "What is finished is kept in runs/NAME-dimension, or in --out: stop it and go on.");
  command->callback([options] { dimension(*options); });
}

}  // namespace skein::app
