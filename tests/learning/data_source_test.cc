#include "skein/learning/data_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <numeric>

#include "skein/base/fault.h"
#include "tests/learning/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;

// Sets a variable of the environment for the length of a test; null unsets it.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name)) {
      old_ = old;
    }
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~EnvironmentVariable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

std::string message_of(const DataSourceOptions& options) {
  try {
    load_data(options, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no fault";
}

// What a network sees of a whole set.
struct Statistics {
  double mean = 0.0;
  double deviation = 0.0;
};

Statistics statistics(const Dataset& data) {
  double sum = 0.0;
  double squares = 0.0;
  std::vector<float> sample(data.shape.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    data.read(i, sample);
    for (const float value : sample) {
      sum += value;
      squares += double{value} * value;
    }
  }
  const double count = static_cast<double>(data.size() * data.shape.size());
  return {.mean = sum / count, .deviation = std::sqrt(squares / count - sum / count * sum / count)};
}

std::vector<std::size_t> class_counts(const Dataset& data) {
  std::vector<std::size_t> counts(data.num_classes());
  for (const std::uint8_t label : data.labels) {
    ++counts[label];
  }
  return counts;
}

TEST(DataSource, DirectoryFollowsTheEnvironment) {
  const EnvironmentVariable home("HOME", "/somewhere");
  const EnvironmentVariable data("SKEIN_DATA", nullptr);
  const EnvironmentVariable share("XDG_DATA_HOME", nullptr);
  EXPECT_EQ(data_directory(), "/somewhere/.local/share/skein");
  {
    const EnvironmentVariable set("XDG_DATA_HOME", "/share");
    EXPECT_EQ(data_directory(), "/share/skein");
    const EnvironmentVariable first("SKEIN_DATA", "/data");
    EXPECT_EQ(data_directory(), "/data");
  }
  const EnvironmentVariable nowhere("HOME", nullptr);
  EXPECT_THROW(data_directory(), InputError);
}

TEST(DataSource, UnknownNameListsTheKnownOnes) {
  const std::string message = message_of({.name = "imagenet"});
  EXPECT_THAT(message, HasSubstr("data set = imagenet: is not known"));
  for (const DataSource& source : data_sources()) {
    EXPECT_THAT(message, HasSubstr(std::string(source.name)));
  }
}

TEST(DataSource, MissingSetSaysTheNextCommand) {
  const TemporaryDirectory empty;
  const EnvironmentVariable data("SKEIN_DATA", empty.path().c_str());
  for (const DataSource& source : data_sources()) {
    if (source.how_to_get.empty() || find_data(source.name)) {
      continue;
    }
    const std::string message = message_of({.name = std::string(source.name)});
    EXPECT_THAT(message, HasSubstr((empty.path() / source.name).string()));
    EXPECT_THAT(message, HasSubstr(std::string(source.how_to_get)));
  }
  EXPECT_THAT(message_of({.name = "fashion-mnist", .path = empty.path() / "absent"}),
              HasSubstr("apt-get install dataset-fashion-mnist"));
}

TEST(DataSource, AnEmptyDirectoryNamesAllFourFiles) {
  const TemporaryDirectory empty;
  const std::string message = message_of({.name = "mnist", .path = empty.path()});
  for (const char* file : {"train-images-idx3-ubyte: no such file", "train-labels-idx1-ubyte: no such file",
                           "t10k-images-idx3-ubyte: no such file", "t10k-labels-idx1-ubyte: no such file"}) {
    EXPECT_THAT(message, HasSubstr(file));
  }
}

TEST(DataSource, TrainingAndTestImagesHaveOneSize) {
  const TemporaryDirectory directory;
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(directory.path() / name, std::ios::binary) << bytes;
  };
  const std::string label("\0\0\x08\x01\0\0\0\1\7", 9);
  write("train-images.idx3-ubyte", std::string("\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\2ab", 18));
  write("train-labels-idx1-ubyte", label);
  write("t10k-images-idx3-ubyte", std::string("\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\1ab", 18));
  write("t10k-labels-idx1-ubyte", label);
  EXPECT_THAT(message_of({.name = "mnist", .path = directory.path()}),
              HasSubstr("image size = 2 x 1: the training images have 1 x 2"));
}

TEST(DataSource, SyntheticNeedsNoFiles) {
  const DataSplit split = load_data({.name = "synthetic", .synthetic = {.classes = 3}}, 7);
  EXPECT_EQ(split.train.num_classes(), 3U);
  EXPECT_EQ(split.train.features, make_synthetic({.classes = 3}, 7).train.features);
}

TEST(DataSource, FashionMnistIsTheDefault) {
  if (!find_data("fashion-mnist")) {
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  }
  const DataSplit split = load_data({}, 1);
  EXPECT_EQ(split.train.name, "fashion-mnist");
  EXPECT_EQ(split.train.shape, (SampleShape{.height = 28, .width = 28, .channels = 1}));
  EXPECT_THAT(class_counts(split.train), testing::Each(6000U));
  EXPECT_THAT(class_counts(split.test), testing::Each(1000U));
  // Known of the training images: mean 0.2860, deviation 0.3530 of full scale.
  const Statistics seen = statistics(split.train);
  EXPECT_NEAR(seen.mean, 0.2860, 5e-5);
  EXPECT_NEAR(seen.deviation, 0.3530, 5e-5);
  EXPECT_EQ(split.train.class_names[split.train.labels[0]], "Ankle boot");
}

}  // namespace
}  // namespace skein
