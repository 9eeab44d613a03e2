// Workers and coordinators of a swarm.
//
// Both fly to their position, wake the devices that are theirs and get their data; both hand the personalised
// model to devices at the end. A coordinator relays what it has got to workers, once; a worker trains on what
// it has got, local round by local round.
#pragma once

#include <cstdint>
#include <vector>

#include "skein/protocol/role.h"

namespace skein {

class UavRole : public RoleMachine {
 public:
  enum class State : std::uint8_t {
    idle,
    flying,         // to its position
    on_station,     // until it gets its shares, or all through a round in which it has none
    gathering,      // until data, model and start have come
    computing,      // worker
    uploaded,       // worker: its model
    synchronised,   // worker: has the swarm's model
    personalising,  // worker
    personalised,   // worker: has sent the personalised model
    relayed,        // coordinator
    handing,        // the model to devices
    handed
  };

  // In the middle of a sequence, at its position, before it gets the shares of a global round.
  void resume(const Stamp& stamp);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] static std::string_view name_of(State state);
  [[nodiscard]] std::string_view state_name() const override { return name_of(state_); }
  [[nodiscard]] bool is_idle() const override { return state_ == State::idle; }
  [[nodiscard]] std::vector<Party> awaited() const override;
  // Of data, in this global round.
  [[nodiscard]] std::uint64_t received_bits() const;
  friend bool operator==(const UavRole&, const UavRole&) = default;

 protected:
  struct Source {
    Party peer;
    std::uint64_t bits = 0;      // to come
    std::uint64_t received = 0;  // has come
    bool announced = false;      // by a coordinator
    bool awaited = true;
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Customer {
    Party device;
    bool awaited = false;
    friend bool operator==(const Customer&, const Customer&) = default;
  };

  UavRole(const Party& self, std::uint64_t model_bits)
      : RoleMachine(self), leader_(leader_party(self.swarm)), model_bits_(model_bits) {}

  [[nodiscard]] bool knows(const Party& peer) const override;
  [[nodiscard]] Refusal judge(const Message& message) const final;
  void accept(const Message& message, Reaction& reaction) final;
  [[nodiscard]] Refusal judge(const LocalEvent& event) const final;
  void accept(const LocalEvent& event, Reaction& reaction) final;
  void drop(const Party& peer, Reaction& reaction) final;

  // Whether this state takes such a message, of those that are this role's own.
  [[nodiscard]] virtual bool takes(const Message& message) const = 0;
  virtual void accept_own(const Message& message, Reaction& reaction) = 0;
  virtual void finish_own(const LocalEvent& event, Reaction& reaction) = 0;
  // All data has come, and the start signal: relay or train.
  virtual void begin_round(Reaction& reaction) = 0;
  // What is asked of it in this global round: fills sources_.
  virtual void take_own(const std::vector<Share>& shares) = 0;
  [[nodiscard]] virtual bool takes_part() const = 0;
  virtual void forget(const Party&) {}

  // Goes on once nothing is awaited.
  void settle(Reaction& reaction);

  Party leader_;
  std::uint64_t model_bits_ = 0;
  State state_ = State::idle;
  bool started_ = false;  // start_training has come in this global round
  std::uint32_t global_period_ = 1;
  std::vector<Source> sources_{};

 private:
  [[nodiscard]] bool awaits_shares() const;
  [[nodiscard]] const Source* source_of(const Party& peer) const;
  [[nodiscard]] Refusal judge_data(const Message& message) const;
  // Its part in the global round is over, and no other has begun.
  [[nodiscard]] bool ends_round() const;
  [[nodiscard]] Refusal judge_shares(const Stamp& stamp) const;
  [[nodiscard]] Refusal judge_handing(const Message& message) const;
  void take_shares(const Message& message);
  void wake_devices(Reaction& reaction);
  void hand_over(Reaction& reaction);

  bool has_shares_ = false;  // of global round round_
  std::vector<Customer> customers_{};
};

class WorkerRole final : public UavRole {
 public:
  WorkerRole(std::uint32_t swarm, std::uint32_t index, std::uint64_t model_bits)
      : UavRole({PartyKind::worker, swarm, index}, model_bits) {}
  friend bool operator==(const WorkerRole&, const WorkerRole&) = default;

 protected:
  [[nodiscard]] bool takes(const Message& message) const override;
  void accept_own(const Message& message, Reaction& reaction) override;
  void finish_own(const LocalEvent& event, Reaction& reaction) override;
  void begin_round(Reaction& reaction) override;
  void take_own(const std::vector<Share>& shares) override;
  [[nodiscard]] bool takes_part() const override { return !sources_.empty(); }

 private:
  void compute(Reaction& reaction);

  bool has_model_ = false;
};

class CoordinatorRole final : public UavRole {
 public:
  CoordinatorRole(std::uint32_t swarm, std::uint32_t index, std::uint64_t model_bits)
      : UavRole({PartyKind::coordinator, swarm, index}, model_bits) {}
  friend bool operator==(const CoordinatorRole&, const CoordinatorRole&) = default;

 protected:
  [[nodiscard]] bool takes(const Message& message) const override;
  void accept_own(const Message& message, Reaction& reaction) override;
  void finish_own(const LocalEvent&, Reaction&) override {}
  void begin_round(Reaction& reaction) override;
  void take_own(const std::vector<Share>& shares) override;
  [[nodiscard]] bool takes_part() const override { return true; }
  void forget(const Party& peer) override;

 private:
  std::vector<Share> relays_{};
};

}  // namespace skein
