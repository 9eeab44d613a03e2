// Delivers messages between roles, in memory, on a clock of simulated seconds.
//
// A message takes bits / rate on its link, and a link carries one message at a time: the next one leaves when
// the last one is acknowledged. As in the gathering schedule (skein/world/gathering.h), a UAV receives data
// from one sender at a time, and a coordinator sends data to one worker at a time; everything else goes over
// orthogonal bands. Whatever arrives is bytes: it is decoded, checked and given to its role, which accepts or
// refuses. What is not acknowledged is sent again after a timeout, a limited number of times; then sender and
// receiver give each other up. When nothing moves any more, whoever still waits gives up those it waits for,
// lowest in the hierarchy first: so that a sequence always ends.
//
// The same seed gives the same delivery, bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "skein/base/random.h"
#include "skein/protocol/role.h"

namespace skein {

// Probabilities per transmission.
struct LinkFaults {
  double loss = 0.0;
  double corruption = 0.0;   // some bits flip
  double duplication = 0.0;  // a copy arrives as well
  double delay = 0.0;        // arrives late, so that others overtake it
  double garbage = 0.0;      // random bytes arrive as well
  double most_delay = 1.0;   // s

  [[nodiscard]] bool any() const {
    return loss > 0 || corruption > 0 || duplication > 0 || delay > 0 || garbage > 0;
  }
};

// A party that neither sends nor hears for a while, or for good.
struct Silence {
  Party party;
  double from = 0.0;                                       // s
  double until = std::numeric_limits<double>::infinity();  // s
};

struct DeliveryOptions {
  LinkFaults faults{};
  std::vector<Silence> silences{};
  double latency = 0.0;   // s, of every link
  double timeout = 0.5;   // s, beyond the time that an acknowledgement takes
  double watchdog = 5.0;  // s, until one who waits for nothing gives up
  int max_attempts = 8;
  std::uint64_t seed = 1;
  std::uint64_t sequence = 0;  // names the random streams, with the swarm
  std::size_t most_records = 1000;
  bool trace = false;
};

struct Tally {
  std::uint64_t messages = 0;
  std::uint64_t bits = 0;  // message and payload
  void add(std::uint64_t more) {
    ++messages;
    bits += more;
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

// sent + duplicated = received + lost + corrupted.
struct KindTally {
  Tally sent;  // every transmission, the repeated ones too
  Tally repeated;
  Tally duplicated;
  Tally received;  // whole
  Tally lost;
  Tally corrupted;
  friend bool operator==(const KindTally&, const KindTally&) = default;
};

struct PartyTally {
  std::uint64_t sent_bits = 0;
  std::uint64_t received_bits = 0;
  double air_time = 0.0;  // s, sending
  // s, the same without what the energy of training counts: data, and models between workers and leader.
  double signalling_time = 0.0;
  friend bool operator==(const PartyTally&, const PartyTally&) = default;
};

struct NetworkRecords {
  struct Refused {
    double time = 0.0;  // s
    Party receiver;
    Refusal reason = Refusal::none;
    std::string what{};
  };
  struct GivenUp {
    double time = 0.0;  // s
    Message message;
    int attempts = 0;  // 0: never sent, as one before it on the link was given up
  };
  struct PeerLost {
    double time = 0.0;  // s
    Party who;
    Party peer;
  };
  std::array<KindTally, num_message_types> kinds{};    // by type - 1
  std::array<std::uint64_t, num_refusals> refusals{};  // by reason, of whatever arrived
  std::vector<Refused> refused{};                      // the first of them
  std::vector<GivenUp> given_up{};
  std::vector<PeerLost> peers_lost{};
  std::map<Party, PartyTally> parties{};
  std::vector<std::string> trace{};
};

class MessageNetwork {
 public:
  struct WorkResult {
    double seconds = 0.0;
    LocalEvent event;
  };
  struct Hooks {
    // bit/s of the link that a message takes. 0: none.
    std::function<double(const Message&)> rate;
    // How long a role works, and what comes out. Nothing: it never ends.
    std::function<std::optional<WorkResult>(double now, const RoleMachine&, Work)> work;
    // After a role has accepted a message, or an event (null).
    std::function<void(double now, const RoleMachine&, const Message*)> accepted;
    // Whether the sequence is over, once nothing moves any more.
    std::function<bool()> is_over;
  };
  MessageNetwork(DeliveryOptions options, Hooks hooks);

  // Roles are added before the first event.
  void add(std::unique_ptr<RoleMachine> role);
  [[nodiscard]] const RoleMachine& role(const Party& party) const;
  void feed(const Party& party, const LocalEvent& event);
  // What a role has answered outside of the network.
  void take(const Party& party, Reaction reaction);
  void run();

  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] const NetworkRecords& records() const { return records_; }
  [[nodiscard]] const std::vector<std::unique_ptr<RoleMachine>>& roles() const { return roles_; }

 private:
  struct Link {
    std::size_t from = 0;
    std::size_t to = 0;
    std::deque<Message> queue{};
    // Of the message in front.
    enum class Phase : std::uint8_t { idle, waiting, in_air, sent } phase = Phase::idle;
    bool acknowledged = false;  // while it is in the air once more
    bool radiates = false;      // there is a link, and the sender is not silent
    int attempts = 0;
    std::uint64_t transmission = 0;  // tells timeouts apart
  };
  struct Fate {
    bool lost = false;
    bool corrupted = false;
    bool duplicated = false;
    double delay = 0.0;
    double duplicate_delay = 0.0;
    bool garbage = false;
  };

  void at(double time, std::function<void()> action);
  [[nodiscard]] std::size_t index_of(const Party& party) const;
  [[nodiscard]] bool is_silent(std::size_t role, double time) const;
  Link& link_between(std::size_t from, std::size_t to);
  RandomStream& stream_of(const Message& message);
  Fate fate_of(const Message& message);

  void react(std::size_t role, Reaction reaction);
  void post(Message message);
  void send_front(Link& link);
  void transmit(Link& link);
  void end_transmission(Link& link, std::uint64_t transmission);
  void arrive(std::size_t to, const std::string& bytes, double rate);
  void acknowledge(const Message& message, double rate);
  void hear_acknowledgement(std::size_t to, const std::string& bytes);
  void advance(Link& link);
  void check_timeout(Link& link, std::uint64_t transmission);
  void give_up(Link& link);
  void lose(std::size_t who, std::size_t peer);
  bool wake_watchdogs();

  // Data shares receivers, and coordinators as senders.
  bool seize_radios(const Link& link);
  void release_radios(const Link& link);

  void refuse(const Party& receiver, Refusal reason, std::string what);
  void note(std::string line);
  KindTally& tally(MessageType type) { return records_.kinds[static_cast<std::size_t>(type) - 1]; }

  DeliveryOptions options_;
  Hooks hooks_;
  std::vector<std::unique_ptr<RoleMachine>> roles_{};
  std::unordered_map<std::uint64_t, std::size_t> index_{};
  std::vector<std::vector<Silence>> silences_{};
  std::vector<bool> receives_{};
  std::vector<bool> sends_{};
  std::vector<PartyTally> parties_{};
  std::deque<Link> links_{};  // a deque: references stay
  std::unordered_map<std::uint64_t, Link*> link_index_{};
  std::map<std::uint32_t, std::vector<Link*>> waiting_{};  // for radios, by swarm, in order
  std::map<std::uint32_t, RandomStream> streams_{};
  std::map<std::pair<double, std::uint64_t>, std::function<void()>> events_{};
  std::uint64_t num_events_ = 0;
  std::uint64_t num_transmissions_ = 0;
  double now_ = 0.0;
  NetworkRecords records_{};
};

}  // namespace skein
