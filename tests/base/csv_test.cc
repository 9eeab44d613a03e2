#include "skein/base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

struct Visit {
  std::size_t swarm = 0;
  double energy_j = 0.0;
  bool landed = false;
  std::optional<double> handed_over_s{};
  std::string why{};
};

const Columns<Visit>& visit_columns() {
  static const Columns<Visit> columns{
      {"swarm", [](const Visit& v) { return v.swarm; }},
      {"energy_J", [](const Visit& v) { return v.energy_j; }},
      {"landed", [](const Visit& v) { return v.landed; }},
      {"handed_over_s", [](const Visit& v) { return v.handed_over_s; }},
      {"why", [](const Visit& v) { return csv_cell(v.why); }},
  };
  return columns;
}

TEST(Csv, HeaderAndRowsComeFromOneList) {
  EXPECT_EQ(visit_columns().header(), "swarm,energy_J,landed,handed_over_s,why\n");
  EXPECT_EQ(visit_columns().row({.swarm = 2, .energy_j = 0.5, .landed = true, .why = "a, b"}),
            "2,0.5,1,,\"a, b\"\n");
  EXPECT_EQ(visit_columns().row({.handed_over_s = 3.0}), "0,0,0,3,\n");
}

TEST(Csv, AColumnThatBeginsARowMayBeEmpty) {
  const Columns<std::string> columns{{"a", [](const std::string& text) { return text; }},
                                     {"b", [](const std::string& text) { return text; }}};
  EXPECT_EQ(columns.row(""), ",\n");
}

TEST(Csv, ReadsBackWhatWasWritten) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "visits.csv";
  write_file(file, visit_columns().header() + visit_columns().row({.swarm = 7, .why = "a \"b\"\nc, d"}));
  const CsvFile table(file);
  ASSERT_EQ(table.num_rows(), 1U);
  EXPECT_EQ(table.number(0, "swarm"), 7.0);
  EXPECT_EQ(table.text(0, "why"), "a \"b\"\nc, d");
  EXPECT_THROW(static_cast<void>(table.number(0, "handed_over_s")), InputError) << "an empty cell";
  try {
    static_cast<void>(table.text(0, "who"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("visits.csv: who: this column is missing"));
  }
}

}  // namespace
}  // namespace skein
