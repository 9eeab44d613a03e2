#include "skein/data/cifar_package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/data/cifar.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;

std::string word(std::size_t value) {
  return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U), static_cast<char>(value >> 8U),
          static_cast<char>(value)};
}

std::string chunk(const std::string& kind, const std::string& content) {
  const std::string body = kind + content;
  return word(content.size()) + body +
         word(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

// A PNG file of 8-bit colours, by hand.
std::string png(std::size_t width, std::size_t height, const std::string& values) {
  std::string rows;
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0' + values.substr(y * width * 3, width * 3);
  }
  std::string packed(compressBound(rows.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
           rows.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", word(width) + word(height) + std::string("\x8\x2\0\0\0", 5)) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

// Two images; pixel p of image i has red p mod 251, green i + 7, blue p / 32.
std::string picture_values() {
  std::string values;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t p = 0; p < 1024; ++p) {
      values += static_cast<char>(p % 251);
      values += static_cast<char>(i + 7);
      values += static_cast<char>(p / 32);
    }
  }
  return values;
}

template <class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no fault";
}

TEST(CifarPackage, ConvertsRowsOfPixelsIntoPlanes) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "picture.png";
  write_file(path, png(1024, 2, picture_values()));
  const std::string bytes = convert_cifar_picture(path, 2, {9, 9, 4, 1}, 2);
  ASSERT_EQ(bytes.size(), 2 * cifar_record_bytes);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string record = bytes.substr(i * cifar_record_bytes, cifar_record_bytes);
    EXPECT_EQ(record[0], i == 0 ? 4 : 1);
    for (std::size_t p = 0; p < 1024; ++p) {
      ASSERT_EQ(record[1 + p], static_cast<char>(p % 251));
      ASSERT_EQ(record[1 + 1024 + p], static_cast<char>(i + 7));
      ASSERT_EQ(record[1 + 2048 + p], static_cast<char>(p / 32));
    }
  }
}

TEST(CifarPackage, RefusesPicturesThatAreNotAsExpected) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "picture.png";
  const auto message_for = [&](const std::string& content) {
    write_file(path, content);
    return message_of([&] { convert_cifar_picture(path, 2, {0, 0}, 0); });
  };
  const std::string whole = png(1024, 2, picture_values());
  EXPECT_EQ(message_for(whole), "no fault");
  EXPECT_THAT(message_for(png(512, 4, picture_values())), HasSubstr("size = 512 x 4: should be 1024 x 2"));
  EXPECT_THAT(message_for(""), HasSubstr("is not a PNG picture"));
  EXPECT_THAT(message_for("junk"), HasSubstr("is not a PNG picture"));
  EXPECT_THAT(message_for(whole.substr(0, 100)), HasSubstr("is not a PNG picture"));
  std::string damaged = whole;
  damaged[60] = static_cast<char>(damaged[60] ^ 1);
  EXPECT_THAT(message_for(damaged), HasSubstr("is not a PNG picture"));
}

TEST(CifarPackage, ReadsAndChecksLabels) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "labels.json";
  const auto message_for = [&](const std::string& content) {
    write_file(path, content);
    return message_of([&] { read_label_list(path, 1); });
  };
  write_file(path, "[9,0,1,2,3,4,5,6,7,8]");
  EXPECT_EQ(read_label_list(path, 1), (std::vector<std::uint8_t>{9, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_THAT(message_for("[9,0,1,2,3,4,5,6,7]"), HasSubstr("is not a list of 10 labels"));
  EXPECT_THAT(message_for("[9,0,1,2,3,4,5,6,7,8"), HasSubstr("is not a list of 10 labels"));
  EXPECT_THAT(message_for("{}"), HasSubstr("is not a list of 10 labels"));
  EXPECT_THAT(message_for("[10,0,1,2,3,4,5,6,7,8]"), HasSubstr("label 0 = 10: labels are below 10"));
  EXPECT_THAT(message_for("[9,0,1,2,-3,4,5,6,7,8]"), HasSubstr("label 4 = -3"));
  EXPECT_THAT(message_for("[9,0,1,2,\"3\",4,5,6,7,8]"), HasSubstr("label 4 = \"3\""));
  EXPECT_THAT(message_for("[9,9,1,2,3,4,5,6,7,8]"), HasSubstr("images of class 0 = 0: should be 1"));
}

}  // namespace
}  // namespace skein
