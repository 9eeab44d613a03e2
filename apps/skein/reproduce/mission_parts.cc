// What is flown in the study of whole missions.

#include <algorithm>

#include "apps/skein/reproduce/mission_study.h"

namespace skein::app {
namespace {

using Settings = std::vector<std::string>;

const std::string paper = "paper/mission.toml";
const std::string tuned = "paper/tuned.toml";
const std::string planned = "paper/planned.toml";
const std::string planned_20 = "paper/planned-20.toml";
const std::string joined = "paper/joined.toml";
const std::string pairs = "paper/pairs.toml";
const std::string believable = "default.toml";

Settings operator+(Settings first, const Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// It learns once a sequence: beside missions that have few of them.
const Settings with_oracle{"run.oracle=true"};

MissionPart policies() {
  return {
      .name = "policies",
      .title = "Whole missions in the paper's energy model",
      .about =
          "Fashion-MNIST with drifting labels, 8 clusters. Sequences of the paper's policy take as long as "
          "they take, 20 of them; the others end after 3.1 hours, with as much drift.",
      .rows = {{"ours, 4 pairs", planned},
               {"ours, 6 pairs, as skein dimension says", planned, {"swarms.count=6"}},
               {"ours, the paper's 20 UAVs", planned_20},
               {"joined, old planner, 4 pairs", pairs, with_oracle},
               {"joined, old planner, the paper's 20 UAVs", joined},
               {"joined, S.H. with best timing, 4 pairs", pairs, {"planning.planner=sequential_best"}},
               {"tuned baseline", tuned},
               {"the paper's policy", paper, {"planning.planner=beam"}},
               {"the paper's policy, guided planner", paper}},
      .quick = true};
}

MissionPart believable_world() {
  return {.name = "believable",
          .title = "Whole missions in a believable world",
          .about =
              "Quadrotors with companion computers (docs/profiles.md), sizes of the network and the data, "
              "3 hours.",
          .rows = {{"the default mission", believable},
                   {"the same, old planner",
                    believable,
                    {"planning.planner=beam", "planning.objective=reward", "planning.cycle_s=560",
                     "planning.estimates.held_out=0", "learning.absent_swarms=left_out", "run.oracle=true"}},
                   {"the paper's policy", "paper/policy.toml"}},
          .quick = true};
}

// What a price of energy buys, and what planners of sequences make of the same visits.
MissionPart front() {
  MissionPart part{.name = "front",
                   .title = "Accuracy against energy",
                   .about =
                       "Four pairs in the paper's energy model: our planner at several prices of energy, the "
                       "old beam search and S.H. with best timing at several lengths of a sequence.",
                   .rows = {}};
  for (const char* price : {"0.1", "0.03", "0.3", "0.6", "1.2"}) {
    part.rows.push_back(
        {"ours, price " + std::string(price), planned, {"planning.energy_price=" + std::string(price)}});
  }
  for (const char* planner : {"beam", "sequential_best"}) {
    for (const char* cycle : {"280", "561", "1122"}) {
      part.rows.push_back(
          {std::string(planner) + ", " + cycle + " s",
           pairs,
           {"planning.planner=" + std::string(planner), "planning.cycle_s=" + std::string(cycle)}});
    }
  }
  return part;
}

// Wishes of other kinds.
MissionPart wishes() {
  const auto wanted = [](const std::string& percent) {
    return MissionRow{"wanted: " + percent + " %",
                      planned,
                      {"planning.objective=wanted_accuracy", "planning.wanted_accuracy_percent=" + percent}};
  };
  const auto budget = [](const std::string& kilojoules) {
    return MissionRow{"budget: " + kilojoules + " kJ",
                      planned,
                      {"planning.objective=energy_budget", "planning.energy_budget_kj=" + kilojoules}};
  };
  return {
      .name = "wishes",
      .title = "A wanted accuracy, or a budget",
      .about =
          "The same mission with the least energy for a wanted accuracy, and with the most accuracy for a "
          "budget.",
      .rows = {{"price 0.1", planned},
               wanted("80"),
               wanted("84"),
               wanted("87"),
               budget("100"),
               budget("200"),
               budget("300")}};
}

// Each taken away alone.
MissionPart levers() {
  const Settings bound{"offloading.time=limit",
                       "offloading.learning_term=bound",
                       "offloading.constants=given",
                       "offloading.learning_weight=0.9",
                       "offloading.method=newton",
                       "offloading.local_time_s=5",
                       "learning.bound.gradient_bound=10",
                       "learning.bound.gradient_lipschitz=0.25",
                       "learning.bound.meta_lipschitz=1",
                       "learning.bound.gradient_variance=5",
                       "learning.bound.hessian_variance=5"};
  const Settings short_visits{"planning.durations=[16]", "planning.local_periods=[2]",
                              "planning.global_periods=[4]"};
  return {.name = "levers",
          .title = "What each lever brings",
          .about =
              "Four pairs in the paper's energy model under the old planner: the first row has all levers, "
              "each other row is without one.",
          .rows = {{"all", pairs},
                   {"leaders fly all the way", pairs, {"world.access_points.way=fly"}},
                   {"time is limited, not priced", pairs, {"offloading.time=limit"}},
                   {"the paper's P: limited time, bounds", pairs, bound},
                   {"16 steps a visit, 2 between aggregations", pairs, short_visits},
                   {"no label shift", pairs, {"learning.label_shift=0"}},
                   {"one step at the hand-over", pairs, {"learning.personal_steps=1"}},
                   {"hand-over on all points", pairs, {"learning.personal_newest=0"}},
                   {"swarms begin together", pairs, {"planning.start=together"}},
                   {"no waiting between sequences", pairs, {"planning.cycle_s=0"}},
                   {"who waits hovers", pairs, {"planning.waiting=hover"}},
                   {"H-FL as trainer", pairs, {"learning.algorithm=h_fl", "learning.step=0.1"}}}};
}

// A world that drifts by the hour, and by the sequence of 561 s.
struct DriftingWorld {
  std::string name;
  Settings by_hour;
  Settings by_sequence;
};

std::vector<MissionRow> rows_of(const std::vector<DriftingWorld>& worlds) {
  std::vector<MissionRow> rows;
  for (const DriftingWorld& world : worlds) {
    rows.push_back({world.name + ": ours, 4 pairs", planned, world.by_hour});
    rows.push_back({world.name + ": tuned baseline", tuned, world.by_sequence});
    rows.push_back(
        {world.name + ": the paper's policy", paper, world.by_sequence + Settings{"planning.planner=beam"}});
  }
  return rows;
}

// Label drift that is moderate until hour 1.5, and then five times as fast at two clusters. By sequences that
// is number 10, after half of them.
DriftingWorld sudden_rise() {
  return {"sudden rise",
          {"drift.label_mix.start=0.4", "drift.label_mix.later=[0.4,2,0.4,0.4,0.4,2,0.4,0.4]",
           "drift.label_mix.later_from=1.5"},
          {"drift.label_mix.start=0.0623",
           "drift.label_mix.later=[0.0623,0.3117,0.0623,0.0623,0.0623,0.3117,0.0623,0.0623]",
           "drift.label_mix.later_from=10"}};
}

// Of the features instead of the labels, other data, and a sudden rise.
MissionPart drifts() {
  const Settings still{"drift.label_mix.start=0"};
  const auto feature = [&](const std::string& key, double an_hour) {
    const auto rate = [&](double value) {
      return still + Settings{"drift." + key + ".start={uniform=[0," + std::to_string(value) + "]}"};
    };
    return std::pair{rate(an_hour), rate(an_hour * 561.0 / 3600.0)};
  };
  const auto rotation = feature("rotation_deg", 20.0);
  const auto noise = feature("noise", 0.1);
  const Settings mnist{"data.source=mnist"};
  return {
      .name = "drift",
      .title = "Other drift, other data",
      .about =
          "Up to 20 degrees, 0.1 of full scale of noise, a factor of 0.7 an hour, labels still; MNIST with "
          "drifting labels; a sudden rise of label drift at two clusters after half of the mission. Each "
          "with our policy, the tuned baseline and the paper's policy.",
      .rows = rows_of({{"rotation", rotation.first, rotation.second},
                       {"noise", noise.first, noise.second},
                       {"brightness", still + Settings{"drift.brightness.start={uniform=[0.7,1.0]}"},
                        still + Settings{"drift.brightness.start={uniform=[0.946,1.0]}"}},
                       {"MNIST", mnist, mnist},
                       sudden_rise()})};
}

// Its network takes ten times as long.
MissionPart cifar() {
  const Settings settings{"data.source=cifar10", "learning.network.preset=automatic"};
  return {.name = "cifar10",
          .title = "CIFAR-10",
          .about = "Drifting labels.",
          .rows = rows_of({{"CIFAR-10", settings, settings}})};
}

}  // namespace

const std::vector<MissionPart>& mission_parts() {
  static const std::vector<MissionPart> parts{policies(), believable_world(), levers(), front(),
                                              wishes(),   drifts(),           cifar()};
  return parts;
}

std::vector<std::string> mission_part_names() {
  std::vector<std::string> names;
  for (const MissionPart& part : mission_parts()) {
    names.push_back(part.name);
  }
  names.emplace_back(mission_blocks);
  return names;
}

}  // namespace skein::app
