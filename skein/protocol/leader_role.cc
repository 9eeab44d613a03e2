#include "skein/protocol/leader_role.h"

#include <algorithm>
#include <array>

#include "skein/base/expect.h"

namespace skein {

LeaderRole::LeaderRole(Options options)
    : RoleMachine(leader_party(options.swarm)),
      uavs_(std::move(options.uavs)),
      access_points_(std::move(options.access_points)),
      model_bits_(options.model_bits) {}

std::string_view LeaderRole::name_of(State state) {
  static constexpr std::array<std::string_view, 13> names = {
      "idle",          "flying",          "deciding",        "scattering", "training",
      "aggregating",   "to access point", "at access point", "uploaded",   "returning",
      "personalising", "finishing",       "handing"};
  return names.at(static_cast<std::size_t>(state));
}

Reaction LeaderRole::resume(const Stamp& stamp, const Party& access_point, const PlanContent& plan) {
  expect(stamp.global_round < plan.num_rounds, "a round of the plan");
  begin_sequence(stamp.sequence);
  round_ = stamp.global_round;
  plan_ = plan;
  access_point_ = access_point;
  members_.clear();
  for (const Party& uav : uavs_) {
    members_.push_back({.uav = uav, .is_placed = true});
  }
  state_ = State::deciding;
  Reaction reaction;
  begin_work(reaction, Work::decide);
  return reaction;
}

const LeaderRole::Member* LeaderRole::member_of(const Party& uav) const {
  const auto found = std::ranges::find(members_, uav, &Member::uav);
  return found == members_.end() ? nullptr : &*found;
}

LeaderRole::Member* LeaderRole::member_of(const Party& uav) {
  const auto found = std::ranges::find(members_, uav, &Member::uav);
  return found == members_.end() ? nullptr : &*found;
}

bool LeaderRole::knows(const Party& peer) const {
  return peer.kind == PartyKind::access_point
             ? std::ranges::find(access_points_, peer) != access_points_.end()
             : member_of(peer) != nullptr;
}

std::vector<Party> LeaderRole::awaited() const {
  std::vector<Party> parties;
  for (const Member& member : members_) {
    if (member.awaited) {
      parties.push_back(member.uav);
    }
  }
  return parties;
}

Refusal LeaderRole::judge(const Message& message) const {
  if (message.type == MessageType::plan) {
    // A newer plan ends whatever was.
    return is_later(message.stamp.sequence) ? Refusal::none : Refusal::wrong_sequence;
  }
  if (!is_current(message.stamp.sequence)) {
    return Refusal::wrong_sequence;
  }
  if (message.sender.kind != PartyKind::access_point) {
    return judge_report(message);
  }
  const bool fits = (message.type == MessageType::prompt_upload && state_ == State::at_access_point) ||
                    (message.type == MessageType::global_model && state_ == State::uploaded);
  if (!fits) {
    return Refusal::wrong_state;
  }
  if (message.sender != access_point_) {
    return Refusal::unknown_peer;
  }
  if (message.stamp.global_round != round_) {
    return Refusal::wrong_round;
  }
  const bool is_whole = message.type != MessageType::global_model || message.payload_bits == model_bits_;
  return is_whole ? Refusal::none : Refusal::bad_content;
}

// What a UAV of the swarm has to say.
Refusal LeaderRole::judge_report(const Message& message) const {
  const Member& member = *member_of(message.sender);
  const bool collects = state_ == State::training || state_ == State::personalising;
  bool fits = member.awaited;
  switch (message.type) {
    case MessageType::arrived:
      fits = fits && state_ == State::scattering;
      break;
    case MessageType::relayed:
      fits = fits && state_ == State::training;
      break;
    case MessageType::model_announced:
      fits = fits && collects && !member.announced;
      break;
    case MessageType::model:
      fits = fits && collects && member.announced;
      break;
    default:
      fits = fits && state_ == State::handing;
  }
  if (!fits) {
    return Refusal::wrong_state;
  }
  const bool is_now = message.stamp.global_round == round_ && message.stamp.local_round == local_;
  if (!is_now) {
    return Refusal::wrong_round;
  }
  const bool is_whole = message.type != MessageType::model || message.payload_bits == model_bits_;
  return is_whole ? Refusal::none : Refusal::bad_content;
}

void LeaderRole::accept(const Message& message, Reaction& reaction) {
  switch (message.type) {
    case MessageType::plan:
      begin_sequence(message.stamp.sequence);
      plan_ = std::get<PlanContent>(message.content);
      access_point_ = message.sender;
      members_.clear();
      for (const Party& uav : uavs_) {
        members_.push_back({.uav = uav});
      }
      state_ = State::flying;
      begin_work(reaction, Work::fly_to_cluster);
      break;
    case MessageType::prompt_upload:
      state_ = State::uploaded;
      send(reaction, MessageType::swarm_update, access_point_, {}, model_bits_);
      break;
    case MessageType::global_model:
      state_ = State::returning;
      ++round_;
      begin_work(reaction, Work::fly_back);
      break;
    case MessageType::model_announced:
      member_of(message.sender)->announced = true;
      break;
    default:
      member_of(message.sender)->awaited = false;
      settle(reaction);
  }
}

Refusal LeaderRole::judge(const LocalEvent& event) const {
  if (event.kind == LocalEvent::Kind::begin) {
    return Refusal::wrong_state;
  }
  if (event.work != Work::decide) {
    return Refusal::none;
  }
  const bool all_fit = std::ranges::all_of(
      event.later_assignments, [&](const auto& assignments) { return judge(assignments) == Refusal::none; });
  return all_fit ? judge(event.assignments) : Refusal::bad_content;
}

// Of a decision.
Refusal LeaderRole::judge(const std::vector<Assignment>& assignments) const {
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const Assignment& assignment = assignments[i];
    const bool in_order = i == 0 || assignments[i - 1].uav < assignment.uav;
    // For a UAV that was lost while the decision was made it is simply not sent.
    const bool in_swarm = std::ranges::find(uavs_, assignment.uav) != uavs_.end();
    const Message as_message{.type = MessageType::shares,
                             .sender = self(),
                             .receiver = assignment.uav,
                             .content = SharesContent{assignment.shares}};
    const Message place{.type = MessageType::position,
                        .sender = self(),
                        .receiver = assignment.uav,
                        .content = assignment.position};
    if (!in_order || !in_swarm || !objection_to(as_message).empty() || !objection_to(place).empty()) {
      return Refusal::bad_content;
    }
  }
  return Refusal::none;
}

void LeaderRole::accept(const LocalEvent& event, Reaction& reaction) {
  switch (event.work) {
    case Work::fly_to_cluster:
      state_ = State::deciding;
      begin_work(reaction, Work::decide);
      break;
    case Work::decide:
      assign(event, reaction);
      break;
    case Work::aggregate:
      if (state_ == State::finishing) {
        hand_over(reaction);
      } else if (has_next_local_round()) {
        next_local_round(reaction);
      } else {
        leave(reaction);
      }
      break;
    case Work::fly_to_access_point:
      state_ = State::at_access_point;
      send(reaction, MessageType::at_access_point, access_point_);
      break;
    default:  // fly_back
      if (round_ < plan_.num_rounds) {
        state_ = State::deciding;
        begin_work(reaction, Work::decide);
      } else {
        personalise(reaction);
      }
  }
}

void LeaderRole::drop(const Party& peer, Reaction& reaction) {
  if (peer.kind == PartyKind::access_point) {
    // Nobody to bring the model to: the swarm ends its part in the sequence.
    if (peer == access_point_ && state_ != State::idle) {
      close(reaction);
    }
    return;
  }
  std::erase_if(members_, [&](const Member& member) { return member.uav == peer; });
  if (state_ == State::idle) {
    return;
  }
  for (const Member& member : members_) {
    send(reaction, MessageType::lost, member.uav);
    reaction.outgoing.back().subject = peer;
  }
  settle(reaction);
}

void LeaderRole::settle(Reaction& reaction) {
  if (std::ranges::any_of(members_, &Member::awaited)) {
    return;
  }
  const bool has_models = std::ranges::any_of(members_, &Member::trains);
  if (state_ == State::scattering) {
    start_round(reaction);
  } else if (state_ == State::training && has_models) {
    state_ = State::aggregating;
    begin_work(reaction, Work::aggregate);
  } else if (state_ == State::training && has_next_local_round() && local_ < later_.size()) {
    next_local_round(reaction);  // nobody had anything to train on in this one
  } else if (state_ == State::training) {
    leave(reaction);
  } else if (state_ == State::personalising && has_models) {
    state_ = State::finishing;
    begin_work(reaction, Work::aggregate);
  } else if (state_ == State::personalising) {
    hand_over(reaction);
  } else if (state_ == State::handing) {
    close(reaction);
    send(reaction, MessageType::sequence_done, access_point_);
  }
}

void LeaderRole::assign(const LocalEvent& event, Reaction& reaction) {
  later_ = event.later_assignments;
  const bool scatters = std::ranges::none_of(members_, &Member::is_placed);
  for (Member& member : members_) {
    const auto assignment = std::ranges::find(event.assignments, member.uav, &Assignment::uav);
    const bool has_any = assignment != event.assignments.end();
    const std::vector<Share> shares = has_any ? assignment->shares : std::vector<Share>{};
    member.trains = member.uav.kind == PartyKind::worker &&
                    std::ranges::any_of(shares, [](const Share& share) { return share.bits > 0; });
    member.hands = std::ranges::any_of(shares, &Share::hands_model);
    if (scatters) {
      send(reaction, MessageType::position, member.uav, has_any ? assignment->position : PositionContent{});
      member.awaited = true;
      member.is_placed = true;
    }
    send(reaction, MessageType::shares, member.uav, SharesContent{shares});
  }
  if (scatters) {
    state_ = State::scattering;
    settle(reaction);
  } else {
    start_round(reaction);
  }
}

void LeaderRole::await_trainers() {
  for (Member& member : members_) {
    member.awaited = member.trains;
    member.announced = false;
  }
}

void LeaderRole::start_round(Reaction& reaction) {
  state_ = State::training;
  local_ = 0;
  await_trainers();
  const PeriodsContent periods{plan_.local_period, plan_.global_period};
  for (Member& member : members_) {
    if (member.trains) {
      send(reaction, MessageType::swarm_model, member.uav, {}, model_bits_);
    }
    if (member.uav.kind == PartyKind::coordinator) {
      member.awaited = true;
    }
    if (member.awaited) {
      send(reaction, MessageType::start_training, member.uav, periods);
    }
  }
  settle(reaction);
}

// Whoever gets new data gets its shares first, and discards what it has; so does who has nothing to train on
// any more. The others train on what they have.
void LeaderRole::next_local_round(Reaction& reaction) {
  state_ = State::training;
  const bool is_decided = local_ < later_.size();
  const std::vector<Assignment> none;
  const std::vector<Assignment>& assignments = is_decided ? later_[local_] : none;
  ++local_;
  const PeriodsContent periods{plan_.local_period, plan_.global_period};
  for (Member& member : members_) {
    const auto found = std::ranges::find(assignments, member.uav, &Assignment::uav);
    const bool is_worker = member.uav.kind == PartyKind::worker;
    const bool gets_data = found != assignments.end() &&
                           std::ranges::any_of(found->shares, [](const Share& s) { return s.bits > 0; });
    const bool has_trained = member.trains;
    const bool keeps = is_decided ? found != assignments.end() && found->keeps : true;
    member.trains = is_worker && (gets_data || (has_trained && keeps));
    member.announced = false;
    member.awaited = is_worker ? member.trains : gets_data;
    if (gets_data || (has_trained && !member.trains)) {
      send(reaction, MessageType::shares, member.uav,
           SharesContent{found != assignments.end() ? found->shares : std::vector<Share>{}});
    }
    if (member.trains) {
      send(reaction, MessageType::swarm_model, member.uav, {}, model_bits_);
    }
    if (gets_data) {
      send(reaction, MessageType::start_training, member.uav, periods);
    } else if (member.trains) {
      send(reaction, MessageType::next_round, member.uav);
    }
  }
  settle(reaction);
}

void LeaderRole::leave(Reaction& reaction) {
  state_ = State::to_access_point;
  local_ = 0;
  begin_work(reaction, Work::fly_to_access_point);
}

void LeaderRole::personalise(Reaction& reaction) {
  state_ = State::personalising;
  await_trainers();
  for (const Member& member : members_) {
    if (member.trains) {
      send(reaction, MessageType::personalise, member.uav, {}, model_bits_);
    }
  }
  settle(reaction);
}

void LeaderRole::hand_over(Reaction& reaction) {
  state_ = State::handing;
  for (Member& member : members_) {
    member.awaited = member.hands;
    if (member.hands) {
      send(reaction, MessageType::personalised_model, member.uav, {}, model_bits_);
    }
  }
  settle(reaction);
}

void LeaderRole::close(Reaction& reaction) {
  state_ = State::idle;
  local_ = 0;
  cancel_work();
  for (Member& member : members_) {
    member.awaited = false;
    send(reaction, MessageType::sequence_done, member.uav);
  }
}

}  // namespace skein
