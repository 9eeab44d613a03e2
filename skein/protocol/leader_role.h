// The leader of a swarm.
//
// Flies with its swarm to the cluster, sends everybody to a position, starts the training when all have
// arrived, averages its workers' models, carries the result to its access point and the global model back;
// after the last global round has the model personalised and handed to the devices.
#pragma once

#include <cstdint>
#include <vector>

#include "skein/protocol/role.h"

namespace skein {

class LeaderRole final : public RoleMachine {
 public:
  enum class State : std::uint8_t {
    idle,
    flying,           // to the cluster
    deciding,         // on the offloading of a global round
    scattering,       // until all UAVs are at their positions
    training,         // until all models of a local round have come
    aggregating,      // them
    to_access_point,  // on the way
    at_access_point,  // until prompted
    uploaded,         // until the global model comes
    returning,        // to the swarm
    personalising,    // until all personalised models have come
    finishing,        // aggregates them
    handing           // until all UAVs have handed the model to their devices
  };

  struct Options {
    std::uint32_t swarm = 0;
    std::vector<Party> uavs{};           // workers and coordinators
    std::vector<Party> access_points{};  // that may send it a plan
    std::uint64_t model_bits = 0;
  };
  explicit LeaderRole(Options options);
  // In the middle of a sequence, above the cluster with the swarm, about to decide on a global round.
  Reaction resume(const Stamp& stamp, const Party& access_point, const PlanContent& plan);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] static std::string_view name_of(State state);
  [[nodiscard]] std::string_view state_name() const override { return name_of(state_); }
  [[nodiscard]] bool is_idle() const override { return state_ == State::idle; }
  [[nodiscard]] std::vector<Party> awaited() const override;
  friend bool operator==(const LeaderRole&, const LeaderRole&) = default;

 protected:
  [[nodiscard]] bool knows(const Party& peer) const override;
  [[nodiscard]] Refusal judge(const Message& message) const override;
  void accept(const Message& message, Reaction& reaction) override;
  [[nodiscard]] Refusal judge(const LocalEvent& event) const override;
  void accept(const LocalEvent& event, Reaction& reaction) override;
  void drop(const Party& peer, Reaction& reaction) override;

 private:
  struct Member {
    Party uav;
    bool is_placed = false;  // has been sent to its position
    bool trains = false;     // gets data in this global round
    bool hands = false;      // has devices to hand the model to
    bool awaited = false;    // in this state
    bool announced = false;  // its model
    friend bool operator==(const Member&, const Member&) = default;
  };
  [[nodiscard]] const Member* member_of(const Party& uav) const;
  [[nodiscard]] Member* member_of(const Party& uav);
  [[nodiscard]] Refusal judge(const std::vector<Assignment>& assignments) const;
  [[nodiscard]] Refusal judge_report(const Message& message) const;
  // Goes on once nobody is awaited.
  void settle(Reaction& reaction);
  void assign(const LocalEvent& event, Reaction& reaction);
  void start_round(Reaction& reaction);
  void next_local_round(Reaction& reaction);
  [[nodiscard]] bool has_next_local_round() const { return local_ + 1 < plan_.global_period; }
  void leave(Reaction& reaction);
  void personalise(Reaction& reaction);
  void hand_over(Reaction& reaction);
  // The end for the swarm.
  void close(Reaction& reaction);
  void await_trainers();

  std::vector<Party> uavs_;
  std::vector<Party> access_points_;
  std::uint64_t model_bits_ = 0;

  State state_ = State::idle;
  Party access_point_;
  PlanContent plan_;
  std::vector<Member> members_{};                 // of the swarm, without those that were lost
  std::vector<std::vector<Assignment>> later_{};  // of the global round's later local rounds
};

}  // namespace skein
