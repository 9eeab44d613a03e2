// The allowed transitions of every role, written down from the protocol's description and not from the code:
// docs/architecture.md has the same as a diagram.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "skein/simulation/message.h"

namespace skein {

struct Transition {
  PartyKind role;
  std::string_view from;
  MessageType type;
  std::string_view to;
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

}  // namespace skein
