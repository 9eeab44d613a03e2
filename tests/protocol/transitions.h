// The allowed transitions of every role, written down from the protocol's description and not from the code:
// docs/protocol.md has the same as a diagram.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "skein/protocol/role.h"

namespace skein {

struct Transition {
  PartyKind role;
  std::string_view from;
  MessageType type;
  std::string_view to;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison's 0 for a pointer.
  friend auto operator<=>(const Transition&, const Transition&) = default;
};

inline const std::set<Transition>& allowed_transitions() {
  static const std::set<Transition> table = [] {
    using enum MessageType;
    std::set<Transition> t;
    const auto add = [&](PartyKind role, std::string_view from, MessageType type,
                         std::initializer_list<std::string_view> to) {
      for (const std::string_view state : to) {
        t.insert({role, from, type, state});
      }
    };

    const PartyKind core = PartyKind::core;
    add(core, "training", at_access_point, {"training", "collecting"});
    add(core, "collecting", swarm_update, {"collecting", "merging"});
    add(core, "closing", sequence_done, {"closing", "idle"});
    // Without a lost leader the others may be all, or nobody is left.
    add(core, "training", lost, {"training", "collecting", "idle"});
    add(core, "collecting", lost, {"collecting", "merging", "idle"});
    add(core, "merging", lost, {"merging", "idle"});
    add(core, "closing", lost, {"closing", "idle"});

    const PartyKind ap = PartyKind::access_point;  // of the leader in question
    add(ap, "away", at_access_point, {"arrived"});
    add(ap, "arrived", prompt_upload, {"prompted"});
    add(ap, "prompted", swarm_update, {"uploaded"});
    add(ap, "uploaded", global_model, {"away"});
    add(ap, "away", sequence_done, {"idle"});
    for (const std::string_view any : {"idle", "away", "arrived", "prompted", "uploaded"}) {
      add(ap, any, plan, {"away"});
    }

    const PartyKind leader = PartyKind::leader;
    for (const std::string_view any :
         {"idle", "flying", "deciding", "scattering", "training", "aggregating", "to access point",
          "at access point", "uploaded", "returning", "personalising", "finishing", "handing"}) {
      add(leader, any, plan, {"flying"});
    }
    // Nobody may have data: then the leader leaves at once.
    add(leader, "scattering", arrived, {"scattering", "training", "to access point"});
    add(leader, "training", model_announced, {"training"});
    add(leader, "training", model, {"training", "aggregating"});
    add(leader, "training", relayed, {"training", "aggregating", "to access point"});
    add(leader, "at access point", prompt_upload, {"uploaded"});
    add(leader, "uploaded", global_model, {"returning"});
    add(leader, "personalising", model_announced, {"personalising"});
    add(leader, "personalising", model, {"personalising", "finishing"});
    add(leader, "handing", handed_over, {"handing", "idle"});

    for (const PartyKind uav : {PartyKind::worker, PartyKind::coordinator}) {
      const bool is_worker = uav == PartyKind::worker;
      std::set<std::string_view> states = {"idle", "flying", "gathering", "handing", "handed"};
      states.insert("on station");
      if (is_worker) {
        states.insert({"computing", "uploaded", "synchronised", "personalising", "personalised"});
      } else {
        states.insert("relayed");
      }
      for (const std::string_view any : states) {
        add(uav, any, position, {"flying"});
        if (any != "idle") {
          add(uav, any, sequence_done, {"idle"});
          add(uav, any, lost, {any});
        }
      }
      add(uav, "flying", shares, {"flying"});
      add(uav, "gathering", data, {"gathering"});
      add(uav, "gathering", start_training, {"gathering"});
      add(uav, "handing", model_received, {"handing", "handed"});
      if (is_worker) {
        // A worker without data rests on station.
        add(uav, "on station", shares, {"gathering", "on station"});
        add(uav, "uploaded", shares, {"gathering", "on station"});
        add(uav, "gathering", swarm_model, {"gathering"});
        add(uav, "gathering", data_announced, {"gathering"});
        for (const MessageType last : {data, start_training, lost}) {
          add(uav, "gathering", last, {"computing"});
        }
        add(uav, "uploaded", swarm_model, {"synchronised"});
        add(uav, "synchronised", next_round, {"computing"});
        add(uav, "uploaded", personalise, {"personalising"});
        add(uav, "personalised", personalised_model, {"handing"});
        add(uav, "on station", personalised_model, {"handing"});
      } else {
        add(uav, "on station", shares, {"gathering"});
        add(uav, "relayed", shares, {"gathering"});
        for (const MessageType last : {data, start_training}) {
          add(uav, "gathering", last, {"relayed"});
        }
        add(uav, "relayed", personalised_model, {"handing"});
      }
    }

    const PartyKind device = PartyKind::device;
    for (const std::string_view any : {"idle", "active", "updated"}) {
      add(device, any, wake_up, {"active"});
      add(device, any, personalised_model, {"updated"});
    }
    return t;
  }();
  return table;
}

// Whether a role in state `from`, at stamp `now`, may take a message of this stamp. Access points are left
// out: they have a stamp for each leader.
inline bool stamp_is_allowed(const Message& message, std::string_view from, const Stamp& now) {
  using enum MessageType;
  const Stamp& stamp = message.stamp;
  const bool is_uav =
      message.receiver.kind == PartyKind::worker || message.receiver.kind == PartyKind::coordinator;
  if (message.receiver.kind == PartyKind::access_point) {
    return true;
  }
  if (message.type == plan || message.type == position) {
    // Before its first sequence a role shows sequence 0.
    return stamp.sequence > now.sequence || from == "idle";
  }
  if (message.receiver.kind == PartyKind::device) {
    return stamp.sequence > now.sequence || from == "idle" ||
           (stamp.sequence == now.sequence && from != "updated" && stamp >= now);
  }
  if (stamp.sequence != now.sequence) {
    return false;
  }
  if (message.type == lost || (message.type == sequence_done && is_uav)) {
    return stamp.global_round >= now.global_round || !is_uav;
  }
  std::uint32_t round = now.global_round;
  std::uint32_t local = now.local_round;
  if (message.type == shares) {
    // On station it may wait for its first shares, or rest.
    if (from == "on station" && stamp.global_round == round) {
      return true;
    }
    // Or those of a later local round: a worker that trains misses none.
    if (stamp.global_round == round && (from == "uploaded" || from == "relayed")) {
      return from == "uploaded" ? stamp.local_round == local + 1 : stamp.local_round > local;
    }
    round += from == "flying" ? 0 : 1;
    local = 0;
  } else if (message.type == personalise || (message.type == personalised_model && from != "personalised")) {
    ++round;
    local = 0;
  } else if (message.type == swarm_model && from == "uploaded") {
    ++local;
  }
  return stamp.global_round == round && stamp.local_round == local;
}

// What must have been accepted from the same sender before, at the same stamp; nothing: acknowledgement.
inline MessageType prerequisite(const Message& message) {
  using enum MessageType;
  const PartyKind receiver = message.receiver.kind;
  switch (message.type) {
    case start_training:
    case next_round:
      return receiver == PartyKind::worker ? swarm_model : acknowledgement;
    case model:
      return model_announced;
    case data:
      return message.sender.kind == PartyKind::coordinator ? data_announced : acknowledgement;
    case swarm_update:
      return at_access_point;
    case global_model:
      return prompt_upload;
    default:
      return acknowledgement;
  }
}

// What a role works at in a state.
inline Work work_in(PartyKind role, std::string_view state) {
  struct Row {
    PartyKind role;
    std::string_view state;
    Work work;
  };
  static constexpr Row table[] = {
      {PartyKind::core, "merging", Work::merge},
      {PartyKind::leader, "flying", Work::fly_to_cluster},
      {PartyKind::leader, "deciding", Work::decide},
      {PartyKind::leader, "aggregating", Work::aggregate},
      {PartyKind::leader, "finishing", Work::aggregate},
      {PartyKind::leader, "to access point", Work::fly_to_access_point},
      {PartyKind::leader, "returning", Work::fly_back},
      {PartyKind::worker, "flying", Work::fly_to_position},
      {PartyKind::worker, "computing", Work::compute},
      {PartyKind::worker, "personalising", Work::personalise},
      {PartyKind::coordinator, "flying", Work::fly_to_position},
  };
  for (const Row& row : table) {
    if (row.role == role && row.state == state) {
      return row.work;
    }
  }
  return Work::none;
}

}  // namespace skein
