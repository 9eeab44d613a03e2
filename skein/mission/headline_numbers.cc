#include "skein/mission/headline_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"

namespace skein {
namespace {

using Json = nlohmann::ordered_json;
using Number = std::variant<std::monostate, double, std::uint64_t>;

// Energy by kind stands behind this number, in files and tables.
constexpr const char* energy = "energy_J";

bool is_known(const Number& value) { return !std::holds_alternative<std::monostate>(value); }

// Of one that is known.
std::string line_text(const HeadlineNumber& number, const Number& value) {
  const auto* count = std::get_if<std::uint64_t>(&value);
  return count != nullptr ? fmt::format("{}", *count) : number.text(std::get<double>(value));
}

}  // namespace

std::string HeadlineNumber::text(double value) const {
  return fmt::format("{:.{}f}", factor * value, digits);
}

const std::vector<HeadlineNumber>& headline_numbers() {
  static const std::vector<HeadlineNumber> list{
      {.name = "sequences", .of = [](const Headline& h) -> Number { return h.sequences; }},
      {.name = "duration_s",
       .of = [](const Headline& h) -> Number { return h.duration_s; },
       .place = 16,
       .line = "simulated time",
       .unit = "s",
       .digits = 0},
      {.name = "mean_accuracy_percent",
       .of = [](const Headline& h) -> Number { return 100.0 * h.mean_accuracy; },
       .place = 1,
       .line = "accuracy of clusters' models, mean over time",
       .unit = "%",
       .column = "accuracy (%)"},
      {.name = "worst_cluster_accuracy_percent",
       .of = [](const Headline& h) -> Number { return 100.0 * h.worst_accuracy; },
       .place = 2,
       .line = "of the worst cluster",
       .unit = "%",
       .column = "worst (%)"},
      {.name = "last_accuracy_percent",
       .of = [](const Headline& h) -> Number { return 100.0 * h.last_accuracy; },
       .place = 3,
       .line = "at the end",
       .unit = "%",
       .column = "end (%)"},
      {.name = "oracle_accuracy_percent",
       .of = [](const Headline& h) -> Number {
         return h.oracle_accuracy ? Number(100.0 * *h.oracle_accuracy) : Number();
       },
       .place = 4,
       .line = "of an oracle: unlimited data, true label mixes",
       .unit = "%"},
      {.name = "mean_age_sequences",
       .of = [](const Headline& h) -> Number { return h.mean_age; },
       .place = 5,
       .line = "age of models, mean",
       .unit = "sequences",
       .column = "age (seq.)",
       .digits = 2},
      {.name = "mean_reward",
       .of = [](const Headline& h) -> Number { return h.mean_reward; },
       .place = 6,
       .column = "reward"},
      {.name = "visits",
       .of = [](const Headline& h) -> Number { return h.visits; },
       .place = 11,
       .line = "visits to clusters",
       .column = "visits"},
      {.name = "visits_without_training",
       .of = [](const Headline& h) -> Number { return h.idle_visits; },
       .place = 21,
       .line = "visits without training",
       .of_faults = true},
      {.name = "recharges",
       .of = [](const Headline& h) -> Number { return h.recharges; },
       .place = 12,
       .line = "visits to stations",
       .column = "recharges"},
      {.name = "distance_m",
       .of = [](const Headline& h) -> Number { return h.distance_m; },
       .place = 13,
       .line = "flown by swarms",
       .unit = "km",
       .column = "flown (km)",
       .factor = 1e-3},
      {.name = energy,
       .of = [](const Headline& h) -> Number { return h.energy_j; },
       .place = 7,
       .line = "energy",
       .unit = "kJ",
       .column = "energy (kJ)",
       .factor = 1e-3},
      {.name = "hovering_training_J",
       .of = [](const Headline& h) -> Number { return h.hovering.training_j; },
       .place = 8,
       .line = "hovering while training and handing over",
       .unit = "kJ",
       .factor = 1e-3},
      {.name = "hovering_leader_away_J",
       .of = [](const Headline& h) -> Number { return h.hovering.leader_away_j; },
       .place = 9,
       .line = "hovering while the leader was away",
       .unit = "kJ",
       .factor = 1e-3},
      {.name = "hovering_waiting_J",
       .of = [](const Headline& h) -> Number { return h.hovering.waiting_j; },
       .place = 10,
       .line = "hovering while waiting for other swarms",
       .unit = "kJ",
       .factor = 1e-3},
      {.name = "recharged_J", .of = [](const Headline& h) -> Number { return h.recharged_j; }},
      {.name = "data_Mbit",
       .of = [](const Headline& h) -> Number { return h.data_bits / 1e6; },
       .place = 14,
       .line = "data sent",
       .unit = "MB",
       .factor = 1.0 / 8.0},
      {.name = "model_Mbit",
       .of = [](const Headline& h) -> Number { return h.model_bits / 1e6; },
       .place = 15,
       .line = "models sent",
       .unit = "MB",
       .factor = 1.0 / 8.0},
      {.name = "swarms_below_threshold",
       .of = [](const Headline& h) -> Number { return h.below_threshold; },
       .place = 17,
       .line = "swarms below their threshold"},
      {.name = "shortfall_J", .of = [](const Headline& h) -> Number { return h.shortfall_j; }},
      {.name = "messages", .of = [](const Headline& h) -> Number { return h.messages; }},
      {.name = "refused_messages", .of = [](const Headline& h) -> Number { return h.refused_messages; }},
      {.name = "faults",
       .of = [](const Headline& h) -> Number { return h.faults; },
       .place = 18,
       .line = "faults and their consequences (events.jsonl)",
       .of_faults = true},
      {.name = "rejected_updates",
       .of = [](const Headline& h) -> Number { return h.rejected_updates; },
       .place = 19,
       .line = "models rejected by the core network",
       .of_faults = true},
      {.name = "updates_without_access_point",
       .of = [](const Headline& h) -> Number { return h.unreachable_updates; },
       .place = 20,
       .line = "models that found no access point",
       .of_faults = true},
  };
  return list;
}

namespace {

// Those that people see, in their order.
std::vector<HeadlineNumber> in_place(std::string HeadlineNumber::*called) {
  std::vector<HeadlineNumber> list = headline_numbers();
  std::erase_if(list, [&](const HeadlineNumber& number) { return (number.*called).empty(); });
  std::ranges::sort(list, {}, &HeadlineNumber::place);
  return list;
}

}  // namespace

const std::vector<HeadlineNumber>& headline_columns() {
  static const std::vector<HeadlineNumber> list = in_place(&HeadlineNumber::column);
  return list;
}

std::vector<HeadlineLine> headline_lines(const Headline& headline) {
  std::vector<HeadlineLine> lines;
  for (const HeadlineNumber& number : in_place(&HeadlineNumber::line)) {
    const Number value = number.of(headline);
    if (is_known(value) && (!number.of_faults || headline.faults > 0)) {
      lines.push_back({number.line, line_text(number, value), number.unit});
    }
    if (number.name == energy) {
      for (const auto& [kind, joules] : headline.energy_by_kind_j) {
        const int digits = joules < 100.0 ? 4 : number.digits;
        lines.push_back({"  " + kind, fmt::format("{:.{}f}", number.factor * joules, digits), number.unit});
      }
    }
  }
  return lines;
}

Json summary_of(const Scenario& scenario, const Headline& headline) {
  Json summary{{"name", scenario.run.name}, {"seed", scenario.run.seed}};
  for (const HeadlineNumber& number : headline_numbers()) {
    const Number value = number.of(headline);
    if (const auto* real = std::get_if<double>(&value)) {
      summary[number.name] = *real;
    } else if (const auto* count = std::get_if<std::uint64_t>(&value)) {
      summary[number.name] = *count;
    }
    if (number.name == energy) {
      Json& kinds = summary["energy_by_kind"];
      for (const auto& [kind, joules] : headline.energy_by_kind_j) {
        kinds[kind + "_J"] = joules;
      }
    }
  }
  return summary;
}

std::vector<std::pair<std::string, double>> numbers_of(const Json& summary) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [name, value] : summary.items()) {
    if (value.is_number() && name != "seed") {
      numbers.emplace_back(name, value.get<double>());
    } else if (value.is_object()) {
      for (const auto& [inner, number] : numbers_of(value)) {
        numbers.emplace_back(name + "." + inner, number);
      }
    }
  }
  return numbers;
}

Json read_json(const std::filesystem::path& file) {
  Json json = Json::parse(read_file(file, std::size_t{1} << 28U), nullptr, false);
  if (!json.is_object()) {
    throw InputError({file.string(), "", "", "is not a JSON object"});
  }
  return json;
}

}  // namespace skein
