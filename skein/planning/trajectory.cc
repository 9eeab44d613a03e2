#include "skein/planning/trajectory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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
  const StateLayout at(e);
  std::string text = "epoch";
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    text += fmt::format(",site_{0},battery_{0}_J", u + 1);
  }
  text += ",duration,local_period,global_period,travel_J,reward,learning_objective,below_threshold\n";
  for (std::size_t i = 0; i < records.size(); ++i) {
    const EpochRecord& r = records[i];
    text += fmt::format("{}", i + 1);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      text += fmt::format(",{},{}", e.site_name(r.plan.destinations[u]), r.state[at.battery() + u]);
    }
    text += fmt::format(",{},{},{},{},{},{},{}\n", r.plan.timing.duration, r.plan.timing.local_period,
                        r.plan.timing.global_period, r.outcome.travel_j, r.outcome.reward,
                        r.outcome.learning_objective, r.outcome.below_threshold);
  }
  return text;
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
