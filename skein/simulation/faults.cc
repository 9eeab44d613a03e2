#include "skein/simulation/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "skein/base/input_fault.h"
#include "skein/base/random.h"

namespace skein {
namespace {

std::string loss(const MissionFault& fault, const std::string& who) {
  return who + (fault.sequences == 0 ? " has crashed" : " is lost");
}

constexpr std::array rows{
    FaultKindRow{.kind = FaultKind::worker,
                 .name = "worker",
                 .rate_key = "worker_rate",
                 .target = FaultTarget::worker,
                 .words = loss,
                 .may_be_for_good = true},
    FaultKindRow{.kind = FaultKind::coordinator,
                 .name = "coordinator",
                 .rate_key = "coordinator_rate",
                 .target = FaultTarget::coordinator,
                 .words = loss,
                 .may_be_for_good = true},
    FaultKindRow{.kind = FaultKind::leader,
                 .name = "leader",
                 .rate_key = "leader_rate",
                 .target = FaultTarget::leader,
                 .words = loss,
                 .may_be_for_good = true},
    FaultKindRow{.kind = FaultKind::device,
                 .name = "device",
                 .rate_key = "device_rate",
                 .target = FaultTarget::device,
                 .words = [](const MissionFault&, const std::string& who) { return who + " is silent"; }},
    FaultKindRow{.kind = FaultKind::link,
                 .name = "link",
                 .rate_key = "link_rate",
                 .target = FaultTarget::swarm,
                 .words =
                     [](const MissionFault& fault, const std::string& who) {
                       return fmt::format("links of {} have {:.3g} of their rate", who, fault.factor);
                     },
                 .factors = positive_ratio,
                 .factor = &FaultOptions::link_factor},
    FaultKindRow{.kind = FaultKind::access_point,
                 .name = "access_point",
                 .rate_key = "access_point_rate",
                 .target = FaultTarget::access_point,
                 .words = [](const MissionFault&, const std::string& who) { return who + " is out"; }},
    FaultKindRow{.kind = FaultKind::update,
                 .name = "update",
                 .rate_key = "update_rate",
                 .target = FaultTarget::swarm,
                 .words =
                     [](const MissionFault& fault, const std::string& who) {
                       return fmt::format("the model of {} arrives {}", who,
                                          fault.non_finite ? "as no number" : "with flipped bits");
                     }},
    FaultKindRow{.kind = FaultKind::battery,
                 .name = "battery",
                 .rate_key = "battery_rate",
                 .target = FaultTarget::uav,
                 .words =
                     [](const MissionFault& fault, const std::string& who) {
                       return fmt::format("{} uses {:.3g} times its energy", who, fault.factor);
                     },
                 .factors = {.low = 1.0, .high = 100.0},
                 .factor = &FaultOptions::battery_factor},
};
static_assert(rows.size() == num_fault_kinds);
static_assert(is_enumerator<static_cast<FaultKind>(num_fault_kinds - 1)>() &&
              !is_enumerator<static_cast<FaultKind>(num_fault_kinds)>());
static_assert([] {
  for (std::size_t kind = 0; kind < rows.size(); ++kind) {
    if (rows[kind].kind != static_cast<FaultKind>(kind)) {
      return false;
    }
  }
  return true;
}());

const FaultKindRow& row_of(FaultKind kind) { return rows.at(static_cast<std::size_t>(kind)); }

// The role of the UAVs that are a target; none where it is another thing, or any UAV.
std::optional<Role> role_of(FaultTarget target) {
  switch (target) {
    case FaultTarget::worker:
      return Role::worker;
    case FaultTarget::coordinator:
      return Role::coordinator;
    case FaultTarget::leader:
      return Role::leader;
    default:
      return std::nullopt;
  }
}

std::optional<std::size_t> whole(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> real(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value)
             ? std::optional(value)
             : std::nullopt;
}

// "3.1" and "3", whose second part then is `missing`.
std::optional<std::array<std::size_t, 2>> two(std::string_view text, std::size_t missing) {
  const std::size_t dot = text.find('.');
  const std::optional<std::size_t> first = whole(text.substr(0, dot));
  const std::optional<std::size_t> second =
      dot == std::string_view::npos ? std::optional(missing) : whole(text.substr(dot + 1));
  return first && second ? std::optional(std::array{*first, *second}) : std::nullopt;
}

// Reads one entry of the list; `why` is set where it makes no sense.
class Reader {
 public:
  Reader(const World& world, const std::string& text) : world_(world) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      words_.push_back(word);
    }
  }

  std::optional<MissionFault> read(std::string& why) {
    MissionFault fault;
    const auto when = two(next(), 0);
    const auto* const row = std::ranges::find(rows, next(), &FaultKindRow::name);
    if (!when || row == rows.end()) {
      why = fmt::format("must be {}", fault_syntax);
      return std::nullopt;
    }
    fault.sequence = (*when)[0];
    fault.round = (*when)[1];
    fault.kind = row->kind;
    const auto where = two(next(), 1);
    if (!where) {
      why = fmt::format("must be {}", fault_syntax);
      return std::nullopt;
    }
    if (const std::optional<std::size_t> index = index_of(row->target, (*where)[0], (*where)[1], why)) {
      fault.index = *index;
    } else {
      return std::nullopt;
    }
    if (!read_rest(fault)) {
      why = fmt::format("must be {}", fault_syntax);
      return std::nullopt;
    }
    return fault;
  }

 private:
  std::string next() { return at_ < words_.size() ? words_[at_++] : ""; }

  std::optional<std::size_t> member(std::size_t number, std::size_t first, std::size_t count,
                                    std::string_view what, std::string& why) const {
    if (number < 1 || number > count) {
      why = fmt::format("{} are numbered from 1 to {} here", what, count);
      return std::nullopt;
    }
    return first + number - 1;
  }

  std::optional<std::size_t> index_of(FaultTarget target, std::size_t a, std::size_t b,
                                      std::string& why) const {
    if (target == FaultTarget::access_point) {
      return member(a, 0, world_.access_points.size(), "access points", why);
    }
    if (target == FaultTarget::device) {
      const auto cluster = member(a, 0, world_.clusters.size(), "clusters", why);
      return cluster ? member(b, world_.clusters[*cluster].devices.first,
                              world_.clusters[*cluster].devices.count, "the cluster's devices", why)
                     : std::nullopt;
    }
    const auto number = member(a, 0, world_.swarms.size(), "swarms", why);
    if (!number) {
      return std::nullopt;
    }
    const Swarm& swarm = world_.swarms[*number];
    switch (target) {
      case FaultTarget::worker:
        return member(b, swarm.workers.first, swarm.workers.count, "the swarm's workers", why);
      case FaultTarget::coordinator:
        return member(b, swarm.coordinators.first, swarm.coordinators.count, "the swarm's coordinators", why);
      case FaultTarget::leader:
        return swarm.leader;
      case FaultTarget::uav:
        return member(b, swarm.leader, swarm.coordinators.end() - swarm.leader, "the swarm's UAVs", why);
      default:
        return *number;
    }
  }

  bool read_rest(MissionFault& fault) {
    if (const FaultKindRow& row = row_of(fault.kind); row.factor != nullptr) {
      const std::optional<double> factor = real(next());
      if (!factor || !row.factors.contains(*factor)) {
        return false;
      }
      fault.factor = *factor;
    }
    if (fault.kind == FaultKind::update) {
      const std::string how = next();
      fault.non_finite = how == "nan";
      if (!fault.non_finite && how != "flipped") {
        return false;
      }
    }
    if (at_ == words_.size()) {
      return true;
    }
    const bool has_duration = next() == "for";
    const std::optional<std::size_t> sequences = whole(next());
    fault.sequences = sequences.value_or(0);
    return has_duration && fault.sequences > 0 && at_ == words_.size();
  }

  const World& world_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

// All that a fault may strike.
std::vector<std::size_t> candidates(FaultTarget target, const World& world) {
  std::vector<std::size_t> list;
  const std::size_t count = target == FaultTarget::device         ? world.devices.size()
                            : target == FaultTarget::swarm        ? world.swarms.size()
                            : target == FaultTarget::access_point ? world.access_points.size()
                                                                  : world.uavs.size();
  const std::optional<Role> role = role_of(target);
  for (std::size_t i = 0; i < count; ++i) {
    if (!role || world.uavs[i].role == *role) {
      list.push_back(i);
    }
  }
  return list;
}

void draw_at_rate(const FaultKindRow& row, const FaultOptions& options, const World& world,
                  std::size_t num_sequences, std::vector<MissionFault>& faults) {
  const auto number = static_cast<std::size_t>(row.kind);
  const double rate = options.rates[number];
  if (rate == 0.0) {
    return;
  }
  for (const std::size_t index : candidates(row.target, world)) {
    std::size_t free_from = 0;  // the one before is over
    for (std::size_t sequence = 0; sequence < num_sequences; ++sequence) {
      RandomStream stream(world.seed, "mission fault", number, index, sequence);
      if (stream.uniform() >= rate || sequence < free_from) {
        continue;
      }
      MissionFault fault{.kind = row.kind, .sequence = sequence, .index = index};
      if (fault.kind == FaultKind::update) {
        fault.non_finite = stream.uniform() < 0.5;
        faults.push_back(fault);
        continue;
      }
      if (row.factor != nullptr) {
        fault.factor = std::max((options.*row.factor).sample(stream), 1e-3);
      }
      const bool crashes = stream.uniform() < options.for_good && row.may_be_for_good;
      fault.sequences = crashes ? 0 : static_cast<std::size_t>(options.duration.sample(stream));
      faults.push_back(fault);
      free_from = crashes ? num_sequences : sequence + fault.sequences;
    }
  }
}

// "worker 2 of swarm 1"
std::string who(FaultTarget target, std::size_t index, const World& world) {
  const std::string_view what = name_of(target);
  if (target == FaultTarget::device) {
    const std::size_t cluster = world.devices[index].cluster;
    return fmt::format("{} {} of {}", what, index - world.clusters[cluster].devices.first + 1,
                       world.site_name(cluster));
  }
  if (target == FaultTarget::swarm || target == FaultTarget::access_point) {
    return fmt::format("{} {}", what, index + 1);
  }
  const std::size_t number = world.uavs[index].swarm;
  const Swarm& swarm = world.swarms[number];
  if (target == FaultTarget::leader) {
    return fmt::format("the leader of swarm {}", number + 1);
  }
  const std::size_t first = target == FaultTarget::worker        ? swarm.workers.first
                            : target == FaultTarget::coordinator ? swarm.coordinators.first
                                                                 : swarm.leader;
  return fmt::format("{} {} of swarm {}", what, index - first + 1, number + 1);
}

}  // namespace

std::span<const FaultKindRow> fault_kinds() { return rows; }

bool MissionFault::holds(std::size_t in_sequence, std::size_t in_round) const {
  if (in_sequence < sequence || (in_sequence == sequence && in_round < round)) {
    return false;
  }
  if (sequences == 0) {
    return kind != FaultKind::update || (in_sequence == sequence && in_round == round);
  }
  return in_sequence < sequence + sequences;
}

std::vector<MissionFault> draw_faults(const FaultOptions& options, const World& world,
                                      std::size_t num_sequences) {
  std::vector<MissionFault> faults;
  InputFaults wrong;
  for (const std::string& text : options.list) {
    std::string why;
    if (const std::optional<MissionFault> fault = Reader(world, text).read(why)) {
      faults.push_back(*fault);
    } else {
      wrong.add({.key = "faults.list", .value = text, .message = why});
    }
  }
  wrong.throw_if_any();
  for (const FaultKindRow& row : rows) {
    draw_at_rate(row, options, world, num_sequences, faults);
  }
  std::ranges::stable_sort(faults, {}, [](const MissionFault& f) {
    return std::array{f.sequence, f.round, static_cast<std::size_t>(f.kind), f.index};
  });
  return faults;
}

std::string to_string(const MissionFault& fault, const World& world) {
  const FaultKindRow& row = row_of(fault.kind);
  const std::string how_long = fault.sequences == 0 ? ""
                                                    : fmt::format(" for {} sequence{}", fault.sequences,
                                                                  fault.sequences == 1 ? "" : "s");
  return row.words(fault, who(row.target, fault.index, world)) + how_long;
}

const MissionFault* FaultSchedule::find(FaultKind kind, std::size_t index, const Moment& now) const {
  const auto found = std::ranges::find_if(faults_, [&](const MissionFault& f) {
    return f.kind == kind && f.index == index && f.holds(now.sequence, now.round);
  });
  return found == faults_.end() ? nullptr : &*found;
}

double FaultSchedule::factor(FaultKind kind, std::size_t index, const Moment& now) const {
  double product = 1.0;
  for (const MissionFault& f : faults_) {
    if (f.kind == kind && f.index == index && f.holds(now.sequence, now.round)) {
      product *= f.factor;
    }
  }
  return product;
}

namespace {

FaultKind loss_of(Role role) {
  return role == Role::leader   ? FaultKind::leader
         : role == Role::worker ? FaultKind::worker
                                : FaultKind::coordinator;
}

}  // namespace

bool FaultSchedule::is_lost(const World& world, std::size_t uav, const Moment& now) const {
  return is(loss_of(world.uavs[uav].role), uav, now);
}

bool FaultSchedule::has_crashed(const World& world, std::size_t uav, const Moment& now) const {
  const FaultKind kind = loss_of(world.uavs[uav].role);
  return std::ranges::any_of(faults_, [&](const MissionFault& f) {
    return f.kind == kind && f.index == uav && f.is_for_good() && f.holds(now.sequence, now.round);
  });
}

SwarmMembers FaultSchedule::members(const World& world, std::size_t swarm, const Moment& now) const {
  const Swarm& all = world.swarms[swarm];
  SwarmMembers present{.leader = all.leader, .has_leader = !is_lost(world, all.leader, now)};
  for (std::size_t j = 0; j < all.workers.count; ++j) {
    if (!is_lost(world, all.workers.first + j, now)) {
      present.workers.push_back(j);
    }
  }
  for (std::size_t h = 0; h < all.coordinators.count; ++h) {
    if (!is_lost(world, all.coordinators.first + h, now)) {
      present.coordinators.push_back(h);
    }
  }
  if (!present.has_leader) {
    const auto take_over = [&](std::vector<std::size_t>& from, const IndexRange& range) {
      present.leader = range.first + from.back();
      present.has_leader = true;
      from.pop_back();
    };
    if (present.workers.size() >= 2) {
      take_over(present.workers, all.workers);
    } else if (!present.coordinators.empty()) {
      take_over(present.coordinators, all.coordinators);
    }
  }
  return present;
}

}  // namespace skein
