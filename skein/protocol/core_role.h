// The core network, and access points between it and the leaders.
#pragma once

#include <cstdint>
#include <vector>

#include "skein/protocol/role.h"

namespace skein {

// Plans a sequence, waits for all active leaders at their access points, prompts them, merges their models,
// returns the result; after the last global round waits until all are done.
class CoreRole final : public RoleMachine {
 public:
  enum class State : std::uint8_t { idle, training, collecting, merging, closing };

  struct Attachment {
    Party leader;
    Party access_point;  // through which it is reached
    friend bool operator==(const Attachment&, const Attachment&) = default;
  };
  struct Options {
    std::vector<Attachment> leaders{};
    std::uint64_t model_bits = 0;
  };
  explicit CoreRole(Options options);
  // In the middle of a sequence, at the begin of a global round.
  void resume(const Stamp& stamp, const std::vector<LeaderPlan>& plans);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] std::string_view state_name() const override;
  [[nodiscard]] bool is_idle() const override { return state_ == State::idle; }
  [[nodiscard]] std::vector<Party> awaited() const override;
  friend bool operator==(const CoreRole&, const CoreRole&) = default;

 protected:
  [[nodiscard]] bool knows(const Party& peer) const override;
  [[nodiscard]] Refusal judge(const Message& message) const override;
  void accept(const Message& message, Reaction& reaction) override;
  [[nodiscard]] Refusal judge(const LocalEvent& event) const override;
  void accept(const LocalEvent& event, Reaction& reaction) override;
  void drop(const Party& peer, Reaction& reaction) override;

 private:
  struct Active {
    Attachment link;
    bool awaited = true;
    friend bool operator==(const Active&, const Active&) = default;
  };
  [[nodiscard]] const Attachment* attachment_of(const Party& leader) const;
  void activate(const std::vector<LeaderPlan>& plans);
  void enter(State state);
  // Goes on once nobody is awaited.
  void settle(Reaction& reaction);
  void send_to_all(Reaction& reaction, MessageType type, std::uint64_t payload_bits);

  std::vector<Attachment> leaders_;
  std::uint64_t model_bits_ = 0;
  State state_ = State::idle;
  std::uint32_t num_rounds_ = 0;
  std::vector<Active> active_{};
};

// Passes on what the core network and the leaders say, each in its turn. Has a state for each leader.
class AccessPointRole final : public RoleMachine {
 public:
  enum class State : std::uint8_t { idle, away, arrived, prompted, uploaded };

  AccessPointRole(std::uint32_t index, const std::vector<Party>& leaders);
  // In the middle of a sequence, with this leader away above its cluster.
  void resume(const Party& leader, const Stamp& stamp);

  [[nodiscard]] bool attends(const Party& leader) const { return slot_of(leader) != nullptr; }
  [[nodiscard]] State state_of(const Party& leader) const;
  [[nodiscard]] static std::string_view name_of(State state);
  [[nodiscard]] std::string_view state_name() const override { return "forwarding"; }
  [[nodiscard]] bool is_idle() const override { return true; }  // waits for nobody
  friend bool operator==(const AccessPointRole&, const AccessPointRole&) = default;

 protected:
  [[nodiscard]] bool knows(const Party& peer) const override;
  [[nodiscard]] Refusal judge(const Message& message) const override;
  void accept(const Message& message, Reaction& reaction) override;
  [[nodiscard]] Refusal judge(const LocalEvent&) const override { return Refusal::wrong_state; }
  void accept(const LocalEvent&, Reaction&) override {}
  void drop(const Party& peer, Reaction& reaction) override;

 private:
  struct Slot {
    Party leader;
    State state = State::idle;
    std::int64_t sequence = -1;
    std::uint32_t round = 0;
    bool is_lost = false;
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  [[nodiscard]] const Slot* slot_of(const Party& leader) const;
  [[nodiscard]] Slot& slot_of(const Message& message);

  std::vector<Slot> slots_;
};

}  // namespace skein
