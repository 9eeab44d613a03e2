#include "skein/protocol/delivery.h"

#include <fmt/format.h>

#include <algorithm>

#include "skein/base/expect.h"

namespace skein {
namespace {

std::uint64_t key_of(const Party& party) {
  constexpr std::uint32_t limit = 1U << 28U;
  expect(party.swarm < limit && party.index < limit, "parties are numbered below 2^28");
  return (static_cast<std::uint64_t>(party.kind) << 56U) | (static_cast<std::uint64_t>(party.swarm) << 28U) |
         party.index;
}

}  // namespace

MessageNetwork::MessageNetwork(DeliveryOptions options, Hooks hooks)
    : options_(std::move(options)), hooks_(std::move(hooks)) {}

void MessageNetwork::add(std::unique_ptr<RoleMachine> role) {
  const bool is_new = index_.emplace(key_of(role->self()), roles_.size()).second;
  expect(is_new, "every party has one role");
  std::vector<Silence> silences;
  std::ranges::copy_if(options_.silences, std::back_inserter(silences),
                       [&](const Silence& silence) { return silence.party == role->self(); });
  silences_.push_back(std::move(silences));
  roles_.push_back(std::move(role));
  receives_.push_back(false);
  sends_.push_back(false);
  parties_.emplace_back();
}

std::size_t MessageNetwork::index_of(const Party& party) const {
  const auto found = index_.find(key_of(party));
  expect(found != index_.end(), "a party of this network");
  return found->second;
}

const RoleMachine& MessageNetwork::role(const Party& party) const { return *roles_[index_of(party)]; }

bool MessageNetwork::is_silent(std::size_t role, double time) const {
  return std::ranges::any_of(silences_[role],
                             [&](const Silence& s) { return time >= s.from && time < s.until; });
}

void MessageNetwork::at(double time, std::function<void()> action) {
  events_.emplace(std::pair(time, num_events_++), std::move(action));
}

void MessageNetwork::feed(const Party& party, const LocalEvent& event) {
  const std::size_t role = index_of(party);
  Reaction reaction = roles_[role]->handle(event);
  if (!reaction.accepted()) {
    const std::string_view what =
        event.kind == LocalEvent::Kind::finished ? to_string(event.work) : "local event";
    refuse(party, reaction.refusal, fmt::format("{} of {}", what, to_string(party)));
    return;
  }
  if (hooks_.accepted) {
    hooks_.accepted(now_, *roles_[role], nullptr);
  }
  react(role, std::move(reaction));
}

void MessageNetwork::take(const Party& party, Reaction reaction) {
  react(index_of(party), std::move(reaction));
}

void MessageNetwork::run() {
  while (true) {
    while (!events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = event.key().first;
      event.mapped()();
    }
    if (hooks_.is_over() || !wake_watchdogs()) {
      break;
    }
  }
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    records_.parties[roles_[i]->self()] = parties_[i];
  }
}

void MessageNetwork::react(std::size_t role, Reaction reaction) {
  for (Message& message : reaction.outgoing) {
    post(std::move(message));
  }
  if (reaction.work == Work::none) {
    return;
  }
  std::optional<WorkResult> result = hooks_.work(now_, *roles_[role], reaction.work);
  if (!result) {
    return;
  }
  LocalEvent& event = result->event;
  event.kind = LocalEvent::Kind::finished;
  event.work = reaction.work;
  event.stamp = roles_[role]->stamp();
  at(now_ + result->seconds,
     [this, party = roles_[role]->self(), done = std::move(event)] { feed(party, done); });
}

void MessageNetwork::lose(std::size_t who, std::size_t peer) {
  const Party party = roles_[who]->self();
  const Party other = roles_[peer]->self();
  if (is_silent(who, now_)) {
    return;
  }
  const LocalEvent event{.kind = LocalEvent::Kind::peer_lost, .peer = other};
  Reaction reaction = roles_[who]->handle(event);
  if (!reaction.accepted()) {
    return;  // it has nothing to do with that one any more
  }
  records_.peers_lost.push_back({now_, party, other});
  note(fmt::format("{} goes on without {}", to_string(party), to_string(other)));
  if (hooks_.accepted) {
    hooks_.accepted(now_, *roles_[who], nullptr);
  }
  react(who, std::move(reaction));
}

bool MessageNetwork::wake_watchdogs() {
  for (const PartyKind kind :
       {PartyKind::coordinator, PartyKind::worker, PartyKind::leader, PartyKind::core}) {
    bool any = false;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i]->self().kind != kind || is_silent(i, now_ + options_.watchdog)) {
        continue;
      }
      for (const Party& peer : roles_[i]->awaited()) {
        at(now_ + options_.watchdog, [this, i, other = index_of(peer)] { lose(i, other); });
        any = true;
      }
    }
    if (any) {
      return true;
    }
  }
  return false;
}

void MessageNetwork::refuse(const Party& receiver, Refusal reason, std::string what) {
  ++records_.refusals[static_cast<std::size_t>(reason)];
  note(fmt::format("refused ({}) by {}: {}", to_string(reason), to_string(receiver), what));
  if (records_.refused.size() < options_.most_records) {
    records_.refused.push_back({now_, receiver, reason, std::move(what)});
  }
}

void MessageNetwork::note(std::string line) {
  if (options_.trace) {
    records_.trace.push_back(fmt::format("{:12.6f} s  {}", now_, std::move(line)));
  }
}

}  // namespace skein
