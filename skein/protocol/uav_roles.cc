#include "skein/protocol/uav_roles.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace skein {

std::string_view UavRole::name_of(State state) {
  static constexpr std::array<std::string_view, 12> names = {
      "idle",         "flying",        "on station",   "gathering", "computing", "uploaded",
      "synchronised", "personalising", "personalised", "relayed",   "handing",   "handed"};
  return names.at(static_cast<std::size_t>(state));
}

void UavRole::resume(const Stamp& stamp) {
  begin_sequence(stamp.sequence);
  round_ = stamp.global_round;
  state_ = State::on_station;
}

const UavRole::Source* UavRole::source_of(const Party& peer) const {
  const auto found = std::ranges::find(sources_, peer, &Source::peer);
  return found == sources_.end() ? nullptr : &*found;
}

bool UavRole::knows(const Party& peer) const {
  return peer == leader_ || source_of(peer) != nullptr ||
         std::ranges::find(customers_, peer, &Customer::device) != customers_.end();
}

std::vector<Party> UavRole::awaited() const {
  std::vector<Party> parties;
  if (state_ == State::gathering) {
    for (const Source& source : sources_) {
      if (source.awaited) {
        parties.push_back(source.peer);
      }
    }
  } else if (state_ == State::handing) {
    for (const Customer& customer : customers_) {
      if (customer.awaited) {
        parties.push_back(customer.device);
      }
    }
  }
  return parties;
}

std::uint64_t UavRole::received_bits() const {
  std::uint64_t total = 0;
  for (const Source& source : sources_) {
    total += source.received;
  }
  return total;
}

bool UavRole::ends_round() const {
  return (state_ == State::on_station && has_shares_) || state_ == State::relayed ||
         (state_ == State::uploaded && local_ + 1 >= global_period_);
}

bool UavRole::awaits_shares() const {
  return ends_round() || state_ == State::uploaded ||
         ((state_ == State::flying || state_ == State::on_station) && !has_shares_);
}

Refusal UavRole::judge(const Message& message) const {
  const std::uint32_t round = message.stamp.global_round;
  if (message.type == MessageType::position) {
    // A newer sequence ends whatever was.
    return is_later(message.stamp.sequence) ? Refusal::none : Refusal::wrong_sequence;
  }
  if (!is_current(message.stamp.sequence)) {
    return Refusal::wrong_sequence;
  }
  if (state_ == State::idle) {
    return Refusal::wrong_state;
  }
  switch (message.type) {
    case MessageType::shares:
      return judge_shares(message.stamp);
    case MessageType::data_announced:
    case MessageType::data:
      return judge_data(message);
    case MessageType::personalised_model:
    case MessageType::model_received:
      return judge_handing(message);
    case MessageType::sequence_done:
    case MessageType::lost:
      return round >= round_ ? Refusal::none : Refusal::wrong_round;
    default:
      break;
  }
  if (!takes(message)) {
    return Refusal::wrong_state;
  }
  const bool is_personal = message.type == MessageType::personalise;
  const bool is_next = message.type == MessageType::swarm_model && state_ == State::uploaded;
  const bool is_now = is_personal
                          ? round == round_ + 1 && message.stamp.local_round == 0
                          : round == round_ && message.stamp.local_round == (is_next ? local_ + 1 : local_);
  if (!is_now) {
    return Refusal::wrong_round;
  }
  const bool is_whole = !has_payload(message.type) || message.payload_bits == model_bits_;
  return is_whole ? Refusal::none : Refusal::bad_content;
}

// Of the next global round, or of a later local round of this one; a worker that trains misses none.
Refusal UavRole::judge_shares(const Stamp& stamp) const {
  if (!awaits_shares()) {
    return Refusal::wrong_state;
  }
  const std::uint32_t round = stamp.global_round;
  if (!has_shares_) {
    return round == round_ && stamp.local_round == 0 ? Refusal::none : Refusal::wrong_round;
  }
  const bool is_next = ends_round() && round == round_ + 1 && stamp.local_round == 0;
  const bool trains_on = state_ == State::uploaded;
  const bool is_later = round == round_ && (trains_on ? stamp.local_round == local_ + 1 && !ends_round()
                                                      : stamp.local_round > local_);
  return is_next || is_later ? Refusal::none : Refusal::wrong_round;
}

Refusal UavRole::judge_handing(const Message& message) const {
  const bool begins = message.type == MessageType::personalised_model;
  const bool after_training = state_ == State::personalised;
  bool fits =
      begins && !customers_.empty() && (after_training || (ends_round() && state_ != State::uploaded));
  if (!begins) {
    const auto customer = std::ranges::find(customers_, message.sender, &Customer::device);
    fits = state_ == State::handing && customer != customers_.end() && customer->awaited;
  }
  if (!fits) {
    return Refusal::wrong_state;
  }
  const std::uint32_t round = begins && !after_training ? round_ + 1 : round_;
  if (message.stamp.global_round != round) {
    return Refusal::wrong_round;
  }
  return !begins || message.payload_bits == model_bits_ ? Refusal::none : Refusal::bad_content;
}

Refusal UavRole::judge_data(const Message& message) const {
  const Source* source = source_of(message.sender);
  const bool is_relay = message.sender.kind == PartyKind::coordinator;
  const bool announces = message.type == MessageType::data_announced;
  const bool fits = state_ == State::gathering && source != nullptr && source->awaited &&
                    (!is_relay || source->announced != announces);
  if (!fits) {
    return Refusal::wrong_state;
  }
  if (message.stamp.global_round != round_ || message.stamp.local_round != local_) {
    return Refusal::wrong_round;
  }
  const std::uint64_t bits = announces ? std::get<BitsContent>(message.content).bits : message.payload_bits;
  return bits <= source->bits ? Refusal::none : Refusal::bad_content;
}

void UavRole::accept(const Message& message, Reaction& reaction) {
  switch (message.type) {
    case MessageType::position:
      begin_sequence(message.stamp.sequence);
      has_shares_ = false;
      started_ = false;
      sources_.clear();
      customers_.clear();
      state_ = State::flying;
      begin_work(reaction, Work::fly_to_position);
      break;
    case MessageType::shares:
      take_shares(message);
      if (state_ != State::flying) {
        wake_devices(reaction);
      }
      break;
    case MessageType::data_announced:
    case MessageType::data: {
      Source& source = *std::ranges::find(sources_, message.sender, &Source::peer);
      if (message.type == MessageType::data_announced) {
        source.announced = true;
      } else {
        source.received = message.payload_bits;
        source.awaited = false;
        settle(reaction);
      }
      break;
    }
    case MessageType::personalised_model:
      round_ = message.stamp.global_round;
      local_ = 0;
      hand_over(reaction);
      break;
    case MessageType::model_received:
      std::ranges::find(customers_, message.sender, &Customer::device)->awaited = false;
      settle(reaction);
      break;
    case MessageType::sequence_done:
      state_ = State::idle;
      cancel_work();
      break;
    case MessageType::lost:
      forget(message.subject);
      drop(message.subject, reaction);
      break;
    default:
      accept_own(message, reaction);
  }
}

Refusal UavRole::judge(const LocalEvent& event) const {
  if (event.kind == LocalEvent::Kind::begin) {
    return Refusal::wrong_state;
  }
  return std::isfinite(event.weight) && event.weight >= 0.0 ? Refusal::none : Refusal::bad_content;
}

void UavRole::accept(const LocalEvent& event, Reaction& reaction) {
  if (event.work != Work::fly_to_position) {
    finish_own(event, reaction);
    return;
  }
  send(reaction, MessageType::arrived, leader_);
  state_ = State::on_station;
  if (has_shares_) {
    wake_devices(reaction);
  }
}

void UavRole::drop(const Party& peer, Reaction& reaction) {
  if (peer == leader_) {
    // Without its leader it has no part in the sequence any more.
    state_ = State::idle;
    cancel_work();
    return;
  }
  for (Source& source : sources_) {
    source.awaited = source.awaited && source.peer != peer;
  }
  for (Customer& customer : customers_) {
    customer.awaited = customer.awaited && customer.device != peer;
  }
  settle(reaction);
}

void UavRole::take_shares(const Message& message) {
  round_ = message.stamp.global_round;
  local_ = message.stamp.local_round;
  has_shares_ = true;
  started_ = false;
  sources_.clear();
  customers_.clear();
  const std::vector<Share>& shares = std::get<SharesContent>(message.content).shares;
  for (const Share& share : shares) {
    if (share.hands_model) {
      customers_.push_back({share.peer});
    }
  }
  take_own(shares);
}

void UavRole::wake_devices(Reaction& reaction) {
  state_ = takes_part() ? State::gathering : State::on_station;
  for (const Source& source : sources_) {
    if (source.peer.kind == PartyKind::device) {
      send(reaction, MessageType::wake_up, source.peer, BitsContent{source.bits});
    }
  }
}

void UavRole::hand_over(Reaction& reaction) {
  state_ = State::handing;
  for (Customer& customer : customers_) {
    customer.awaited = true;
    send(reaction, MessageType::personalised_model, customer.device, {}, model_bits_);
  }
}

void UavRole::settle(Reaction& reaction) {
  if (state_ == State::gathering && started_ && std::ranges::none_of(sources_, &Source::awaited)) {
    begin_round(reaction);
  } else if (state_ == State::handing && std::ranges::none_of(customers_, &Customer::awaited)) {
    state_ = State::handed;
    send(reaction, MessageType::handed_over, leader_);
  }
}

bool WorkerRole::takes(const Message& message) const {
  switch (message.type) {
    case MessageType::swarm_model:
      return (state_ == State::gathering && !has_model_) ||
             (state_ == State::uploaded && local_ + 1 < global_period_);
    case MessageType::start_training:
      return state_ == State::gathering && has_model_ && !started_;
    case MessageType::next_round:
      return state_ == State::synchronised;
    case MessageType::personalise:
      return state_ == State::uploaded && local_ + 1 >= global_period_;
    default:
      return false;
  }
}

void WorkerRole::accept_own(const Message& message, Reaction& reaction) {
  switch (message.type) {
    case MessageType::swarm_model:
      if (state_ == State::gathering) {
        has_model_ = true;
      } else {
        ++local_;
        state_ = State::synchronised;
      }
      break;
    case MessageType::start_training:
      started_ = true;
      global_period_ = std::get<PeriodsContent>(message.content).global_period;
      settle(reaction);
      break;
    case MessageType::next_round:
      compute(reaction);
      break;
    default:  // personalise
      round_ = message.stamp.global_round;
      local_ = 0;
      state_ = State::personalising;
      begin_work(reaction, Work::personalise);
  }
}

void WorkerRole::finish_own(const LocalEvent& event, Reaction& reaction) {
  send(reaction, MessageType::model_announced, leader_, WeightContent{event.weight});
  send(reaction, MessageType::model, leader_, {}, model_bits_);
  state_ = state_ == State::personalising ? State::personalised : State::uploaded;
}

void WorkerRole::begin_round(Reaction& reaction) { compute(reaction); }

void WorkerRole::compute(Reaction& reaction) {
  state_ = State::computing;
  begin_work(reaction, Work::compute);
}

void WorkerRole::take_own(const std::vector<Share>& shares) {
  has_model_ = false;
  for (const Share& share : shares) {
    if (share.bits > 0) {
      sources_.push_back({share.peer, share.bits});
    }
  }
}

bool CoordinatorRole::takes(const Message& message) const {
  return message.type == MessageType::start_training && state_ == State::gathering && !started_;
}

void CoordinatorRole::accept_own(const Message& message, Reaction& reaction) {
  started_ = true;
  global_period_ = std::get<PeriodsContent>(message.content).global_period;
  settle(reaction);
}

void CoordinatorRole::begin_round(Reaction& reaction) {
  std::uint64_t expected = 0;
  for (const Source& source : sources_) {
    expected += source.bits;
  }
  // If devices have sent less than they should have, every worker gets less, in proportion.
  const std::uint64_t received = received_bits();
  std::uint64_t left = received;
  for (const Share& relay : relays_) {
    std::uint64_t bits = relay.bits;
    if (received < expected) {
      bits = static_cast<std::uint64_t>(static_cast<double>(relay.bits) *
                                        (static_cast<double>(received) / static_cast<double>(expected)));
    }
    bits = std::min(bits, left);
    left -= bits;
    send(reaction, MessageType::data_announced, relay.peer, BitsContent{bits});
    send(reaction, MessageType::data, relay.peer, {}, bits);
  }
  send(reaction, MessageType::relayed, leader_);
  state_ = State::relayed;
}

void CoordinatorRole::take_own(const std::vector<Share>& shares) {
  relays_.clear();
  for (const Share& share : shares) {
    if (share.bits == 0) {
      continue;
    }
    if (share.peer.kind == PartyKind::worker) {
      relays_.push_back(share);
    } else {
      sources_.push_back({share.peer, share.bits});
    }
  }
}

void CoordinatorRole::forget(const Party& peer) {
  std::erase_if(relays_, [&](const Share& relay) { return relay.peer == peer; });
}

}  // namespace skein
