// The paper's claims about learning, in the published setting: hours on two cores, so they run by name only
// (scripts/test -L paper). Runs are kept in runs/ of the source directory and continued.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "skein/base/file.h"

namespace skein {
namespace {

using Row = std::map<std::string, std::vector<std::string>>;  // cells by header

// A table that `skein reproduce learning` writes.
std::vector<Row> rows_of(const std::string& csv) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list;
    for (std::size_t from = line.find('"'); from != std::string::npos;) {
      const std::size_t to = line.find('"', from + 1);
      list.push_back(line.substr(from + 1, to - from - 1));
      from = line.find('"', to + 1);
    }
    return list;
  };
  std::istringstream lines(csv);
  std::string header;
  std::string line;
  std::getline(lines, header);
  const std::vector<std::string> names = cells(header);
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> values = cells(line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
      row[names[i]].push_back(values[i]);
    }
  }
  return rows;
}

// The table after this part of the study on this data set.
std::vector<Row> reproduce(const std::string& data, const std::string& words, const std::string& table) {
  const std::string command = "cd '" SKEIN_SOURCE_DIR "' && '" SKEIN_PROGRAM "' reproduce learning " + data +
                              " " + words + " --quiet";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  return rows_of(
      read_file(SKEIN_SOURCE_DIR "/runs/reproduce/learning/full/" + data + "/published/" + table, 1 << 20));
}

class LearningPaper : public testing::TestWithParam<const char*> {};

TEST_P(LearningPaper, EndsWithinFivePointsOfThePublishedCurves) {
  const std::string data = GetParam();
  const Row row = reproduce(data, "--part published --periods 1,1 --seeds 3", "final.csv").at(0);
  ASSERT_EQ(row.at("tau_L, tau_G").at(0), "1, 1");
  for (const char* method : {"H-FL", "HN-PFL"}) {
    EXPECT_EQ(row.at(method).at(0).find("seeds"), std::string::npos)
        << "some diverged: " << row.at(method).at(0);
  }
  const double plain = std::stod(row.at("H-FL").at(0));
  const double meta = std::stod(row.at("HN-PFL").at(0));
  EXPECT_NEAR(plain, std::stod(row.at("published").at(0)), 5.0);
  EXPECT_NEAR(meta, std::stod(row.at("published").at(1)), 5.0);
  if (data != "fmnist") {
    EXPECT_GE(meta - plain, 10.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, LearningPaper, testing::Values("mnist", "cifar10", "fmnist"));

class LearningEnergyPaper : public testing::TestWithParam<const char*> {};

TEST_P(LearningEnergyPaper, IsSavedInEveryCell) {
  const std::string data = GetParam();
  std::string words = "--part energy";
  if (data == "radioml") {
    const char* given = ::getenv("SKEIN_RADIOML");
    const std::string place = given != nullptr ? given : SKEIN_SOURCE_DIR "/../shared/data/radioml";
    if (!std::filesystem::exists(place)) {
      GTEST_SKIP() << "RADIOML is not at " << place << "; set SKEIN_RADIOML";
    }
    words += " --set data.path='" + place + "'";
  }
  const std::vector<Row> rows = reproduce(data, words, "energy_to_level.csv");
  EXPECT_EQ(rows.size(), 7U);
  for (const Row& row : rows) {
    const std::string& saving = row.at("saving %").at(0);
    EXPECT_TRUE(saving == "all" || std::stod(saving) > 0.0) << row.at("tau_L, tau_G").at(0) << ": " << saving;
  }
}

INSTANTIATE_TEST_SUITE_P(Data, LearningEnergyPaper, testing::Values("mnist", "cifar10", "fmnist", "radioml"));

}  // namespace
}  // namespace skein
