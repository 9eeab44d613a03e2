// What a scenario says about planning: trajectories, recharging and periods (section V of the paper).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/names.h"
#include "skein/world/options.h"

namespace skein {

// G_c of a cluster that nobody visits.
enum class GradientForm {
  capped_age,  // min(age, age_cap) drift, as in the published code
  bound,       // (age + 1) (gradient left by the last visit + sum of drifts since), the paper's lemma
};
constexpr auto names_of(GradientForm) { return names_for<GradientForm>("capped_age", "bound"); }

// V = scale / (objective_weight sum O + gradient_weight sum G + travel_weight E^M) - penalty * swarms below
// their threshold (section V-B). The paper orders these weights differently in its problem.
struct RewardOptions {
  double scale = 1e5;
  double objective_weight = 0.2;
  double gradient_weight = 0.25;
  double travel_weight = 0.005;  // per J
  double penalty = 1000.0;
  // Stands for objective_weight O of a swarm at a station. The paper has none; at 0 it pays to stay there.
  double recharge_cost = 200.0;
  bool zero_on_violation = true;  // with a swarm below its threshold only penalties count, as published
  GradientForm gradient = GradientForm::capped_age;
  double age_cap = 20.0;          // sequences
  double visited_gradient = 1.0;  // for bound: the squared meta-gradient that a visit leaves
};

// Drift of each cluster, Lambda_c, in the reward's scale: affine from start to end, then constant.
struct PlanningDriftOptions {
  Distribution<double> start{uniform(2, 16), unit::number, non_negative};
  Distribution<double> end{uniform(2, 16), unit::number, non_negative};
  std::size_t sequences = 0;  // to get from start to end; 0: start for ever
};

struct BeamOptions {
  std::size_t width = 32;
  std::size_t horizon = 12;
  std::size_t replan = 4;  // plans that are carried out before the next search
};

// Recurrent Q-learning (section V-B and appendix A; where we differ, docs/results.md says why).
struct LearnerOptions {
  std::size_t environments = 8;  // side by side
  std::size_t steps = 8000;      // of each
  std::size_t batch = 32;
  std::size_t update_period = 2;    // steps between updates
  std::size_t replay_steps = 4000;  // steps of all environments that are remembered
  std::size_t target_period = 100;  // updates between copies to the target network
  std::size_t window = 4;           // epochs that the LSTM looks back on
  std::size_t memory = 32;          // numbers of its state; 0: no LSTM
  std::size_t hidden = 64;
  std::size_t hidden2 = 32;
  double step = 1e-3;             // of Adam, at first
  double last_step = 1e-4;        // and at last
  double decay_share = 0.5;       // of the steps, until exploration is at its least
  std::size_t flat_steps = 4000;  // of the published flat agent
  bool model_reward = true;       // Q = the model's one-step reward + what the network adds
  bool online = false;            // moving drift moves while it learns; else starts are at any moment of it
};

// What planners get to know of clusters beyond the paper's state.
struct EstimateOptions {
  // Share of the data points that devices collect which nobody trains on: on them a model that is handed
  // over shows how many of each class it finds. 0: none, and no accuracy is predicted.
  double held_out = 0.0;
  // Where a class has few such points, its recall counts as if so many more had been as expected of the
  // class.
  double prior_points = 1.0;
  // Assumed until visits have told: accuracy that a cluster loses in an hour, in percentage points, and that
  // a visit leaves.
  double loss_per_hour = 20.0;
  double first_accuracy_percent = 70.0;
  bool costs = false;  // what devices report of labels and recalls takes bits and energy
};

// When swarms above clusters begin to train.
enum class StartChoice {
  together,  // when the last has arrived, and each global round anew
  arrival,   // each as soon as it can
};
constexpr auto names_of(StartChoice) { return names_for<StartChoice>("together", "arrival"); }

// What plans are to bring.
enum class Objective {
  reward,           // the paper's
  price,            // accuracy over time, less energy at its price
  wanted_accuracy,  // a time mean of accuracy over the mission, with the least energy
  energy_budget,    // the most accuracy for so much energy in the mission
};
constexpr auto names_of(Objective) {
  return names_for<Objective>("reward", "price", "wanted_accuracy", "energy_budget");
}

// How schedules of visits are searched.
enum class ScheduleSearchKind {
  neighbourhood,  // greedy, then parts are taken out and put back better
  beam,           // visit after visit
};
constexpr auto names_of(ScheduleSearchKind) { return names_for<ScheduleSearchKind>("neighbourhood", "beam"); }

// Of the planner that goes by predicted accuracy and the clock.
struct HorizonOptions {
  Objective objective = Objective::reward;
  double horizon_h = 0.5;  // it schedules visits for so long
  // What flying must bring at least: percentage points of accuracy of one cluster over an hour, per kJ.
  double energy_price = 0.1;
  double wanted_accuracy_percent = 85.0;
  double energy_budget_kj = 300.0;  // of all UAVs, by the mission's end
  double most_age_h = 0.0;          // of any cluster's model; 0: any
  ScheduleSearchKind search = ScheduleSearchKind::neighbourhood;
};

struct PlanningOptions {
  std::string planner = "guided";
  WaitChoice waiting = WaitChoice::hover;
  StartChoice start = StartChoice::together;
  RewardOptions reward{};
  PlanningDriftOptions drift{};
  bool battery_mask = true;        // plans that cross a threshold count as impossible while there are others
  double stay_distance_m = 0.0;    // flown by a swarm that stays where it is; published: 500 to 1000
  double recharge_kj = 0.0;        // what a battery gains in a sequence at a station; 0: it is full
  std::filesystem::path tables{};  // solved configurations; empty: a closed form
  std::filesystem::path agent{};   // what `skein plan train` wrote, for planners that learn
  double discount = 0.95;          // the paper: 0.7
  double exploration = 0.7;
  double least_exploration = 0.005;
  BeamOptions beam{};
  BeamOptions guided{.width = 16, .horizon = 6, .replan = 1};
  LearnerOptions learner{};
  std::vector<double> durations{180, 220, 260};  // T_s to choose from, in local iterations
  std::vector<double> local_periods{1, 2};
  std::vector<double> global_periods{1, 2};
  EstimateOptions estimates{};
  HorizonOptions horizon{};
  double cycle_s = 0.0;  // least length of a sequence; the first tour of the clusters does not wait
};

}  // namespace skein
