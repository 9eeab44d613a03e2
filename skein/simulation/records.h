// What a mission leaves behind, sequence by sequence: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "skein/planning/planner.h"
#include "skein/simulation/fleet.h"

namespace skein {

// One global round of a swarm.
struct RoundRecord {
  double start_s = 0.0;
  double training_s = 0.0;  // its local rounds: gathering, processing, models to the leader and back
  double trip_s = 0.0;      // of its leader, towards the access point and back
  double way_m = 0.0;       // that it flies towards it, one way
  double transmit_s = 0.0;  // of models between it and the access point, there and back; within training_s
  std::size_t local_rounds = 0;
  OffloadSummary decision{};  // of the first local round; the others differ by what has arrived meanwhile
};

// Energy of staying over a place, by why; of all UAVs of a swarm, in J.
struct HoveringRecord {
  double training_j = 0.0;  // gathering, training, handing over
  double leader_away_j =
      0.0;                 // while the leader brings models to the core network and back; of the leader, too
  double waiting_j = 0.0;  // for other swarms
};

struct SwarmRecord {
  std::size_t from = 0;  // sites
  std::size_t to = 0;
  bool active = false;      // it trains
  bool under_way = false;   // it arrives in a later sequence
  bool recharges = false;   // it has arrived at a station, or stays there
  bool lost = false;        // nobody is left to lead or to train
  bool gets_model = false;  // lacked the latest global one: the plan has brought it
  double departs_s = 0.0;   // when it leaves; before the sequence's start if it was under way then
  double arrival_s = 0.0;   // when it is there
  double finished_s = 0.0;  // when its part of the sequence is over
  double distance_m = 0.0;
  double travel_j = 0.0;          // of all its UAVs
  double dearest_flight_j = 0.0;  // of the one that needed most: what planners count
  double recharged_j = 0.0;
  double least_battery_j = 0.0;  // at the end
  double least_margin_j = 0.0;   // least of battery minus threshold over its UAVs, at the end
  double objective = 0.0;        // O(s), as in the planner's tables
  std::uint64_t points_sent = 0;
  std::uint64_t points_trained = 0;
  std::string culprit{};         // why it did not train, if so
  std::size_t access_point = 0;  // with which its leader exchanges models, if active
  HoveringRecord hovering{};
  std::vector<RoundRecord> rounds{};  // global rounds in which it trained
};

struct ClusterRecord {
  bool visited = false;
  bool first_visit = false;                 // it had no model but the initial one
  double handed_over_s = 0.0;               // when it got its new model, if visited
  double age = 0.0;                         // sequences since it was visited, at the end
  double accuracy_before = 0.0;             // of its model on its data of this sequence, 0 to 1
  double accuracy_after = 0.0;              // the same with the model it has at the end
  std::optional<double> oracle_accuracy{};  // of an oracle's model on its data, if there is one
  // What estimates say of these: of the first before anybody arrived and then from its devices' points, of
  // the second when it was handed over. Empty: nothing.
  std::optional<double> predicted_accuracy{};
  std::optional<double> estimated_before{};
  std::optional<double> estimated_after{};
  double loss_before = 0.0;
  double loss_after = 0.0;
  std::optional<double>
      drift{};  // latest estimate, squared norm per sequence; right on average: also below 0
  double squared_gradient = 0.0;  // of its model at the end of the last visit
};

// What a UAV has done in a training sequence: together its whole length, but of one that has crashed.
struct UavTimes {
  double flying_s = 0.0;
  double hovering_s = 0.0;
  double landed_s = 0.0;
  bool aloft = false;  // now
};

// Something went wrong, or was dealt with.
struct FaultNote {
  double time_s = 0.0;
  std::string what{};
};

// The protocol of a sequence.
struct SignallingRecord {
  std::uint64_t messages = 0;
  std::uint64_t bits = 0;  // with data and models
  std::uint64_t refused = 0;
  std::uint64_t given_up = 0;
};

struct ConstantsRecord {
  std::optional<double> time_s{};      // empty: at the end
  std::optional<std::size_t> swarm{};  // at its cluster; empty: at all
  BoundConstants constants{};
};

struct SequenceRecord {
  std::size_t sequence = 0;
  double start_s = 0.0;
  double end_s = 0.0;
  Plan plan{};
  std::vector<Alternative> alternatives{};  // that the planner weighed
  double reward = 0.0;
  double mean_objective = 0.0;         // over active swarms
  double squared_meta_gradient = 0.0;  // of the global model, mean over visited clusters
  std::size_t global_rounds = 0;
  std::size_t local_iterations = 0;
  double data_bits = 0.0;
  double model_bits = 0.0;
  std::size_t below_threshold = 0;  // swarms
  double shortfall_j = 0.0;         // asked of empty batteries
  SignallingRecord signalling{};
  std::vector<ConstantsRecord> constants{};  // as measured, for what comes next
  std::vector<FaultNote> faults{};
  std::size_t rejected_updates = 0;
  std::size_t unreachable_updates = 0;  // no access point
  std::vector<SwarmRecord> swarms{};
  std::vector<ClusterRecord> clusters{};
  std::vector<double> battery_j{};  // of every UAV at the end
  std::vector<UavTimes> uavs{};
};

}  // namespace skein
