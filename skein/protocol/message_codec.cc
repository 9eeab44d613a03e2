// Messages as bytes, little-endian:
//   "SK", version, type, sender, receiver, subject, stamp, serial, payload bits, content length, content,
//   CRC-32
// of everything before it. A party is its kind (1 byte), swarm and index (4 each).
#include <zlib.h>

#include <array>
#include <bit>
#include <concepts>
#include <type_traits>

#include "skein/base/expect.h"
#include "skein/protocol/message.h"

namespace skein {

namespace {

constexpr std::string_view magic = "SK";
constexpr std::uint8_t version = 1;
constexpr std::size_t party_bytes = 1 + 4 + 4;
constexpr std::size_t stamp_bytes = 4 + 4 + 4;
constexpr std::size_t checksum_bytes = 4;
constexpr std::size_t fixed_bytes = magic.size() + 2 + 3 * party_bytes + stamp_bytes + 8 + 8 + 4;
constexpr std::size_t share_bytes = party_bytes + 8 + 1;

class Writer {
 public:
  explicit Writer(std::size_t size) { bytes_.reserve(size); }

  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<char>(static_cast<std::uint8_t>(value >> (8 * i))));
    }
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void party(const Party& party) {
    number(static_cast<std::uint8_t>(party.kind));
    number(party.swarm);
    number(party.index);
  }
  void text(std::string_view text) { bytes_ += text; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what is there; past the end it gives zeros and `ended_early`.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  T number() {
    if (bytes_.size() < sizeof(T)) {
      ended_early_ = true;
      bytes_ = {};
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[i])) << (8 * i);
    }
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  // A kind that does not exist is kept as it is, for objection_to.
  Party party() {
    Party party;
    party.kind = static_cast<PartyKind>(number<std::uint8_t>());
    party.swarm = number<std::uint32_t>();
    party.index = number<std::uint32_t>();
    return party;
  }

  [[nodiscard]] bool ended_early() const { return ended_early_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  bool ended_early_ = false;
};

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::size_t content_bytes(const Content& content) {
  struct Size {
    std::size_t operator()(const std::monostate&) const { return 0; }
    std::size_t operator()(const PlanContent& plan) const { return 16 + 8 * plan.constants.size(); }
    std::size_t operator()(const PositionContent&) const { return 24; }
    std::size_t operator()(const SharesContent& list) const { return share_bytes * list.shares.size(); }
    std::size_t operator()(const PeriodsContent&) const { return 8; }
    std::size_t operator()(const BitsContent&) const { return 8; }
    std::size_t operator()(const WeightContent&) const { return 8; }
    std::size_t operator()(const AcknowledgementContent&) const { return 8; }
  };
  return std::visit(Size{}, content);
}

void write_content(Writer& out, const Content& content) {
  if (const auto* plan = std::get_if<PlanContent>(&content)) {
    out.number(plan->cluster);
    out.number(plan->local_period);
    out.number(plan->global_period);
    out.number(plan->num_rounds);
    for (const double constant : plan->constants) {
      out.real(constant);
    }
  } else if (const auto* place = std::get_if<PositionContent>(&content)) {
    out.real(place->x);
    out.real(place->y);
    out.real(place->z);
  } else if (const auto* list = std::get_if<SharesContent>(&content)) {
    for (const Share& share : list->shares) {
      out.party(share.peer);
      out.number(share.bits);
      out.number(static_cast<std::uint8_t>(share.hands_model ? 1 : 0));
    }
  } else if (const auto* periods = std::get_if<PeriodsContent>(&content)) {
    out.number(periods->local_period);
    out.number(periods->global_period);
  } else if (const auto* amount = std::get_if<BitsContent>(&content)) {
    out.number(amount->bits);
  } else if (const auto* weight = std::get_if<WeightContent>(&content)) {
    out.real(weight->weight);
  } else if (const auto* receipt = std::get_if<AcknowledgementContent>(&content)) {
    out.number(receipt->serial);
  }
}

// Nothing if a flag is neither 0 nor 1, or shares end amid one.
std::optional<SharesContent> read_shares(Reader& in) {
  if (in.remaining() % share_bytes != 0) {
    return std::nullopt;
  }
  SharesContent list;
  list.shares.resize(in.remaining() / share_bytes);
  for (Share& share : list.shares) {
    share.peer = in.party();
    share.bits = in.number<std::uint64_t>();
    const auto flag = in.number<std::uint8_t>();
    if (flag > 1) {
      return std::nullopt;
    }
    share.hands_model = flag == 1;
  }
  return list;
}

std::optional<Content> read_content(Reader& in, MessageType type) {
  switch (type) {
    case MessageType::plan: {
      PlanContent plan;
      plan.cluster = in.number<std::uint32_t>();
      plan.local_period = in.number<std::uint32_t>();
      plan.global_period = in.number<std::uint32_t>();
      plan.num_rounds = in.number<std::uint32_t>();
      while (in.remaining() >= 8) {
        plan.constants.push_back(in.real());
      }
      return plan;
    }
    case MessageType::position: {
      PositionContent place;
      place.x = in.real();
      place.y = in.real();
      place.z = in.real();
      return place;
    }
    case MessageType::shares:
      return read_shares(in);
    case MessageType::start_training: {
      PeriodsContent periods;
      periods.local_period = in.number<std::uint32_t>();
      periods.global_period = in.number<std::uint32_t>();
      return periods;
    }
    case MessageType::wake_up:
    case MessageType::data_announced:
      return BitsContent{in.number<std::uint64_t>()};
    case MessageType::model_announced:
      return WeightContent{in.real()};
    case MessageType::acknowledgement:
      return AcknowledgementContent{in.number<std::uint64_t>()};
    default:
      return std::monostate{};
  }
}

}  // namespace

std::uint64_t header_bits(const Message& message) {
  return 8 * (fixed_bytes + content_bytes(message.content) + checksum_bytes);
}

std::string encode(const Message& message) {
  const std::string_view objection = objection_to(message);
  expect(objection.empty(), objection);
  const std::size_t size = content_bytes(message.content);
  Writer out(fixed_bytes + size + checksum_bytes);
  out.text(magic);
  out.number(version);
  out.number(static_cast<std::uint8_t>(message.type));
  out.party(message.sender);
  out.party(message.receiver);
  out.party(message.subject);
  out.number(message.stamp.sequence);
  out.number(message.stamp.global_round);
  out.number(message.stamp.local_round);
  out.number(message.serial);
  out.number(message.payload_bits);
  out.number(static_cast<std::uint32_t>(size));
  write_content(out, message.content);
  out.number(checksum(out.bytes()));
  return out.take();
}

Decoded decode(std::string_view bytes) {
  if (bytes.size() < fixed_bytes + checksum_bytes) {
    return {.fault = "too short for a message"};
  }
  if (!bytes.starts_with(magic)) {
    return {.fault = "not a message"};
  }
  if (static_cast<std::uint8_t>(bytes[magic.size()]) != version) {
    return {.fault = "another version of the protocol"};
  }
  const std::size_t checked = bytes.size() - checksum_bytes;
  if (Reader(bytes.substr(checked)).number<std::uint32_t>() != checksum(bytes.substr(0, checked))) {
    return {.fault = "wrong checksum"};
  }
  Reader in(bytes.substr(magic.size() + 1, checked - magic.size() - 1));
  Message message;
  message.type = static_cast<MessageType>(in.number<std::uint8_t>());
  message.sender = in.party();
  message.receiver = in.party();
  message.subject = in.party();
  message.stamp.sequence = in.number<std::uint32_t>();
  message.stamp.global_round = in.number<std::uint32_t>();
  message.stamp.local_round = in.number<std::uint32_t>();
  message.serial = in.number<std::uint64_t>();
  message.payload_bits = in.number<std::uint64_t>();
  if (in.number<std::uint32_t>() != in.remaining()) {
    return {.fault = "wrong length"};
  }
  std::optional<Content> content = read_content(in, message.type);
  if (!content || in.ended_early() || in.remaining() != 0) {
    return {.fault = "wrong content"};
  }
  message.content = std::move(*content);
  if (const std::string_view objection = objection_to(message); !objection.empty()) {
    return {.fault = objection};
  }
  return {.message = std::move(message)};
}

}  // namespace skein
