#include "skein/nn/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "skein/base/input_fault.h"

namespace skein::nn {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

// A file of this header and data, its length as it should be.
std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes += static_cast<char>((header.size() >> (8 * i)) & 0xffU);
  }
  return bytes + header + data;
}

std::vector<InputFault> faults_in(const std::string& bytes) {
  try {
    parse_tensor_file(bytes, "net.safetensors");
  } catch (const InputError& error) {
    for (const InputFault& fault : error.faults()) {
      EXPECT_EQ(fault.file, "net.safetensors");
    }
    return error.faults();
  }
  return {};
}

auto fault(const std::string& key, const std::string& message) {
  return AllOf(Field(&InputFault::key, key), Field(&InputFault::message, HasSubstr(message)));
}

// 1 and -2 in little-endian IEEE 754.
const std::string one_and_minus_two{"\x00\x00\x80\x3f\x00\x00\x00\xc0", 8};

TEST(TensorFile, ReadsAFileWrittenByHand) {
  const TensorFile content = parse_tensor_file(
      file_of(R"({"b":{"dtype":"F32","shape":[],"data_offsets":[4,8]},"__metadata__":{"k":"v"},)"
              R"("a.x":{"shape":[1,1],"data_offsets":[0,4],"dtype":"F32"}}   )",
              one_and_minus_two),
      "file");
  EXPECT_THAT(content.metadata, ElementsAre(Pair("k", "v")));
  ASSERT_THAT(content.tensors, SizeIs(2));
  EXPECT_EQ(content.tensors[0].name, "a.x");
  EXPECT_THAT(content.tensors[0].shape, ElementsAre(1, 1));
  EXPECT_THAT(content.tensors[0].values, ElementsAre(1.0F));
  EXPECT_EQ(content.tensors[1].name, "b");
  EXPECT_THAT(content.tensors[1].shape, ElementsAre());
  EXPECT_THAT(content.tensors[1].values, ElementsAre(-2.0F));
}

TEST(TensorFile, WritesWhatTheFormatSays) {
  const std::string bytes =
      to_bytes({.metadata = {{"k", "v"}}, .tensors = {{.name = "t", .shape = {2}, .values = {1.0F, -2.0F}}}});
  std::string header = R"({"__metadata__":{"k":"v"},"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(bytes, file_of(header, one_and_minus_two));
}

TEST(TensorFile, EmptyOnesAreFine) {
  const TensorFile content = parse_tensor_file(to_bytes({}), "file");
  EXPECT_TRUE(content.metadata.empty());
  EXPECT_TRUE(content.tensors.empty());
}

TEST(TensorFile, TextsOfAnyKindComeBack) {
  const TensorFile content{.metadata = {{"a \"b\"\n", "\\ \t \x01 Gr\xc3\xbc\xc3\x9f"}}};
  EXPECT_EQ(parse_tensor_file(to_bytes(content), "file").metadata, content.metadata);
}

TEST(TensorFile, TheLengthIsCheckedAgainstTheFile) {
  EXPECT_THAT(faults_in(""), ElementsAre(Field(&InputFault::message, HasSubstr("too short"))));
  EXPECT_THAT(faults_in(std::string(7, '\0')), SizeIs(1));
  EXPECT_THAT(faults_in(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
              ElementsAre(fault("header length", "at most 2 here")));
  EXPECT_THAT(faults_in(std::string(8, '\xff') + "{}"), ElementsAre(fault("header length", "at most 2")));
  EXPECT_THAT(faults_in(std::string(8, '\0')), ElementsAre(fault("header", "is not JSON")));
}

TEST(TensorFile, HeadersThatAreNone) {
  for (const char* header : {"x", "{", "{} {}", "{\"a\":}", "\xff\xfe"}) {
    EXPECT_THAT(faults_in(file_of(header, "")), ElementsAre(fault("header", "is not JSON"))) << header;
  }
  for (const char* header : {"[]", "3", "null", "\"text\""}) {
    EXPECT_THAT(faults_in(file_of(header, "")), ElementsAre(fault("header", "must be a JSON object")));
  }
  EXPECT_THAT(faults_in(file_of(R"({"a":[[[[1]]]]})", "")), ElementsAre(fault("header", "nested too deep")));
  EXPECT_THAT(faults_in(file_of(std::string(1000000, '['), "")),
              ElementsAre(fault("header", "nested too deep")));
}

TEST(TensorFile, KeysThatStandTwice) {
  EXPECT_THAT(faults_in(file_of(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                                R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                                "")),
              ElementsAre(AllOf(fault("header", "stands twice"), Field(&InputFault::value, "a"))));
  EXPECT_THAT(
      faults_in(file_of(R"({"a":{"dtype":"F16","dtype":"F32","shape":[0],"data_offsets":[0,0]}})", "")),
      Contains(Field(&InputFault::value, "dtype")));
  EXPECT_THAT(faults_in(file_of(R"({"__metadata__":{"k":"1","k":"2"}})", "")),
              Contains(Field(&InputFault::value, "k")));
}

TEST(TensorFile, EveryFaultOfEveryTensor) {
  EXPECT_THAT(faults_in(file_of(R"({"__metadata__":3})", "")),
              ElementsAre(fault("__metadata__", "object of texts")));
  EXPECT_THAT(faults_in(file_of(R"({"__metadata__":{"k":3}})", "")),
              ElementsAre(fault("__metadata__.k", "must be a text")));
  const std::string header = R"({
    "a": 3,
    "b": {"dtype": "F32", "shape": [2]},
    "c": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], "more": 1},
    "d": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
    "e": {"dtype": 32, "shape": [2], "data_offsets": [0, 8]},
    "f": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]},
    "g": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]},
    "h": {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]},
    "i": {"dtype": "F32", "shape": [2], "data_offsets": [0, 9]},
    "j": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]},
    "k": {"dtype": "F32", "shape": [2], "data_offsets": [0]},
    "l": {"dtype": "F32", "shape": [2], "data_offsets": ["0", "8"]},
    "m": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]},
    "n": {"dtype": "F32", "shape": [4611686018427387905, 2], "data_offsets": [0, 8]},
    "o": {"dtype": "F32", "shape": [2], "data_offsets": [0, 18446744073709551616]}
  })";
  EXPECT_THAT(
      faults_in(file_of(header, std::string(8, '\0'))),
      ElementsAre(fault("a", "dtype, shape and data_offsets"), fault("b", "dtype, shape and data_offsets"),
                  fault("c", "nothing else"), fault("d.dtype", "must be F32"),
                  fault("d.shape", "does not take 8 bytes") /* as F32 */, fault("e.dtype", "must be F32"),
                  fault("f.shape", "whole numbers"), fault("g.shape", "whole numbers"),
                  fault("h.shape", "whole numbers"), fault("i.data_offsets", "end <= 8"),
                  fault("j.data_offsets", "begin <= end"), fault("k.data_offsets", "[begin, end]"),
                  fault("l.data_offsets", "[begin, end]"), fault("m.shape", "does not take 8 bytes"),
                  fault("n.shape", "does not take 8 bytes"), fault("o.data_offsets", "[begin, end]")));
}

TEST(TensorFile, DataWithoutGapOrOverlap) {
  const auto place = [](const std::string& name, int begin, int end) {
    return "\"" + name + R"(":{"dtype":"F32","shape":[)" + std::to_string((end - begin) / 4) +
           R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  const std::string data(16, '\0');
  EXPECT_THAT(faults_in(file_of("{" + place("a", 8, 16) + "," + place("b", 0, 8) + "}", data)), SizeIs(0));
  EXPECT_THAT(faults_in(file_of("{" + place("a", 0, 8) + "," + place("b", 4, 16) + "}", data)),
              ElementsAre(fault("b.data_offsets", "overlaps")));
  EXPECT_THAT(faults_in(file_of("{" + place("a", 0, 16) + "," + place("b", 4, 8) + "}", data)),
              ElementsAre(fault("b.data_offsets", "overlaps")));
  EXPECT_THAT(faults_in(file_of("{" + place("a", 0, 4) + "," + place("b", 8, 16) + "}", data)),
              ElementsAre(fault("b.data_offsets", "bytes 4 to 8 belong to no tensor")));
  EXPECT_THAT(faults_in(file_of("{" + place("a", 0, 12) + "}", data)),
              ElementsAre(fault("header", "the last 4 bytes")));
  EXPECT_THAT(faults_in(file_of("{}", data)), ElementsAre(fault("header", "the last 16 bytes")));
}

TEST(TensorFile, NumbersThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::string bytes =
      to_bytes({.tensors = {{.name = "a", .shape = {3}, .values = {1.0F, nan, -infinity}},
                            {.name = "b", .shape = {1}, .values = {1.0F}},
                            {.name = "c", .shape = {1}, .values = {infinity}}}});
  EXPECT_THAT(faults_in(bytes), ElementsAre(fault("a", "has 2 numbers"), fault("c", "has 1 numbers")));
}

TEST(TensorFile, DamagedFilesAreReadOrRefused) {
  const std::string good = to_bytes({.metadata = {{"k", "v"}},
                                     .tensors = {{.name = "a", .shape = {1, 2}, .values = {1.0F, 2.0F}},
                                                 {.name = "b", .shape = {1}, .values = {3.0F}}}});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(faults_in(good.substr(0, size)), SizeIs(testing::Ge(1))) << size;
  }
  EXPECT_THAT(faults_in(good + '\0'), SizeIs(1));
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      refused += faults_in(bad).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, good.size() * 4) << "most of a small file is its header";
}

}  // namespace
}  // namespace skein::nn
