#include "skein/data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define ZLIB_CONST  // next_in points to constant bytes
#include <zlib.h>

#include <fstream>
#include <string>

#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;

std::string word(std::uint32_t value) {
  return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U), static_cast<char>(value >> 8U),
          static_cast<char>(value)};
}

// Two images of 2 x 3: values 0 to 11.
std::string image_bytes() {
  std::string bytes = word(0x803) + word(2) + word(2) + word(3);
  for (char i = 0; i < 12; ++i) {
    bytes += i;
  }
  return bytes;
}

std::string label_bytes() { return word(0x801) + word(2) + std::string("\1\0", 2); }

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(bytes.size() + 100, '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string message_of(const std::string& bytes, std::size_t max_bytes = max_data_file_bytes) {
  try {
    parse_idx(bytes, "some-file", max_bytes);
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 1U);
    EXPECT_EQ(error.faults().front().file, "some-file");
    return error.what();
  }
  return "no fault";
}

Dataset description() {
  return {.name = "tiny", .class_names = {"a", "b"}, .scale = 1.0F, .mean = {0.0F}, .deviation = {1.0F}};
}

const IdxFiles files{.images = "images-file", .labels = "labels-file"};

std::string message_of_pair(const std::string& images, const std::string& labels) {
  try {
    combine_idx(parse_idx(images, "images-file"), parse_idx(labels, "labels-file"), files, description());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no fault";
}

TEST(Idx, ReadsImagesAndLabelsPlainAndGzip) {
  for (const bool packed : {false, true}) {
    const IdxArray images = parse_idx(packed ? gzip(image_bytes()) : image_bytes(), "i");
    EXPECT_EQ(images.sizes, (std::vector<std::uint32_t>{2, 2, 3}));
    const Dataset data = combine_idx(images, parse_idx(packed ? gzip(label_bytes()) : label_bytes(), "l"),
                                     files, description());
    EXPECT_EQ(data.size(), 2U);
    EXPECT_EQ(data.shape, (SampleShape{.height = 2, .width = 3, .channels = 1}));
    EXPECT_EQ(data.labels, (std::vector<std::uint8_t>{1, 0}));
    std::vector<float> out(6);
    data.read(1, out);
    EXPECT_EQ(out, (std::vector<float>{6, 7, 8, 9, 10, 11}));
  }
}

TEST(Idx, ReadsSeveralGzipMembersAsOneFile) {
  const std::string bytes = image_bytes();
  const IdxArray array = parse_idx(gzip(bytes.substr(0, 7)) + gzip(bytes.substr(7)), "i");
  EXPECT_EQ(array.values, parse_idx(bytes, "i").values);
}

TEST(Idx, RefusesEveryTruncationPlainAndGzip) {
  for (const std::string& whole : {image_bytes(), label_bytes(), gzip(image_bytes()), gzip(label_bytes())}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_NE(message_of(whole.substr(0, length)), "no fault") << length;
    }
  }
  EXPECT_THAT(message_of(""), HasSubstr("too short"));
  EXPECT_THAT(message_of(image_bytes().substr(0, 11)), HasSubstr("header ends too early"));
  EXPECT_THAT(message_of(image_bytes().substr(0, 27)), HasSubstr("cut short: its sizes ask for 12 bytes"));
  EXPECT_THAT(message_of(gzip(image_bytes()).substr(0, 30)), HasSubstr("gzip data ends too early"));
}

TEST(Idx, RefusesTrailingBytes) {
  EXPECT_THAT(message_of(image_bytes() + "x"), HasSubstr("1 bytes follow the 12 values"));
  EXPECT_THAT(message_of(gzip(image_bytes() + "xy")), HasSubstr("2 bytes follow the 12 values"));
  EXPECT_THAT(message_of(gzip(image_bytes()) + "xyz"), HasSubstr("3 bytes follow the end of the gzip data"));
}

TEST(Idx, RefusesAWrongMagicNumber) {
  for (const std::uint32_t magic : {0x0U, 0x802U, 0x804U, 0x903U, 0x01000803U, 0x03080000U}) {
    EXPECT_THAT(message_of(word(magic) + image_bytes().substr(4)), HasSubstr("is not an IDX file"));
  }
}

TEST(Idx, RefusesSizesThatAreZeroOrOverflow) {
  EXPECT_THAT(message_of(word(0x803) + word(0) + word(28) + word(28)), HasSubstr("no values"));
  EXPECT_THAT(message_of(word(0x803) + word(0xffffffff) + word(0xffffffff) + word(0xffffffff)),
              HasSubstr("impossibly large"));
  // The product is 2^64: zero if it wraps around.
  EXPECT_THAT(message_of(word(0x803) + word(1U << 31U) + word(1U << 31U) + word(4)),
              HasSubstr("impossibly large"));
}

TEST(Idx, RefusesEveryDamagedByteOfAGzipFile) {
  const std::string whole = gzip(image_bytes());
  // Bytes 4 to 9 of the header (time, level, system) carry no data and no check.
  for (std::size_t i = 10; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_NE(message_of(damaged), "no fault") << i;
  }
}

TEST(Idx, RefusesAGzipFileThatUnpacksToTooMuch) {
  const std::string bomb = gzip(std::string(5'000'000, 'a'));
  EXPECT_LT(bomb.size(), 20'000U);
  EXPECT_THAT(message_of(bomb, 1'000'000), HasSubstr("more than the 1000000 bytes allowed"));
  EXPECT_EQ(message_of(gzip(image_bytes()), image_bytes().size()), "no fault");
  EXPECT_THAT(message_of(gzip(image_bytes()), image_bytes().size() - 1), HasSubstr("unpacks to more"));
}

TEST(Idx, RefusesImagesAndLabelsThatDoNotFit) {
  EXPECT_EQ(message_of_pair(image_bytes(), label_bytes()), "no fault");
  EXPECT_THAT(message_of_pair(image_bytes(), word(0x801) + word(1) + std::string(1, '\0')),
              HasSubstr("labels-file: labels = 1: images-file has 2 images"));
  EXPECT_THAT(message_of_pair(image_bytes(), word(0x801) + word(2) + std::string("\1\2")),
              HasSubstr("labels-file: label 1 = 2: labels are below 2"));
  const std::string swapped = message_of_pair(label_bytes(), image_bytes());
  EXPECT_THAT(swapped, HasSubstr("images-file: dimensions = 1: a file of images has 3"));
  EXPECT_THAT(swapped, HasSubstr("labels-file: dimensions = 3: a file of labels has 1"));
}

TEST(Idx, NamesEveryFileThatCannotBeRead) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "images");
  const IdxFiles bad{.images = directory.path() / "images", .labels = directory.path() / "labels"};
  try {
    read_idx_images(bad, description());
    FAIL() << "read a directory";
  } catch (const InputError& error) {
    ASSERT_EQ(error.faults().size(), 2U);
    EXPECT_THAT(error.what(), HasSubstr("images: is a directory, not a file"));
    EXPECT_THAT(error.what(), HasSubstr("labels: no such file"));
  }
}

TEST(Idx, DecidesGzipByContentNotByName) {
  const TemporaryDirectory directory;
  const IdxFiles paths{.images = directory.path() / "images.gz", .labels = directory.path() / "labels"};
  std::ofstream(paths.images, std::ios::binary) << image_bytes();
  std::ofstream(paths.labels, std::ios::binary) << gzip(label_bytes());
  EXPECT_EQ(read_idx_images(paths, description()).size(), 2U);
}

}  // namespace
}  // namespace skein
