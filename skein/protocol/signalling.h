// The signalling of a training sequence, or of some of its global rounds: messages, bits and seconds.
//
// The roles of the protocol (role.h) run over a network in memory (network.h), with what the description
// says about links, shares of data, and the time that flying and computing take. What a deployment would
// exchange is exchanged here, byte by byte, apart from data and models themselves, of which only the size
// travels.
//
// Scope: payload bits and signalling share the links' rates. A leader far from its access point reaches it at
// the control rate, for signalling alone. The personalised model goes from the leader through workers and
// coordinators to the devices, over the links that gathered the data; the paper has the leader send it to
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "skein/protocol/delivery.h"
#include "skein/world/links.h"

namespace skein {

struct SwarmDescription {
  std::uint32_t swarm = 0;
  std::uint32_t cluster = 0;
  std::uint32_t access_point = 0;
  std::uint32_t num_workers = 0;
  std::uint32_t num_coordinators = 0;
  std::uint32_t num_devices = 0;
  bool needs_model = false;  // has not the latest global model: the plan brings it

  // Data in a global round, in bits. UAVs count workers first, then coordinators, as in SwarmLinks.
  struct RoundShares {
    Table<std::uint64_t> device_to_uav;          // devices x UAVs
    Table<std::uint64_t> coordinator_to_worker;  // coordinators x workers
    // Of a later local round: workers that train without new data, on what they have. Empty: nobody.
    std::vector<bool> keeps{};
  };
  std::vector<RoundShares> rounds{};  // one for each global round described, or one for all
  // The same for its later local rounds; what came before is discarded. Empty: nothing comes in them, and
  // workers train on what they have.
  std::vector<RoundShares> later_rounds{};
  // The UAV that hands a device the model; num_workers + num_coordinators: none. Empty: its fastest link.
  std::vector<std::uint32_t> model_from{};

  // bit/s; a link that has none is 0.
  Table<double> device_to_uav_rate;          // both ways
  Table<double> coordinator_to_worker_rate;  // both ways
  std::vector<double> worker_to_leader_rate{};
  std::vector<double> leader_to_worker_rate{};
  double leader_to_access_point_rate = 0.0;  // both ways, with the leader above the access point
  double control_rate = 1e6;  // leader and coordinators, and leader and access point from afar; both ways

  // s
  double flight_time = 0.0;               // to the cluster
  double ready_time = 0.0;                // not before does it begin with the first round that is simulated
  double scatter_time = 0.0;              // to positions above it
  double access_point_flight_time = 0.0;  // one way
  double decide_time = 0.0;
  double aggregate_time = 0.0;
  std::vector<double> compute_time{};  // by worker, in a local round; empty: 0
  std::vector<double> personalise_time{};
  std::vector<PositionContent> positions{};  // by UAV; empty: not said
};

// Takes the rates, and the cluster, swarm and access point, of a swarm's links.
void set_links(SwarmDescription& swarm, const SwarmLinks& links);

struct SequenceDescription {
  std::uint32_t sequence = 0;
  std::vector<SwarmDescription> swarms{};  // the active ones
  std::uint64_t model_bits = 0;
  std::uint32_t local_period = 1;   // tau_L
  std::uint32_t global_period = 1;  // tau_G
  std::uint32_t num_rounds = 1;     // K_G, of the whole sequence
  std::vector<double> constants{};  // of the convergence bounds, that plans bring
  // The global rounds [first_round, end_round) are simulated. The first one begins with the plan and the
  // flight to the cluster, the last one ends with personalisation and handing over.
  std::uint32_t first_round = 0;
  std::uint32_t end_round = 1;
  double backhaul_rate = 1e9;  // bit/s, between access points and core network
  double merge_time = 0.0;     // s
  DeliveryOptions network{};
};

struct RoundTimes {
  double begin = 0.0;         // the leader decides, above the cluster
  double gathered = 0.0;      // the last worker has its data and begins to compute
  double trained = 0.0;       // the swarm's last aggregation
  double synchronised = 0.0;  // the leader has the global model
  double back = 0.0;          // the leader is with its swarm again
};

struct DataTransfer {
  std::uint32_t round = 0;
  std::uint32_t local_round = 0;
  Party from;
  Party to;
  std::uint64_t bits = 0;
  friend bool operator==(const DataTransfer&, const DataTransfer&) = default;
};

struct SwarmReport {
  std::uint32_t swarm = 0;
  bool completed = false;  // all of its rounds
  double end = 0.0;        // s: its last round over, or the sequence
  std::vector<RoundTimes> rounds{};
  std::vector<DataTransfer> transfers{};            // data that has really come
  std::vector<std::uint32_t> devices_with_model{};  // the personalised one
};

struct SignallingReport {
  bool completed = false;  // every swarm
  double duration = 0.0;   // s
  std::vector<SwarmReport> swarms{};
  NetworkRecords records{};
  std::vector<std::string> unfinished{};  // who was left waiting, and in which state

  [[nodiscard]] KindTally total() const;
  // What went wrong, in a few lines; empty if nothing did.
  [[nodiscard]] std::string losses() const;
};

// Throws InputError with everything that is wrong in the description.
void check_description(const SequenceDescription& description);

// Checks the description first.
SignallingReport simulate_signalling(const SequenceDescription& description);

}  // namespace skein
