// How many UAVs of which type to send: compositions are flown in the planner's model first (surrogate.h); the
// best few within the budget, and the scenario as it is, are then run as missions. Everything is kept in the
// points of a sweep. Under a planner by the clock the scenario as it is comes first, and tells the model what
// visits bring.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/mission/dimensioning_goal.h"
#include "skein/mission/sweep.h"
#include "skein/scenario/scenario.h"

namespace skein {

// Counts to try.
struct CountRange {
  std::string name;  // "swarms", or a type of UAV, in each swarm
  std::size_t low = 1, high = 1;
};
// 1 to 6 of each type of worker, 0 to 2 of each type of coordinator.
std::vector<CountRange> usual_ranges(const Scenario& scenario);

struct Budget {
  std::optional<std::size_t> most_uavs{};  // in all swarms
  std::optional<double> most_cost{};       // prices of all UAVs
  std::optional<double> most_energy_j{};   // of the mission
};

struct DimensioningSetup {
  ScenarioSource source;
  std::vector<CountRange> ranges;          // of names that the scenario has
  std::map<std::string, double> prices{};  // of a UAV of each type; default 1
  Budget budget{};
  std::size_t confirm = 4;            // missions of so many of the best are run
  std::size_t repeat = 2;             // seeds of each composition
  std::filesystem::path directory{};  // empty: runs/NAME-dimension
  std::size_t num_threads = 0;        // 0: all cores
};

// One composition, mean over seeds.
struct Composition {
  std::vector<std::string> values;  // of the keys
  std::string message{};            // why it is impossible
  double uavs = 0.0;
  double cost = 0.0;
  double objective = 0.0, staleness = 0.0;  // of the surrogate
  double learning_cost = 0.0;               // from both; 1 for the scenario as it is
  double energy_j = 0.0;                    // estimated
  double recharges = 0.0;
  // Under a planner by the clock instead of the first three.
  double predicted_percent = 0.0;
  double hours = 0.0, visits = 0.0;
  Rank predicted_rank = no_rank;
  bool within = false;  // of the budget, by these numbers
  bool front = false;   // nothing within the budget has less learning cost (more accuracy) and less energy
  std::size_t missions = 0;
  double accuracy_percent = 0.0, accuracy_deviation = 0.0, worst_percent = 0.0, mission_energy_j = 0.0;
  double mission_visits = 0.0;
  Rank rank = no_rank;
  bool confirmed_within = false;
};

// Pairs of missions that differ in accuracy, or in what the scenario wants: how many there are, and how many
// the model has in this order.
struct OrderAgreement {
  std::size_t pairs = 0;
  std::size_t agree = 0;
};

struct Dimensioning {
  SweepGrid grid;  // its first cell is the scenario as it is
  DimensioningGoal goal;
  std::filesystem::path directory;
  std::vector<std::string> names;         // of what is varied
  std::vector<Composition> compositions;  // one for each cell
  std::vector<std::size_t> chosen;        // whose missions were run, the best first
  std::optional<std::size_t> best{};      // of those that stay within the budget
  OrderAgreement agreement;
};

// How far a stage is, from 0 to 1.
using DimensioningProgress = std::function<void(std::string_view stage, double fraction)>;
// Goes on with what the directory has. Throws InputError, also where the scenario as it is is impossible.
Dimensioning dimension(const DimensioningSetup& setup, const DimensioningProgress& progress);

std::string dimensioning_json(const Dimensioning& result);
// Writes dimension.csv, dimension.json and dimension.svg.
void write_dimensioning(const Dimensioning& result);

}  // namespace skein
