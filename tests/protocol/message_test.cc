#include "skein/protocol/message.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "skein/base/expect.h"
#include "tests/protocol/random_messages.h"

namespace skein {
namespace {

TEST(Message, EveryTypeSurvivesItsBytes) {
  RandomStream random(1, "messages");
  std::set<MessageType> types;
  for (int i = 0; i < 20000; ++i) {
    const Message message = random_message(random);
    ASSERT_EQ(objection_to(message), "") << to_string(message);
    const std::string bytes = encode(message);
    EXPECT_EQ(8 * bytes.size(), header_bits(message));
    const Decoded decoded = decode(bytes);
    ASSERT_TRUE(decoded.message) << decoded.fault;
    EXPECT_EQ(*decoded.message, message);
    types.insert(message.type);
  }
  EXPECT_EQ(types.size(), num_message_types);
}

// Little-endian, counted by hand: other programs read it.
TEST(Message, BytesOfOneMessageAreAsDocumented) {
  const Message message{.type = MessageType::wake_up,
                        .sender = {PartyKind::coordinator, 2, 1},
                        .receiver = {PartyKind::device, 2, 0x01020304},
                        .stamp = {5, 6, 0},
                        .serial = 0x1122334455667788,
                        .content = BitsContent{0x0a}};
  std::string expected = "SK";
  expected += std::string("\x01\x08", 2);
  expected += std::string("\x03\x02\x00\x00\x00\x01\x00\x00\x00", 9);
  expected += std::string("\x05\x02\x00\x00\x00\x04\x03\x02\x01", 9);
  expected += std::string(9, '\0');
  expected += std::string("\x05\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00", 12);
  expected += "\x88\x77\x66\x55\x44\x33\x22\x11";
  expected += std::string(8, '\0');
  expected += std::string("\x08\x00\x00\x00", 4);
  expected += std::string("\x0a\x00\x00\x00\x00\x00\x00\x00", 8);
  const std::string bytes = encode(message);
  ASSERT_EQ(bytes.size(), expected.size() + 4);
  EXPECT_EQ(bytes.substr(0, expected.size()), expected);
}

// The fuzzer's seeds are written by another program, in Python: one message a file, named after its type.
TEST(Message, BytesOfAnotherProgramAreRead) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(SKEIN_SOURCE_DIR) /
                                                               "tests/fuzz/corpus/message")) {
    std::stringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const Decoded decoded = decode(bytes.str());
    ASSERT_TRUE(decoded.message) << entry.path() << ": " << decoded.fault;
    EXPECT_EQ(to_string(decoded.message->type), entry.path().filename().string());
    EXPECT_EQ(encode(*decoded.message), bytes.str());
    const bool opens =
        decoded.message->type == MessageType::plan || decoded.message->type == MessageType::position;
    EXPECT_EQ(decoded.message->stamp, (Stamp{1, opens ? 0U : 2U, 0}));
    EXPECT_EQ(decoded.message->serial, 7);
    ++files;
    if (decoded.message->type == MessageType::shares) {
      const SharesContent expected{
          {{{PartyKind::coordinator, 3, 0}, 100}, {{PartyKind::device, 3, 2}, 0, true}}};
      EXPECT_EQ(std::get<SharesContent>(decoded.message->content), expected);
    }
  }
  EXPECT_EQ(files, 9);
}

TEST(Message, DamagedBytesAreRefused) {
  RandomStream random(2, "messages");
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = encode(random_message(random));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(static_cast<unsigned char>(damaged[bit / 8]) ^ (1U << (bit % 8)));
      EXPECT_FALSE(decode(damaged).message);
    }
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(decode(bytes.substr(0, length)).message);
    }
    EXPECT_FALSE(decode(bytes + '\0').message);
  }
}

std::string with_checksum(std::string bytes) {
  const auto sum = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  for (unsigned i = 0; i < 4; ++i) {
    bytes.push_back(static_cast<char>(static_cast<std::uint8_t>(sum >> (8 * i))));
  }
  return bytes;
}

TEST(Message, AnotherVersionIsRefused) {
  RandomStream random(3, "messages");
  std::string bytes = encode(random_message(random));
  bytes[2] = 2;
  const Decoded decoded = decode(with_checksum(bytes.substr(0, bytes.size() - 4)));
  EXPECT_FALSE(decoded.message);
  EXPECT_EQ(decoded.fault, "another version of the protocol");
}

// Random bytes, and bytes that get past the checksum: what is accepted is a message that encodes to them.
TEST(Message, NoBytesAreTooStrange) {
  RandomStream random(4, "messages");
  std::size_t accepted = 0;
  std::set<std::string_view> faults;
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes(random.below(160), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random.below(256));
    }
    EXPECT_FALSE(decode(bytes).message);
    faults.insert(decode(bytes).fault);
    // A real message with some bytes changed, and its checksum right again.
    std::string forged = encode(random_message(random));
    forged.resize(forged.size() - 4);
    const std::uint64_t changes = 1 + random.below(3);
    for (std::uint64_t k = 0; k < changes; ++k) {
      forged[random.below(forged.size())] = static_cast<char>(random.below(256));
    }
    if (random.bernoulli(0.1)) {
      forged.resize(random.below(forged.size() + 20));
    }
    forged = with_checksum(std::move(forged));
    const Decoded decoded = decode(forged);
    if (decoded.message) {
      EXPECT_EQ(encode(*decoded.message), forged);
      ++accepted;
    } else {
      faults.insert(decoded.fault);
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GE(faults.size(), 9);
}

TEST(Message, WhatNobodyCouldMeanIsNotWritten) {
  const Party leader = leader_party(1);
  const Party worker{PartyKind::worker, 1, 0};
  const Message good{.type = MessageType::model_announced,
                     .sender = worker,
                     .receiver = leader,
                     .content = WeightContent{2.0}};
  EXPECT_EQ(objection_to(good), "");
  const auto expect_bad = [&](auto change) {
    Message bad = good;
    change(bad);
    EXPECT_NE(objection_to(bad), "");
    EXPECT_THROW(encode(bad), ProgrammingError);
  };
  expect_bad([](Message& m) { m.content = WeightContent{std::numeric_limits<double>::quiet_NaN()}; });
  expect_bad([](Message& m) { m.content = WeightContent{-1.0}; });
  expect_bad([](Message& m) { m.content = std::monostate{}; });
  expect_bad([](Message& m) { m.payload_bits = 1; });
  expect_bad([](Message& m) { m.receiver.swarm = 2; });
  expect_bad([](Message& m) { m.receiver = core_party(); });
  expect_bad([](Message& m) { m.subject = leader_party(1); });
  expect_bad([](Message& m) { m.sender.kind = static_cast<PartyKind>(9); });
  expect_bad([](Message& m) { m.type = static_cast<MessageType>(0); });
  expect_bad([](Message& m) { m.type = static_cast<MessageType>(25); });
}

}  // namespace
}  // namespace skein
