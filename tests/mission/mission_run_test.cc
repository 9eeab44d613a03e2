#include "skein/mission/mission_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/mission/comparison.h"
#include "skein/mission/headline_numbers.h"
#include "skein/mission/report.h"
#include "skein/nn/safetensors.h"
#include "skein/simulation/mission_files.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

// Three training sequences of the smoke mission.
Scenario small_mission(const std::string& planner = "myopic") {
  return load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
                       {.settings = {"run.sequences=3", "planning.planner=" + planner}});
}

// The same by the clock: an hour of it, with drift of labels and of features.
Scenario hourly_mission() {
  return load_scenario(
      SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
      {.settings = {"planning.planner=sequential", "run.sequences=0", "run.hours=1", "planning.cycle_s=500",
                    "drift.per=hour", "drift.label_mix.start=2.5", "drift.rotation_deg.start=40",
                    "drift.brightness.start=0.7", "drift.label_mix.later=1", "drift.label_mix.later_from=0.3",
                    "drift.rotation_deg.later=-90", "drift.rotation_deg.later_from=0.1",
                    "data.arrivals_per_sequence=0", "data.arrivals_per_hour=33.3", "learning.label_shift=0.5",
                    "learning.personal_steps=3", "learning.personal_newest=4",
                    "learning.augment_rotation_deg=10"}});
}

std::vector<float> numbers_of_model(const Model& model) { return {model.begin(), model.end()}; }

class MissionRuns : public ::testing::Test {
 protected:
  // All files below a directory but the manifest, which has timings.
  [[nodiscard]] std::map<std::string, std::string> files(const std::string& below) const {
    std::map<std::string, std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(at(below))) {
      if (entry.is_regular_file() && entry.path().filename() != mission_file::manifest) {
        result[fs::relative(entry.path(), at(below)).string()] =
            read_file(entry.path(), std::size_t{1} << 28U);
      }
    }
    return result;
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return directory_.path() / name; }
  // Whoever listens ends it in the middle of the second sequence, or by the clock before the fourth.
  void goes_on_to_the_same_bytes(const Scenario& scenario) {
    for (const char* directory : {"whole", "cut"}) {
      fs::remove_all(at(directory));
    }
    MissionRun(scenario, at("whole"), {.num_threads = 1}).run();
    const auto stop = [](std::string_view stage, double fraction, std::string_view) {
      if (stage == "training sequences" && fraction > 0.4) {
        throw std::runtime_error("stopped");
      }
    };
    EXPECT_THROW(MissionRun(scenario, at("cut"), {.num_threads = 1, .progress = stop}).run(),
                 std::runtime_error);
    EXPECT_FALSE(is_finished(at("cut")));
    MissionRun(scenario, at("cut"), {.num_threads = 2}).resume();
    EXPECT_EQ(files("cut"), files("whole"));
  }

  TemporaryDirectory directory_;
};

TEST_F(MissionRuns, LeavesItsNumbersAndModels) {
  MissionRun mission(small_mission(), at("here"), {.num_threads = 1});
  mission.run();
  const Headline headline = mission.headline();
  EXPECT_EQ(headline.sequences, 3U);
  EXPECT_GT(headline.mean_accuracy, 0.0);
  const nlohmann::json summary = read_json(at("here") / mission_file::summary);
  EXPECT_EQ(summary.at("mean_accuracy_percent"), 100.0 * headline.mean_accuracy);
  EXPECT_EQ(summary.at("energy_J"), headline.energy_j);
  EXPECT_EQ(summary.at("energy_by_kind").at("travel_J"), headline.energy_by_kind_j.at("travel"));
  EXPECT_EQ(summary.at("visits"), headline.visits);
  EXPECT_EQ(summary, nlohmann::json(summary_of(mission.scenario(), headline)));

  const auto saved = [&](const char* file) {
    return numbers_of_model(nn::load_network(at("here") / "models" / file).parameters);
  };
  EXPECT_EQ(saved("global.safetensors"), numbers_of_model(mission.global_model()));
  EXPECT_EQ(saved("cluster-2.safetensors"), numbers_of_model(mission.cluster_model(1)));
  EXPECT_TRUE(is_run(at("here")));
  EXPECT_TRUE(is_finished(at("here")));
  EXPECT_EQ(fs::exists(at("here") / mission_file::report), has_page());
}

// So many swarms and clusters that the planner's tables are solved on demand: asked for by whoever plans, and
// after resuming in another order.
TEST_F(MissionRuns, WithTablesOnDemandGoesOnToTheSameBytes) {
  const Scenario scenario =
      load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
                    {.settings = {"run.sequences=3", "planning.planner=myopic", "swarms.count=14",
                                  "world.clusters.count=300", "world.clusters.devices=1",
                                  "world.stations.count=6", "world.access_points.count=12",
                                  "world.distance_m=[500, 20000]", "swarms.types.worker.count=1"}});
  goes_on_to_the_same_bytes(scenario);
}

TEST_F(MissionRuns, GoesOnToTheSameBytes) {
  for (const Scenario& scenario : {small_mission(), hourly_mission()}) {
    goes_on_to_the_same_bytes(scenario);
  }
}

TEST_F(MissionRuns, ByTheClockItEndsWithItsHours) {
  MissionRun mission(hourly_mission(), at("here"), {.num_threads = 1});
  mission.run();
  EXPECT_GE(mission.headline().duration_s, 3600.0);
  EXPECT_LT(mission.headline().duration_s, 3600.0 + 600.0);
  EXPECT_GE(mission.headline().sequences, 5U);
}

TEST_F(MissionRuns, RefusesACheckpointOfAnotherScenario) {
  MissionRun(small_mission(), at("here"), {.num_threads = 1}).run();
  MissionRun other(small_mission("sequential"), at("here"), {.num_threads = 1});
  try {
    other.resume();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is of another scenario"));
  }
  EXPECT_THROW(MissionRun(small_mission(), at("nowhere"), {.num_threads = 1}).resume(), InputError);
}

TEST_F(MissionRuns, TellsWhoListensHowFarItIs) {
  std::set<std::string> stages, details;
  const auto listener = [&](std::string_view stage, double fraction, std::string_view detail) {
    EXPECT_GE(fraction, 0.0);
    EXPECT_LE(fraction, 1.0);
    stages.emplace(stage);
    details.emplace(detail);
  };
  MissionRun(small_mission(), at("here"), {.num_threads = 1, .progress = listener}).run();
  EXPECT_EQ(stages, (std::set<std::string>{"solving configurations", "training sequences"}));
  EXPECT_THAT(details, Contains(HasSubstr("3 of 3 | ")));
}

// With features that drift, it learns in every sequence; all else is as without it.
TEST_F(MissionRuns, MeasureWhatIsPossible) {
  const auto scenario = [](const char* oracle) {
    return load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml",
                         {.settings = {"run.sequences=2", "planning.planner=myopic", oracle,
                                       "drift.rotation_deg={start={uniform=[-5,5]}}"}});
  };
  MissionRun with(scenario("run.oracle=true"), at("with"), {.num_threads = 2});
  with.run();
  MissionRun without(scenario("run.oracle=false"), at("without"), {.num_threads = 1});
  without.run();
  ASSERT_TRUE(with.headline().oracle_accuracy.has_value());
  EXPECT_GT(*with.headline().oracle_accuracy, with.headline().mean_accuracy);
  EXPECT_LE(*with.headline().oracle_accuracy, 1.0);
  EXPECT_FALSE(without.headline().oracle_accuracy.has_value());
  EXPECT_FALSE(read_json(at("without") / mission_file::summary).contains("oracle_accuracy_percent"));
  EXPECT_EQ(files("with").at("sequences.csv"), files("without").at("sequences.csv"));
  EXPECT_EQ(files("with").at("models/global.safetensors"), files("without").at("models/global.safetensors"));

  const auto stop = [](std::string_view stage, double fraction, std::string_view) {
    if (stage == "training sequences" && fraction > 0.6) {
      throw std::runtime_error("stopped");
    }
  };
  EXPECT_THROW(MissionRun(scenario("run.oracle=true"), at("cut"), {.num_threads = 1, .progress = stop}).run(),
               std::runtime_error);
  MissionRun(scenario("run.oracle=true"), at("cut"), {.num_threads = 1}).resume();
  EXPECT_EQ(files("cut"), files("with"));
}

// Stays where it is.
class Idle final : public Planner {
 public:
  explicit Idle(Timing timing) : timing_(timing) {}
  void begin(std::uint64_t) override {}
  Plan choose(const Observation& seen) override {
    return {.destinations = seen.positions, .active = seen.active, .timing = timing_};
  }

 private:
  Timing timing_;
};

TEST_F(MissionRuns, TakesAPlannerOfOnesOwn) {
  MissionRun mission(small_mission(), at("here"),
                     {.num_threads = 1, .planner = [](const std::shared_ptr<const Environment>& environment) {
                        return std::make_unique<Idle>(environment->tables.timings.front());
                      }});
  mission.run();
  EXPECT_EQ(mission.headline().distance_m, 0.0);
  EXPECT_EQ(mission.headline().visits, 3 * mission.world().swarms.size());
}

TEST_F(MissionRuns, AreComparedAndReported) {
  MissionRun first(small_mission(), at("a"), {.num_threads = 1});
  first.run();
  MissionRun second(small_mission("sequential"), at("b"), {.num_threads = 1});
  second.run();
  const Comparison comparison({at("a").string(), at("b").string()});
  EXPECT_EQ(comparison.runs()[1].name, "b");
  EXPECT_EQ(comparison.runs()[1].number("energy_J"), second.headline().energy_j);
  EXPECT_EQ(comparison.runs()[0].accuracy.back()[0], first.headline().duration_s);
  ASSERT_EQ(comparison.differing_keys().size(), 1U);
  EXPECT_EQ(comparison.differing_keys()[0].first, "planning.planner");
  EXPECT_EQ(comparison.json("picture.svg").at("runs").at(1).at("difference_from_first").at("energy_J"),
            second.headline().energy_j - first.headline().energy_j);
  EXPECT_EQ(read_runs({at("a").string(), at("b").string()}).size(), 2U);
  EXPECT_THROW(read_runs({at("a").string(), at("nowhere").string()}), InputError);
}

}  // namespace
}  // namespace skein
