#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "progress.h"
#include "skein/mission/dimensioning.h"
#include "text_table.h"
#include "tools.h"

namespace skein::app {
namespace {

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
    return usual_ranges(scenario);
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

std::string flown(const Composition& c) {
  return c.missions == 0   ? "-"
         : c.missions == 1 ? fmt::format("{:.1f}", c.accuracy_percent)
                           : fmt::format("{:.1f} ± {:.1f}", c.accuracy_percent, c.accuracy_deviation);
}

std::string remark(const Dimensioning& result, std::size_t i) {
  const Composition& c = result.compositions[i];
  return i == 0                                  ? "as the scenario is"
         : c.missions > 0 && !c.confirmed_within ? "over the budget"
         : c.missions > 0 && !c.rank.reaches     ? result.goal.shortfall()
                                                 : "";
}

std::string table_of(const Dimensioning& result) {
  std::vector<std::string> headers;
  for (const std::string& key : result.grid.keys) {
    headers.push_back("<" + key);
  }
  const bool by_the_clock = result.goal.by_the_clock();
  const auto add_worth = [&](std::vector<std::string>& row, const std::string& text) {
    if (result.goal.has_price()) {
      row.push_back(text);
    }
  };
  headers.insert(headers.end(), {"UAVs", "cost", by_the_clock ? "accuracy, pred. (%)" : "learning cost",
                                 by_the_clock ? "energy, pred. (kJ)" : "energy, est. (kJ)"});
  add_worth(headers, "less energy, pred. (%)");
  headers.insert(headers.end(), {"accuracy (%)", "worst (%)", "energy (kJ)"});
  add_worth(headers, "less energy (%)");
  headers.emplace_back("<");
  TextTable table(headers);
  for (const std::size_t i : result.chosen) {
    const Composition& c = result.compositions[i];
    std::vector<std::string> row = c.values;
    row.push_back(fmt::format("{:.1f}", c.uavs));
    row.push_back(fmt::format("{:.1f}", c.cost));
    row.push_back(by_the_clock ? fmt::format("{:.1f}", c.predicted_percent)
                               : fmt::format("{:.3f}", c.learning_cost));
    row.push_back(fmt::format("{:.0f}", c.energy_j / 1e3));
    add_worth(row, fmt::format("{:.1f}", c.predicted_rank.worth));
    row.push_back(flown(c));
    row.push_back(c.missions == 0 ? "-" : fmt::format("{:.1f}", c.worst_percent));
    row.push_back(c.missions == 0 ? "-" : fmt::format("{:.0f}", c.mission_energy_j / 1e3));
    add_worth(row, c.missions == 0 ? "-" : fmt::format("{:.1f}", c.rank.worth));
    row.push_back(remark(result, i));
    table.add(std::move(row));
  }
  return table.text();
}

void print(const Dimensioning& result) {
  const auto within = std::ranges::count_if(result.compositions, &Composition::within);
  fmt::print("{} compositions, {} within the budget by the planner's model; missions of the best:\n\n{}\n",
             result.compositions.size(), within, table_of(result));
  fmt::print("The model has {} of {} pairs of missions in the order of {}.\n", result.agreement.agree,
             result.agreement.pairs,
             result.goal.by_the_clock() ? "what the scenario wants" : "their accuracy");
  if (result.best) {
    std::string words;
    for (std::size_t i = 0; i < result.grid.keys.size(); ++i) {
      words +=
          fmt::format(" --set '{}={}'", result.grid.keys[i], result.compositions[*result.best].values[i]);
    }
    fmt::print("Best within the budget:{}\n", words);
  } else {
    const std::string missed = result.goal.shortfall();
    fmt::print("No mission stayed within the budget{}.\n", missed.empty() ? "" : ", or all are " + missed);
  }
  fmt::print("Wrote dimension.csv, dimension.json, dimension.svg and a directory per mission to {}\n",
             result.directory.string());
}

DimensioningSetup setup_of(const DimensionOptions& options) {
  const Scenario scenario = load(options.common);
  InputFaults faults;
  DimensioningSetup setup{.source = source_of(options.common),
                          .ranges = ranges_of(options, scenario, faults),
                          .prices = prices_of(options, scenario, faults),
                          .budget = {.most_uavs = options.most_uavs, .most_cost = options.most_cost},
                          .confirm = options.confirm,
                          .repeat = options.repeat,
                          .directory = options.common.out,
                          .num_threads = options.common.threads};
  if (options.most_energy_kj) {
    setup.budget.most_energy_j = 1e3 * *options.most_energy_kj;
  }
  faults.throw_if_any();
  return setup;
}

void dimension_command(const DimensionOptions& options) {
  const DimensioningSetup setup = setup_of(options);
  const Dimensioning result = [&] {
    Progress progress(options.common, "dimension");
    return dimension(setup, [&](std::string_view stage, double fraction) { progress.show(stage, fraction); });
  }();
  write_dimensioning(result);
  if (options.common.json()) {
    fmt::print("{}", dimensioning_json(result));
  } else if (options.common.talks()) {
    print(result);
  }
  if (!result.best) {
    leave_with(Exit::answer_is_no);
  }
}

}  // namespace

void add_dimension_command(Command& program) {
  auto options = std::make_shared<DimensionOptions>();
  Command* command = program.add_subcommand("dimension",
                                            "How many UAVs of which type to send: search within a budget; "
                                            "exit code 1 if nothing stays within it or "
                                            "reaches what the scenario wants");
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
      ->check(positive_number());
  command->add_option("--most-cost", options->most_cost, "Budget: prices of all UAVs")
      ->type_name("NUMBER")
      ->check(positive_number());
  command->add_option("--most-energy", options->most_energy_kj, "Budget: energy of the mission, in kJ")
      ->type_name("KJ")
      ->check(positive_number());
  command->add_option("--confirm", options->confirm, "Run missions of so many of the best")
      ->type_name("N")
      ->check(within(1, 1000))
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Seeds of each composition")
      ->type_name("N")
      ->check(within(1, 1000))
      ->capture_default_str();
  add_common_options(
      *command, options->common,
      "skein dimension scenarios/smoke.toml --vary worker=1..3 --vary swarms=1..2 --most-uavs 8\n"
      "What is finished is kept in runs/NAME-dimension, or in --out: stop it and go on.");
  command->callback([options] { dimension_command(*options); });
}

}  // namespace skein::app
