// Roles without a network: their messages lie in a bag, and a test takes out what it likes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "skein/base/random.h"
#include "skein/protocol/core_role.h"
#include "skein/protocol/device_role.h"
#include "skein/protocol/leader_role.h"
#include "skein/protocol/uav_roles.h"

namespace skein {

using AnyRole = std::variant<CoreRole, AccessPointRole, LeaderRole, WorkerRole, CoordinatorRole, DeviceRole>;

inline RoleMachine& base_of(AnyRole& role) {
  return std::visit([](auto& r) -> RoleMachine& { return r; }, role);
}
inline const RoleMachine& base_of(const AnyRole& role) {
  return std::visit([](const auto& r) -> const RoleMachine& { return r; }, role);
}

// Of an access point: its state for the leader that a message is about.
inline std::string_view state_for(const AnyRole& role, const Message& message) {
  if (const auto* access_point = std::get_if<AccessPointRole>(&role)) {
    const Party& leader = message.sender.kind == PartyKind::leader ? message.sender : message.subject;
    return access_point->attends(leader) ? AccessPointRole::name_of(access_point->state_of(leader)) : "";
  }
  return base_of(role).state_name();
}

struct BagShape {
  std::uint32_t num_swarms = 2;
  std::uint32_t num_workers = 2;
  std::uint32_t num_coordinators = 1;
  std::uint32_t num_devices = 2;
  std::uint32_t global_period = 2;
  std::uint32_t num_rounds = 2;

  static BagShape random(RandomStream& random) {
    const auto count = [&](std::int64_t low, std::int64_t high) {
      return static_cast<std::uint32_t>(random.integer(low, high));
    };
    return {count(1, 2), count(1, 3), count(0, 2), count(0, 3), count(1, 3), count(1, 3)};
  }
};

class Bag {
 public:
  static constexpr std::uint64_t model_bits = 500;

  Bag(const BagShape& shape, std::uint32_t sequence, RandomStream& random)
      : shape_(shape), sequence_(sequence), random_(&random) {
    CoreRole::Options core{.model_bits = model_bits};
    std::vector<std::vector<Party>> at_access_point(2);
    for (std::uint32_t u = 0; u < shape.num_swarms; ++u) {
      core.leaders.push_back({leader_party(u), access_point_party(u % 2)});
      at_access_point[u % 2].push_back(leader_party(u));
    }
    add(CoreRole(core));
    for (std::uint32_t a = 0; a < 2; ++a) {
      add(AccessPointRole(a, at_access_point[a]));
    }
    for (std::uint32_t u = 0; u < shape.num_swarms; ++u) {
      add_swarm(u);
    }
  }

  void begin() {
    LocalEvent event{.kind = LocalEvent::Kind::begin, .stamp = {sequence_, 0, 0}};
    for (std::uint32_t u = 0; u < shape_.num_swarms; ++u) {
      event.plans.push_back(
          {leader_party(u), {u, 1, shape_.global_period, shape_.num_rounds}, random_->bernoulli(0.5)});
    }
    take(core_party(), base_of(*find(core_party())).handle(event));
  }

  AnyRole* find(const Party& party) {
    const auto found = index_.find(party);
    return found == index_.end() ? nullptr : &roles_[found->second];
  }
  // Keeps what a role wants to be sent and done.
  void take(const Party& party, const Reaction& reaction) {
    messages.insert(messages.end(), reaction.outgoing.begin(), reaction.outgoing.end());
    if (reaction.work != Work::none) {
      work.emplace_back(party, end_of(base_of(*find(party)), reaction.work));
    }
  }
  // Gives up on each other.
  void lose(const Party& who, const Party& peer) {
    if (AnyRole* role = find(who)) {
      take(who, base_of(*role).handle(LocalEvent{.kind = LocalEvent::Kind::peer_lost, .peer = peer}));
    }
  }
  // Who waits gives up those it waits for, lowest in the hierarchy first. False: nobody waits.
  bool wake_watchdogs() {
    for (const PartyKind kind :
         {PartyKind::coordinator, PartyKind::worker, PartyKind::leader, PartyKind::core}) {
      std::vector<std::pair<Party, Party>> pairs;
      for (const AnyRole& role : roles_) {
        if (base_of(role).self().kind == kind) {
          for (const Party& peer : base_of(role).awaited()) {
            pairs.emplace_back(base_of(role).self(), peer);
          }
        }
      }
      for (const auto& [who, peer] : pairs) {
        lose(who, peer);
      }
      if (!pairs.empty()) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<AnyRole>& roles() { return roles_; }

  std::vector<Message> messages;                   // on their way
  std::vector<std::pair<Party, LocalEvent>> work;  // with how it will end

 private:
  template <class R>
  void add(R role) {
    index_.emplace(role.self(), roles_.size());
    roles_.emplace_back(std::move(role));
  }
  void add_swarm(std::uint32_t u) {
    std::vector<Party> uavs;
    for (std::uint32_t j = 0; j < shape_.num_workers; ++j) {
      uavs.push_back({PartyKind::worker, u, j});
    }
    for (std::uint32_t h = 0; h < shape_.num_coordinators; ++h) {
      uavs.push_back({PartyKind::coordinator, u, h});
    }
    add(LeaderRole({u, uavs, {access_point_party(0), access_point_party(1)}, model_bits}));
    for (const Party& uav : uavs) {
      if (uav.kind == PartyKind::worker) {
        add(WorkerRole(u, uav.index, model_bits));
      } else {
        add(CoordinatorRole(u, uav.index, model_bits));
      }
    }
    for (std::uint32_t i = 0; i < shape_.num_devices; ++i) {
      add(DeviceRole({u, i, uavs, model_bits}));
    }
  }

  LocalEvent end_of(const RoleMachine& role, Work kind) {
    LocalEvent event{.stamp = role.stamp(), .work = kind};
    if (kind == Work::compute) {
      event.weight = random_->uniform();
    }
    if (kind != Work::decide) {
      return event;
    }
    const std::uint32_t u = role.self().swarm;
    const auto bits = [&] { return random_->bernoulli(0.5) ? 1 + random_->below(100) : 0; };
    std::map<Party, Assignment> assignments;
    for (std::uint32_t j = 0; j < shape_.num_workers; ++j) {
      const Party worker{PartyKind::worker, u, j};
      assignments[worker].uav = worker;
      for (std::uint32_t h = 0; h < shape_.num_coordinators; ++h) {
        const Party coordinator{PartyKind::coordinator, u, h};
        assignments[coordinator].uav = coordinator;
        if (const std::uint64_t amount = bits(); amount > 0) {
          assignments[worker].shares.push_back({coordinator, amount});
          assignments[coordinator].shares.push_back({worker, amount});
        }
      }
    }
    for (std::uint32_t i = 0; i < shape_.num_devices; ++i) {
      std::size_t hands = random_->below(assignments.size() + 1);
      for (auto& [uav, assignment] : assignments) {
        const std::uint64_t amount = bits();
        const bool is_this = hands-- == 0;
        if (amount > 0 || is_this) {
          assignment.shares.push_back({{PartyKind::device, u, i}, amount, is_this});
        }
      }
    }
    for (auto& [uav, assignment] : assignments) {
      event.assignments.push_back(std::move(assignment));
    }
    return event;
  }

  BagShape shape_;
  std::uint32_t sequence_ = 0;
  RandomStream* random_;
  std::vector<AnyRole> roles_;
  std::map<Party, std::size_t> index_;
};

}  // namespace skein
