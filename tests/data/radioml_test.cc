#include "skein/data/radioml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

template <class Value>
void write_npy(const fs::path& path, const std::string& type, const std::string& shape,
               const std::vector<Value>& values) {
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string bytes = std::string("\x93NUMPY\1", 7) + '\0' + static_cast<char>(header.size()) + '\0' + header;
  const std::size_t start = bytes.size();
  bytes.resize(start + values.size() * sizeof(Value));
  std::memcpy(bytes.data() + start, values.data(), values.size() * sizeof(Value));
  std::ofstream(path, std::ios::binary) << bytes;
}

// Waveform i of the file has label i mod 4 and values i + 1, then -100.
void write_pair(const fs::path& directory, int snr, std::size_t count) {
  std::vector<float> values;
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    values.insert(values.end(), waveform_values - 1, static_cast<float>(i + 1));
    values.push_back(-100.0F);
    labels.push_back(static_cast<std::int64_t>(i % 4));
  }
  write_npy(directory / fmt::format("x_{}.npy", snr), "<f4", fmt::format("({}, 2, 128)", count), values);
  write_npy(directory / fmt::format("y_{}.npy", snr), "<i8", fmt::format("({},)", count), labels);
}

std::string message_of(const fs::path& path) {
  try {
    read_radioml(path, {}, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no fault";
}

// The first value of every sample times the file's maximum: what write_pair put there.
std::vector<int> identities(const Dataset& data, int snr, float maximum) {
  std::vector<int> found;
  std::vector<float> sample(waveform_values);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.snr_db[i] == snr) {
      data.read(i, sample);
      found.push_back(static_cast<int>(std::lround(sample[0] * maximum)));
    }
  }
  return found;
}

TEST(Radioml, DividesByTheMaximumOfEachSnrAndSplitsEveryClass) {
  const TemporaryDirectory directory;
  write_pair(directory.path(), 0, 40);
  write_pair(directory.path(), 2, 20);
  write_pair(directory.path(), -2, 20);  // outside 0 to 18 dB
  const DataSplit split = read_radioml(directory.path(), {}, 1);
  EXPECT_EQ(split.train.size(), 48U);
  EXPECT_EQ(split.test.size(), 12U);
  EXPECT_EQ(split.train.shape, (SampleShape{.height = 2, .width = 128, .channels = 1}));
  for (const auto& [snr, count] : {std::pair{0, 40}, std::pair{2, 20}}) {
    const auto maximum = static_cast<float>(count);
    std::vector<int> all = identities(split.train, snr, maximum);
    const std::vector<int> test = identities(split.test, snr, maximum);
    EXPECT_EQ(test.size(), static_cast<std::size_t>(count / 5));
    all.insert(all.end(), test.begin(), test.end());
    std::sort(all.begin(), all.end());
    std::vector<int> expected(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      expected[static_cast<std::size_t>(i)] = i + 1;
    }
    EXPECT_EQ(all, expected) << "every waveform is in one of the two parts, once";
  }
  std::vector<float> sample(waveform_values);
  std::vector<int> test_counts(4);
  for (std::size_t i = 0; i < split.test.size(); ++i) {
    split.test.read(i, sample);
    const float maximum = split.test.snr_db[i] == 0 ? 40.0F : 20.0F;
    const int identity = static_cast<int>(std::lround(sample[0] * maximum));
    EXPECT_EQ(split.test.labels[i], (identity - 1) % 4);
    EXPECT_FLOAT_EQ(sample[255], -100.0F / maximum);
    ++test_counts[split.test.labels[i]];
  }
  EXPECT_THAT(test_counts, testing::Each(3));
}

TEST(Radioml, SplitIsDecidedBySeed) {
  const TemporaryDirectory directory;
  write_pair(directory.path(), 4, 80);
  EXPECT_EQ(read_radioml(directory.path(), {}, 1).test.features,
            read_radioml(directory.path(), {}, 1).test.features);
  EXPECT_NE(read_radioml(directory.path(), {}, 1).test.features,
            read_radioml(directory.path(), {}, 2).test.features);
}

TEST(Radioml, ReadsThePickleToo) {
  const fs::path path = fs::path(SKEIN_SOURCE_DIR) / "tests/reference/waveform_pickles/python2_protocol0.pkl";
  const DataSplit split = read_radioml(path, {}, 1);
  // QPSK at 2, CPFSK at 18 and PAM4 at 0 dB, two waveforms each; 8PSK and -4 dB are left out.
  EXPECT_EQ(split.train.size(), 6U);
  EXPECT_EQ(std::multiset<int>(split.train.labels.begin(), split.train.labels.end()),
            (std::multiset<int>{0, 0, 2, 2, 3, 3}));
  const auto& values = std::get<std::vector<float>>(split.train.features);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1.0F);
}

TEST(Radioml, NamesEveryFault) {
  const TemporaryDirectory directory;
  EXPECT_THAT(message_of(directory.path()), HasSubstr("has no waveforms of 0 to 18 dB"));
  EXPECT_THAT(message_of(directory.path() / "absent"), HasSubstr("is not a file that can be read"));
  for (const int snr : {0, 2, 4, 6, 8, 10, 12}) {
    write_pair(directory.path(), snr, 8);
  }
  EXPECT_EQ(message_of(directory.path()), "no fault");
  fs::remove(directory.path() / "y_0.npy");
  write_npy<std::int64_t>(directory.path() / "y_2.npy", "<i8", "(8,)", {0, 1, 2, 4, 0, 0, 0, 0});
  write_npy<std::int64_t>(directory.path() / "y_4.npy", "<i8", "(2,)", {0, 1});
  write_npy<float>(directory.path() / "y_6.npy", "<f4", "(2,)", {0, 1.5F});
  write_npy<float>(directory.path() / "x_8.npy", "<f4", "(1, 2, 3)", {1, 2, 3, 4, 5, 6});
  fs::remove(directory.path() / "x_10.npy");
  fs::create_directory(directory.path() / "x_10.npy");
  write_npy<std::int64_t>(directory.path() / "y_12.npy", "<i8", "(8, 1)", {0, 1, 2, 3, 0, 0, 0, -1});
  const std::string message = message_of(directory.path());
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 6) << message;
  EXPECT_THAT(message, HasSubstr("y_0.npy: no such file"));
  EXPECT_THAT(message, HasSubstr("y_2.npy: label 3 = 4: labels are below 4"));
  EXPECT_THAT(message, HasSubstr("y_4.npy: labels = 2: "));
  EXPECT_THAT(message, HasSubstr("y_6.npy: labels are whole numbers"));
  EXPECT_THAT(message, HasSubstr("x_8.npy: shape = (1, 2, 3): waveforms have shape (n, 2, 128)"));
  EXPECT_THAT(message, HasSubstr("x_10.npy: is a directory, not a file"));
  EXPECT_THAT(message, HasSubstr("y_12.npy: shape = (8, 1): labels have shape (n)"));
}

TEST(Radioml, RefusesSilence) {
  const TemporaryDirectory directory;
  write_npy(directory.path() / "x_0.npy", "<f4", "(1, 2, 128)", std::vector<float>(waveform_values, 0.0F));
  write_npy<std::int64_t>(directory.path() / "y_0.npy", "<i8", "(1,)", {0});
  EXPECT_THAT(message_of(directory.path()), HasSubstr("these are no signals"));
}

// The real files, where the machine has them: as prepared for the published study.
TEST(Radioml, RealFiles) {
  const char* given = ::getenv("SKEIN_RADIOML");
  const fs::path path =
      given != nullptr ? fs::path(given) : fs::path(SKEIN_SOURCE_DIR) / "../shared/data/radioml";
  if (!fs::exists(path)) {
    GTEST_SKIP() << "no RADIOML files; set SKEIN_RADIOML to their directory";
  }
  const DataSplit split = read_radioml(path, {}, 1);
  EXPECT_EQ(split.train.size(), 32'000U);
  EXPECT_EQ(split.test.size(), 8'000U);
  std::map<std::pair<int, int>, int> counts;
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    ++counts[{split.train.snr_db[i], split.train.labels[i]}];
  }
  EXPECT_EQ(counts.size(), 40U);
  EXPECT_TRUE(
      std::all_of(counts.begin(), counts.end(), [](const auto& entry) { return entry.second == 800; }));
  const auto& values = std::get<std::vector<float>>(split.train.features);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 1.0F);
}

}  // namespace
}  // namespace skein
