#include "skein/protocol/role.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace skein {

std::string_view to_string(Refusal refusal) {
  static constexpr std::array<std::string_view, num_refusals> names = {
      "accepted",  "undecodable",    "wrong receiver", "wrong sender", "unknown peer",
      "duplicate", "wrong sequence", "wrong round",    "wrong state",  "bad content"};
  return names.at(static_cast<std::size_t>(refusal));
}

std::string_view to_string(Work work) {
  static constexpr std::array<std::string_view, 10> names = {
      "nothing",   "fly to cluster",      "decide", "fly to position", "compute",
      "aggregate", "fly to access point", "merge",  "fly back",        "personalise"};
  return names.at(static_cast<std::size_t>(work));
}

Stamp RoleMachine::stamp() const {
  return {static_cast<std::uint32_t>(std::max<std::int64_t>(sequence_, 0)), round_, local_};
}

Reaction RoleMachine::handle(const Message& message) {
  Reaction reaction;
  const auto refuse = [&](Refusal refusal) {
    reaction.refusal = refusal;
    return reaction;
  };
  if (message.receiver != self_) {
    return refuse(Refusal::wrong_receiver);
  }
  if (message.type == MessageType::acknowledgement ||
      !is_route(message.type, message.sender.kind, self_.kind)) {
    return refuse(Refusal::wrong_sender);
  }
  // Before the question whether the sender is known: a device that served the last global round may say again
  // what it has not heard acknowledged.
  if (is_duplicate(message)) {
    return refuse(Refusal::duplicate);
  }
  if (!knows(message.sender)) {
    return refuse(Refusal::unknown_peer);
  }
  if (!objection_to(message).empty()) {
    return refuse(Refusal::bad_content);
  }
  if (const Refusal refusal = judge(message); refusal != Refusal::none) {
    return refuse(refusal);
  }
  remember(message);
  accept(message, reaction);
  return reaction;
}

Reaction RoleMachine::handle(const LocalEvent& event) {
  Reaction reaction;
  if (event.kind == LocalEvent::Kind::peer_lost) {
    reaction.refusal = knows(event.peer) ? Refusal::none : Refusal::unknown_peer;
    if (reaction.accepted()) {
      drop(event.peer, reaction);
    }
    return reaction;
  }
  if (event.kind == LocalEvent::Kind::finished) {
    if (work_ == Work::none || event.work != work_) {
      reaction.refusal = Refusal::wrong_state;
      return reaction;
    }
    if (event.stamp != stamp()) {
      reaction.refusal = is_current(event.stamp.sequence) ? Refusal::wrong_round : Refusal::wrong_sequence;
      return reaction;
    }
  }
  reaction.refusal = judge(event);
  if (reaction.accepted()) {
    work_ = Work::none;
    accept(event, reaction);
  }
  return reaction;
}

void RoleMachine::send(Reaction& reaction, MessageType type, const Party& receiver, Content content,
                       std::uint64_t payload_bits) {
  reaction.outgoing.push_back({.type = type,
                               .sender = self_,
                               .receiver = receiver,
                               .stamp = stamp(),
                               .serial = serial_++,
                               .payload_bits = payload_bits,
                               .content = std::move(content)});
}

void RoleMachine::forward(Reaction& reaction, const Message& message, const Party& receiver,
                          const Party& subject) {
  Message next = message;
  next.sender = self_;
  next.receiver = receiver;
  next.subject = subject;
  next.serial = serial_++;
  reaction.outgoing.push_back(std::move(next));
}

void RoleMachine::begin_sequence(std::uint32_t sequence) {
  sequence_ = sequence;
  round_ = 0;
  local_ = 0;
  work_ = Work::none;
}

std::size_t RoleMachine::place_of(const Message& message) const {
  const auto before = [](const Seen& seen, const Message& m) {
    return std::tie(seen.sender, seen.type, seen.subject) < std::tie(m.sender, m.type, m.subject);
  };
  return static_cast<std::size_t>(std::lower_bound(seen_.begin(), seen_.end(), message, before) -
                                  seen_.begin());
}

bool RoleMachine::is_seen(std::size_t place, const Message& message) const {
  return place < seen_.size() && seen_[place].sender == message.sender && seen_[place].type == message.type &&
         seen_[place].subject == message.subject;
}

bool RoleMachine::is_duplicate(const Message& message) const {
  const std::size_t place = place_of(message);
  return is_seen(place, message) && message.stamp <= seen_[place].stamp;
}

void RoleMachine::remember(const Message& message) {
  const std::size_t place = place_of(message);
  if (is_seen(place, message)) {
    seen_[place].stamp = message.stamp;
  } else {
    seen_.insert(seen_.begin() + static_cast<std::ptrdiff_t>(place),
                 {message.sender, message.type, message.subject, message.stamp});
  }
}

}  // namespace skein
