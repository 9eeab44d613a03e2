#include "skein/planning/trajectory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "skein/base/csv.h"

namespace skein {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Environment& e, const EpochRecord& record) {
  const StateLayout at(e);
  ordered_json swarms = ordered_json::array();
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    swarms.push_back({{"site", e.site_name(record.plan.destinations[u])},
                      {"active", static_cast<bool>(record.plan.active[u])},
                      {"battery_J", record.state[at.battery() + u]}});
  }
  return {{"swarms", swarms},
          {"duration", record.plan.timing.duration},
          {"local_period", record.plan.timing.local_period},
          {"global_period", record.plan.timing.global_period},
          {"travel_J", record.outcome.travel_j},
          {"reward", record.outcome.reward},
          {"learning_objective", record.outcome.learning_objective},
          {"below_threshold", record.outcome.below_threshold}};
}

}  // namespace

std::string trajectory_csv(const Environment& e, std::span<const EpochRecord> records) {
  using Row = const EpochRecord&;
  const std::size_t battery = StateLayout(e).battery();
  Columns<EpochRecord> columns{{"epoch", [&](Row r) { return &r - records.data() + 1; }}};
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    columns.add(fmt::format("site_{}", u + 1),
                [&e, u](Row r) { return e.site_name(r.plan.destinations[u]); });
    columns.add(fmt::format("battery_{}_J", u + 1), [u, battery](Row r) { return r.state[battery + u]; });
  }
  columns.add("duration", [](Row r) { return r.plan.timing.duration; });
  columns.add("local_period", [](Row r) { return r.plan.timing.local_period; });
  columns.add("global_period", [](Row r) { return r.plan.timing.global_period; });
  columns.add("travel_J", [](Row r) { return r.outcome.travel_j; });
  columns.add("reward", [](Row r) { return r.outcome.reward; });
  columns.add("learning_objective", [](Row r) { return r.outcome.learning_objective; });
  columns.add("below_threshold", [](Row r) { return r.outcome.below_threshold; });
  return columns.table(records);
}

std::string trajectory_json(std::string_view planner, const Environment& environment,
                            std::span<const EpochRecord> records) {
  ordered_json list = ordered_json::array();
  for (const EpochRecord& record : records) {
    list.push_back(to_json(environment, record));
  }
  return ordered_json{{"planner", planner}, {"reward", score(environment, records).reward}, {"epochs", list}}
             .dump(1) +
         "\n";
}

}  // namespace skein
