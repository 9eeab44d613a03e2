// What goes wrong in a mission: from a list, or at a rate.
//
// Faults are drawn once, when a mission begins, and are then a plain list: what holds in a global round
// of a training sequence follows from the list alone, so that nothing about them needs to be saved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/names.h"
#include "skein/world/world.h"

namespace skein {

enum class FaultKind {
  worker,        // lost: takes no part, for a while; or crashed, for good
  coordinator,   // likewise
  leader,        // likewise; another UAV takes its role
  device,        // silent
  link,          // of a swarm: every rate times a factor
  access_point,  // out
  update,        // a swarm's model reaches the core network damaged
  battery,       // of a UAV: every use costs a factor more
};
constexpr std::size_t num_fault_kinds = 8;

// What a fault strikes.
enum class FaultTarget { worker, coordinator, leader, uav, device, swarm, access_point };
constexpr auto names_of(FaultTarget) {
  return names_for<FaultTarget>("worker", "coordinator", "leader", "UAV", "device", "swarm", "access point");
}

struct MissionFault {
  FaultKind kind = FaultKind::worker;
  std::size_t sequence = 0;   // from this training sequence
  std::size_t round = 0;      // and global round on
  std::size_t sequences = 0;  // for so many sequences; 0: for good (an update: this once)
  std::size_t index = 0;      // of the world's UAVs, devices or access points; a swarm for link and update
  double factor = 1.0;        // of link and battery
  bool non_finite = false;    // of an update: not a number; otherwise bits have flipped

  [[nodiscard]] bool is_for_good() const { return sequences == 0 && kind != FaultKind::update; }
  [[nodiscard]] bool holds(std::size_t in_sequence, std::size_t in_round) const;
  friend bool operator==(const MissionFault&, const MissionFault&) = default;
};

// In a scenario.
struct FaultOptions {
  // "SEQUENCE[.ROUND] WHAT [FACTOR] [for N]", WHAT as in `fault_syntax`; sequences and rounds from 0, all
  // else from 1.
  std::vector<std::string> list{};
  // How likely a fault begins in a sequence, for each UAV, device, swarm or access point.
  std::array<double, num_fault_kinds> rates{};
  double for_good = 0.2;  // of UAVs lost at a rate: this share never comes back
  Distribution<double> duration{uniform(1, 3), unit::number, whole_positive};  // of the rest, sequences
  Distribution<double> link_factor{uniform(0.1, 0.5), unit::number, ratio};
  Distribution<double> battery_factor{uniform(1.2, 2.0), unit::number, {.low = 1.0, .high = 100.0}};
};

// What is to be said of a kind of fault.
struct FaultKindRow {
  FaultKind kind;
  std::string_view name;      // in a list
  std::string_view rate_key;  // in a scenario
  FaultTarget target;
  std::string (*words)(const MissionFault& fault, const std::string& who);
  bool may_be_for_good = false;  // at a rate
  // Of kinds with a factor: how large it may be in a list, and what is drawn at a rate.
  Range factors{};
  Distribution<double> FaultOptions::*factor = nullptr;
};
// One for each kind, in their order.
std::span<const FaultKindRow> fault_kinds();

inline constexpr std::string_view fault_syntax =
    "SEQUENCE[.ROUND] and one of: worker S.J, coordinator S.H, leader S, device C.I, link S FACTOR, "
    "access_point A, update S nan, update S flipped, battery S.U FACTOR; then perhaps: for N (sequences); "
    "like "
    "\"3 worker 1.2 for 2\" or \"5.1 leader 2\"";

// The list's faults, and those drawn at the rates, by the time they begin. Throws InputError with everything
// in the list that makes no sense in this world.
std::vector<MissionFault> draw_faults(const FaultOptions& options, const World& world,
                                      std::size_t num_sequences);

// "worker 2 of swarm 1 is lost for 2 sequences"
std::string to_string(const MissionFault& fault, const World& world);

// Who of a swarm is there in a round.
struct SwarmMembers {
  std::size_t leader = 0;  // a UAV of the world: the swarm's own, or whoever took its role
  bool has_leader = false;
  std::vector<std::size_t> workers{};  // numbers within the swarm
  std::vector<std::size_t> coordinators{};

  [[nodiscard]] bool can_train() const { return has_leader && !workers.empty(); }
  friend bool operator==(const SwarmMembers&, const SwarmMembers&) = default;
};

class FaultSchedule {
 public:
  struct Moment {
    std::size_t sequence = 0;
    std::size_t round = 0;
  };

  FaultSchedule() = default;
  explicit FaultSchedule(std::vector<MissionFault> faults) : faults_(std::move(faults)) {}

  [[nodiscard]] const std::vector<MissionFault>& all() const { return faults_; }
  // Of this kind, at this index, now.
  [[nodiscard]] const MissionFault* find(FaultKind kind, std::size_t index, const Moment& now) const;
  [[nodiscard]] bool is(FaultKind kind, std::size_t index, const Moment& now) const {
    return find(kind, index, now) != nullptr;
  }
  // Product of the factors of all faults of this kind here.
  [[nodiscard]] double factor(FaultKind kind, std::size_t index, const Moment& now) const;
  // A UAV in whatever role.
  [[nodiscard]] bool is_lost(const World& world, std::size_t uav, const Moment& now) const;
  [[nodiscard]] bool has_crashed(const World& world, std::size_t uav, const Moment& now) const;
  // Without its leader, a swarm with two workers or more is led by its last one, otherwise by its last
  // coordinator: whoever leads does not work or relay meanwhile.
  [[nodiscard]] SwarmMembers members(const World& world, std::size_t swarm, const Moment& now) const;

 private:
  std::vector<MissionFault> faults_;
};

}  // namespace skein
