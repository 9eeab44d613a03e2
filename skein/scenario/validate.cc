#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "skein/bounds/bounds.h"
#include "skein/learning/label_shift.h"
#include "skein/learning/network_choice.h"
#include "skein/planning/planners.h"
#include "skein/scenario/scenario.h"

namespace skein {
namespace {

// Smallest and largest number a spread can give, in its key's unit.
double least_of(const Spread& spread) {
  return spread.shape == Spread::Shape::normal ? spread.numbers[0] : std::ranges::min(spread.numbers);
}
double most_of(const Spread& spread) {
  return spread.shape == Spread::Shape::normal ? spread.numbers[0] : std::ranges::max(spread.numbers);
}

class Check {
 public:
  void require(bool holds, std::string key, std::string value, std::string message) {
    if (!holds) {
      faults.push_back(
          {.file = "", .key = std::move(key), .value = std::move(value), .message = std::move(message)});
    }
  }

  std::vector<InputFault> faults;
};

void check_sites(Check& check, const SiteOptions& sites, const std::string& section) {
  check.require(sites.positions_m.empty() || sites.positions_deg.empty(), section + ".positions_deg", "",
                "stands beside positions_m: give one of the two");
  const std::size_t given = std::max(sites.positions_m.size(), sites.positions_deg.size());
  check.require(given == 0 || given == sites.count, section + ".count", fmt::format("{}", sites.count),
                fmt::format("differs from the {} positions given: leave it out", given));
  for (const auto& point : sites.positions_deg) {
    check.require(std::abs(point[0]) <= 90.0, section + ".positions_deg",
                  fmt::format("[{}, {}]", point[0], point[1]),
                  "latitude, the first number, must be in [-90, 90]");
  }
}

void check_world(Check& check, const Scenario& s) {
  check.require(s.world.distance_m[0] <= s.world.distance_m[1], "world.distance_m",
                fmt::format("[{}, {}]", s.world.distance_m[0], s.world.distance_m[1]),
                "the least distance is above the most");
  check.require(std::abs(s.world.origin_deg[0]) <= 85.0, "world.origin_deg",
                fmt::format("{}", s.world.origin_deg[0]), "latitude, the first number, must be in [-85, 85]");
  check_sites(check, s.world.clusters.sites, "world.clusters");
  check_sites(check, s.world.stations.sites, "world.stations");
  check_sites(check, s.world.access_points.sites, "world.access_points");
  check.require(s.swarms.count <= s.world.clusters.sites.count, "swarms.count",
                fmt::format("{}", s.swarms.count),
                fmt::format("must be at most world.clusters.count, {}: no two swarms share a cluster",
                            s.world.clusters.sites.count));
  check.require(least_of(s.radio.nlos_excess.spread) >= most_of(s.radio.los_excess.spread),
                "radio.nlos_excess_db", s.radio.nlos_excess.spread.to_toml(),
                "must be at least los_excess_db: obstacles add loss");
}

// 0 by itself stands for the network's or the data set's own.
void check_size(Check& check, const Spread& spread, const std::string& key) {
  check.require(spread == constant(0.0) || least_of(spread) > 0.0, key, spread.to_toml(),
                "must be above 0, or 0 alone: what the scenario's network and data have");
}

void check_types(Check& check, const SwarmOptions& swarms) {
  for (const UavType& type : swarms.types) {
    const std::string section = "swarms.types." + type.name;
    check_size(check, type.cycles_per_point.spread, section + ".cycles_per_point");
    check.require(most_of(type.battery_threshold.spread) < least_of(type.battery.spread),
                  section + ".threshold_kj", type.battery_threshold.spread.to_toml(),
                  fmt::format("must be below battery_kj, {}: the swarm could never leave a station",
                              type.battery.spread.to_toml()));
    check.require(most_of(type.least_clock.spread) <= least_of(type.most_clock.spread),
                  section + ".least_clock_mhz", type.least_clock.spread.to_toml(),
                  fmt::format("must be at most most_clock_mhz, {}", type.most_clock.spread.to_toml()));
  }
  for (const auto& [role, name] : {std::pair{Role::leader, "leader"}, {Role::worker, "worker"}}) {
    check.require(std::ranges::any_of(swarms.types,
                                      [&, r = role](const UavType& type) {
                                        return type.role == r && most_of(type.count.spread) >= 1.0;
                                      }),
                  "swarms.types", "", fmt::format("has no {}: every swarm needs one", name));
  }
}

void check_data(Check& check, const DataOptions& data) {
  const std::size_t classes = num_classes(data.source);
  check.require(
      data.partition.kind != PartitionOptions::Kind::labels || data.partition.labels_per_group <= classes,
      "data.labels_per_cluster", fmt::format("{}", data.partition.labels_per_group),
      fmt::format("is more than the {} classes of {}", classes, data.source.name));
  check.require(data.source.radioml.min_snr_db <= data.source.radioml.max_snr_db, "data.radioml.least_snr_db",
                fmt::format("{}", data.source.radioml.min_snr_db), "must be at most most_snr_db");
  check.require(data.source.modulations.min_snr_db <= data.source.modulations.max_snr_db,
                "data.modulations.least_snr_db", fmt::format("{}", data.source.modulations.min_snr_db),
                "must be at most most_snr_db");
  check.require(most_of(data.partition.quantity.spread) <= least_of(data.buffer.spread),
                "data.points_per_device", data.partition.quantity.spread.to_toml(),
                fmt::format("must be at most data.buffer_points, {}: a device keeps no more",
                            data.buffer.spread.to_toml()));
}

void check_learning(Check& check, const LearningOptions& learning) {
  const auto& schedule = learning.step_schedule;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const auto [first, value] = schedule[i];
    const std::string entry = fmt::format("[{:g}, {:g}]", first, value);
    check.require(std::floor(first) == first && (i == 0 ? first == 0.0 : first > schedule[i - 1][0]),
                  "learning.step_schedule", entry,
                  "iterations, the first numbers, must be whole and ascend from 0");
    check.require(value > 0.0 && value <= 10.0, "learning.step_schedule", entry,
                  "step sizes, the second numbers, must be in (0, 10]");
  }
  const auto& sizes = learning.batch_sizes;
  const auto zeros = std::ranges::count(sizes, std::size_t{0});
  check.require(zeros == 0 || zeros == 3, "learning.batch_sizes",
                fmt::format("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]),
                "must be all above 0, or all 0 to use batch_ratios");
}

void check_horizon(Check& check, const Scenario& s) {
  const PlanningOptions& planning = s.planning;
  const HorizonOptions& horizon = planning.horizon;
  const std::string objective(names_of(Objective{})[static_cast<std::size_t>(horizon.objective)]);
  const bool by_the_clock = is_by_the_clock(planning.planner);
  check.require(by_the_clock == (horizon.objective != Objective::reward), "planning.objective", objective,
                by_the_clock ? "is what the paper's planners go by: choose price, wanted_accuracy or "
                               "energy_budget for the planner " +
                                   planning.planner
                             : "is for the planner horizon; " + planning.planner + " goes by reward");
  check.require(!by_the_clock || planning.estimates.held_out > 0.0, "planning.estimates.held_out",
                fmt::format("{:g}", planning.estimates.held_out),
                "must be above 0, say 0.1: the planner " + planning.planner + " goes by predicted accuracy");
  check.require(s.run.hours > 0.0 || (horizon.objective != Objective::wanted_accuracy &&
                                      horizon.objective != Objective::energy_budget),
                "planning.objective", objective, "is for a whole mission: give run.hours");
}

void check_planning(Check& check, const PlanningOptions& planning, std::size_t num_clusters) {
  for (const auto& [drift, key] : {std::pair{&planning.drift.start, "start"}, {&planning.drift.end, "end"}}) {
    const std::size_t size = drift->list_size().value_or(num_clusters);
    check.require(size == num_clusters, fmt::format("planning.drift.{}", key), drift->spread.to_toml(),
                  fmt::format("lists {} values for {} clusters", size, num_clusters));
  }
  for (const auto& [values, key] : {std::pair{&planning.durations, "durations"},
                                    {&planning.local_periods, "local_periods"},
                                    {&planning.global_periods, "global_periods"}}) {
    check.require(!values->empty(), fmt::format("planning.{}", key), "[]", "must not be empty");
  }
  for (const double duration : planning.durations) {
    for (const double local : planning.local_periods) {
      for (const double global : planning.global_periods) {
        check.require(
            std::fmod(duration, local * global) == 0.0, "planning.durations", fmt::format("{:g}", duration),
            fmt::format("is no multiple of local period {:g} times global period {:g}", local, global));
      }
    }
  }
  for (const auto& [size, key] : {std::pair{planning.learner.memory, "memory"},
                                  {planning.learner.hidden, "hidden"},
                                  {planning.learner.hidden2, "hidden2"}}) {
    check.require(size % 8 == 0, fmt::format("planning.learner.{}", key), fmt::format("{}", size),
                  "must be a multiple of 8");
  }
  check.require(planning.learner.replay_steps >= 2 * planning.learner.window, "planning.learner.replay_steps",
                fmt::format("{}", planning.learner.replay_steps),
                fmt::format("must be at least twice planning.learner.window, {}", planning.learner.window));
  check.require(planning.least_exploration <= planning.exploration, "planning.least_exploration",
                fmt::format("{:g}", planning.least_exploration),
                fmt::format("must be at most planning.exploration, {:g}", planning.exploration));
}

}  // namespace

std::vector<InputFault> impossible_combinations(const Scenario& scenario) {
  Check check;
  check.require(scenario.run.sequences > 0 || scenario.run.hours > 0.0, "run.sequences", "0",
                "must be above 0 where run.hours is 0: the mission would have no end");
  check_world(check, scenario);
  check_types(check, scenario.swarms);
  check_data(check, scenario.data);
  check_size(check, scenario.offloading.point_size.spread, "offloading.point_kbit");
  check_size(check, scenario.offloading.model_size.spread, "offloading.model_kbit");
  check_learning(check, scenario.learning);
  std::ranges::move(network_faults(scenario.learning.network, scenario.data.source),
                    std::back_inserter(check.faults));
  if (scenario.learning.label_shift.smoothing > 0.0 && check.faults.empty()) {
    check.require(ends_with_biases(build_architecture(scenario.learning.network, scenario.data.source)),
                  "learning.label_shift", fmt::format("{:g}", scenario.learning.label_shift.smoothing),
                  "is added to the biases of the last layer, which must be linear: choose another "
                  "learning.network, or 0");
  }
  check_planning(check, scenario.planning, scenario.world.clusters.sites.count);
  check_horizon(check, scenario);
  for (InputFault& fault : faults_of(scenario.drift, scenario.world.clusters.sites.count)) {
    fault.key = "drift." + fault.key;
    check.faults.push_back(std::move(fault));
  }
  return check.faults;
}

}  // namespace skein
