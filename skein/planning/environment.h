// The planner's environment: batteries, ages and rewards as a pure model of what a plan does.
//
// An Environment never changes; a state is a row of numbers that can be copied, so that thousands of
// environments run side by side and looking ahead has no side effects.
//
// Scope. A training sequence is one step. Swarms fly at constant power, arrive, train or recharge; a battery
// may fall below its threshold and even below 0, which costs a penalty (whoever plans forbids it, see
// choices.h). At a station a battery is full within the sequence, before thresholds are looked at, so that
// who arrives there empty pays nothing, as in the published code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/base/random.h"
#include "skein/base/thread_pool.h"
#include "skein/planning/model_drift.h"
#include "skein/planning/options.h"
#include "skein/planning/plan.h"
#include "skein/planning/reward.h"
#include "skein/planning/tables.h"
#include "skein/planning/visit_costs.h"

namespace skein {

struct Environment {
  std::size_t num_swarms = 0;
  std::size_t num_clusters = 0;
  std::size_t num_stations = 0;
  std::vector<double> travel_j;    // swarm x from x to
  std::vector<double> distance_m;  // from x to, for whoever goes by distance
  std::vector<double> capacity_j;  // the least battery of each swarm, full
  std::vector<double> threshold_j;
  double recharge_j = 0.0;  // gained in a sequence at a station; 0: the battery is full
  bool battery_mask = true;
  SolvedTables tables;
  RewardOptions reward;
  AffineDrift drift;
  double start_age = 1.0;                       // of clusters where no swarm is at the start
  std::vector<std::array<double, 2>> places_m;  // of sites on a map; empty where only distances are known

  // For planners of time, of each swarm of a world; empty where only energies are known.
  std::vector<double> metre_j;               // a metre of flight, of all its UAVs together
  std::vector<double> takeoff_j;             // of all together
  std::vector<double> landed_w;              // on the ground, of all together
  std::vector<double> speed_mps;             // of its slowest UAV
  std::vector<double> recharge_s;            // all batteries from empty, at the slowest station
  std::shared_ptr<const VisitCosts> visits;  // in missions

  [[nodiscard]] std::size_t num_sites() const { return num_clusters + num_stations; }
  [[nodiscard]] bool is_station(std::size_t site) const { return site >= num_clusters; }
  [[nodiscard]] double travel(std::size_t swarm, std::size_t from, std::size_t to) const {
    return travel_j[(swarm * num_sites() + from) * num_sites() + to];
  }
  [[nodiscard]] double distance(std::size_t from, std::size_t to) const {
    return distance_m[from * num_sites() + to];
  }
  // G_c, from the numbers of a state.
  [[nodiscard]] double gradient(double age, double drift_now, double drift_sum, double left) const {
    return unvisited_gradient(reward, age, drift_now, drift_sum, left);
  }
  // "C:1", "R:2"
  [[nodiscard]] std::string site_name(std::size_t site) const;
};

// Everything that makes it impossible, with what is allowed.
std::vector<InputFault> faults_of(const Environment& environment);

// Where the numbers of a state are in its row.
class StateLayout {
 public:
  explicit StateLayout(const Environment& environment)
      : swarms_(environment.num_swarms), clusters_(environment.num_clusters) {}

  [[nodiscard]] std::size_t size() const { return 2 * swarms_ + 4 * clusters_ + 2; }
  [[nodiscard]] std::size_t position() const { return 0; }       // NOLINT(readability*): like the others
  [[nodiscard]] std::size_t battery() const { return swarms_; }  // J
  [[nodiscard]] std::size_t age() const { return 2 * swarms_; }
  [[nodiscard]] std::size_t drift() const { return age() + clusters_; }
  [[nodiscard]] std::size_t drift_sum() const { return age() + 2 * clusters_; }
  [[nodiscard]] std::size_t gradient() const { return age() + 3 * clusters_; }
  [[nodiscard]] std::size_t timing() const { return age() + 4 * clusters_; }  // number in the tables
  [[nodiscard]] std::size_t sequence() const { return timing() + 1; }

 private:
  std::size_t swarms_;
  std::size_t clusters_;
};

// Row after row of states.
class States {
 public:
  States(const Environment& environment, std::size_t count)
      : width_(StateLayout(environment).size()), numbers_(width_ * count) {}

  [[nodiscard]] std::size_t size() const { return numbers_.size() / width_; }
  [[nodiscard]] std::span<double> operator[](std::size_t i) { return {&numbers_[i * width_], width_}; }
  [[nodiscard]] std::span<const double> operator[](std::size_t i) const {
    return {&numbers_[i * width_], width_};
  }
  [[nodiscard]] std::vector<double>& numbers() { return numbers_; }
  [[nodiscard]] const std::vector<double>& numbers() const { return numbers_; }

 private:
  std::size_t width_;
  std::vector<double> numbers_;
};

// A lost swarm stays where it is, serves nobody and is in nobody's way.
[[nodiscard]] inline bool is_lost(const StateLayout& at, std::span<const double> state, std::size_t swarm) {
  return state[at.battery() + swarm] == lost_battery_j;
}

struct Outcome {
  double reward = 0.0;
  double learning_objective = 0.0;  // scale / (objective_weight sum O + gradient_weight sum G)
  double travel_j = 0.0;
  std::size_t below_threshold = 0;  // swarms
};

// Carries out a plan: `destinations` all different but for those of lost swarms, `timing` an index of the
// tables. Changes `state` only.
Outcome step(const Environment& environment, std::span<double> state, std::span<const Site> destinations,
             std::size_t timing);

// A step of each state, destinations one state after another.
void step_all(const Environment& environment, States& states, std::span<const Site> destinations,
              std::span<const std::size_t> timings, std::span<Outcome> outcomes, ThreadPool& pool);

// Full batteries above different clusters, everything else as old as the environment says.
void start_at(const Environment& environment, std::span<const Site> positions, std::span<double> state);
// At random clusters.
void start_anywhere(const Environment& environment, RandomStream& stream, std::span<double> state);

// Moves a start to a later sequence: drifts are those of then.
void start_later(const Environment& environment, std::size_t sequence, std::span<double> state);

Observation observe(const Environment& environment, std::span<const double> state);
void restore(const Environment& environment, const Observation& observation, std::span<double> state);

// The index of a timing in the tables; must be there.
std::size_t timing_index(const Environment& environment, const Timing& timing);
Plan make_plan(const Environment& environment, std::span<const Site> destinations, std::size_t timing);

}  // namespace skein
