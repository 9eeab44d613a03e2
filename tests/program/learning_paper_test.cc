// The paper's claims about learning, in the published setting: hours on two cores, so they run by name only
// (scripts/test -L paper). Runs are kept in runs/ of the source directory and continued.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "skein/base/file.h"

namespace skein {
namespace {

// Cells of the row for tau_L = tau_G = 1 of a table that `skein reproduce learning` writes, by header.
std::map<std::string, std::vector<std::string>> row_of(const std::string& csv) {
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
  std::map<std::string, std::vector<std::string>> row;
  while (std::getline(lines, line)) {
    const std::vector<std::string> values = cells(line);
    if (!values.empty() && values[0] == "1, 1") {
      const std::vector<std::string> names = cells(header);
      for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
        row[names[i]].push_back(values[i]);
      }
    }
  }
  return row;
}

class LearningPaper : public testing::TestWithParam<const char*> {};

TEST_P(LearningPaper, EndsWithinFivePointsOfThePublishedCurves) {
  const std::string data = GetParam();
  const std::string command = "cd '" SKEIN_SOURCE_DIR "' && '" SKEIN_PROGRAM "' reproduce learning " + data +
                              " --part published --periods 1,1 --seeds 3 --quiet";
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  const auto row = row_of(
      read_file(SKEIN_SOURCE_DIR "/runs/reproduce/learning/full/" + data + "/published/final.csv", 1 << 20));
  const double plain = std::stod(row.at("H-FL").at(0));
  const double meta = std::stod(row.at("HN-PFL").at(0));
  EXPECT_NEAR(plain, std::stod(row.at("published").at(0)), 5.0);
  EXPECT_NEAR(meta, std::stod(row.at("published").at(1)), 5.0);
  if (data != "fmnist") {
    EXPECT_GE(meta - plain, 10.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, LearningPaper, testing::Values("mnist", "cifar10", "fmnist"));

}  // namespace
}  // namespace skein
