// What all roles of the protocol have in common: a state machine that answers messages and local events.
//
// A role shares nothing with others: it knows what it was told at its construction, by messages, and by local
// events (it has arrived, its computation is done). It answers with messages to send and with work to do,
// whose end comes back as a local event. What is not allowed now is refused with a reason, and a refusal
// changes nothing: judging is const, and only what has been judged well is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/protocol/message.h"

namespace skein {

enum class Refusal : std::uint8_t {
  none,            // accepted
  undecodable,     // no message at all
  wrong_receiver,  // not for this role
  wrong_sender,    // this kind of sender never says that
  unknown_peer,    // a sender that this role has nothing to do with, or no more
  duplicate,       // had been accepted before: it, or a later one of its kind
  wrong_sequence,
  wrong_round,  // global or local
  wrong_state,
  bad_content,
};
inline constexpr std::size_t num_refusals = 10;
std::string_view to_string(Refusal refusal);

// What a role does between messages.
enum class Work : std::uint8_t {
  none,
  fly_to_cluster,
  decide,  // solve the offloading problem
  fly_to_position,
  compute,  // tau_L local iterations
  aggregate,
  fly_to_access_point,
  merge,
  fly_back,
  personalise,
};
std::string_view to_string(Work work);

struct LeaderPlan {
  Party leader;
  PlanContent plan;
  bool sends_model = false;  // it has not got the latest global model
  friend bool operator==(const LeaderPlan&, const LeaderPlan&) = default;
};

// What a UAV is to do in a global round.
struct Assignment {
  Party uav;
  PositionContent position;
  std::vector<Share> shares{};  // in the order of peers
  bool keeps = false;           // in a later local round: trains on what it has if nothing new comes
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

struct LocalEvent {
  enum class Kind : std::uint8_t { begin, finished, peer_lost };
  Kind kind = Kind::finished;
  Stamp stamp;
  Work work = Work::none;                 // finished
  double weight = 0.0;                    // of a finished computation
  std::vector<Assignment> assignments{};  // of a finished decision
  // Of its later local rounds; empty: nothing new comes in them.
  std::vector<std::vector<Assignment>> later_assignments{};
  std::vector<LeaderPlan> plans{};  // begin: of the active swarms
  Party peer;                       // peer_lost
};

struct Reaction {
  Refusal refusal = Refusal::none;
  std::vector<Message> outgoing{};
  Work work = Work::none;  // to begin now; at most one at a time

  [[nodiscard]] bool accepted() const { return refusal == Refusal::none; }
};

class RoleMachine {
 public:
  virtual ~RoleMachine() = default;
  RoleMachine(RoleMachine&&) = default;
  RoleMachine& operator=(RoleMachine&&) = default;

  Reaction handle(const Message& message);
  Reaction handle(const LocalEvent& event);

  [[nodiscard]] const Party& self() const { return self_; }
  // Where in the training it is.
  [[nodiscard]] Stamp stamp() const;
  [[nodiscard]] virtual std::string_view state_name() const = 0;
  // Nothing to do in the current sequence, or no more.
  [[nodiscard]] virtual bool is_idle() const = 0;
  // Those below it in the hierarchy without whom it cannot go on.
  [[nodiscard]] virtual std::vector<Party> awaited() const { return {}; }

  friend bool operator==(const RoleMachine&, const RoleMachine&) = default;

 protected:
  explicit RoleMachine(Party self) : self_(self) {}
  RoleMachine(const RoleMachine&) = default;
  RoleMachine& operator=(const RoleMachine&) = default;

  [[nodiscard]] virtual bool knows(const Party& peer) const = 0;
  // Of a message from a known peer that is on a legal route and new.
  [[nodiscard]] virtual Refusal judge(const Message& message) const = 0;
  virtual void accept(const Message& message, Reaction& reaction) = 0;
  // Of the end of the work at hand, or of the sequence's begin.
  [[nodiscard]] virtual Refusal judge(const LocalEvent& event) const = 0;
  virtual void accept(const LocalEvent& event, Reaction& reaction) = 0;
  virtual void drop(const Party& peer, Reaction& reaction) = 0;

  // A message at the role's own stamp.
  void send(Reaction& reaction, MessageType type, const Party& receiver, Content content = {},
            std::uint64_t payload_bits = 0);
  // The same matter, one hop on.
  void forward(Reaction& reaction, const Message& message, const Party& receiver, const Party& subject);
  void begin_work(Reaction& reaction, Work work) {
    work_ = work;
    reaction.work = work;
  }
  void cancel_work() { work_ = Work::none; }
  void begin_sequence(std::uint32_t sequence);
  [[nodiscard]] bool is_later(std::uint32_t sequence) const { return sequence > sequence_; }
  [[nodiscard]] bool is_current(std::uint32_t sequence) const { return sequence == sequence_; }

  std::uint32_t round_ = 0;  // global
  std::uint32_t local_ = 0;

 private:
  struct Seen {
    Party sender;
    MessageType type{};
    Party subject;
    Stamp stamp;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  [[nodiscard]] std::size_t place_of(const Message& message) const;
  [[nodiscard]] bool is_seen(std::size_t place, const Message& message) const;
  [[nodiscard]] bool is_duplicate(const Message& message) const;
  void remember(const Message& message);

  Party self_;
  std::int64_t sequence_ = -1;
  std::uint64_t serial_ = 0;
  Work work_ = Work::none;
  std::vector<Seen> seen_{};  // the latest accepted of each sender, type and subject; in their order
};

}  // namespace skein
