#include "skein/data/data_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "skein/base/input_fault.h"
#include "tests/environment_variable.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;

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
  const auto count = static_cast<double>(data.size() * data.shape.size());
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

TEST(DataSource, ModulationsNeedNoFiles) {
  const DataSplit split = load_data({.name = "modulations", .modulations = {.waveforms = 5}}, 7);
  EXPECT_EQ(split.train.name, "modulations");
  EXPECT_EQ(split.train.size(), 4U * 10U * 4U);
  EXPECT_EQ(split.test.size(), 4U * 10U);
  EXPECT_EQ(split.train.class_names, (std::vector<std::string>{"CPFSK", "GFSK", "PAM4", "QPSK"}));
}

TEST(DataSource, RadiomlMayBeAFileADirectoryOrNamedInOne) {
  const std::filesystem::path pickle =
      std::filesystem::path(SKEIN_SOURCE_DIR) / "tests/reference/waveform_pickles/python2_protocol2.pkl";
  EXPECT_EQ(load_data({.name = "radioml", .path = pickle}, 1).train.size(), 6U);
  const TemporaryDirectory directory;
  const EnvironmentVariable data("SKEIN_DATA", directory.path().c_str());
  EXPECT_THAT(message_of({.name = "radioml"}), HasSubstr("use the data set modulations instead"));
  std::filesystem::create_directory(directory.path() / "radioml");
  EXPECT_THAT(message_of({.name = "radioml"}), HasSubstr("has no waveforms of 0 to 18 dB"));
  std::filesystem::copy_file(pickle, directory.path() / "radioml/RML2016.10b.dat");
  EXPECT_EQ(load_data({.name = "radioml"}, 1).train.size(), 6U);
  EXPECT_EQ(load_data({.name = "radioml", .radioml = {.min_snr_db = 1}}, 1).train.size(), 4U);
}

// Known of the training images: mean 0.1307, deviation 0.3081 of full scale, so 0 and 1 as a network sees
// them.
TEST(DataSource, Mnist) {
  if (!find_data("mnist")) {
    GTEST_SKIP() << "MNIST is not there; skein data fetch mnist";
  }
  const DataSplit split = load_data({.name = "mnist"}, 1);
  EXPECT_EQ(split.train.size(), 60'000U);
  EXPECT_EQ(split.test.size(), 10'000U);
  EXPECT_EQ(class_counts(split.train),
            (std::vector<std::size_t>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
  const Statistics seen = statistics(split.train);
  EXPECT_NEAR(seen.mean, 0.0, 2e-4);
  EXPECT_NEAR(seen.deviation, 1.0, 2e-4);
}

// Known of the training images: mean 0.4914, 0.4822, 0.4465 of red, green and blue. Planes in a wrong order
// or pixels in a wrong layout would show here.
TEST(DataSource, Cifar10) {
  if (!find_data("cifar10")) {
    GTEST_SKIP() << "CIFAR-10 is not there; skein data fetch cifar10";
  }
  const DataSplit split = load_data({.name = "cifar10"}, 1);
  EXPECT_EQ(split.train.shape, (SampleShape{.height = 32, .width = 32, .channels = 3}));
  EXPECT_THAT(class_counts(split.train), testing::Each(5000U));
  EXPECT_THAT(class_counts(split.test), testing::Each(1000U));
  std::vector<double> sums(3);
  std::vector<float> sample(split.train.shape.size());
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    split.train.read(i, sample);
    for (std::size_t j = 0; j < sample.size(); ++j) {
      sums[j % 3] += 0.5 * sample[j] + 0.5;
    }
  }
  EXPECT_NEAR(sums[0] / (50'000.0 * 1024.0), 0.4914, 1e-4);
  EXPECT_NEAR(sums[1] / (50'000.0 * 1024.0), 0.4822, 1e-4);
  EXPECT_NEAR(sums[2] / (50'000.0 * 1024.0), 0.4465, 1e-4);
}

}  // namespace
}  // namespace skein
