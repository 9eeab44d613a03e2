#include "skein/protocol/core_role.h"

#include <algorithm>
#include <array>

#include "skein/base/expect.h"

namespace skein {

CoreRole::CoreRole(Options options)
    : RoleMachine(core_party()), leaders_(std::move(options.leaders)), model_bits_(options.model_bits) {}

std::string_view CoreRole::state_name() const {
  static constexpr std::array<std::string_view, 5> names = {"idle", "training", "collecting", "merging",
                                                            "closing"};
  return names.at(static_cast<std::size_t>(state_));
}

const CoreRole::Attachment* CoreRole::attachment_of(const Party& leader) const {
  const auto found = std::ranges::find(leaders_, leader, &Attachment::leader);
  return found == leaders_.end() ? nullptr : &*found;
}

bool CoreRole::knows(const Party& peer) const {
  if (peer.kind == PartyKind::leader) {
    return attachment_of(peer) != nullptr;
  }
  return std::ranges::find(leaders_, peer, &Attachment::access_point) != leaders_.end();
}

std::vector<Party> CoreRole::awaited() const {
  std::vector<Party> parties;
  if (state_ == State::training || state_ == State::collecting || state_ == State::closing) {
    for (const Active& active : active_) {
      if (active.awaited) {
        parties.push_back(active.link.leader);
      }
    }
  }
  return parties;
}

void CoreRole::activate(const std::vector<LeaderPlan>& plans) {
  active_.clear();
  num_rounds_ = plans.front().plan.num_rounds;
  for (const LeaderPlan& plan : plans) {
    active_.push_back({*attachment_of(plan.leader)});
  }
}

void CoreRole::resume(const Stamp& stamp, const std::vector<LeaderPlan>& plans) {
  expect(!plans.empty() && stamp.global_round < plans.front().plan.num_rounds, "a round of the plan");
  begin_sequence(stamp.sequence);
  round_ = stamp.global_round;
  activate(plans);
  enter(State::training);
}

Refusal CoreRole::judge(const LocalEvent& event) const {
  if (event.kind == LocalEvent::Kind::finished) {
    return state_ == State::merging ? Refusal::none : Refusal::wrong_state;
  }
  if (state_ != State::idle) {
    return Refusal::wrong_state;
  }
  if (!is_later(event.stamp.sequence)) {
    return Refusal::wrong_sequence;
  }
  for (std::size_t i = 0; i < event.plans.size(); ++i) {
    const LeaderPlan& plan = event.plans[i];
    const bool in_order = i == 0 || event.plans[i - 1].leader < plan.leader;
    if (!in_order || attachment_of(plan.leader) == nullptr || plan.plan.num_rounds == 0 ||
        plan.plan.local_period == 0 || plan.plan.global_period == 0 ||
        plan.plan.num_rounds != event.plans.front().plan.num_rounds) {
      return Refusal::bad_content;
    }
  }
  return event.plans.empty() ? Refusal::bad_content : Refusal::none;
}

void CoreRole::accept(const LocalEvent& event, Reaction& reaction) {
  if (event.kind == LocalEvent::Kind::begin) {
    begin_sequence(event.stamp.sequence);
    activate(event.plans);
    enter(State::training);
    for (const LeaderPlan& plan : event.plans) {
      send(reaction, MessageType::plan, attachment_of(plan.leader)->access_point, plan.plan,
           plan.sends_model ? model_bits_ : 0);
      reaction.outgoing.back().subject = plan.leader;
    }
    return;
  }
  send_to_all(reaction, MessageType::global_model, model_bits_);
  ++round_;
  enter(round_ < num_rounds_ ? State::training : State::closing);
  settle(reaction);
}

Refusal CoreRole::judge(const Message& message) const {
  if (!is_current(message.stamp.sequence)) {
    return Refusal::wrong_sequence;
  }
  const auto active = std::ranges::find(active_, message.subject,
                                        [](const Active& a) -> const Party& { return a.link.leader; });
  if (active == active_.end()) {
    return Refusal::unknown_peer;
  }
  if (active->link.access_point != message.sender) {
    return Refusal::wrong_sender;
  }
  if (message.type == MessageType::lost) {
    return state_ == State::idle ? Refusal::wrong_state : Refusal::none;
  }
  const bool fits = (message.type == MessageType::at_access_point && state_ == State::training) ||
                    (message.type == MessageType::swarm_update && state_ == State::collecting) ||
                    (message.type == MessageType::sequence_done && state_ == State::closing);
  if (!fits || !active->awaited) {
    return Refusal::wrong_state;
  }
  if (message.stamp.global_round != round_) {
    return Refusal::wrong_round;
  }
  const bool is_whole = message.type != MessageType::swarm_update || message.payload_bits == model_bits_;
  return is_whole ? Refusal::none : Refusal::bad_content;
}

void CoreRole::accept(const Message& message, Reaction& reaction) {
  if (message.type == MessageType::lost) {
    drop(message.subject, reaction);
    return;
  }
  for (Active& active : active_) {
    if (active.link.leader == message.subject) {
      active.awaited = false;
    }
  }
  settle(reaction);
}

void CoreRole::drop(const Party& peer, Reaction& reaction) {
  std::erase_if(active_, [&](const Active& active) {
    return active.link.leader == peer || active.link.access_point == peer;
  });
  settle(reaction);
}

void CoreRole::enter(State state) {
  state_ = state;
  for (Active& active : active_) {
    active.awaited = true;
  }
}

void CoreRole::settle(Reaction& reaction) {
  if (active_.empty()) {
    state_ = State::idle;
    cancel_work();
    return;
  }
  if (std::ranges::any_of(active_, &Active::awaited)) {
    return;
  }
  if (state_ == State::training) {
    enter(State::collecting);
    send_to_all(reaction, MessageType::prompt_upload, 0);
  } else if (state_ == State::collecting) {
    state_ = State::merging;
    begin_work(reaction, Work::merge);
  } else if (state_ == State::closing) {
    state_ = State::idle;
  }
}

void CoreRole::send_to_all(Reaction& reaction, MessageType type, std::uint64_t payload_bits) {
  for (const Active& active : active_) {
    send(reaction, type, active.link.access_point, {}, payload_bits);
    reaction.outgoing.back().subject = active.link.leader;
  }
}

AccessPointRole::AccessPointRole(std::uint32_t index, const std::vector<Party>& leaders)
    : RoleMachine(access_point_party(index)) {
  for (const Party& leader : leaders) {
    slots_.push_back({leader});
  }
}

void AccessPointRole::resume(const Party& leader, const Stamp& stamp) {
  const auto slot = std::ranges::find(slots_, leader, &Slot::leader);
  expect(slot != slots_.end(), "a leader of this access point");
  *slot = {leader, State::away, stamp.sequence, stamp.global_round};
}

std::string_view AccessPointRole::name_of(State state) {
  static constexpr std::array<std::string_view, 5> names = {"idle", "away", "arrived", "prompted",
                                                            "uploaded"};
  return names.at(static_cast<std::size_t>(state));
}

const AccessPointRole::Slot* AccessPointRole::slot_of(const Party& leader) const {
  const auto found = std::ranges::find(slots_, leader, &Slot::leader);
  return found == slots_.end() ? nullptr : &*found;
}

AccessPointRole::Slot& AccessPointRole::slot_of(const Message& message) {
  const Party& leader = message.sender.kind == PartyKind::leader ? message.sender : message.subject;
  return *std::ranges::find(slots_, leader, &Slot::leader);
}

AccessPointRole::State AccessPointRole::state_of(const Party& leader) const {
  const Slot* slot = slot_of(leader);
  expect(slot != nullptr, "a leader of this access point");
  return slot->state;
}

bool AccessPointRole::knows(const Party& peer) const {
  if (peer.kind == PartyKind::core) {
    return true;
  }
  const Slot* slot = slot_of(peer);
  return slot != nullptr && !slot->is_lost;
}

Refusal AccessPointRole::judge(const Message& message) const {
  const bool from_leader = message.sender.kind == PartyKind::leader;
  const Slot* slot = slot_of(from_leader ? message.sender : message.subject);
  if (slot == nullptr) {
    return Refusal::unknown_peer;
  }
  if (message.type == MessageType::plan) {
    // A newer plan ends whatever was.
    return message.stamp.sequence > slot->sequence ? Refusal::none : Refusal::wrong_sequence;
  }
  if (message.stamp.sequence != slot->sequence) {
    return Refusal::wrong_sequence;
  }
  const bool fits = (message.type == MessageType::at_access_point && slot->state == State::away) ||
                    (message.type == MessageType::prompt_upload && slot->state == State::arrived) ||
                    (message.type == MessageType::swarm_update && slot->state == State::prompted) ||
                    (message.type == MessageType::global_model && slot->state == State::uploaded) ||
                    (message.type == MessageType::sequence_done && slot->state == State::away);
  if (!fits || slot->is_lost) {
    return Refusal::wrong_state;
  }
  return message.stamp.global_round == slot->round ? Refusal::none : Refusal::wrong_round;
}

void AccessPointRole::accept(const Message& message, Reaction& reaction) {
  Slot& slot = slot_of(message);
  switch (message.type) {
    case MessageType::plan:
      slot = {slot.leader, State::away, message.stamp.sequence, 0};
      break;
    case MessageType::at_access_point:
      slot.state = State::arrived;
      break;
    case MessageType::prompt_upload:
      slot.state = State::prompted;
      break;
    case MessageType::swarm_update:
      slot.state = State::uploaded;
      break;
    case MessageType::global_model:
      slot.state = State::away;
      ++slot.round;
      break;
    default:
      slot.state = State::idle;
  }
  if (message.sender.kind == PartyKind::leader) {
    forward(reaction, message, core_party(), slot.leader);
  } else {
    forward(reaction, message, slot.leader, {});
  }
}

void AccessPointRole::drop(const Party& peer, Reaction& reaction) {
  const auto slot = std::ranges::find(slots_, peer, &Slot::leader);
  if (slot == slots_.end()) {
    return;  // the core network: nobody else to tell
  }
  const bool tells = slot->state != State::idle;
  slot->is_lost = true;
  slot->state = State::idle;
  if (tells) {
    send(reaction, MessageType::lost, core_party());
    Message& message = reaction.outgoing.back();
    message.subject = peer;
    message.stamp = {static_cast<std::uint32_t>(slot->sequence), slot->round, 0};
  }
}

}  // namespace skein
