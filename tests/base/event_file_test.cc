#include "skein/base/event_file.h"

#include <gtest/gtest.h>

#include <vector>

namespace skein {
namespace {

TEST(EventFile, HasTheChecksumOfItsStandard) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);            // the check value of CRC-32C
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(EventFile, StartsWithItsVersion) {
  const std::string start = event_file_start();
  // wall_time: key and 8 bytes; version: key, length, 13 letters.
  ASSERT_EQ(start.size(), 8U + 4U + 9U + 2U + 13U + 4U);
  EXPECT_EQ(start.substr(0, 8), std::string("\x18\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(start.substr(21, 15),
            "\x1a\x0d"
            "brain.Event:2");
}

TEST(EventFile, WritesAnEventByHand) {
  const std::vector<Scalar> scalars{{"a", 1.0}};
  const std::string data = event_record(2.0, 300, scalars).substr(12);
  // wall_time 2.0; step 300 in two bytes; a summary of 10 bytes: a value of 8, tag "a", 1.0f.
  const std::string expected(
      "\x09\0\0\0\0\0\0\0\x40\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01"
      "a\x15\0\0\x80\x3f",
      24);
  EXPECT_EQ(data.substr(0, data.size() - 4), expected);
}

}  // namespace
}  // namespace skein
