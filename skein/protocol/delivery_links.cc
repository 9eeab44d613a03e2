// A message on its way over a link: it waits, is in the air, is lost or arrives, is acknowledged or sent
// again.

#include <fmt/format.h>

#include <algorithm>

#include "skein/protocol/delivery.h"

namespace skein {
namespace {

// Whose streams a message's fate comes from.
std::uint32_t swarm_of(const Message& message) {
  for (const Party& party : {message.sender, message.receiver}) {
    if (party.kind != PartyKind::core && party.kind != PartyKind::access_point) {
      return party.swarm;
    }
  }
  return message.subject.swarm;
}

std::string corrupt(std::string bytes, RandomStream& stream) {
  for (const std::size_t bit : stream.choose(8 * bytes.size(), 1 + stream.below(3))) {
    bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << (bit % 8)));
  }
  return bytes;
}

}  // namespace

MessageNetwork::Link& MessageNetwork::link_between(std::size_t from, std::size_t to) {
  const std::uint64_t key = (static_cast<std::uint64_t>(from) << 32U) | to;
  Link*& link = link_index_[key];
  if (link == nullptr) {
    links_.push_back({from, to});
    link = &links_.back();
  }
  return *link;
}

RandomStream& MessageNetwork::stream_of(const Message& message) {
  const std::uint32_t swarm = swarm_of(message);
  return streams_.try_emplace(swarm, options_.seed, "signalling", options_.sequence, swarm).first->second;
}

void MessageNetwork::post(Message message) {
  Link& link = link_between(index_of(message.sender), index_of(message.receiver));
  link.queue.push_back(std::move(message));
  if (link.phase == Link::Phase::idle) {
    send_front(link);
  }
}

void MessageNetwork::send_front(Link& link) {
  const bool is_data = link.queue.front().type == MessageType::data;
  if (is_data && !seize_radios(link)) {
    link.phase = Link::Phase::waiting;
    waiting_[swarm_of(link.queue.front())].push_back(&link);
    return;
  }
  transmit(link);
}

bool MessageNetwork::seize_radios(const Link& link) {
  const bool shares_sender = roles_[link.from]->self().kind == PartyKind::coordinator;
  if (receives_[link.to] || (shares_sender && sends_[link.from])) {
    return false;
  }
  receives_[link.to] = true;
  sends_[link.from] = sends_[link.from] || shares_sender;
  return true;
}

void MessageNetwork::release_radios(const Link& link) {
  receives_[link.to] = false;
  sends_[link.from] = false;
  std::vector<Link*>& waiting = waiting_[roles_[link.to]->self().swarm];
  for (std::size_t i = 0; i < waiting.size();) {
    if (seize_radios(*waiting[i])) {
      Link& next = *waiting[i];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      transmit(next);
    } else {
      ++i;
    }
  }
}

void MessageNetwork::transmit(Link& link) {
  const Message& message = link.queue.front();
  const std::uint64_t bits = header_bits(message) + message.payload_bits;
  const double rate = hooks_.rate(message);
  link.radiates = rate > 0.0 && !is_silent(link.from, now_);
  const double air_time = link.radiates ? static_cast<double>(bits) / rate : 0.0;
  link.phase = Link::Phase::in_air;
  ++link.attempts;
  link.transmission = ++num_transmissions_;
  if (link.radiates) {
    tally(message.type).sent.add(bits);
    if (link.attempts > 1) {
      tally(message.type).repeated.add(bits);
    }
    parties_[link.from].sent_bits += bits;
    parties_[link.from].air_time += air_time;
    const bool is_training = message.type == MessageType::data || message.type == MessageType::model ||
                             message.type == MessageType::swarm_model;
    parties_[link.from].signalling_time +=
        is_training ? static_cast<double>(header_bits(message)) / rate : air_time;
  }
  at(now_ + air_time,
     [this, &link, transmission = link.transmission] { end_transmission(link, transmission); });
}

MessageNetwork::Fate MessageNetwork::fate_of(const Message& message) {
  const LinkFaults& faults = options_.faults;
  if (!faults.any()) {
    return {};
  }
  RandomStream& stream = stream_of(message);
  Fate fate;
  fate.lost = stream.bernoulli(faults.loss);
  fate.corrupted = stream.bernoulli(faults.corruption);
  fate.duplicated = stream.bernoulli(faults.duplication);
  fate.delay = stream.bernoulli(faults.delay) ? stream.uniform(0.0, faults.most_delay) : 0.0;
  fate.duplicate_delay = stream.uniform(0.0, faults.most_delay);
  fate.garbage = stream.bernoulli(faults.garbage);
  return fate;
}

void MessageNetwork::end_transmission(Link& link, std::uint64_t transmission) {
  const Message message = link.queue.front();
  const std::uint64_t bits = header_bits(message) + message.payload_bits;
  const double rate = hooks_.rate(message);
  if (message.type == MessageType::data) {
    release_radios(link);
  }
  double answer_time = 0.0;
  if (link.radiates) {
    answer_time = static_cast<double>(header_bits({.content = AcknowledgementContent{}})) / rate;
    const Fate fate = fate_of(message);
    const std::string bytes = encode(message);
    const auto deliver = [&](double delay, std::string what) {
      at(now_ + options_.latency + delay,
         [this, to = link.to, rate, received = std::move(what)] { arrive(to, received, rate); });
    };
    if (fate.lost || is_silent(link.from, now_) || is_silent(link.to, now_)) {
      tally(message.type).lost.add(bits);
      note(fmt::format("lost      {}", to_string(message)));
    } else if (fate.corrupted) {
      tally(message.type).corrupted.add(bits);
      deliver(fate.delay, corrupt(bytes, stream_of(message)));
    } else {
      deliver(fate.delay, bytes);
    }
    if (fate.duplicated) {
      tally(message.type).duplicated.add(bits);
      deliver(fate.duplicate_delay, bytes);
    }
    if (fate.garbage) {
      RandomStream& stream = stream_of(message);
      std::string junk(stream.below(200), '\0');
      for (char& byte : junk) {
        byte = static_cast<char>(stream.below(256));
      }
      deliver(0.0, std::move(junk));
    }
  }
  if (link.acknowledged) {
    advance(link);
    return;
  }
  link.phase = Link::Phase::sent;
  const double wait = answer_time + 2 * options_.latency + options_.timeout;
  at(now_ + wait, [this, &link, transmission] { check_timeout(link, transmission); });
}

void MessageNetwork::arrive(std::size_t to, const std::string& bytes, double rate) {
  const Party& receiver = roles_[to]->self();
  const Decoded decoded = decode(bytes);
  if (!decoded.message) {
    if (!is_silent(to, now_)) {
      refuse(receiver, Refusal::undecodable, std::string(decoded.fault));
    }
    return;
  }
  const Message& message = *decoded.message;
  const std::uint64_t bits = header_bits(message) + message.payload_bits;
  if (is_silent(to, now_)) {
    tally(message.type).lost.add(bits);  // fell silent while it was on its way
    return;
  }
  tally(message.type).received.add(bits);
  parties_[to].received_bits += bits;
  Reaction reaction = roles_[to]->handle(message);
  // A duplicate means that the acknowledgement was lost, or late.
  if (reaction.accepted() || reaction.refusal == Refusal::duplicate) {
    acknowledge(message, rate);
  }
  if (!reaction.accepted()) {
    refuse(receiver, reaction.refusal, to_string(message));
    return;
  }
  note(to_string(message));
  if (hooks_.accepted) {
    hooks_.accepted(now_, *roles_[to], &message);
  }
  react(to, std::move(reaction));
}

void MessageNetwork::acknowledge(const Message& message, double rate) {
  const Message answer{.type = MessageType::acknowledgement,
                       .sender = message.receiver,
                       .receiver = message.sender,
                       .stamp = message.stamp,
                       .content = AcknowledgementContent{message.serial}};
  const std::uint64_t bits = header_bits(answer);
  const std::size_t from = index_of(answer.sender);
  const std::size_t to = index_of(answer.receiver);
  const double air_time = static_cast<double>(bits) / rate;
  KindTally& kind = tally(MessageType::acknowledgement);
  kind.sent.add(bits);
  parties_[from].sent_bits += bits;
  parties_[from].air_time += air_time;
  parties_[from].signalling_time += air_time;
  const Fate fate = fate_of(message);
  if (fate.lost) {
    kind.lost.add(bits);
    return;
  }
  std::string bytes = encode(answer);
  if (fate.corrupted) {
    kind.corrupted.add(bits);
    bytes = corrupt(std::move(bytes), stream_of(message));
  }
  at(now_ + air_time + options_.latency + fate.delay,
     [this, to, received = std::move(bytes)] { hear_acknowledgement(to, received); });
}

void MessageNetwork::hear_acknowledgement(std::size_t to, const std::string& bytes) {
  const Decoded decoded = decode(bytes);
  if (!decoded.message) {
    refuse(roles_[to]->self(), Refusal::undecodable, std::string(decoded.fault));
    return;
  }
  const Message& message = *decoded.message;
  const std::uint64_t bits = header_bits(message);
  if (is_silent(to, now_)) {
    tally(message.type).lost.add(bits);
    return;
  }
  tally(message.type).received.add(bits);
  parties_[to].received_bits += bits;
  Link& link = link_between(to, index_of(message.sender));
  if (link.queue.empty() ||
      std::get<AcknowledgementContent>(message.content).serial != link.queue.front().serial) {
    return;  // of a repetition
  }
  if (link.phase == Link::Phase::in_air) {
    link.acknowledged = true;
  } else {
    if (link.phase == Link::Phase::waiting) {
      std::erase(waiting_[swarm_of(link.queue.front())], &link);
    }
    advance(link);
  }
}

// The message in front is delivered.
void MessageNetwork::advance(Link& link) {
  link.queue.pop_front();
  link.phase = Link::Phase::idle;
  link.acknowledged = false;
  link.attempts = 0;
  link.transmission = 0;
  if (!link.queue.empty()) {
    send_front(link);
  }
}

void MessageNetwork::check_timeout(Link& link, std::uint64_t transmission) {
  if (link.transmission != transmission) {
    return;  // acknowledged, or sent again
  }
  if (link.attempts < options_.max_attempts) {
    send_front(link);
  } else {
    give_up(link);
  }
}

void MessageNetwork::give_up(Link& link) {
  for (Message& message : link.queue) {
    note(fmt::format("given up  {}", to_string(message)));
    records_.given_up.push_back({now_, std::move(message), link.attempts});
    link.attempts = 0;
  }
  link.queue.clear();
  link.transmission = 0;
  link.phase = Link::Phase::idle;
  // The receiver's own watchdog, which runs as long as the sender tries.
  lose(link.from, link.to);
  lose(link.to, link.from);
}

}  // namespace skein
