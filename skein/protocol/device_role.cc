#include "skein/protocol/device_role.h"

#include <algorithm>
#include <array>

namespace skein {

DeviceRole::DeviceRole(Options options)
    : RoleMachine({PartyKind::device, options.swarm, options.index}),
      uavs_(std::move(options.uavs)),
      model_bits_(options.model_bits) {}

std::string_view DeviceRole::state_name() const {
  static constexpr std::array<std::string_view, 3> names = {"idle", "active", "updated"};
  return names.at(static_cast<std::size_t>(state_));
}

bool DeviceRole::knows(const Party& peer) const { return std::ranges::find(uavs_, peer) != uavs_.end(); }

Refusal DeviceRole::judge(const Message& message) const {
  const bool is_whole =
      message.type != MessageType::personalised_model || message.payload_bits == model_bits_;
  if (!is_later(message.stamp.sequence)) {
    if (!is_current(message.stamp.sequence)) {
      return Refusal::wrong_sequence;
    }
    if (state_ == State::updated) {
      return Refusal::wrong_state;
    }
    if (message.stamp < stamp()) {
      return Refusal::wrong_round;
    }
  }
  return is_whole ? Refusal::none : Refusal::bad_content;
}

void DeviceRole::accept(const Message& message, Reaction& reaction) {
  if (is_later(message.stamp.sequence)) {
    begin_sequence(message.stamp.sequence);
  }
  round_ = message.stamp.global_round;
  local_ = message.stamp.local_round;
  if (message.type == MessageType::wake_up) {
    state_ = State::active;
    send(reaction, MessageType::data, message.sender, {}, std::get<BitsContent>(message.content).bits);
  } else {
    state_ = State::updated;
    send(reaction, MessageType::model_received, message.sender);
  }
}

}  // namespace skein
