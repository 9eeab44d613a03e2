// The leader's problem P for one swarm and one local aggregation, in plain numbers (section IV of the paper).
//
// Devices i, workers j, coordinators h; UAVs u are workers first, then coordinators. A decision is: the share
// rho[i][u] of each device's data that goes to each UAV, the share varrho[h][j] of each coordinator's data
// that it relays to each worker, mini-batch ratios alpha[j][1..3] and processor speeds g[j].
//
//   D_h   = sum_i rho[i][h] data_i                                   data at a coordinator
//   D_j   = sum_i rho[i][j] data_i + sum_h varrho[h][j] D_h          data at a worker
//   A_j   = alpha_j1 + alpha_j2 + alpha_j3,   Delta = sum_j A_j D_j
//
//   minimise  w sum_j (A_j / Delta) [ S1 (a/alpha_j3 + (1/alpha_j2 + c/alpha_j1) (d + b / (alpha_j3 D_j)))
//                                   + S2 (a + d (1 + c) + b (1 + c) / D_j) ]
//           + (1 - w) [ energies of transmissions and of processing, J ]
//
// The first part is the bound of the theorem on the global meta-gradient plus that on the mismatch between
// clusters and swarms, without what no decision changes. In Delta_j sigma_j the data D_j cancels, which the
// paper does not use: otherwise each worker would have thousands of terms. A prediction of lost accuracy may
// take its place (accuracy_loss.h).
//
// Time has no price in the paper, so that one worker computes for seconds at its lowest speed while all
// hover. With a hover power it has one: the round lasts T, which is decided too, and the second part also has
// P_F T, the energy of all UAVs that stay up. Batteries pay for what their own UAV hovers.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/bounds/bounds.h"
#include "skein/offloading/accuracy_loss.h"
#include "skein/world/links.h"

namespace skein {

struct OffloadingInstance {
  std::string name{};
  double learning_weight = 0.5;             // w = 1 - theta
  double local_rounds = 1.0;                // K_L: the objective has w / K_L, as O(s) has the bound's mean
  SwarmBoundCoefficients bound{};           // its constant times w is left out of objectives here
  std::optional<AccuracyLoss> accuracy{};   // in the bound's place
  double point_bits = 0.0;                  // of a data point
  double local_period = 1.0;                // tau_L: local iterations, each of which processes alpha D points
  double local_time_limit = 0.0;            // s, for gathering and processing
  double hover_power = 0.0;                 // W, of who stays up whatever is decided
  std::vector<double> uav_hover_power{};    // W, of each UAV that is not idle; empty: none
  std::vector<double> device_data{};        // points
  std::vector<double> device_power{};       // W
  Table<double> device_rate{};              // bit/s; devices x UAVs
  std::vector<double> coordinator_power{};  // W
  Table<double> coordinator_rate{};         // bit/s; coordinators x workers
  std::vector<double>
      capacitance_cycles{};             // a_j c_j: J s^2 per point; a point at g costs half of it times g^2
  std::vector<double> cycles{};         // c_j: of a worker's processor, per point
  std::vector<double> least_clock{};    // Hz, of each worker
  std::vector<double> most_clock{};     // Hz
  std::vector<double> energy_budget{};  // J, of each UAV, for processing or relaying
  std::vector<double> buffer{};         // points, of each UAV

  [[nodiscard]] std::size_t num_devices() const { return device_data.size(); }
  [[nodiscard]] std::size_t num_workers() const { return cycles.size(); }
  [[nodiscard]] std::size_t num_coordinators() const { return coordinator_power.size(); }
  [[nodiscard]] std::size_t num_uavs() const { return num_workers() + num_coordinators(); }
  [[nodiscard]] double total_data() const;

  [[nodiscard]] double weight_of_learning() const { return learning_weight / local_rounds; }
  [[nodiscard]] double weight_of_energy() const { return 1.0 - learning_weight; }
  [[nodiscard]] double hover_power_of(std::size_t uav) const {
    return uav_hover_power.empty() ? 0.0 : uav_hover_power[uav];
  }
  [[nodiscard]] double whole_hover_power() const;  // W, with nobody idle
  [[nodiscard]] bool prices_time() const { return whole_hover_power() > 0.0; }
};

// What makes no sense as numbers: wrong sizes, negative or not finite. Not what makes it infeasible.
std::vector<InputFault> faults_of(const OffloadingInstance& instance);

struct OffloadDecision {
  Table<double> rho{};                         // devices x UAVs
  Table<double> varrho{};                      // coordinators x workers
  std::vector<std::array<double, 3>> alpha{};  // of each worker; 0 for one that is not used
  std::vector<double> clock{};                 // Hz, of each worker
  std::vector<bool> idle{};                    // UAVs that do nothing and need not stay up; empty: none

  [[nodiscard]] bool is_idle(std::size_t uav) const { return !idle.empty() && idle[uav]; }
};

enum class LimitKind { device_share, relay_share, buffer, time, energy };

struct LimitUse {
  LimitKind kind = LimitKind::device_share;
  std::size_t index = 0;  // device, coordinator or UAV
  double used = 0.0;      // in units of the limit: 1 is all of it
};

// Multipliers of P's limits in units of the limit and of the objective's value: how much (relative) the
// objective would fall if the limit were (relatively) wider. Where time has a price, that of time is what the
// round lasts.
struct LimitMultipliers {
  std::vector<double> device_share{};  // of each device
  std::vector<double> relay{};         // of each coordinator, of relayed <= received, in units of all data
  std::vector<double> buffer{};        // of each UAV
  std::vector<double> time{};          // of each UAV
  std::vector<double> energy{};        // of each UAV
};

// Everything that follows from a decision.
struct OffloadEvaluation {
  double objective = 0.0;                 // without the constant
  double learning = 0.0;                  // its first part, before weighting
  double device_energy = 0.0;             // J: devices' transmissions
  double relay_energy = 0.0;              // J: coordinators' transmissions
  double processing_energy = 0.0;         // J
  double round_time = 0.0;                // s: until the last UAV is done
  double hovering_energy = 0.0;           // J: of all that stay up, for that long; 0 without a price of time
  std::vector<double> data{};             // points at each UAV
  std::vector<double> processed{};        // A_j D_j of each worker: points of one local iteration
  std::vector<double> gathering_time{};   // s, of each UAV
  std::vector<double> processing_time{};  // s, of each worker
  std::vector<double> uav_energy{};       // J, of each UAV, against its budget: its hovering too
  std::vector<LimitUse> limits{};
  double violation = 0.0;  // by how much the worst limit is exceeded, relative to it

  // Of what is sent and processed.
  [[nodiscard]] double energy() const { return device_energy + relay_energy + processing_energy; }
};

// A worker's part of the learning term sum_j A_j bracket_j / Delta, and its derivatives.
struct LearningBracket {
  double value = 0.0;
  double by_data = 0.0;
  std::array<double, 3> by_alpha{};
};
LearningBracket learning_bracket(const OffloadingInstance& instance, const std::array<double, 3>& alpha,
                                 double data);

// Workers with no mini-batch are not used: they count for nothing.
OffloadEvaluation evaluate(const OffloadingInstance& instance, const OffloadDecision& decision);

// The problem with only these workers and coordinators, in this order, and its decision put back among all.
OffloadingInstance with_uavs(const OffloadingInstance& instance, const std::vector<std::size_t>& workers,
                             const std::vector<std::size_t>& coordinators);
OffloadDecision among_all_uavs(const OffloadingInstance& instance, const std::vector<std::size_t>& workers,
                               const std::vector<std::size_t>& coordinators, const OffloadDecision& decision);
// The same with all coordinators.
OffloadingInstance with_workers(const OffloadingInstance& instance, const std::vector<std::size_t>& workers);
std::vector<std::size_t> all_indices(std::size_t count);  // 0 to count - 1

}  // namespace skein
