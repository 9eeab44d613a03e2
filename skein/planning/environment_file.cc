#include "skein/planning/environment_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "skein/base/file.h"

namespace skein {
namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{256} << 20U;

// Reads members of an object and collects what is wrong.
class Reader {
 public:
  Reader(std::string file, InputFaults& faults) : file_(std::move(file)), faults_(faults) {}

  void fault(const std::string& key, const std::string& value, const std::string& message) {
    faults_.add({.file = file_, .key = key, .value = value, .message = message});
  }
  const json* find(const json& object, const std::string& path, const std::string& key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end()) {
      fault(path + key, "", "is missing");
      return nullptr;
    }
    return &*found;
  }
  double number(const json& object, const std::string& path, const std::string& key) {
    const json* value = find(object, path, key);
    return value == nullptr ? 0.0 : number_of(*value, path + key);
  }
  // A list, or a list of lists, row by row; each list must have the size of its level.
  std::vector<double> numbers(const json& object, const std::string& path, const std::string& key,
                              const std::vector<std::size_t>& sizes) {
    std::vector<double> all;
    if (const json* value = find(object, path, key)) {
      flatten(*value, path + key, sizes, 0, all);
    }
    return all;
  }
  // Whole numbers below `bound`.
  std::vector<Site> sites(const json& object, const std::string& path, const std::string& key,
                          std::size_t count, std::size_t bound) {
    std::vector<Site> all;
    for (const double value : numbers(object, path, key, {count})) {
      if (value < 0.0 || value >= static_cast<double>(bound) || std::floor(value) != value) {
        fault(path + key, fmt::format("{:g}", value), fmt::format("must be a site from 0 to {}", bound - 1));
        all.push_back(0);
      } else {
        all.push_back(static_cast<Site>(value));
      }
    }
    if (std::set<Site>(all.begin(), all.end()).size() != all.size()) {
      fault(path + key, "", "has two swarms at one site");
    }
    return all;
  }

 private:
  double number_of(const json& value, const std::string& key) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fault(key, value.dump().substr(0, 40), "must be a number");
      return 0.0;
    }
    return value.get<double>();
  }
  void flatten(const json& value, const std::string& key, const std::vector<std::size_t>& sizes,
               std::size_t level, std::vector<double>& all) {
    if (level == sizes.size()) {
      all.push_back(number_of(value, key));
      return;
    }
    if (!value.is_array() || value.size() != sizes[level]) {
      fault(key, value.is_array() ? fmt::format("{} entries", value.size()) : value.dump().substr(0, 40),
            fmt::format("must be a list of {} entries", sizes[level]));
      return;
    }
    for (const json& entry : value) {
      flatten(entry, key, sizes, level + 1, all);
    }
  }

  std::string file_;
  InputFaults& faults_;
};

std::size_t size_of(const json& root, const char* key) {
  return root.contains(key) && root[key].is_array() ? root[key].size() : 0;
}

SolvedTables read_tables(Reader& read, const json& root, std::size_t swarms, std::size_t clusters) {
  SolvedTables tables{.num_swarms = swarms, .num_clusters = clusters};
  const std::size_t count = size_of(root, "timings");
  const std::vector<double> timings = read.numbers(root, "", "timings", {count, 3});
  for (std::size_t t = 0; 3 * t + 2 < timings.size(); ++t) {
    tables.timings.push_back({timings[3 * t], timings[3 * t + 1], timings[3 * t + 2]});
  }
  tables.objective = read.numbers(root, "", "objective", {count, swarms, clusters});
  tables.training_energy_j = read.numbers(root, "", "training_energy_j", {count, swarms, clusters});
  return tables;
}

RewardOptions read_reward(Reader& read, const json& root) {
  const json* reward = read.find(root, "", "reward");
  if (reward == nullptr) {
    return {};
  }
  const auto number = [&](const char* key) { return read.number(*reward, "reward.", key); };
  return {.scale = number("C"),
          .objective_weight = number("c1"),
          .gradient_weight = number("c2"),
          .travel_weight = number("c3"),
          .penalty = number("penalty"),
          .recharge_cost = number("idle_cost"),
          .age_cap = number("age_cap")};
}

TraceEpoch read_epoch(Reader& read, const json& entry, std::size_t index, const Environment& e) {
  const std::string path = fmt::format("trace[{}].", index);
  TraceEpoch epoch{.drift = read.numbers(entry, path, "drift", {e.num_clusters}),
                   .destinations = read.sites(entry, path, "destination", e.num_swarms, e.num_sites()),
                   .reward = read.number(entry, path, "reward"),
                   .learning_objective = read.number(entry, path, "learning_objective"),
                   .battery_j = read.numbers(entry, path, "battery_j", {e.num_swarms}),
                   .ages = read.numbers(entry, path, "age", {e.num_clusters})};
  const double timing = read.number(entry, path, "timing");
  if (timing < 0.0 || timing >= static_cast<double>(e.tables.timings.size()) ||
      std::floor(timing) != timing) {
    read.fault(path + "timing", fmt::format("{:g}", timing), "must be an index of timings");
  } else {
    epoch.timing = static_cast<std::size_t>(timing);
  }
  epoch.below_threshold =
      static_cast<std::size_t>(std::max(0.0, read.number(entry, path, "below_threshold")));
  return epoch;
}

json parse(std::string_view text, const std::string& file) {
  json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object()) {
    throw InputError(InputFault{.file = file, .message = "is no JSON object, or not whole"});
  }
  return root;
}

void with_file(const std::vector<InputFault>& found, const std::string& file, InputFaults& faults) {
  for (InputFault fault : found) {
    fault.file = file;
    faults.add(std::move(fault));
  }
}

// Timing x swarm x cluster.
nlohmann::ordered_json nested(const SolvedTables& tables, const std::vector<double>& values) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t t = 0; t < tables.timings.size(); ++t) {
    nlohmann::ordered_json swarms = nlohmann::ordered_json::array();
    for (std::size_t u = 0; u < tables.num_swarms; ++u) {
      nlohmann::ordered_json clusters = nlohmann::ordered_json::array();
      for (std::size_t c = 0; c < tables.num_clusters; ++c) {
        clusters.push_back(values[tables.index(t, u, c)]);
      }
      swarms.push_back(std::move(clusters));
    }
    all.push_back(std::move(swarms));
  }
  return all;
}

}  // namespace

EnvironmentFile parse_environment(std::string_view text, const std::string& name) {
  const json root = parse(text, name);
  InputFaults faults;
  Reader read(name, faults);
  EnvironmentFile file;
  Environment& e = file.environment;
  const std::size_t sites = size_of(root, "distance_m");
  e.num_clusters = size_of(root, "drift");
  e.num_stations = sites > e.num_clusters ? sites - e.num_clusters : 0;
  const json* start = read.find(root, "", "start");
  e.num_swarms = start != nullptr && start->is_object() ? size_of(*start, "position") : 0;
  e.distance_m = read.numbers(root, "", "distance_m", {sites, sites});
  const double power = read.number(root, "", "move_power_w");
  const double speed = read.number(root, "", "speed_mps");
  if (!(speed > 0.0)) {
    read.fault("speed_mps", fmt::format("{:g}", speed), "must be above 0");
  }
  e.capacity_j.assign(e.num_swarms, read.number(root, "", "battery_capacity_j"));
  e.threshold_j.assign(e.num_swarms, read.number(root, "", "threshold_j"));
  e.drift.start = read.numbers(root, "", "drift", {e.num_clusters});
  e.drift.end = e.drift.start;
  e.reward = read_reward(read, root);
  e.tables = read_tables(read, root, e.num_swarms, e.num_clusters);
  faults.throw_if_any();
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    for (const double distance : e.distance_m) {
      e.travel_j.push_back(distance / speed * power);
    }
  }
  with_file(faults_of(e), name, faults);
  faults.throw_if_any();

  const StateLayout at(e);
  const std::vector<Site> positions = read.sites(*start, "start.", "position", e.num_swarms, sites);
  const std::vector<double> ages = read.numbers(*start, "start.", "age", {e.num_clusters});
  const std::vector<double> batteries = read.numbers(*start, "start.", "battery_j", {e.num_swarms});
  faults.throw_if_any();
  file.start.resize(at.size());
  start_at(e, positions, file.start);
  std::ranges::copy(ages, file.start.begin() + static_cast<std::ptrdiff_t>(at.age()));
  std::ranges::copy(batteries, file.start.begin() + static_cast<std::ptrdiff_t>(at.battery()));
  if (root.contains("trace")) {
    if (!root["trace"].is_array()) {
      read.fault("trace", "", "must be a list");
    } else {
      for (std::size_t i = 0; i < root["trace"].size(); ++i) {
        file.trace.push_back(read_epoch(read, root["trace"][i], i, e));
      }
    }
  }
  faults.throw_if_any();
  return file;
}

EnvironmentFile load_environment(const std::filesystem::path& file) {
  return parse_environment(read_file(file, most_bytes), file.string());
}

SolvedTables load_tables(const std::filesystem::path& file) {
  const json root = parse(read_file(file, most_bytes), file.string());
  InputFaults faults;
  Reader read(file.string(), faults);
  const auto size = [](const json& list) { return list.is_array() ? list.size() : 0; };
  const json& objective = root.contains("objective") ? root["objective"] : json();
  const std::size_t swarms = size(objective) > 0 ? size(objective[0]) : 0;
  const std::size_t clusters = swarms > 0 ? size(objective[0][0]) : 0;
  SolvedTables tables = read_tables(read, root, swarms, clusters);
  if (faults.empty()) {
    with_file(faults_of(tables), file.string(), faults);
  }
  faults.throw_if_any();
  return tables;
}

std::string tables_json(const SolvedTables& some) {
  const SolvedTables tables = complete(some);
  nlohmann::ordered_json timings = nlohmann::ordered_json::array();
  for (const Timing& timing : tables.timings) {
    timings.push_back({timing.duration, timing.local_period, timing.global_period});
  }
  return nlohmann::ordered_json{{"timings", std::move(timings)},
                                {"objective", nested(tables, tables.objective)},
                                {"training_energy_j", nested(tables, tables.training_energy_j)}}
             .dump() +
         "\n";
}

Replay replay(const EnvironmentFile& file) {
  const Environment& e = file.environment;
  const StateLayout at(e);
  std::vector<double> state = file.start;
  Replay result{.epochs = file.trace.size()};
  for (std::size_t i = 0; i < file.trace.size(); ++i) {
    const TraceEpoch& epoch = file.trace[i];
    const auto compare = [&](double ours, double theirs, double& worst) {
      double deviation = std::abs(ours - theirs) / std::max(1.0, std::abs(theirs));
      if (!std::isfinite(deviation)) {
        deviation = std::numeric_limits<double>::infinity();
      }
      worst = std::max(worst, deviation);
      if (deviation > result.deviation) {
        result.deviation = deviation;
        result.worst_epoch = i;
      }
    };
    std::ranges::copy(epoch.drift, state.begin() + static_cast<std::ptrdiff_t>(at.drift()));
    const Outcome outcome = step(e, state, epoch.destinations, epoch.timing);
    compare(outcome.reward, epoch.reward, result.reward);
    compare(outcome.learning_objective, epoch.learning_objective, result.learning_objective);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      compare(state[at.battery() + u], epoch.battery_j[u], result.battery);
      result.battery_j = std::max(result.battery_j, std::abs(state[at.battery() + u] - epoch.battery_j[u]));
    }
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      compare(state[at.age() + c], epoch.ages[c], result.age);
    }
    if (outcome.below_threshold != epoch.below_threshold) {
      ++result.below_threshold;
      compare(static_cast<double>(outcome.below_threshold), static_cast<double>(epoch.below_threshold),
              result.reward);
    }
  }
  return result;
}

std::string replay_json(const Replay& replay) {
  return nlohmann::ordered_json{{"fits", replay.fits()},
                                {"epochs", replay.epochs},
                                {"deviation", replay.deviation},
                                {"worst_epoch", replay.worst_epoch},
                                {"reward", replay.reward},
                                {"learning_objective", replay.learning_objective},
                                {"battery", replay.battery},
                                {"battery_J", replay.battery_j},
                                {"age", replay.age},
                                {"epochs_with_other_violations", replay.below_threshold},
                                {"allowed", Replay::most_deviation}}
             .dump(1) +
         "\n";
}

}  // namespace skein
