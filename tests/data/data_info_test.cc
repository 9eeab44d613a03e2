#include "skein/data/data_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using nlohmann::json;

TEST(DataInfo, CountsSamplesAndTellsDataApart) {
  const DataSplit data = load_data({.name = "synthetic"}, 1);
  const DataInfo info = data_info(data, std::nullopt);
  EXPECT_EQ(info.train.samples, data.train.size());
  EXPECT_EQ(std::accumulate(info.train.class_counts.begin(), info.train.class_counts.end(), std::size_t{0}),
            data.train.size());
  EXPECT_NE(info.train.sha256, info.test.sha256);
  EXPECT_EQ(info.train.sha256, data_info(load_data({.name = "synthetic"}, 1), std::nullopt).train.sha256);
  EXPECT_NE(info.train.sha256, data_info(load_data({.name = "synthetic"}, 2), std::nullopt).train.sha256);
  EXPECT_TRUE(info.files.empty());
}

TEST(DataInfo, WritesWhatItKnowsAndASheetOfSamples) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "from/b", "two");
  write_file(directory.path() / "from/a", "one");
  const DataSplit data = load_data({.name = "synthetic"}, 1);
  const DataInfo info = data_info(data, directory.path() / "from");
  ASSERT_EQ(info.files.size(), 2U);
  EXPECT_EQ(info.files[0].file.filename(), "a");
  EXPECT_EQ(info.files[0].sha256, sha256("one"));
  write_data_info(data, info, directory.path() / "out");
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "out/samples.svg"));
  const json written = json::parse(read_file(directory.path() / "out/data.json", 1 << 20));
  EXPECT_EQ(written["train"]["samples"], data.train.size());
  EXPECT_EQ(written["files"].size(), 2U);
}

TEST(DataInfo, EverySourceIsListed) {
  const json list = json::parse(data_sources_json());
  ASSERT_EQ(list.size(), data_sources().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i]["name"], data_sources()[i].name);
    EXPECT_TRUE(!list[i]["generated"].get<bool>() || list[i]["present"].get<bool>());
  }
}

}  // namespace
}  // namespace skein
