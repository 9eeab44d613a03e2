#include "skein/data/npy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;

template <class Value>
std::string bytes_of(const std::vector<Value>& values) {
  std::string bytes(values.size() * sizeof(Value), '\0');
  if (!values.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

std::string npy(const std::string& header, const std::string& values, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(header.size() & 0xffU);
  bytes += static_cast<char>(header.size() >> 8U);
  if (version > 1) {
    bytes += std::string(2, '\0');
  }
  return bytes + header + values;
}

std::string header_of(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }          \n";
}

std::string message_of(const std::string& bytes) {
  try {
    parse_npy(bytes, "some-file");
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 1U);
    EXPECT_EQ(error.faults().front().file, "some-file");
    return error.what();
  }
  return "no fault";
}

template <class Value>
void expect_round_trip(const std::string& type, const std::vector<Value>& values) {
  for (const char version : {'\1', '\2', '\3'}) {
    const NumpyArray array =
        parse_npy(npy(header_of(type, fmt::format("({},)", values.size())), bytes_of(values), version), "f");
    EXPECT_EQ(array.shape, std::vector<std::size_t>{values.size()});
    EXPECT_EQ(std::get<std::vector<Value>>(array.values), values);
  }
}

TEST(Npy, ReadsEveryTypeAndVersion) {
  expect_round_trip<float>("<f4", {1.5F, -2.25F, 0.0F});
  expect_round_trip<double>("<f8", {1e300, -0.1});
  expect_round_trip<std::int32_t>("<i4", {-7, std::numeric_limits<std::int32_t>::max()});
  expect_round_trip<std::int64_t>("<i8", {std::numeric_limits<std::int64_t>::min(), 3});
  expect_round_trip<std::uint8_t>("|u1", {0, 255, 7});
}

TEST(Npy, ReadsShapesOfAnyDimension) {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(parse_npy(npy(header_of("<f4", "(2, 3)"), bytes_of(six)), "f").shape,
            (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(parse_npy(npy(header_of("<f4", "(1L, 2L, 3L)"), bytes_of(six)), "f").shape,
            (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_TRUE(parse_npy(npy(header_of("<f4", "()"), bytes_of<float>({1})), "f").shape.empty());
  EXPECT_EQ(parse_npy(npy(header_of("<f4", "(0, 3)"), ""), "f").shape, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(parse_npy(npy(R"({"shape":(6,),"fortran_order":False,"descr":"<f4"})", bytes_of(six)), "f").shape,
            (std::vector<std::size_t>{6}));
}

TEST(Npy, RefusesEveryTruncationAndTrailingBytes) {
  for (const char version : {'\1', '\2'}) {
    const std::string whole = npy(header_of("<f4", "(2, 2)"), bytes_of<float>({1, 2, 3, 4}), version);
    EXPECT_EQ(message_of(whole), "no fault");
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_NE(message_of(whole.substr(0, length)), "no fault") << length;
    }
    EXPECT_THAT(message_of(whole + "x"),
                HasSubstr("shape (2, 2) of <f4 does not fit the 17 bytes of values"));
    EXPECT_THAT(message_of(whole + "abcd"), HasSubstr("does not fit the 20 bytes"));
  }
  EXPECT_THAT(message_of(""), HasSubstr("is not a NumPy .npy file"));
}

TEST(Npy, RefusesWhatItCannotRead) {
  const std::string values = bytes_of<float>({1});
  EXPECT_THAT(message_of("PK\3\4 a zip file"), HasSubstr("is not a NumPy .npy file"));
  EXPECT_THAT(message_of(npy(header_of("<f4", "(1,)"), values, 4)), HasSubstr("npy version = 4.0"));
  for (const char* type : {">f4", "<f2", "|O", "<U3", "|S4", "|b1", "=f4", "f4", "", "|f4", ">u1", "<c8"}) {
    EXPECT_THAT(message_of(npy(header_of(type, "(1,)"), values)), HasSubstr("allowed are <f4, <f8")) << type;
  }
  EXPECT_THAT(message_of(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", values)),
              HasSubstr("only C order"));
  for (const char* header : {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'descr': '<f4'}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
                             "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}",
                             "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                             "__import__('os').system('true')"}) {
    EXPECT_THAT(message_of(npy(header, values)), HasSubstr("npy header")) << header;
  }
}

TEST(Npy, RefusesShapesThatOverflow) {
  EXPECT_THAT(message_of(npy(header_of("<f4", "(4294967296, 4294967296)"), "")), HasSubstr("does not fit"));
  // The product of sizes fits, that of bytes would not.
  EXPECT_THAT(message_of(npy(header_of("<f8", "(2305843009213693952,)"), "")), HasSubstr("does not fit"));
}

TEST(Npy, RefusesNanAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of(npy(header_of("<f4", "(3,)"), bytes_of<float>({1, nan, 2}))),
              HasSubstr("value 1: is NaN or infinite"));
  EXPECT_THAT(message_of(npy(header_of("<f8", "(2,)"), bytes_of<double>({0, -infinity}))),
              HasSubstr("value 1: is NaN or infinite"));
}

TEST(Npy, RefusesADirectory) {
  const TemporaryDirectory directory;
  EXPECT_THROW(read_npy(directory.path()), InputError);
}

}  // namespace
}  // namespace skein
