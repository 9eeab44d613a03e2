#include "skein/learning/training_record.h"

#include <gtest/gtest.h>

#include <sstream>

namespace skein {
namespace {

std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::string cell;
    for (const char c : line + ",") {
      if (c == ',') {
        row.push_back(cell);
        cell.clear();
      } else {
        cell += c;
      }
    }
  }
  return rows;
}

TEST(TrainingRecord, TableOfRecords) {
  TrainingRecord start{.global = {.accuracy = 0.125, .loss = 2.5}};
  TrainingRecord later{.iteration = 4,
                       .elapsed = Time(12.5),
                       .global = {.accuracy = 0.5, .loss = 1.25},
                       .personalised = {{.accuracy = 0.75, .loss = 0.5}, {.accuracy = 1.0, .loss = 0.25}},
                       .squared_meta_gradient = 3.0,
                       .training_loss = 0.75};
  later.energy[static_cast<std::size_t>(EnergyKind::hovering)] = Energy(1000);
  later.energy[static_cast<std::size_t>(EnergyKind::processing)] = Energy(0.5);
  EXPECT_EQ(later.total_energy().si(), 1000.5);
  EXPECT_EQ(later.mean_personalised()->accuracy, 0.875);
  EXPECT_FALSE(start.mean_personalised().has_value());

  const auto rows = cells(metrics_csv(std::vector<TrainingRecord>{start, later}, 2));
  ASSERT_EQ(rows.size(), 3U);
  const auto value = [&](std::size_t row, const std::string& column) {
    const auto place = std::ranges::find(rows[0], column) - rows[0].begin();
    EXPECT_LT(place, static_cast<std::ptrdiff_t>(rows[0].size())) << column;
    EXPECT_EQ(rows[row].size(), rows[0].size());
    return rows[row].at(static_cast<std::size_t>(place));
  };
  EXPECT_EQ(value(1, "iteration"), "0");
  EXPECT_EQ(value(1, "accuracy_percent"), "12.5");
  EXPECT_EQ(value(1, "personalised_accuracy_percent"), "");
  EXPECT_EQ(value(1, "swarm_2_loss_nats"), "");
  EXPECT_EQ(value(1, "squared_meta_gradient"), "");
  EXPECT_EQ(value(2, "simulated_s"), "12.5");
  EXPECT_EQ(value(2, "energy_J"), "1000.5");
  EXPECT_EQ(value(2, "hovering_J"), "1000");
  EXPECT_EQ(value(2, "access_point_trips_J"), "0");
  EXPECT_EQ(value(2, "loss_nats"), "1.25");
  EXPECT_EQ(value(2, "training_loss_nats"), "0.75");
  EXPECT_EQ(value(2, "squared_meta_gradient"), "3");
  EXPECT_EQ(value(2, "personalised_accuracy_percent"), "87.5");
  EXPECT_EQ(value(2, "swarm_1_accuracy_percent"), "75");
  EXPECT_EQ(value(2, "swarm_2_loss_nats"), "0.25");
}

TEST(TrainingRecord, OnlyTheHeaderWithoutRecords) {
  const std::string csv = metrics_csv({}, 1);
  EXPECT_EQ(csv.find('\n'), csv.size() - 1);
}

}  // namespace
}  // namespace skein
