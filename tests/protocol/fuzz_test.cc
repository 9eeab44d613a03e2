// A million messages in random order, lost, doubled, forged and garbage, on the roles' state machines: no
// crash, no accepted illegal transition, and every sequence comes to an end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "tests/protocol/bag.h"
#include "tests/protocol/random_messages.h"
#include "tests/protocol/transitions.h"

namespace skein {
namespace {

struct FuzzCounts {
  std::size_t messages = 0;
  std::size_t episodes = 0;
  std::size_t undisturbed = 0;  // episodes in which every role ended idle
  std::size_t garbage = 0;
  std::size_t given_up = 0;
  std::size_t watchdogs = 0;
  std::array<std::size_t, num_refusals> outcomes{};
};

class Episode {
 public:
  Episode(std::uint64_t seed, FuzzCounts& counts)
      : random_(seed, "fuzz"),
        hostility_(random_.below(3) == 0 ? 0.0 : random_.uniform(0.0, 0.5)),
        bag_(BagShape::random(random_), static_cast<std::uint32_t>(random_.below(4)), random_),
        counts_(counts) {}

  void run() {
    bag_.begin();
    constexpr std::size_t most_steps = 200'000;  // an episode takes some hundreds
    std::size_t steps = 0;
    while (steps < most_steps) {
      if (bag_.messages.empty() && bag_.work.empty()) {
        if (!bag_.wake_watchdogs()) {
          break;
        }
        ++counts_.watchdogs;
        continue;
      }
      step();
      ++steps;
    }
    ASSERT_LT(steps, most_steps) << "does not end";
    // The core network ends its sequence whatever happens, and nobody waits for anybody below.
    EXPECT_TRUE(base_of(*bag_.find(core_party())).is_idle());
    bool all_idle = true;
    for (const AnyRole& role : bag_.roles()) {
      EXPECT_TRUE(base_of(role).awaited().empty());
      all_idle = all_idle && base_of(role).is_idle();
    }
    if (hostility_ == 0.0) {
      EXPECT_TRUE(all_idle) << "without disturbance every role ends";
    }
    counts_.undisturbed += all_idle ? 1 : 0;
    ++counts_.episodes;
  }

 private:
  void step() {
    if (random_.bernoulli(hostility_)) {
      disturb();
      return;
    }
    const std::uint64_t pick = random_.below(bag_.messages.size() + bag_.work.size());
    if (pick >= bag_.messages.size()) {
      const auto place = bag_.work.begin() + static_cast<std::ptrdiff_t>(pick - bag_.messages.size());
      const auto [party, event] = *place;
      bag_.work.erase(place);
      end_work(party, event);
      return;
    }
    // As a network does: accepted or a duplicate is delivered, anything else is tried again some times.
    const Message message = bag_.messages[pick];
    const Refusal refusal = deliver(message);
    const bool is_delivered = refusal == Refusal::none || refusal == Refusal::duplicate;
    const auto place = bag_.messages.begin() + static_cast<std::ptrdiff_t>(pick);
    if (is_delivered) {
      bag_.messages.erase(place);
      history_.push_back(message);
      return;
    }
    constexpr int most_attempts = 400;  // in random order, being too early is the rule
    if (++attempts_[{message.sender, message.serial}] > most_attempts) {
      bag_.messages.erase(place);
      give_up(message);
    }
  }

  void give_up(const Message& message) {
    ++counts_.given_up;
    bag_.lose(message.sender, message.receiver);
    bag_.lose(message.receiver, message.sender);
  }

  void disturb() {
    switch (random_.below(8)) {
      case 0:  // again
        if (!history_.empty()) {
          deliver(random_.choice(history_));
        }
        break;
      case 1:  // lost, and given up
        if (!bag_.messages.empty() && random_.bernoulli(0.1)) {
          const std::uint64_t pick = random_.below(bag_.messages.size());
          const Message message = bag_.messages[pick];
          bag_.messages.erase(bag_.messages.begin() + static_cast<std::ptrdiff_t>(pick));
          give_up(message);
        }
        break;
      case 2:
        deliver(random_message(random_));
        break;
      case 3:
      case 4:
        if (!bag_.messages.empty()) {
          deliver(forged(random_.choice(bag_.messages)));
        }
        break;
      case 5:
        throw_garbage();
        break;
      case 6:
        if (!bag_.messages.empty()) {
          misdeliver(random_.choice(bag_.messages));
        }
        break;
      default:
        false_event();
    }
  }

  // A real message with a field changed.
  Message forged(Message message) {
    const auto number = [&] { return static_cast<std::uint32_t>(random_.below(4)); };
    switch (random_.below(8)) {
      case 0:
        message.stamp.sequence = number();
        break;
      case 1:
        message.stamp.global_round = number();
        break;
      case 2:
        message.stamp.local_round = number();
        break;
      case 3:
        message.sender = random_party(random_, static_cast<PartyKind>(random_.below(num_party_kinds)));
        break;
      case 4:
        message.receiver = random_party(random_, static_cast<PartyKind>(random_.below(num_party_kinds)));
        break;
      case 5:
        message.type = static_cast<MessageType>(1 + random_.below(num_message_types));
        break;
      case 6:
        message.payload_bits = random_.below(1000);
        break;
      default:
        message.content = random_content(random_, message.type, message.receiver);
    }
    return message;
  }

  void throw_garbage() {
    ++counts_.messages;
    ++counts_.garbage;
    std::string bytes = random_.bernoulli(0.5) ? encode(random_message(random_)) : std::string(90, '\0');
    const std::uint64_t changes = 1 + random_.below(bytes.size());
    for (std::uint64_t k = 0; k < changes; ++k) {
      const std::uint64_t place = random_.below(bytes.size());
      bytes[place] = static_cast<char>(static_cast<std::uint8_t>(bytes[place]) + 1 + random_.below(255));
    }
    const Decoded decoded = decode(bytes);
    EXPECT_TRUE(!decoded.message || encode(*decoded.message) == bytes);
    ++counts_.outcomes[static_cast<std::size_t>(Refusal::undecodable)];
  }

  void misdeliver(const Message& message) {
    ++counts_.messages;
    AnyRole& role = bag_.roles()[random_.below(bag_.roles().size())];
    if (base_of(role).self() != message.receiver) {
      const AnyRole before = role;
      const Refusal refusal = base_of(role).handle(message).refusal;
      EXPECT_EQ(refusal, Refusal::wrong_receiver);
      EXPECT_TRUE(role == before);
      ++counts_.outcomes[static_cast<std::size_t>(refusal)];
    }
  }

  // The end of work that nobody does, or the begin of another sequence.
  void false_event() {
    const AnyRole& role = random_.choice(bag_.roles());
    LocalEvent event{.kind = static_cast<LocalEvent::Kind>(random_.below(2)),
                     .stamp = base_of(role).stamp(),
                     .work = static_cast<Work>(random_.below(10))};
    if (random_.bernoulli(0.5)) {
      event.stamp.global_round = static_cast<std::uint32_t>(random_.below(4));
    }
    end_work(base_of(role).self(), event);
  }

  void end_work(const Party& party, const LocalEvent& event) {
    AnyRole& role = *bag_.find(party);
    const AnyRole before = role;
    const Reaction reaction = base_of(role).handle(event);
    if (!reaction.accepted()) {
      EXPECT_TRUE(role == before);
      return;
    }
    const std::string_view from = base_of(before).state_name();
    EXPECT_EQ(event.kind, LocalEvent::Kind::finished);
    EXPECT_EQ(work_in(party.kind, from), event.work) << to_string(party) << ": " << from;
    EXPECT_EQ(base_of(before).stamp(), event.stamp);
    bag_.take(party, reaction);
  }

  // Through bytes, to the role, with all checks.
  Refusal deliver(const Message& message) {
    ++counts_.messages;
    AnyRole* role = bag_.find(message.receiver);
    const bool is_message = objection_to(message).empty();
    if (role == nullptr) {
      return Refusal::wrong_receiver;
    }
    const AnyRole before = *role;
    const std::string_view from = state_for(before, message);
    Message received = message;
    if (is_message) {
      const Decoded decoded = decode(encode(message));
      EXPECT_TRUE(decoded.message && *decoded.message == message);
      received = *decoded.message;
    }
    const Reaction reaction = base_of(*role).handle(received);
    ++counts_.outcomes[static_cast<std::size_t>(reaction.refusal)];
    if (!reaction.accepted()) {
      EXPECT_TRUE(*role == before) << "changed by a refused " << to_string(message);
      EXPECT_TRUE(reaction.outgoing.empty() && reaction.work == Work::none);
      return reaction.refusal;
    }
    EXPECT_TRUE(is_message) << to_string(message);
    const Transition transition{message.receiver.kind, from, message.type, state_for(*role, message)};
    EXPECT_TRUE(allowed_transitions().contains(transition))
        << fmt::format("{}: {} --{}--> {}", to_string(transition.role), transition.from,
                       to_string(transition.type), transition.to);
    EXPECT_TRUE(stamp_is_allowed(message, from, base_of(before).stamp()))
        << from << ": " << to_string(message);
    if (const MessageType first = prerequisite(message); first != MessageType::acknowledgement) {
      EXPECT_TRUE(
          accepted_.contains({message.receiver, message.sender, first, message.subject, message.stamp}) ||
          message.receiver.kind == PartyKind::access_point)
          << to_string(message);
    }
    // Nothing is accepted twice.
    const bool is_new =
        accepted_.emplace(message.receiver, message.sender, message.type, message.subject, message.stamp)
            .second;
    EXPECT_TRUE(is_new) << to_string(message);
    for (const Message& outgoing : reaction.outgoing) {
      EXPECT_EQ(objection_to(outgoing), "") << to_string(outgoing);
    }
    bag_.take(message.receiver, reaction);
    return Refusal::none;
  }

  RandomStream random_;
  double hostility_;
  Bag bag_;
  FuzzCounts& counts_;
  std::vector<Message> history_;
  std::map<std::pair<Party, std::uint64_t>, int> attempts_;
  std::set<std::tuple<Party, Party, MessageType, Party, Stamp>> accepted_;
};

TEST(Fuzz, AMillionMessagesNoCrashNoDeadlockNoIllegalTransition) {
  FuzzCounts counts;
  for (std::uint64_t seed = 0; counts.messages < 1'000'000; ++seed) {
    SCOPED_TRACE(seed);
    Episode(seed, counts).run();
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  fmt::print("{} messages in {} sequences, {} of them to the end by all; {} garbage, {} given up\n",
             counts.messages, counts.episodes, counts.undisturbed, counts.garbage, counts.given_up);
  // Every outcome has been tried, many times.
  for (std::size_t i = 0; i < num_refusals; ++i) {
    EXPECT_GT(counts.outcomes[i], 1000) << to_string(static_cast<Refusal>(i));
  }
  EXPECT_GT(counts.given_up, 1000);
  EXPECT_GT(counts.watchdogs, 100);
}

}  // namespace
}  // namespace skein
