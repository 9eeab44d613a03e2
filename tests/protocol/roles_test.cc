// Every role in every state against every message: accepted as the table of transitions says, or refused
// without a trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <tuple>

#include "tests/protocol/bag.h"
#include "tests/protocol/random_messages.h"
#include "tests/protocol/transitions.h"

namespace skein {
namespace {

constexpr std::uint32_t bag_sequence = 3;

std::string text_of(const Transition& t) {
  return fmt::format("{}: {} --{}--> {}", to_string(t.role), t.from, to_string(t.type), t.to);
}

// Roles as they were in random sequences, some of each kind and state.
class Snapshots {
 public:
  explicit Snapshots(std::size_t per_state) : per_state_(per_state) {}

  void run(std::uint64_t seed) {
    RandomStream random(seed, "snapshots");
    Bag bag(BagShape::random(random), bag_sequence, random);
    keep_all(bag);
    bag.begin();
    keep_all(bag);
    while (!bag.messages.empty() || !bag.work.empty()) {
      const std::uint64_t pick = random.below(bag.messages.size() + bag.work.size());
      Party at;
      if (pick < bag.messages.size()) {
        const Message message = bag.messages[pick];
        AnyRole* role = bag.find(message.receiver);
        const std::string_view from = state_for(*role, message);
        const Reaction reaction = base_of(*role).handle(message);
        if (!reaction.accepted()) {
          continue;  // too early: its time will come
        }
        seen_.insert({message.receiver.kind, from, message.type, state_for(*role, message)});
        bag.messages.erase(bag.messages.begin() + static_cast<std::ptrdiff_t>(pick));
        at = message.receiver;
        bag.take(at, reaction);
      } else {
        const auto place = bag.work.begin() + static_cast<std::ptrdiff_t>(pick - bag.messages.size());
        const auto [party, event] = *place;
        bag.work.erase(place);
        const Reaction reaction = base_of(*bag.find(party)).handle(event);
        ASSERT_TRUE(reaction.accepted());
        at = party;
        bag.take(at, reaction);
      }
      keep(*bag.find(at));
    }
    for (const AnyRole& role : bag.roles()) {
      EXPECT_TRUE(base_of(role).is_idle()) << to_string(base_of(role).self()) << base_of(role).state_name();
    }
  }

  [[nodiscard]] const std::set<Transition>& seen() const { return seen_; }
  std::map<std::pair<PartyKind, std::string>, std::vector<AnyRole>> roles;

 private:
  void keep_all(Bag& bag) {
    for (const AnyRole& role : bag.roles()) {
      keep(role);
    }
  }
  void keep(const AnyRole& role) {
    std::string state(base_of(role).state_name());
    if (const auto* access_point = std::get_if<AccessPointRole>(&role)) {
      state = access_point->attends(leader_party(0))
                  ? AccessPointRole::name_of(access_point->state_of(leader_party(0)))
                  : "nobody";
    }
    std::vector<AnyRole>& list = roles[{base_of(role).self().kind, state}];
    if (list.size() < per_state_) {
      list.push_back(role);
    }
  }

  std::size_t per_state_;
  std::set<Transition> seen_;
};

const Snapshots& snapshots() {
  static const Snapshots all = [] {
    Snapshots snapshots(20);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      snapshots.run(seed);
    }
    return snapshots;
  }();
  return all;
}

std::vector<Party> parties_of(PartyKind kind) {
  switch (kind) {
    case PartyKind::core:
      return {core_party()};
    case PartyKind::access_point:
      return {access_point_party(0), access_point_party(1)};
    case PartyKind::leader:
      return {leader_party(0), leader_party(1)};
    default:
      return {{kind, 0, 0}, {kind, 0, 1}, {kind, 1, 0}, {kind, 1, 2}};
  }
}

// Tries a message of each stamp near the role's own, with sizes that may be the right ones.
class Prober {
 public:
  explicit Prober(std::uint64_t seed) : random_(seed, "probes") {}

  void probe(const AnyRole& original) {
    before_ = &original;
    copy_ = original;
    for (std::size_t type = 1; type <= num_message_types; ++type) {
      for (std::size_t kind = 0; kind < num_party_kinds; ++kind) {
        for (const Party& sender : parties_of(static_cast<PartyKind>(kind))) {
          probe(static_cast<MessageType>(type), sender);
        }
      }
    }
  }

  std::set<Transition> seen;
  std::array<std::size_t, num_refusals> outcomes{};

 private:
  void probe(MessageType type, const Party& sender) {
    const Party self = base_of(*before_).self();
    // An access point has a sequence for each leader: all bags have the same.
    const std::uint32_t current =
        self.kind == PartyKind::access_point ? bag_sequence : base_of(*before_).stamp().sequence;
    const std::uint32_t first = current == 0 ? 0 : current - 1;
    const bool is_route_of = is_route(type, sender.kind, self.kind) && type != MessageType::acknowledgement;
    for (std::uint32_t sequence = first; sequence <= current + 1; ++sequence) {
      for (std::uint32_t round = 0; round < 4; ++round) {
        for (std::uint32_t local = 0; local < (is_route_of ? 3U : 1U); ++local) {
          Message message = random_message(random_, type, sender, self);
          message.stamp = {sequence, round, local};
          for (const std::uint64_t payload : {Bag::model_bits, std::uint64_t{1}}) {
            message.payload_bits = has_payload(type) ? payload : 0;
            if (message.type == MessageType::data_announced) {
              message.content = BitsContent{payload == 1 ? 1U : 10'000U};
            }
            check(message, is_route_of);
          }
        }
      }
    }
  }

  void check(const Message& message, bool is_route_of) {
    const std::string_view from = state_for(copy_, message);
    const Stamp now = base_of(copy_).stamp();
    const Reaction reaction = base_of(copy_).handle(message);
    ++outcomes[static_cast<std::size_t>(reaction.refusal)];
    if (!reaction.accepted()) {
      EXPECT_TRUE(copy_ == *before_) << "a refusal has changed " << to_string(message.receiver);
      EXPECT_TRUE(reaction.outgoing.empty());
      EXPECT_EQ(reaction.work, Work::none);
      return;
    }
    EXPECT_TRUE(is_route_of) << to_string(message);
    EXPECT_EQ(objection_to(message), "");
    const Transition transition{message.receiver.kind, from, message.type, state_for(copy_, message)};
    EXPECT_TRUE(allowed_transitions().contains(transition)) << text_of(transition);
    seen.insert(transition);
    EXPECT_TRUE(stamp_is_allowed(message, from, now)) << from << ": " << to_string(message);
    // The same again is a duplicate, and changes nothing.
    const AnyRole after = copy_;
    EXPECT_EQ(base_of(copy_).handle(message).refusal, Refusal::duplicate) << to_string(message);
    EXPECT_TRUE(copy_ == after);
    copy_ = *before_;
  }

  RandomStream random_;
  const AnyRole* before_ = nullptr;
  AnyRole copy_{CoreRole({})};
};

TEST(Roles, MessagesInAnyOrderLeadThroughTheSequence) {
  // What was too early is tried again later; nothing else is needed for every role to end idle.
  EXPECT_GT(snapshots().seen().size(), 60);
  for (const Transition& transition : snapshots().seen()) {
    EXPECT_TRUE(allowed_transitions().contains(transition)) << text_of(transition);
  }
}

TEST(Roles, EveryStateOfEveryRoleAnswersEveryMessageAsTheTableSays) {
  Prober prober(1);
  std::set<Transition> seen = snapshots().seen();
  for (const auto& [state, roles] : snapshots().roles) {
    for (const AnyRole& role : roles) {
      prober.probe(role);
    }
  }
  seen.insert(prober.seen.begin(), prober.seen.end());
  // The table has nothing that never happens.
  for (const Transition& transition : allowed_transitions()) {
    EXPECT_TRUE(seen.contains(transition)) << text_of(transition);
  }
  for (std::size_t reason = 2; reason < num_refusals; ++reason) {
    if (static_cast<Refusal>(reason) != Refusal::wrong_receiver) {
      EXPECT_GT(prober.outcomes[reason], 0) << to_string(static_cast<Refusal>(reason));
    }
  }
}

TEST(Roles, EveryStateHasBeenVisited) {
  std::map<PartyKind, std::size_t> states;
  for (const auto& [state, roles] : snapshots().roles) {
    ++states[state.first];
  }
  EXPECT_EQ(states[PartyKind::core], 5);
  EXPECT_EQ(states[PartyKind::access_point], 6);  // with "nobody"
  EXPECT_EQ(states[PartyKind::leader], 13);
  EXPECT_EQ(states[PartyKind::coordinator], 7);
  EXPECT_EQ(states[PartyKind::worker], 11);
  EXPECT_EQ(states[PartyKind::device], 3);
}

TEST(Roles, OnlyTheWorkAtHandEnds) {
  for (const auto& [state, roles] : snapshots().roles) {
    const Work at_hand = work_in(state.first, state.second);
    for (const AnyRole& role : roles) {
      for (std::uint8_t work = 0; work <= static_cast<std::uint8_t>(Work::personalise); ++work) {
        const Stamp now = base_of(role).stamp();
        for (const Stamp& stamp : {now, Stamp{now.sequence, now.global_round + 1, now.local_round},
                                   Stamp{now.sequence + 1, now.global_round, now.local_round}}) {
          AnyRole copy = role;
          const LocalEvent event{.stamp = stamp, .work = static_cast<Work>(work)};
          const bool is_due = at_hand != Work::none && at_hand == event.work && stamp == now;
          EXPECT_EQ(base_of(copy).handle(event).accepted(), is_due)
              << to_string(base_of(role).self()) << " " << state.second << " " << to_string(event.work);
          if (!is_due) {
            EXPECT_TRUE(copy == role);
          }
        }
      }
    }
  }
}

TEST(Roles, ABeginIsForAnIdleCoreWithANewSequenceAndGoodPlans) {
  RandomStream random(1, "begin");
  Bag bag({}, bag_sequence, random);
  const auto& core = std::get<CoreRole>(*bag.find(core_party()));
  const auto refusal = [&](std::uint32_t sequence, const std::vector<LeaderPlan>& plans) {
    CoreRole copy = core;
    return copy.handle({.kind = LocalEvent::Kind::begin, .stamp = {sequence, 0, 0}, .plans = plans}).refusal;
  };
  const LeaderPlan first{leader_party(0), {}};
  const LeaderPlan second{leader_party(1), {}};
  EXPECT_EQ(refusal(0, {first, second}), Refusal::none);
  EXPECT_EQ(refusal(0, {}), Refusal::bad_content);
  EXPECT_EQ(refusal(0, {second, first}), Refusal::bad_content);
  EXPECT_EQ(refusal(0, {first, first}), Refusal::bad_content);
  EXPECT_EQ(refusal(0, {{leader_party(7), {}}}), Refusal::bad_content);
  EXPECT_EQ(refusal(0, {{leader_party(0), {0, 1, 1, 0}}}), Refusal::bad_content);
  EXPECT_EQ(refusal(0, {first, {leader_party(1), {0, 1, 1, 2}}}), Refusal::bad_content);
  bag.begin();
  EXPECT_EQ(refusal(4, {first, second}), Refusal::wrong_state);
}

TEST(Roles, AMessageForAnotherIsRefused) {
  RandomStream random(1, "receiver");
  Bag bag({}, bag_sequence, random);
  bag.begin();
  const Message plan = bag.messages.front();
  for (AnyRole& role : bag.roles()) {
    if (base_of(role).self() != plan.receiver) {
      EXPECT_EQ(base_of(role).handle(plan).refusal, Refusal::wrong_receiver);
    }
  }
}

}  // namespace
}  // namespace skein
