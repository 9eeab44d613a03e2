#include "skein/protocol/signalling.h"

#include <fmt/format.h>

#include <algorithm>

#include "skein/protocol/core_role.h"
#include "skein/protocol/device_role.h"
#include "skein/protocol/leader_role.h"
#include "skein/protocol/uav_roles.h"

namespace skein {

namespace {

std::uint32_t num_uavs(const SwarmDescription& swarm) { return swarm.num_workers + swarm.num_coordinators; }

Party uav_party(const SwarmDescription& swarm, std::uint32_t uav) {
  return uav < swarm.num_workers ? Party{PartyKind::worker, swarm.swarm, uav}
                                 : Party{PartyKind::coordinator, swarm.swarm, uav - swarm.num_workers};
}

std::uint32_t uav_of(const SwarmDescription& swarm, const Party& party) {
  return party.kind == PartyKind::worker ? party.index : swarm.num_workers + party.index;
}

// A sequence at work: the roles, and what they need to know of the world.
class Sequence {
 public:
  explicit Sequence(const SequenceDescription& description)
      : d_(description),
        network_(options_of(description), {.rate = [this](const Message& m) { return rate_of(m); },
                                           .work = [this](double now, const RoleMachine& role,
                                                          Work work) { return work_of(now, role, work); },
                                           .accepted = [this](double now, const RoleMachine& role,
                                                              const Message* m) { observe(now, role, m); },
                                           .is_over = [this] { return is_over(); }}) {
    for (std::size_t i = 0; i < d_.swarms.size(); ++i) {
      place_.emplace(d_.swarms[i].swarm, i);
      SwarmReport report{.swarm = d_.swarms[i].swarm};
      report.rounds.resize(d_.end_round - d_.first_round);
      report_.swarms.push_back(std::move(report));
    }
  }

  SignallingReport run() {
    add_roles();
    begin();
    network_.run();
    return finish();
  }

 private:
  static DeliveryOptions options_of(const SequenceDescription& description) {
    DeliveryOptions options = description.network;
    options.sequence = description.sequence;
    return options;
  }

  [[nodiscard]] const SwarmDescription& swarm_of(const Party& party) const {
    return d_.swarms[place_.at(party.swarm)];
  }
  SwarmReport& report_of(const Party& party) { return report_.swarms[place_.at(party.swarm)]; }
  [[nodiscard]] Stamp start() const { return {d_.sequence, d_.first_round, 0}; }
  [[nodiscard]] PlanContent plan_of(const SwarmDescription& swarm) const {
    return {swarm.cluster, d_.local_period, d_.global_period, d_.num_rounds, d_.constants};
  }
  [[nodiscard]] std::vector<LeaderPlan> plans() const {
    std::vector<LeaderPlan> list;
    for (const SwarmDescription& swarm : d_.swarms) {
      list.push_back({leader_party(swarm.swarm), plan_of(swarm), swarm.needs_model});
    }
    std::ranges::sort(list, {}, &LeaderPlan::leader);
    return list;
  }

  void add_roles() {
    CoreRole::Options core{.model_bits = d_.model_bits};
    std::map<std::uint32_t, std::vector<Party>> access_points;
    for (const SwarmDescription& swarm : d_.swarms) {
      const Party leader = leader_party(swarm.swarm);
      core.leaders.push_back({leader, access_point_party(swarm.access_point)});
      access_points[swarm.access_point].push_back(leader);
    }
    auto core_role = std::make_unique<CoreRole>(std::move(core));
    if (d_.first_round > 0) {
      core_role->resume(start(), plans());
    }
    network_.add(std::move(core_role));
    for (const auto& [index, leaders] : access_points) {
      auto role = std::make_unique<AccessPointRole>(index, leaders);
      for (const Party& leader : leaders) {
        if (d_.first_round > 0) {
          role->resume(leader, start());
        }
      }
      network_.add(std::move(role));
    }
    for (const SwarmDescription& swarm : d_.swarms) {
      add_swarm(swarm);
    }
  }

  template <class R>
  void add_uav(const SwarmDescription& swarm, std::uint32_t index) {
    auto role = std::make_unique<R>(swarm.swarm, index, d_.model_bits);
    if (d_.first_round > 0) {
      role->resume(start());
    }
    network_.add(std::move(role));
  }

  void add_swarm(const SwarmDescription& swarm) {
    std::vector<Party> uavs;
    for (std::uint32_t uav = 0; uav < num_uavs(swarm); ++uav) {
      uavs.push_back(uav_party(swarm, uav));
    }
    const Party access_point = access_point_party(swarm.access_point);
    auto leader = std::make_unique<LeaderRole>(LeaderRole::Options{
        .swarm = swarm.swarm, .uavs = uavs, .access_points = {access_point}, .model_bits = d_.model_bits});
    Reaction first;
    if (d_.first_round > 0) {
      first = leader->resume(start(), access_point, plan_of(swarm));
    }
    network_.add(std::move(leader));
    for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
      add_uav<WorkerRole>(swarm, j);
    }
    for (std::uint32_t h = 0; h < swarm.num_coordinators; ++h) {
      add_uav<CoordinatorRole>(swarm, h);
    }
    for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
      network_.add(std::make_unique<DeviceRole>(
          DeviceRole::Options{.swarm = swarm.swarm, .index = i, .uavs = uavs, .model_bits = d_.model_bits}));
    }
    resumed_.emplace_back(leader_party(swarm.swarm), std::move(first));
  }

  void begin() {
    if (d_.first_round == 0) {
      network_.feed(core_party(), {.kind = LocalEvent::Kind::begin, .stamp = start(), .plans = plans()});
      return;
    }
    for (auto& [leader, reaction] : resumed_) {
      network_.take(leader, std::move(reaction));
    }
  }

  [[nodiscard]] double rate_of(const Message& m) const {
    const auto [low, high] = std::minmax(m.sender.kind, m.receiver.kind);
    using enum PartyKind;
    if (low == core) {
      return d_.backhaul_rate;
    }
    const SwarmDescription& swarm = swarm_of(m.sender.kind == access_point ? m.receiver : m.sender);
    if (low == access_point) {
      const bool from_afar = m.type == MessageType::plan || m.type == MessageType::sequence_done;
      return from_afar ? swarm.control_rate : swarm.leader_to_access_point_rate;
    }
    if (high == device) {
      const Party& device_end = m.sender.kind == device ? m.sender : m.receiver;
      const Party& uav_end = m.sender.kind == device ? m.receiver : m.sender;
      return swarm.device_to_uav_rate(device_end.index, uav_of(swarm, uav_end));
    }
    if (low == coordinator) {
      const Party& worker_end = m.sender.kind == worker ? m.sender : m.receiver;
      const Party& other_end = m.sender.kind == worker ? m.receiver : m.sender;
      return swarm.coordinator_to_worker_rate(other_end.index, worker_end.index);
    }
    if (high == coordinator) {
      return swarm.control_rate;
    }
    return m.sender.kind == leader ? swarm.leader_to_worker_rate[m.receiver.index]
                                   : swarm.worker_to_leader_rate[m.sender.index];
  }

  std::optional<MessageNetwork::WorkResult> work_of(double now, const RoleMachine& role, Work work) {
    if (work == Work::merge) {
      return MessageNetwork::WorkResult{.seconds = d_.merge_time};
    }
    const SwarmDescription& swarm = swarm_of(role.self());
    const std::uint32_t round = role.stamp().global_round;
    const auto worker_time = [&](const std::vector<double>& times) {
      return times.empty() ? 0.0 : times[role.self().index];
    };
    // A return and a personalisation belong to the round before.
    const std::uint32_t last = std::max(round, d_.first_round + 1) - 1;
    switch (work) {
      case Work::fly_to_cluster:
        return MessageNetwork::WorkResult{.seconds = swarm.flight_time};
      case Work::decide: {
        if (round > d_.first_round) {
          times_of(role, last).back = now;
        }
        if (round >= d_.end_round) {
          report_of(role.self()).end = now;
          return std::nullopt;
        }
        const double waits = round == d_.first_round ? std::max(0.0, swarm.ready_time - now) : 0.0;
        times_of(role, round).begin = now + waits;
        return MessageNetwork::WorkResult{
            .seconds = waits + swarm.decide_time,
            .event = {.assignments = assignments_of(swarm, shares_of(swarm, round)),
                      .later_assignments = later_assignments_of(swarm)}};
      }
      case Work::fly_to_position:
        return MessageNetwork::WorkResult{.seconds = swarm.scatter_time};
      case Work::compute:
        if (role.stamp().local_round == 0) {
          times_of(role, round).gathered = now;
        }
        return MessageNetwork::WorkResult{.seconds = worker_time(swarm.compute_time),
                                          .event = {.weight = weight_of(role)}};
      case Work::personalise:
        times_of(role, last).back = std::max(times_of(role, last).back, now);
        return MessageNetwork::WorkResult{.seconds = worker_time(swarm.personalise_time),
                                          .event = {.weight = weight_of(role)}};
      case Work::aggregate:
        return MessageNetwork::WorkResult{.seconds = swarm.aggregate_time};
      case Work::fly_to_access_point:
        times_of(role, round).trained = now;
        return MessageNetwork::WorkResult{.seconds = swarm.access_point_flight_time};
      default:  // fly_back
        times_of(role, last).synchronised = now;
        times_of(role, last).back = now + swarm.access_point_flight_time;
        return MessageNetwork::WorkResult{.seconds = swarm.access_point_flight_time};
    }
  }

  RoundTimes& times_of(const RoleMachine& role, std::uint32_t round) {
    return report_of(role.self()).rounds.at(round - d_.first_round);
  }

  // The data that a worker has trained on.
  static double weight_of(const RoleMachine& role) {
    return static_cast<double>(dynamic_cast<const UavRole&>(role).received_bits());
  }

  static std::uint32_t model_source(const SwarmDescription& swarm, std::uint32_t device) {
    if (!swarm.model_from.empty()) {
      return swarm.model_from[device];
    }
    std::uint32_t best = num_uavs(swarm);
    double best_rate = 0.0;
    for (std::uint32_t uav = 0; uav < num_uavs(swarm); ++uav) {
      if (swarm.device_to_uav_rate(device, uav) > best_rate) {
        best = uav;
        best_rate = swarm.device_to_uav_rate(device, uav);
      }
    }
    return best;
  }

  [[nodiscard]] const SwarmDescription::RoundShares& shares_of(const SwarmDescription& swarm,
                                                               std::uint32_t round) const {
    return swarm.rounds[swarm.rounds.size() == 1 ? 0 : round - d_.first_round];
  }

  [[nodiscard]] static std::vector<std::vector<Assignment>> later_assignments_of(
      const SwarmDescription& swarm) {
    std::vector<std::vector<Assignment>> later;
    for (const SwarmDescription::RoundShares& shares : swarm.later_rounds) {
      later.push_back(assignments_of(swarm, shares));
    }
    return later;
  }

  [[nodiscard]] static std::vector<Assignment> assignments_of(const SwarmDescription& swarm,
                                                              const SwarmDescription::RoundShares& data) {
    std::vector<Assignment> list;
    for (std::uint32_t uav = 0; uav < num_uavs(swarm); ++uav) {
      Assignment assignment{.uav = uav_party(swarm, uav)};
      assignment.keeps = uav < data.keeps.size() && data.keeps[uav];
      if (!swarm.positions.empty()) {
        assignment.position = swarm.positions[uav];
      }
      const bool is_worker = uav < swarm.num_workers;
      const std::uint32_t others = is_worker ? swarm.num_coordinators : swarm.num_workers;
      for (std::uint32_t k = 0; k < others; ++k) {
        const std::uint64_t bits = is_worker ? data.coordinator_to_worker(k, uav)
                                             : data.coordinator_to_worker(uav - swarm.num_workers, k);
        if (bits > 0) {
          assignment.shares.push_back(
              {{is_worker ? PartyKind::coordinator : PartyKind::worker, swarm.swarm, k}, bits});
        }
      }
      for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
        const std::uint64_t bits = data.device_to_uav(i, uav);
        const bool hands = model_source(swarm, i) == uav;
        if (bits > 0 || hands) {
          assignment.shares.push_back({{PartyKind::device, swarm.swarm, i}, bits, hands});
        }
      }
      list.push_back(std::move(assignment));
    }
    std::ranges::sort(list, {}, &Assignment::uav);
    return list;
  }

  void observe(double now, const RoleMachine& role, const Message* message) {
    if (role.self().kind == PartyKind::leader && role.is_idle()) {
      SwarmReport& report = report_of(role.self());
      report.end = now;
      report.completed = role.stamp().global_round == d_.num_rounds;
    }
    if (message == nullptr) {
      return;
    }
    if (message->type == MessageType::data && message->payload_bits > 0) {
      report_of(role.self())
          .transfers.push_back({message->stamp.global_round, message->stamp.local_round, message->sender,
                                message->receiver, message->payload_bits});
    } else if (message->type == MessageType::personalised_model && role.self().kind == PartyKind::device) {
      report_of(role.self()).devices_with_model.push_back(role.self().index);
    }
  }

  [[nodiscard]] const LeaderRole& leader_of(const SwarmDescription& swarm) const {
    return dynamic_cast<const LeaderRole&>(network_.role(leader_party(swarm.swarm)));
  }
  // A leader that stands at the end of the rounds to simulate.
  [[nodiscard]] bool stands_at_end(const LeaderRole& leader) const {
    return leader.state() == LeaderRole::State::deciding && leader.stamp().global_round == d_.end_round;
  }
  [[nodiscard]] bool is_over() const {
    if (d_.end_round == d_.num_rounds) {
      return network_.role(core_party()).is_idle() &&
             std::ranges::all_of(d_.swarms,
                                 [&](const SwarmDescription& swarm) { return leader_of(swarm).is_idle(); });
    }
    return std::ranges::all_of(d_.swarms, [&](const SwarmDescription& swarm) {
      return leader_of(swarm).is_idle() || stands_at_end(leader_of(swarm));
    });
  }

  SignallingReport finish() {
    report_.records = network_.records();
    report_.completed = true;
    for (const SwarmDescription& swarm : d_.swarms) {
      SwarmReport& report = report_of(leader_party(swarm.swarm));
      report.completed = report.completed || stands_at_end(leader_of(swarm));
      report_.completed = report_.completed && report.completed;
      report_.duration = std::max(report_.duration, report.end);
      std::ranges::sort(report.devices_with_model);
    }
    const bool partial = d_.end_round < d_.num_rounds;
    if (!partial) {
      report_.duration = std::max(report_.duration, network_.now());
    }
    for (const std::unique_ptr<RoleMachine>& role : network_.roles()) {
      const bool is_member =
          role->self().kind != PartyKind::core && role->self().kind != PartyKind::access_point;
      const bool stands = partial && (!is_member || report_of(role->self()).completed);
      if (!role->is_idle() && !stands) {
        report_.unfinished.push_back(fmt::format("{}: {}", to_string(role->self()), role->state_name()));
      }
    }
    return std::move(report_);
  }

  const SequenceDescription& d_;
  MessageNetwork network_;
  std::map<std::uint32_t, std::size_t> place_{};
  std::vector<std::pair<Party, Reaction>> resumed_{};
  SignallingReport report_{};
};

}  // namespace

void set_links(SwarmDescription& swarm, const SwarmLinks& links) {
  const auto rates = [](const std::vector<DataRate>& from) {
    std::vector<double> to;
    for (const DataRate& rate : from) {
      to.push_back(rate.si());
    }
    return to;
  };
  const auto table = [&](const Table<DataRate>& from) {
    Table<double> to(from.rows, from.columns);
    to.values = rates(from.values);
    return to;
  };
  swarm.swarm = static_cast<std::uint32_t>(links.swarm);
  swarm.cluster = static_cast<std::uint32_t>(links.cluster);
  swarm.access_point = static_cast<std::uint32_t>(links.access_point);
  swarm.num_workers = static_cast<std::uint32_t>(links.worker_to_leader.size());
  swarm.num_coordinators = static_cast<std::uint32_t>(links.coordinator_to_worker.rows);
  swarm.num_devices = static_cast<std::uint32_t>(links.device_to_uav.rows);
  swarm.device_to_uav_rate = table(links.device_to_uav);
  swarm.coordinator_to_worker_rate = table(links.coordinator_to_worker);
  swarm.worker_to_leader_rate = rates(links.worker_to_leader);
  swarm.leader_to_worker_rate = rates(links.leader_to_worker);
  swarm.leader_to_access_point_rate = links.leader_to_access_point.si();
}

SignallingReport simulate_signalling(const SequenceDescription& description) {
  check_description(description);
  return Sequence(description).run();
}

KindTally SignallingReport::total() const {
  KindTally sum;
  for (const KindTally& kind : records.kinds) {
    for (Tally KindTally::*part : {&KindTally::sent, &KindTally::repeated, &KindTally::duplicated,
                                   &KindTally::received, &KindTally::lost, &KindTally::corrupted}) {
      (sum.*part).messages += (kind.*part).messages;
      (sum.*part).bits += (kind.*part).bits;
    }
  }
  return sum;
}

std::string SignallingReport::losses() const {
  std::string text;
  for (const NetworkRecords::GivenUp& lost : records.given_up) {
    text += fmt::format("{:.3f} s: given up after {} attempts: {}\n", lost.time, lost.attempts,
                        to_string(lost.message));
  }
  for (const NetworkRecords::PeerLost& lost : records.peers_lost) {
    text += fmt::format("{:.3f} s: {} goes on without {}\n", lost.time, to_string(lost.who),
                        to_string(lost.peer));
  }
  for (const std::string& party : unfinished) {
    text += fmt::format("left waiting: {}\n", party);
  }
  return text;
}

}  // namespace skein
