#include "skein/data/byte_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/base/random.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

// Some lines, with a length of several of the reader's buffers.
std::string long_content() {
  RandomStream random(1, "byte reader");
  std::string content(3'500'000, '\0');
  for (char& c : content) {
    c = static_cast<char>('a' + random.below(26));
  }
  for (std::size_t i = 0; i < 40; ++i) {
    content[random.below(content.size())] = '\n';
  }
  content.back() = '\n';
  return content;
}

// A file that does not fit the buffer reads as the same bytes in memory do, whatever the pieces.
TEST(ByteReader, FileAndMemoryReadTheSame) {
  const TemporaryDirectory directory;
  const std::string content = long_content();
  write_file(directory.path() / "file", content);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    ByteReader file(directory.path() / "file");
    ByteReader memory(content, "memory");
    RandomStream random(seed, "pieces");
    std::string read;
    while (file.remaining() > 0) {
      ASSERT_EQ(file.position(), read.size());
      const std::uint64_t kind = random.below(3);
      std::string piece;
      if (kind == 0) {
        piece += static_cast<char>(file.byte());
        ASSERT_EQ(piece[0], static_cast<char>(memory.byte()));
      } else if (kind == 1) {
        const std::size_t count = random.below(std::min<std::size_t>(file.remaining(), 1'500'000) + 1);
        piece = file.bytes(count);
        ASSERT_EQ(piece, memory.bytes(count));
      } else {
        piece = file.line();
        ASSERT_EQ(piece, memory.line());
        piece += '\n';
      }
      read += piece;
    }
    EXPECT_EQ(read, content);
    EXPECT_EQ(memory.remaining(), 0U);
  }
}

TEST(ByteReader, NamesFileAndPlaceWhereTheBytesEnd) {
  ByteReader reader("abc", "some-file");
  EXPECT_EQ(reader.bytes(2), "ab");
  const auto message_of = [&](auto read) -> std::string {
    try {
      read();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no fault";
  };
  EXPECT_EQ(message_of([&] { reader.bytes(2); }),
            "some-file: byte 2: the file ends too early: 2 bytes are due, 1 are left");
  EXPECT_THAT(message_of([&] { reader.line(); }), testing::HasSubstr("the file ends too early"));
  ByteReader empty("", "empty");
  EXPECT_EQ(message_of([&] { empty.byte(); }), "empty: byte 0: the file ends too early");
}

TEST(ByteReader, RefusesWhatIsNotAFile) {
  const TemporaryDirectory directory;
  EXPECT_THROW(ByteReader(directory.path()), InputError);
  EXPECT_THROW(ByteReader(directory.path() / "absent"), InputError);
}

}  // namespace
}  // namespace skein
