#include "skein/data/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;

Dataset description() {
  Dataset data{.name = "tiny", .class_names = {"a", "b", "c"}, .scale = 1.0F};
  data.mean.assign(3, 0.0F);
  data.deviation.assign(3, 1.0F);
  return data;
}

// Value (y, x, c) is y + 32 c, but for x = 31, where it is 200 + c.
std::string record(char label) {
  std::string bytes(1, label);
  for (unsigned c = 0; c < 3; ++c) {
    for (unsigned y = 0; y < 32; ++y) {
      for (unsigned x = 0; x < 32; ++x) {
        bytes += static_cast<char>(x == 31 ? 200 + c : y + 32 * c);
      }
    }
  }
  return bytes;
}

std::string message_of(const std::string& bytes, std::size_t images) {
  Dataset data = description();
  try {
    append_cifar_batch(bytes, "some-file", images, data);
  } catch (const InputError& error) {
    EXPECT_EQ(data.size(), 0U) << "a faulty batch leaves nothing behind";
    return error.what();
  }
  return "no fault";
}

TEST(Cifar, PutsColoursInnermost) {
  Dataset data = description();
  append_cifar_batch(record(2) + record(0), "f", 2, data);
  append_cifar_batch(record(1), "f", 1, data);
  EXPECT_EQ(data.labels, (std::vector<std::uint8_t>{2, 0, 1}));
  EXPECT_EQ(data.shape, (SampleShape{.height = 32, .width = 32, .channels = 3}));
  std::vector<float> sample(3072);
  data.read(1, sample);
  for (std::size_t y = 0; y < 32; ++y) {
    for (std::size_t x = 0; x < 32; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(sample[(y * 32 + x) * 3 + c], static_cast<float>(x == 31 ? 200 + c : y + 32 * c));
      }
    }
  }
}

TEST(Cifar, RefusesEveryWrongLength) {
  const std::string whole = record(0) + record(1);
  EXPECT_EQ(message_of(whole, 2), "no fault");
  for (std::size_t length = 0; length < whole.size(); length += 61) {
    EXPECT_THAT(message_of(whole.substr(0, length), 2), HasSubstr("a batch of 2 images has 6146 bytes"));
  }
  EXPECT_NE(message_of(whole.substr(0, whole.size() - 1), 2), "no fault");
  EXPECT_NE(message_of(whole.substr(0, whole.size() / 2), 2), "no fault");
  EXPECT_NE(message_of(whole + "x", 2), "no fault");
  EXPECT_NE(message_of(whole + record(0), 2), "no fault");
}

TEST(Cifar, RefusesALabelWithoutAClass) {
  EXPECT_THAT(message_of(record(0) + record(3), 2), HasSubstr("some-file: label 1 = 3: labels are below 3"));
  EXPECT_THAT(message_of(record('\xff'), 1), HasSubstr("label 0 = 255"));
}

TEST(Cifar, NamesEveryFaultyFileOfADirectory) {
  const TemporaryDirectory directory;
  const std::filesystem::path inner = directory.path() / "cifar-10-batches-bin";
  std::filesystem::create_directories(inner / "data_batch_2.bin");
  std::ofstream(inner / "data_batch_1.bin", std::ios::binary) << record(1);
  std::ofstream(inner / "test_batch.bin", std::ios::binary).flush();
  try {
    read_cifar10(directory.path(), description());
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 6U);
    EXPECT_THAT(error.what(),
                HasSubstr("data_batch_1.bin: length = 3073: a batch of 10000 images has 30730000"));
    EXPECT_THAT(error.what(), HasSubstr("data_batch_2.bin: is a directory, not a file"));
    EXPECT_THAT(error.what(), HasSubstr("data_batch_5.bin: no such file"));
    EXPECT_THAT(error.what(), HasSubstr("test_batch.bin: length = 0"));
  }
}

}  // namespace
}  // namespace skein
