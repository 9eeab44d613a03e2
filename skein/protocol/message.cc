#include "skein/protocol/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "skein/base/expect.h"

namespace skein {

namespace {

enum class Carries { nothing, plan, position, shares, periods, bits, weight, acknowledgement };

struct TypeTraits {
  std::string_view name;
  Carries carries = Carries::nothing;
  bool payload = false;
};

const TypeTraits& traits_of(MessageType type) {
  static constexpr std::array<TypeTraits, num_message_types> table = {{
      {"plan", Carries::plan, true},
      {"position", Carries::position},
      {"shares", Carries::shares},
      {"arrived"},
      {"swarm_model", Carries::nothing, true},
      {"start_training", Carries::periods},
      {"next_round"},
      {"wake_up", Carries::bits},
      {"data_announced", Carries::bits},
      {"data", Carries::nothing, true},
      {"relayed"},
      {"model_announced", Carries::weight},
      {"model", Carries::nothing, true},
      {"at_access_point"},
      {"prompt_upload"},
      {"swarm_update", Carries::nothing, true},
      {"global_model", Carries::nothing, true},
      {"personalise", Carries::nothing, true},
      {"personalised_model", Carries::nothing, true},
      {"model_received"},
      {"handed_over"},
      {"sequence_done"},
      {"lost"},
      {"acknowledgement", Carries::acknowledgement},
  }};
  return table[static_cast<std::size_t>(type) - 1];
}

bool is_type(MessageType type) {
  const auto number = static_cast<std::size_t>(type);
  return number >= 1 && number <= num_message_types;
}

bool is_party(const Party& party) {
  switch (party.kind) {
    case PartyKind::core:
      return party.swarm == 0 && party.index == 0;
    case PartyKind::access_point:
      return party.swarm == 0;
    case PartyKind::leader:
      return party.index == 0;
    case PartyKind::coordinator:
    case PartyKind::worker:
    case PartyKind::device:
      return true;
  }
  return false;
}

bool is_infrastructure(PartyKind kind) { return kind == PartyKind::core || kind == PartyKind::access_point; }

bool is_uav(PartyKind kind) { return kind == PartyKind::worker || kind == PartyKind::coordinator; }

// A sequence begins with round 0; only some messages belong to a local round.
bool stamp_fits(const Message& m) {
  switch (m.type) {
    case MessageType::plan:
    case MessageType::position:
    case MessageType::arrived:
      return m.stamp.global_round == 0 && m.stamp.local_round == 0;
    case MessageType::shares:
    case MessageType::wake_up:
    case MessageType::data:
    case MessageType::data_announced:
    case MessageType::relayed:
    case MessageType::start_training:
    case MessageType::swarm_model:
    case MessageType::next_round:
    case MessageType::model_announced:
    case MessageType::model:
    case MessageType::lost:
    case MessageType::acknowledgement:
      return true;
    default:
      return m.stamp.local_round == 0;
  }
}

bool subject_fits(const Message& m) {
  if (!is_party(m.subject)) {
    return false;
  }
  if (m.type == MessageType::lost) {
    return is_infrastructure(m.receiver.kind)
               ? m.subject.kind == PartyKind::leader
               : is_uav(m.subject.kind) && m.subject.swarm == m.sender.swarm && m.subject != m.receiver;
  }
  // Between access point and core network it has to be said which leader is meant.
  if (is_infrastructure(m.sender.kind) && is_infrastructure(m.receiver.kind) &&
      m.type != MessageType::acknowledgement) {
    return m.subject.kind == PartyKind::leader;
  }
  return m.subject == Party{};
}

bool share_fits(const Share& share, const Party& receiver) {
  if (!is_party(share.peer) || share.peer.swarm != receiver.swarm) {
    return false;
  }
  switch (share.peer.kind) {
    case PartyKind::device:
      return true;
    case PartyKind::worker:
      return receiver.kind == PartyKind::coordinator && !share.hands_model;
    case PartyKind::coordinator:
      return receiver.kind == PartyKind::worker && !share.hands_model;
    default:
      return false;
  }
}

bool content_fits(const Message& m) {
  if (m.content.index() != static_cast<std::size_t>(traits_of(m.type).carries)) {
    return false;
  }
  if (const auto* plan = std::get_if<PlanContent>(&m.content)) {
    return plan->local_period >= 1 && plan->global_period >= 1 && plan->num_rounds >= 1 &&
           std::ranges::all_of(plan->constants, [](double value) { return std::isfinite(value); });
  }
  if (const auto* place = std::get_if<PositionContent>(&m.content)) {
    return std::isfinite(place->x) && std::isfinite(place->y) && std::isfinite(place->z);
  }
  if (const auto* list = std::get_if<SharesContent>(&m.content)) {
    for (std::size_t i = 0; i < list->shares.size(); ++i) {
      const bool in_order = i == 0 || list->shares[i - 1].peer < list->shares[i].peer;
      if (!in_order || !share_fits(list->shares[i], m.receiver)) {
        return false;
      }
    }
    return true;
  }
  if (const auto* periods = std::get_if<PeriodsContent>(&m.content)) {
    return periods->local_period >= 1 && periods->global_period >= 1;
  }
  if (const auto* weight = std::get_if<WeightContent>(&m.content)) {
    return std::isfinite(weight->weight) && weight->weight >= 0.0;
  }
  return true;
}

}  // namespace

std::string_view to_string(PartyKind kind) {
  static constexpr std::array<std::string_view, num_party_kinds> names = {
      "core", "access point", "leader", "coordinator", "worker", "device"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string to_string(const Party& party) {
  switch (party.kind) {
    case PartyKind::core:
      return "core";
    case PartyKind::access_point:
      return fmt::format("access point {}", party.index);
    case PartyKind::leader:
      return fmt::format("leader {}", party.swarm);
    default:
      return fmt::format("{} {}.{}", to_string(party.kind), party.swarm, party.index);
  }
}

std::string_view to_string(MessageType type) {
  expect(is_type(type), "a message type");
  return traits_of(type).name;
}

bool has_payload(MessageType type) { return traits_of(type).payload; }

bool is_route(MessageType type, PartyKind sender, PartyKind receiver) {
  using enum PartyKind;
  const bool core_to_leader =
      (sender == core && receiver == access_point) || (sender == access_point && receiver == leader);
  const bool leader_to_core =
      (sender == leader && receiver == access_point) || (sender == access_point && receiver == core);
  switch (type) {
    case MessageType::plan:
    case MessageType::prompt_upload:
    case MessageType::global_model:
      return core_to_leader;
    case MessageType::at_access_point:
    case MessageType::swarm_update:
      return leader_to_core;
    case MessageType::position:
    case MessageType::shares:
    case MessageType::start_training:
      return sender == leader && is_uav(receiver);
    case MessageType::swarm_model:
    case MessageType::next_round:
    case MessageType::personalise:
      return sender == leader && receiver == worker;
    case MessageType::arrived:
    case MessageType::handed_over:
      return is_uav(sender) && receiver == leader;
    case MessageType::wake_up:
      return is_uav(sender) && receiver == device;
    case MessageType::data_announced:
      return sender == coordinator && receiver == worker;
    case MessageType::data:
      return (sender == device && is_uav(receiver)) || (sender == coordinator && receiver == worker);
    case MessageType::relayed:
      return sender == coordinator && receiver == leader;
    case MessageType::model_announced:
    case MessageType::model:
      return sender == worker && receiver == leader;
    case MessageType::personalised_model:
      return (sender == leader && is_uav(receiver)) || (is_uav(sender) && receiver == device);
    case MessageType::model_received:
      return sender == device && is_uav(receiver);
    case MessageType::sequence_done:
      return leader_to_core || (sender == leader && is_uav(receiver));
    case MessageType::lost:
      return (sender == leader && is_uav(receiver)) || (sender == access_point && receiver == core);
    case MessageType::acknowledgement:
      return true;
  }
  return false;
}

std::string_view objection_to(const Message& message) {
  if (!is_type(message.type)) {
    return "unknown type";
  }
  if (!is_party(message.sender) || !is_party(message.receiver)) {
    return "sender or receiver cannot exist";
  }
  if (!is_route(message.type, message.sender.kind, message.receiver.kind)) {
    return "this sender never says that to this receiver";
  }
  const bool in_swarm = !is_infrastructure(message.sender.kind) && !is_infrastructure(message.receiver.kind);
  if (in_swarm && message.sender.swarm != message.receiver.swarm) {
    return "sender and receiver are of different swarms";
  }
  if (!subject_fits(message)) {
    return "wrong subject";
  }
  if (!stamp_fits(message)) {
    return "a round that such a message cannot have";
  }
  if (message.payload_bits != 0 && !has_payload(message.type)) {
    return "this type has no payload";
  }
  if (!content_fits(message)) {
    return "wrong content";
  }
  return {};
}

std::string to_string(const Message& m) {
  std::string line =
      fmt::format("{} -> {}: {}", to_string(m.sender), to_string(m.receiver), to_string(m.type));
  if (m.subject != Party{}) {
    line += fmt::format(" of {}", to_string(m.subject));
  }
  line += fmt::format(", round {}.{}, {} bit", m.stamp.global_round, m.stamp.local_round, header_bits(m));
  if (m.payload_bits != 0) {
    line += fmt::format(" + {} bit", m.payload_bits);
  }
  return line;
}

}  // namespace skein
