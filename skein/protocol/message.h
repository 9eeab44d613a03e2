// Messages of a training sequence: what core network, access points, UAVs and devices say to one another.
//
// The paper's appendix on UAV signaling as typed values. A message is plain and complete: it can be written
// to bytes and read again by another process. Data and models are not in it but announced by their size; who
// runs the roles apart sends them behind the message. docs/protocol.md has the table of who says what to
// whom.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skein {

enum class PartyKind : std::uint8_t { core, access_point, leader, coordinator, worker, device };
inline constexpr std::size_t num_party_kinds = 6;

// Who sends or receives. A device is addressed through the swarm above it: each swarm has its own session
// with it.
struct Party {
  PartyKind kind = PartyKind::core;
  std::uint32_t swarm = 0;  // 0 for the core network and access points
  std::uint32_t index = 0;  // 0 for the core network and leaders

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison's 0 for a pointer.
  friend constexpr auto operator<=>(const Party&, const Party&) = default;
};

constexpr Party core_party() { return {}; }
constexpr Party access_point_party(std::uint32_t index) { return {PartyKind::access_point, 0, index}; }
constexpr Party leader_party(std::uint32_t swarm) { return {PartyKind::leader, swarm, 0}; }

// "core", "access point 1", "leader 2", "worker 2.0".
std::string to_string(const Party& party);
std::string_view to_string(PartyKind kind);

// The numbers are those on the wire.
enum class MessageType : std::uint8_t {
  plan = 1,  // where to go, how long to train, by which constants to decide; with a model for a leader that
             // has not the latest
  position = 2,             // where to hover above the cluster
  shares = 3,               // whose data to get, whom to relay to, whom to hand the model
  arrived = 4,              // at the position
  swarm_model = 5,          // the swarm's model, to start a local round from
  start_training = 6,       // a global round begins, with its periods
  next_round = 7,           // the next local round begins
  wake_up = 8,              // a device is to send so much data
  data_announced = 9,       // a coordinator is about to relay
  data = 10,                // from a device or a coordinator
  relayed = 11,             // a coordinator has nothing more to relay in this global round
  model_announced = 12,     // a worker is about to send its model
  model = 13,               // a worker's model
  at_access_point = 14,     // the leader is there
  prompt_upload = 15,       // all leaders are there
  swarm_update = 16,        // the swarm's model for the global aggregation
  global_model = 17,        // the result of it
  personalise = 18,         // the last global model, for one more step
  personalised_model = 19,  // the cluster's own model, to be handed to the devices
  model_received = 20,      // a device has it
  handed_over = 21,         // all devices of a UAV have it
  sequence_done = 22,       // the end: gathered data is discarded
  lost = 23,                // the subject does not answer any more
  acknowledgement = 24,     // of delivery; no role sees it
};
inline constexpr std::size_t num_message_types = 24;
std::string_view to_string(MessageType type);

struct PlanContent {
  std::uint32_t cluster = 0;
  std::uint32_t local_period = 1;   // tau_L
  std::uint32_t global_period = 1;  // tau_G
  std::uint32_t num_rounds = 1;     // K_G
  // Of the convergence bounds, as the core network has measured them, for the leader's decisions; none at
  // first.
  std::vector<double> constants{};
  friend bool operator==(const PlanContent&, const PlanContent&) = default;
};
struct PositionContent {
  double x = 0.0;  // m
  double y = 0.0;  // m
  double z = 0.0;  // m
  friend bool operator==(const PositionContent&, const PositionContent&) = default;
};
struct Share {
  Party peer;
  std::uint64_t bits = 0;    // of data: from a device or coordinator, or to a worker
  bool hands_model = false;  // a device that gets the model from this UAV
  friend bool operator==(const Share&, const Share&) = default;
};
struct SharesContent {
  std::vector<Share> shares{};
  friend bool operator==(const SharesContent&, const SharesContent&) = default;
};
struct PeriodsContent {
  std::uint32_t local_period = 1;
  std::uint32_t global_period = 1;
  friend bool operator==(const PeriodsContent&, const PeriodsContent&) = default;
};
struct BitsContent {
  std::uint64_t bits = 0;
  friend bool operator==(const BitsContent&, const BitsContent&) = default;
};
struct WeightContent {
  double weight = 0.0;  // of the model in the swarm's average: data processed
  friend bool operator==(const WeightContent&, const WeightContent&) = default;
};
struct AcknowledgementContent {
  std::uint64_t serial = 0;  // of the message that has come
  friend bool operator==(const AcknowledgementContent&, const AcknowledgementContent&) = default;
};
using Content = std::variant<std::monostate, PlanContent, PositionContent, SharesContent, PeriodsContent,
                             BitsContent, WeightContent, AcknowledgementContent>;

// When in the training: a sender sends at most one message of a type and subject to a receiver at each.
struct Stamp {
  std::uint32_t sequence = 0;
  std::uint32_t global_round = 0;
  std::uint32_t local_round = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison's 0 for a pointer.
  friend constexpr auto operator<=>(const Stamp&, const Stamp&) = default;
};

struct Message {
  MessageType type = MessageType::acknowledgement;
  Party sender;
  Party receiver;
  Party subject;  // the leader that a message between access point and core is about, or who is lost
  Stamp stamp;
  std::uint64_t serial = 0;        // of the sender's messages; the same when it is sent again
  std::uint64_t payload_bits = 0;  // data or a model behind it
  Content content;

  friend bool operator==(const Message&, const Message&) = default;
};

// Whether a type may ever go from one kind of party to another.
bool is_route(MessageType type, PartyKind sender, PartyKind receiver);
bool has_payload(MessageType type);
// Why the message could never be meant, whatever has gone before; empty if it could.
std::string_view objection_to(const Message& message);

// The message alone, without payload. A programmer's fault if there is an objection to it.
std::string encode(const Message& message);
struct Decoded {
  std::optional<Message> message{};
  std::string_view fault{};  // why there is none
};
// Any bytes: they are one whole message of this version, with its checksum, or refused. Never throws.
Decoded decode(std::string_view bytes);

// 8 per encoded byte, without payload.
std::uint64_t header_bits(const Message& message);

// One line for traces: "worker 0.1 -> leader 0: model, round 0.1, 568 bit + 10000 bit".
std::string to_string(const Message& message);

}  // namespace skein
