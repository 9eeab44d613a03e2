#include "skein/mission/headline_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "skein/base/file.h"

namespace skein {
namespace {

using ::testing::ElementsAre;

Headline headline() {
  Headline h{.mean_accuracy = 0.6543, .energy_j = 12345.6, .data_bits = 16e6, .sequences = 4};
  h.energy_by_kind_j = {{"hovering", 12300.0}, {"leakage", 45.6}};
  h.visits = 3;
  h.idle_visits = 1;
  return h;
}

std::vector<std::string> line(const Headline& h, const std::string& name) {
  for (const HeadlineLine& one : headline_lines(h)) {
    if (one.line == name) {
      return {one.value, one.unit};
    }
  }
  return {};
}

TEST(HeadlineNumbers, AreListedOnce) {
  std::set<std::string> names;
  std::set<int> places;
  for (const HeadlineNumber& number : headline_numbers()) {
    EXPECT_TRUE(names.insert(number.name).second) << number.name;
    EXPECT_TRUE(number.place == 0 || places.insert(number.place).second) << number.name;
    EXPECT_EQ(number.place == 0, number.line.empty() && number.column.empty()) << number.name;
  }
}

TEST(HeadlineNumbers, HaveUnitsForPeople) {
  const Headline h = headline();
  EXPECT_THAT(line(h, "accuracy of clusters' models, mean over time"), ElementsAre("65.4", "%"));
  EXPECT_THAT(line(h, "energy"), ElementsAre("12.3", "kJ"));
  EXPECT_THAT(line(h, "  hovering"), ElementsAre("12.3", "kJ"));
  EXPECT_THAT(line(h, "  leakage"), ElementsAre("0.0456", "kJ"));
  EXPECT_THAT(line(h, "visits to clusters"), ElementsAre("3", ""));
  EXPECT_THAT(line(h, "data sent"), ElementsAre("2.0", "MB"));
}

TEST(HeadlineNumbers, ThoseOfFaultsAreShownWhereThereWereSome) {
  Headline h = headline();
  EXPECT_TRUE(line(h, "visits without training").empty());
  h.faults = 2;
  EXPECT_THAT(line(h, "visits without training"), ElementsAre("1", ""));
}

TEST(HeadlineNumbers, OfASummaryAreFoundByName) {
  Scenario scenario;
  scenario.run.seed = 7;
  const auto numbers = numbers_of(summary_of(scenario, headline()));
  const std::map<std::string, double> found(numbers.begin(), numbers.end());
  EXPECT_EQ(found.at("energy_J"), 12345.6);
  EXPECT_EQ(found.at("energy_by_kind.leakage_J"), 45.6);
  EXPECT_EQ(found.at("sequences"), 4.0);
  EXPECT_FALSE(found.contains("seed"));
  for (const HeadlineNumber& number : headline_columns()) {
    EXPECT_TRUE(found.contains(number.name)) << number.name;
  }
}

// The page has its own words for them, and for none that there is not.
TEST(HeadlineNumbers, ThePageShowsNoOthers) {
  const std::string source = read_file(SKEIN_SOURCE_DIR "/web/src/tables.ts", 1 << 20);
  const std::regex key("\\{ key: '([^']+)'");
  std::size_t count = 0;
  for (std::sregex_iterator at(source.begin(), source.end(), key), end; at != end; ++at, ++count) {
    EXPECT_NE(std::ranges::find(headline_numbers(), (*at)[1].str(), &HeadlineNumber::name),
              headline_numbers().end())
        << (*at)[1];
  }
  EXPECT_GT(count, 15U);
}

}  // namespace
}  // namespace skein
