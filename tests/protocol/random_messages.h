// Random messages that have no objection to them, of parties with small numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "skein/base/random.h"
#include "skein/protocol/message.h"

namespace skein {

inline Party random_party(RandomStream& random, PartyKind kind) {
  const auto small = [&] { return static_cast<std::uint32_t>(random.below(4)); };
  switch (kind) {
    case PartyKind::core:
      return core_party();
    case PartyKind::access_point:
      return access_point_party(small() % 2);
    case PartyKind::leader:
      return leader_party(small() % 2);
    default:
      return {kind, small() % 2, small()};
  }
}

inline Content random_content(RandomStream& random, MessageType type, const Party& receiver) {
  const auto small = [&] { return static_cast<std::uint32_t>(1 + random.below(3)); };
  switch (type) {
    case MessageType::plan:
      return PlanContent{small(), small(), small(), small(),
                         std::vector<double>(random.below(10), random.normal())};
    case MessageType::position:
      return PositionContent{random.normal(), random.normal(), random.normal()};
    case MessageType::start_training:
      return PeriodsContent{small(), small()};
    case MessageType::wake_up:
    case MessageType::data_announced:
      return BitsContent{random.below(1000)};
    case MessageType::model_announced:
      return WeightContent{random.uniform()};
    case MessageType::acknowledgement:
      return AcknowledgementContent{random.bits()};
    case MessageType::shares: {
      const PartyKind other = receiver.kind == PartyKind::worker ? PartyKind::coordinator : PartyKind::worker;
      SharesContent list;
      for (const PartyKind kind : {other, PartyKind::device}) {
        for (std::uint32_t i = 0; i < 4; ++i) {
          if (random.bernoulli(0.5)) {
            const bool hands = kind == PartyKind::device && random.bernoulli(0.5);
            list.shares.push_back({{kind, receiver.swarm, i}, random.below(1000), hands});
          }
        }
      }
      return list;
    }
    default:
      return std::monostate{};
  }
}

// Of a given type from one party to another; they must be on a route of it.
inline Message random_message(RandomStream& random, MessageType type, const Party& sender,
                              const Party& receiver) {
  const auto is_base = [](const Party& p) {
    return p.kind == PartyKind::core || p.kind == PartyKind::access_point;
  };
  Message message{.type = type, .sender = sender, .receiver = receiver};
  if (is_base(sender) && is_base(receiver) && type != MessageType::acknowledgement) {
    message.subject = random_party(random, PartyKind::leader);
  } else if (type == MessageType::lost) {
    const bool to_worker = receiver.kind == PartyKind::worker;
    message.subject = {to_worker ? PartyKind::coordinator : PartyKind::worker, sender.swarm,
                       static_cast<std::uint32_t>(random.below(4))};
  }
  message.stamp = {static_cast<std::uint32_t>(random.below(4)), static_cast<std::uint32_t>(random.below(4)),
                   static_cast<std::uint32_t>(random.below(3))};
  // Most have no local round, and a sequence begins with round 0.
  using enum MessageType;
  if (type == plan || type == position || type == arrived) {
    message.stamp.global_round = 0;
  }
  if (type != shares && type != wake_up && type != data && type != data_announced && type != relayed &&
      type != start_training && type != swarm_model && type != next_round && type != model_announced &&
      type != model && type != lost && type != acknowledgement) {
    message.stamp.local_round = 0;
  }
  message.serial = random.below(1000);
  message.payload_bits = has_payload(type) ? random.below(1000) : 0;
  message.content = random_content(random, type, receiver);
  return message;
}

inline Message random_message(RandomStream& random) {
  while (true) {
    const auto type = static_cast<MessageType>(1 + random.below(num_message_types));
    const Party sender = random_party(random, static_cast<PartyKind>(random.below(num_party_kinds)));
    Party receiver = random_party(random, static_cast<PartyKind>(random.below(num_party_kinds)));
    if (!is_route(type, sender.kind, receiver.kind)) {
      continue;
    }
    Message message = random_message(random, type, sender, receiver);
    if (objection_to(message).empty()) {
      return message;
    }
  }
}

}  // namespace skein
