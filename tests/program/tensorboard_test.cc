// The event file of a mission, read by a parser that shares nothing with its writer.
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "program_fixture.h"

namespace skein {
namespace {

using nlohmann::json;

class TensorBoard : public ProgramFixture {
 protected:
  const std::string file_ = "tensorboard/events.out.tfevents.0.skein";

  json events(const std::string& run) {
    const Outcome outcome =
        shell("python3 '" SKEIN_SOURCE_DIR "/tests/program/read_events.py' " + run + "/" + file_);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  // Cells of a CSV file without quotes.
  std::vector<std::vector<std::string>> rows(const std::string& file) {
    std::vector<std::vector<std::string>> table;
    std::istringstream lines(content(file));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      table.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) {
        table.back().push_back(cell);
      }
    }
    return table;
  }
};

TEST_F(TensorBoard, HasWhatTheOtherFilesHave) {
  ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=3 --quiet --out here").exit_code, 0);
  const json list = events("here");
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0]["file_version"], "brain.Event:2");
  const auto sequences = rows("here/sequences.csv");
  const auto clusters = rows("here/clusters.csv");
  const auto number = [](const json& value) { return static_cast<float>(value.get<double>()); };
  for (std::size_t s = 0; s < 3; ++s) {
    const json& event = list[s + 1];
    const json& scalars = event["scalars"];
    const std::vector<std::string>& row = sequences[s + 1];
    EXPECT_EQ(event["step"], s);
    EXPECT_EQ(event["wall_time"].get<double>(), std::stod(row[2])) << "the simulated time";
    EXPECT_FLOAT_EQ(number(scalars["accuracy_percent/mean"]), std::stof(row[8]));
    EXPECT_FLOAT_EQ(number(scalars["accuracy_percent/worst"]), std::stof(row[9]));
    EXPECT_FLOAT_EQ(number(scalars["mission/mean_age_sequences"]), std::stof(row[10]));
    EXPECT_FLOAT_EQ(number(scalars["mission/reward"]), std::stof(row[11]));
    EXPECT_FLOAT_EQ(number(scalars["mission/squared_meta_gradient"]), std::stof(row[13]));
    for (std::size_t c = 0; c < 3; ++c) {
      const std::vector<std::string>& cluster = clusters[1 + 3 * s + c];
      EXPECT_FLOAT_EQ(number(scalars["accuracy_percent_of_cluster/" + cluster[1]]), std::stof(cluster[6]));
    }
    EXPECT_GT(number(scalars["battery_J/least"]), 0.0F);
  }
  const json summary = json::parse(content("here/summary.json"));
  for (const auto& [kind, joules] : summary["energy_by_kind"].items()) {
    EXPECT_FLOAT_EQ(number(list[3]["scalars"]["energy_J/" + kind.substr(0, kind.size() - 2)]),
                    number(joules));
  }
  EXPECT_FLOAT_EQ(number(list[3]["scalars"]["energy_J/all"]), number(summary["energy_J"]));
}

TEST_F(TensorBoard, ADamagedFileDoesNotPass) {
  ASSERT_EQ(skein("run " + smoke_ + " --quiet --out here").exit_code, 0);
  std::string bytes = content("here/" + file_);
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  write_file(at("here/" + file_), bytes);
  EXPECT_NE(shell("python3 '" SKEIN_SOURCE_DIR "/tests/program/read_events.py' here/" + file_).exit_code, 0)
      << "the parser looks at check sums";
}

TEST_F(TensorBoard, GoesOnWhereACheckpointLeftIt) {
  const std::string words = "run " + smoke_ + " --set run.sequences=6 --quiet";
  ASSERT_EQ(skein(words + " --out whole").exit_code, 0);
  shell("'" SKEIN_PROGRAM "' " + words +
        " --out cut & P=$!; while [ ! -e cut/checkpoint.bin ]; do sleep 0.01; done;"
        " kill -9 $P; wait");
  ASSERT_TRUE(std::filesystem::exists(at("cut/checkpoint.bin")));
  ASSERT_EQ(skein("resume cut --quiet").exit_code, 0);
  EXPECT_EQ(content("cut/" + file_), content("whole/" + file_));
}

}  // namespace
}  // namespace skein
