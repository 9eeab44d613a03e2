// What missions do when drift rises at once at two clusters. Minutes, so they run by name only
// (scripts/test -L paper).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "skein/mission/mission_run.h"
#include "skein/simulation/mission_files.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

// Columns of a table without quotes.
class Table {
 public:
  explicit Table(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    names_ = cells(line);
    while (std::getline(in, line)) {
      rows_.push_back(cells(line));
    }
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const std::string& at(std::size_t row, const std::string& name) const {
    return rows_.at(row).at(static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin()));
  }

 private:
  static std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> result;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) {
      result.push_back(cell);
    }
    return result;
  }
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

// Per cluster, in the 45 minutes before and after hour 1.5.
struct Visits {
  double before = 0.0;
  double after = 0.0;

  void add(double at_s, double share) {
    constexpr double rise_s = 5400.0;
    constexpr double window_s = 2700.0;
    before += at_s >= rise_s - window_s && at_s < rise_s ? share : 0.0;
    after += at_s >= rise_s && at_s < rise_s + window_s ? share : 0.0;
  }
};

class SuddenDriftPaper : public ::testing::Test {
 protected:
  [[nodiscard]] Headline fly(const std::string& scenario, std::uint64_t seed,
                             std::vector<std::string> settings) const {
    settings.push_back(fmt::format("run.seed={}", seed));
    MissionRun mission(load_scenario(SKEIN_SOURCE_DIR "/scenarios/paper/" + scenario, {.settings = settings}),
                       directory_.path() / "here", {.num_threads = 2});
    mission.run();
    return mission.headline();
  }
  [[nodiscard]] Table table(const char* name) const { return Table(directory_.path() / "here" / name); }

 private:
  TemporaryDirectory directory_;
};

// From 0.4 to 2 of the labels an hour at C:2 and C:6; beside it the same missions without the rise.
TEST_F(SuddenDriftPaper, IsFollowedByVisits) {
  Visits risen, others, steady;
  for (const std::uint64_t seed : {101U, 102U, 103U}) {
    for (const bool rises : {true, false}) {
      const Headline headline =
          fly("planned.toml", seed,
              {"drift.label_mix.start=0.4", "drift.label_mix.later=[0.4,2,0.4,0.4,0.4,2,0.4,0.4]",
               fmt::format("drift.label_mix.later_from={}", rises ? 1.5 : 0.0)});
      EXPECT_GT(headline.visits, 0U);
      const Table sequences = table(mission_file::sequences);
      std::map<std::string, double> starts_s;
      for (std::size_t row = 0; row < sequences.size(); ++row) {
        starts_s[sequences.at(row, "sequence")] = std::stod(sequences.at(row, "start_s"));
      }
      const Table clusters = table(mission_file::clusters);
      for (std::size_t row = 0; row < clusters.size(); ++row) {
        if (clusters.at(row, "visited") != "1") {
          continue;
        }
        const double at_s = starts_s.at(clusters.at(row, "sequence"));
        const std::string& name = clusters.at(row, "cluster");
        if (name == "C:2" || name == "C:6") {
          (rises ? risen : steady).add(at_s, 1.0 / 6.0);
        } else if (rises) {
          others.add(at_s, 1.0 / 18.0);
        }
      }
    }
  }
  fmt::print(
      "visits of a cluster in 45 min: {:.1f}, then {:.1f}; of the others {:.1f}, then {:.1f}; without "
      "the rise {:.1f}, then {:.1f}\n",
      risen.before, risen.after, others.before, others.after, steady.before, steady.after);
  EXPECT_GT(risen.before, 0.0);
  EXPECT_DOUBLE_EQ(risen.before, steady.before);
  EXPECT_GE(risen.after, 1.5 * risen.before);
  EXPECT_GE(risen.after, 1.25 * steady.after);
  EXPECT_GT(risen.after / risen.before, others.after / others.before);
}

// Against the planner by sequences, where no label drifts at all.
TEST_F(SuddenDriftPaper, WithoutDriftNothingIsLost) {
  double accuracy = 0.0;
  double energy_j = 0.0;
  for (const std::uint64_t seed : {101U, 102U}) {
    const Headline ours = fly("planned.toml", seed, {"drift.label_mix.start=0"});
    const Headline beam = fly("pairs.toml", seed, {"drift.label_mix.start=0"});
    fmt::print("seed {}: {:.1f} %, {:.0f} kJ; by sequences {:.1f} %, {:.0f} kJ\n", seed,
               100.0 * ours.mean_accuracy, ours.energy_j / 1e3, 100.0 * beam.mean_accuracy,
               beam.energy_j / 1e3);
    accuracy += ours.mean_accuracy - beam.mean_accuracy;
    energy_j += ours.energy_j - beam.energy_j;
  }
  EXPECT_GE(accuracy, 0.0);
  EXPECT_LE(energy_j, 0.0);
}

}  // namespace
}  // namespace skein
