// A device: sends the data it is asked for, takes the model it is given.
#pragma once

#include <cstdint>
#include <vector>

#include "skein/protocol/role.h"

namespace skein {

class DeviceRole final : public RoleMachine {
 public:
  enum class State : std::uint8_t { idle, active, updated };

  struct Options {
    std::uint32_t swarm = 0;  // the one above it
    std::uint32_t index = 0;
    std::vector<Party> uavs{};  // that may ask
    std::uint64_t model_bits = 0;
  };
  explicit DeviceRole(Options options);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] std::string_view state_name() const override;
  [[nodiscard]] bool is_idle() const override { return true; }  // waits for nobody
  friend bool operator==(const DeviceRole&, const DeviceRole&) = default;

 protected:
  [[nodiscard]] bool knows(const Party& peer) const override;
  [[nodiscard]] Refusal judge(const Message& message) const override;
  void accept(const Message& message, Reaction& reaction) override;
  [[nodiscard]] Refusal judge(const LocalEvent&) const override { return Refusal::wrong_state; }
  void accept(const LocalEvent&, Reaction&) override {}
  void drop(const Party&, Reaction&) override {}

 private:
  std::vector<Party> uavs_;
  std::uint64_t model_bits_ = 0;
  State state_ = State::idle;
};

}  // namespace skein
