#include "skein/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/bounds/bounds.h"
#include "skein/scenario/sizes.h"
#include "skein/scenario/toml_reader.h"

namespace skein {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::filesystem::path source_directory = SKEIN_SOURCE_DIR;

std::vector<InputFault> faults_of_text(const std::string& text, const LoadOptions& options = {}) {
  try {
    parse_scenario(text, "test.toml", options);
  } catch (const InputError& error) {
    return error.faults();
  }
  return {};
}

// Not as temporaries, in whose destructors GCC 12 sees uninitialised members.
const Scenario& defaults() {
  static const Scenario scenario;
  return scenario;
}

auto fault(const std::string& key, const std::string& message) {
  return AllOf(Field(&InputFault::key, key), Field(&InputFault::message, HasSubstr(message)));
}

TEST(Scenario, AnEmptyFileHasEveryDefault) {
  EXPECT_EQ(resolved_scenario(parse_scenario("", "test.toml")), resolved_scenario(defaults()));
}

TEST(Scenario, EveryShippedScenarioLoadsAndItsResolvedFormIsAFixedPoint) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_directory / "scenarios")) {
    if (entry.path().extension() == ".toml") {
      SCOPED_TRACE(entry.path());
      const std::string resolved = resolved_scenario(load_scenario(entry.path()));
      EXPECT_EQ(resolved_scenario(parse_scenario(resolved, "resolved.toml")), resolved);
      ++count;
    }
  }
  EXPECT_GE(count, 5U);
}

TEST(Scenario, ThePaperIsABaseByName) {
  EXPECT_EQ(resolved_scenario(parse_scenario("base = \"paper\"", "test.toml")),
            resolved_scenario(defaults()));
}

// What a sample of Fashion-MNIST has, 32 bits for each of 151,034 parameters, and three forward passes of
// 980,608 operations at 4 a cycle.
TEST(Scenario, SizesCanBeThoseOfNetworkAndData) {
  const Scenario open = parse_scenario(
      "[offloading]\nmodel_kbit = 0\npoint_kbit = 0\n[swarms.types.worker]\ncycles_per_point = 0\n"
      "[swarms.types.leader]\ncycles_per_point = 5e4\n[learning.network]\npreset = \"mnist_cnn_stride2\"",
      "test.toml");
  EXPECT_EQ(open.offloading.model_size.spread, constant(0.0)) << "as written";
  const std::string resolved = resolved_scenario(open);
  for (const char* line : {"model_kbit = 4833.088\n", "point_kbit = 6.28\n", "cycles_per_point = 735456\n",
                           "cycles_per_point = 50000\n"}) {
    EXPECT_THAT(resolved, HasSubstr(line));
  }
  EXPECT_THAT(resolved_scenario(with_sizes(defaults())), HasSubstr("point_kbit = 80\n"));
  // Waveforms of 2 x 128 floats.
  EXPECT_THAT(resolved_scenario(parse_scenario("[data]\nsource = \"radioml\"\n[offloading]\npoint_kbit = 0\n",
                                               "test.toml")),
              HasSubstr("point_kbit = 8.2\n"));
}

TEST(Scenario, ProfilesAreDefaultsOfATypesKeys) {
  const Scenario scenario = parse_scenario(
      "[swarms]\naircraft = \"quadrotor_2kg\"\n"
      "[swarms.types.leader]\nbattery_kj = 500\n"
      "[swarms.types.worker]\naircraft = \"paper\"\ncomputer = \"raspberry_pi_4\"\nmost_clock_mhz = 1200\n"
      "[swarms.types.scout]\nrole = \"worker\"\n",
      "test.toml");
  const auto type = [&](const std::string& name) {
    return *std::ranges::find(scenario.swarms.types, name, &UavType::name);
  };
  EXPECT_EQ(type("leader").battery.spread, constant(500));
  EXPECT_EQ(type("leader").battery_threshold.spread, constant(190));
  EXPECT_EQ(type("leader").propulsion.kind, PropulsionKind::rotary_wing);
  EXPECT_EQ(type("worker").battery.spread, constant(48.6));
  EXPECT_EQ(type("worker").propulsion.kind, PropulsionKind::fixed_wing);
  EXPECT_EQ(type("worker").most_clock.spread, constant(1200));
  EXPECT_EQ(type("worker").cycles_per_point.spread, constant(0));
  EXPECT_EQ(type("worker").landed_power.spread, constant(2.1));
  EXPECT_EQ(type("scout").battery.spread, constant(950));
  const std::string resolved = resolved_scenario(scenario);
  EXPECT_EQ(resolved_scenario(parse_scenario(resolved, "again.toml")), resolved);
}

TEST(Scenario, TheStarterLoadsBackToTheDefaults) {
  EXPECT_EQ(resolved_scenario(parse_scenario(starter_scenario(defaults()), "new.toml")),
            resolved_scenario(defaults()));
}

TEST(Scenario, ResolvedKeepsEveryKindOfValue) {
  const std::string text = R"(
[run]
name = "a \"quoted\" name"
[world]
hover = "ring"
[world.clusters]
positions_m = [[0, 0], [700.25, 1e-3], [0, -800]]
devices = [3, 4, 5]
[world.devices]
power_dbm = { normal = [24, 0.1] }
[swarms]
count = 2
[swarms.types.worker]
altitude_m = { choice = [25, 27.5] }
[swarms.types.scout]
role = "coordinator"
count = [1, 2]
propulsion = "rotary_wing"
[radio]
noise_dbmphz = -173.9999999999999
[data]
label_sets = [[1, 7, 8], [0], [9, 2]]
[learning]
step_schedule = [[0, 1e-2], [10, 5e-3]]
batch_sizes = [4, 4, 12]
points_per_worker = [2367, 2231]
redraw = true
personalisation = "epoch"
initial_model = "start.safetensors"
[learning.network]
preset = "layers"
layers = ["conv 8 3 padding 1", "relu", "linear 10"]
)";
  const Scenario scenario = parse_scenario(text, "test.toml");
  EXPECT_EQ(scenario.world.clusters.sites.count, 3U);
  EXPECT_EQ(scenario.swarms.types.size(), 4U);
  const std::string resolved = resolved_scenario(scenario);
  EXPECT_EQ(resolved_scenario(parse_scenario(resolved, "again.toml")), resolved);
  for (const std::string_view line :
       {"name = \"a \\\"quoted\\\" name\"", "hover = \"ring\"",
        "positions_m = [[0, 0], [700.25, 0.001], [0, -800]]", "devices = [3, 4, 5]",
        "power_dbm = { normal = [24, 0.1] }", "altitude_m = { choice = [25, 27.5] }",
        "[swarms.types.scout.rotary_wing]", "label_sets = [[1, 7, 8], [0], [9, 2]]",
        "noise_dbmphz = -173.9999999999999\n", "step_schedule = [[0, 0.01], [10, 0.005]]",
        "batch_sizes = [4, 4, 12]", "points_per_worker = [2367, 2231]", "redraw = true",
        "personalisation = \"epoch\"", "initial_model = \"start.safetensors\"", "preset = \"layers\"",
        "layers = [\"conv 8 3 padding 1\", \"relu\", \"linear 10\"]"}) {
    EXPECT_THAT(resolved, HasSubstr(line));
  }
}

TEST(Scenario, TenPlantedFaultsAreAllNamedAtOnce) {
  const std::string text = R"(
[run]
seed = "one"
sequnces = 5
[world]
distance_m = [2000, 500]
[world.clusters]
radius_m = -3
devices = { uniform = [10, 8] }
[swarms.types.worker]
battery_kj = nan
threshold_kj = 60
[radio]
bandwith_mhz = 2
[data]
labels_per_cluster = 11
[learning]
batch_sizes = [4, 0, 4]
)";
  const std::vector<InputFault> faults = faults_of_text(text);
  EXPECT_THAT(faults, SizeIs(10));
  EXPECT_THAT(faults, Contains(fault("run.seed", "must be a whole number")));
  EXPECT_THAT(faults, Contains(fault("run.sequnces", "did you mean run.sequences?")));
  EXPECT_THAT(faults, Contains(fault("world.distance_m", "least distance is above the most")));
  EXPECT_THAT(faults, Contains(fault("world.clusters.radius_m", "must be a number > 0")));
  EXPECT_THAT(faults, Contains(fault("world.clusters.devices", "low <= high")));
  EXPECT_THAT(faults, Contains(fault("swarms.types.worker.battery_kj", "must be finite")));
  EXPECT_THAT(faults, Contains(fault("swarms.types.worker.threshold_kj", "must be below battery_kj")));
  EXPECT_THAT(faults, Contains(fault("radio.bandwith_mhz", "did you mean radio.bandwidth_mhz?")));
  EXPECT_THAT(faults,
              Contains(fault("data.labels_per_cluster", "more than the 10 classes of fashion-mnist")));
  EXPECT_THAT(faults, Contains(fault("learning.batch_sizes", "all above 0, or all 0")));
  EXPECT_THAT(faults, Contains(Field(&InputFault::file, "test.toml:3"))) << "the line of run.seed";
}

TEST(Scenario, TheBoundsConditionIsNoFaultOfTraining) {
  const Scenario paper = parse_scenario("[learning]\nmeta_step = 1e-2", "test.toml");
  EXPECT_THAT(bound_faults(paper.learning),
              ElementsAre(fault("learning.meta_step", "= 0.00833333: the convergence bounds do not hold")));
  EXPECT_THAT(bound_faults(defaults().learning), IsEmpty());
  // At the limit itself, 1 / (6 * 20), they do not hold either.
  LearningOptions limit;
  limit.meta_step = 1.0 / 120.0;
  EXPECT_THAT(bound_faults(limit), SizeIs(1));
}

struct OneFault {
  std::string text;
  std::string key;
  std::string message;
};

class ScenarioFault : public ::testing::TestWithParam<OneFault> {};

TEST_P(ScenarioFault, IsReportedWithItsKey) {
  EXPECT_THAT(faults_of_text(GetParam().text), Contains(fault(GetParam().key, GetParam().message)))
      << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Each, ScenarioFault,
    ::testing::Values(
        OneFault{"run = 3", "run", "must be a section"},
        OneFault{"[run]\nname = 3", "run.name", "must be a text in quotes"},
        OneFault{"[run]\nseed = -1", "run.seed", "whole number in [0"},
        OneFault{"[run]\nseed = 1.5", "run.seed", "whole number"},
        OneFault{"[runn]\nseed = 1", "runn", "did you mean run?"},
        OneFault{"[world]\nbandwidth_mhz = 2", "world.bandwidth_mhz", "did you mean radio.bandwidth_mhz?"},
        OneFault{"[world]\nhover = \"high\"", "world.hover",
                 "must be one of \"devices\", \"ring\", \"given\""},
        OneFault{"[world]\ndistance_m = [1, 2, 3]", "world.distance_m", "list of 2 numbers"},
        OneFault{"[world]\ndistance_m = [1, \"x\"]", "world.distance_m", "each must be"},
        OneFault{"[world.clusters]\npositions_m = [[1, 2, 3]]", "world.clusters.positions_m",
                 "list of pairs"},
        OneFault{"[world.clusters]\npositions_m = [[1, inf]]", "world.clusters.positions_m", "each must be"},
        OneFault{"[world.clusters]\ncount = 2\npositions_m = [[1, 2]]", "world.clusters.count",
                 "differs from the 1"},
        OneFault{"[world.clusters]\npositions_m = [[1, 2]]\npositions_deg = [[1, 2]]",
                 "world.clusters.positions_deg", "give one of the two"},
        OneFault{"[world.clusters]\npositions_deg = [[100, 2]]", "world.clusters.positions_deg", "latitude"},
        OneFault{"[world.clusters]\ncount = 0", "world.clusters.count", "in [1"},
        OneFault{"[world.clusters]\ndevices = 0", "world.clusters.devices", ">= 1"},
        OneFault{"[world.clusters]\ndevices = 2.5", "world.clusters.devices", "whole number"},
        OneFault{"[world.clusters]\ndevices = []", "world.clusters.devices", "must not be empty"},
        OneFault{"[world.clusters]\nradius_m = { uniform = [1] }", "world.clusters.radius_m", "[low, high]"},
        OneFault{"[world.clusters]\nradius_m = { gamma = [1, 2] }", "world.clusters.radius_m", "uniform"},
        OneFault{"[world.clusters]\nradius_m = { normal = [-100, 1] }", "world.clusters.radius_m",
                 "almost never"},
        OneFault{"[world.clusters]\nradius_m = true", "world.clusters.radius_m", "must be a number"},
        OneFault{"[swarms]\ncount = 9", "swarms.count", "no two swarms share a cluster"},
        OneFault{"[swarms.types.worker]\nbattery_kj = -5", "swarms.types.worker.battery_kj",
                 "must be a number > 0"},
        OneFault{"[swarms.types.leader]\ncount = 0", "swarms.types", "has no leader"},
        OneFault{"[swarms.types.worker]\nleast_clock_mhz = 3000", "swarms.types.worker.least_clock_mhz",
                 "at most"},
        OneFault{"[swarms.types.worker]\npropulsion = \"jet\"", "swarms.types.worker.propulsion", "one of"},
        OneFault{"[radio]\nnlos_excess_db = 1", "radio.nlos_excess_db", "at least los_excess_db"},
        OneFault{"[radio]\nbandwidth_mhz = inf", "radio.bandwidth_mhz", "must be finite"},
        OneFault{"[data]\nlabel_sets = [1, 2]", "data.label_sets", "list of lists"},
        OneFault{"[data]\nlabel_sets = [[1, 2.5]]", "data.label_sets", "whole number"},
        OneFault{"[data]\nsource = \"imagenet\"", "data.source", "must be one of"},
        OneFault{"[data]\ndisjoint = 1", "data.disjoint", "true or false"},
        OneFault{"[data]\nsource = \"radioml\"\nlabels_per_cluster = 5", "data.labels_per_cluster",
                 "4 classes"},
        OneFault{"[data]\npoints_per_device = 2000", "data.points_per_device", "at most data.buffer_points"},
        OneFault{"[learning]\ninner_step = nan", "learning.inner_step", "must be"},
        OneFault{"[learning]\nbatch_ratios = [0.1, 0.2]", "learning.batch_ratios", "list of 3"},
        OneFault{"[learning]\nbatch_sizes = [4, 4, 4.5]", "learning.batch_sizes", "whole number"},
        OneFault{"[learning]\nbatch_sizes = [0, 0, 4]", "learning.batch_sizes", "all above 0"},
        OneFault{"[learning]\nstep = 0", "learning.step", "must be"},
        OneFault{"[learning]\ndifference_step = 0", "learning.difference_step", "must be"},
        OneFault{"[learning]\nstep_schedule = [1e-2, 5e-3]", "learning.step_schedule", "list of pairs"},
        OneFault{"[learning]\nstep_schedule = [[1, 1e-2]]", "learning.step_schedule", "ascend from 0"},
        OneFault{"[learning]\nstep_schedule = [[0, 1e-2], [10, 1e-3], [10, 1e-4]]", "learning.step_schedule",
                 "ascend from 0"},
        OneFault{"[learning]\nstep_schedule = [[0, 1e-2], [2.5, 1e-3]]", "learning.step_schedule",
                 "must be whole"},
        OneFault{"[learning]\nstep_schedule = [[0, 0]]", "learning.step_schedule", "in (0, 10]"},
        OneFault{"[learning]\nstep_schedule = [[0, 11]]", "learning.step_schedule", "in (0, 10]"},
        OneFault{"[learning]\npoints_per_worker = 0", "learning.points_per_worker", ">= 1"},
        OneFault{"[learning]\nredraw = 1", "learning.redraw", "true or false"},
        OneFault{"[learning]\npersonalisation = \"none\"", "learning.personalisation", "\"step\", \"epoch\""},
        OneFault{"[learning]\npersonal_steps = 0", "learning.personal_steps", "whole number in [1"},
        OneFault{"[learning]\nlabel_shift = -1", "learning.label_shift", "must be"},
        OneFault{"[learning]\nlabel_shift = 0.5\n[learning.network]\npreset = \"mnist_cnn_published\"",
                 "learning.label_shift", "must be linear"},
        OneFault{"[learning]\ninitial_model = 3", "learning.initial_model", "text in quotes"},
        OneFault{"[learning]\ngradient_points = -1", "learning.gradient_points", "whole number in [0"},
        OneFault{"[learning]\nnetwork = \"mlp\"", "learning.network", "must be a section"},
        OneFault{"[learning.network]\npreset = \"resnet\"", "learning.network.preset", "\"mnist_cnn\""},
        OneFault{"[learning.network]\nlayers = \"relu\"", "learning.network.layers", "list of texts"},
        OneFault{"[learning.network]\nlayers = [\"relu\", 3]", "learning.network.layers", "list of texts"},
        OneFault{"[learning.network]\nlayers = [3, 4]", "learning.network.layers", "list of texts"},
        OneFault{"[offloading]\nlearning_weight = 1.5", "offloading.learning_weight", "[0, 1]"},
        OneFault{"[planning]\ndurations = []", "planning.durations", "must not be empty"},
        OneFault{"[planning]\ndurations = [181]", "planning.durations", "no multiple"},
        OneFault{"[planning.drift]\nstart = [1, 2]", "planning.drift.start", "lists 2 values for"},
        OneFault{"[planning]\ndiscount = 1", "planning.discount", "[0, 1)"},
        OneFault{"[drift.label_mix]\nstart = [0.1, 0.2]", "drift.label_mix.start", "2 values"},
        OneFault{"base = 3", "base", "name of a scenario file"},
        OneFault{"[run]\nsequences = 0", "run.sequences", "the mission would have no end"},
        OneFault{"[drift.label_mix]\nstart = 1.5", "drift.label_mix.start", "a number in [0, 1]"},
        OneFault{"[drift.label_mix]\nlater = [0.1, 0.2]", "drift.label_mix.later", "2 values"},
        OneFault{"[drift.label_mix]\nlater = 1.5", "drift.label_mix.later", "a number in [0, 1]"},
        OneFault{"[drift.noise]\nlater_from = -1", "drift.noise.later_from", "[0, 1000000]"},
        OneFault{"[drift]\nper = \"hours\"", "drift.per", "did you mean \"hour\"?"},
        OneFault{"[offloading]\npoint_kbit = { uniform = [0, 3] }", "offloading.point_kbit", "or 0 alone"},
        OneFault{"[swarms]\naircraft = \"quadrotor_2g\"", "swarms.aircraft",
                 "did you mean \"quadrotor_2kg\"?"},
        OneFault{"[swarms.types.worker]\ncomputer = \"cray\"", "swarms.types.worker.computer",
                 "must be one of \"paper\", \"raspberry_pi_4\""}));

TEST(Scenario, TextThatIsNotTomlIsRefusedWithItsPlace) {
  EXPECT_THAT(faults_of_text("[run\nseed = 1"),
              Contains(Field(&InputFault::message, HasSubstr("is not TOML"))));
  EXPECT_THAT(faults_of_text("[run\nseed = 1"), Contains(Field(&InputFault::file, HasSubstr("test.toml:1"))));
  EXPECT_THAT(faults_of_text(std::string("\0\1\2\xff\xfe junk", 10)), SizeIs(1));
  EXPECT_THAT(faults_of_text("[run]\nseed = 1\nseed = 2"), SizeIs(1));
}

TEST(Scenario, AFileThatIsTooLargeIsRefused) {
  std::string text(10'000'000, '#');
  EXPECT_THAT(faults_of_text(text), Contains(Field(&InputFault::message, HasSubstr("larger than"))));
}

TEST(Scenario, AFileOfUnknownKeysEndsQuickly) {
  std::string text;
  for (int i = 0; i < 40000; ++i) {
    text += "key_" + std::to_string(i) + " = 1\n";
  }
  EXPECT_THAT(faults_of_text(text), SizeIs(40000));
}

TEST(Scenario, SettingsOverrideTheFile) {
  const LoadOptions options{.settings = {"run.seed=7", "run.name=text without quotes",
                                         "radio.bandwidth_mhz={uniform=[1,3]}",
                                         "swarms.types.worker.count=[1,2,3]"}};
  const Scenario scenario = parse_scenario("[run]\nseed = 3", "test.toml", options);
  EXPECT_EQ(scenario.run.seed, 7U);
  EXPECT_EQ(scenario.run.name, "text without quotes");
  EXPECT_EQ(scenario.radio.bandwidth.spread, uniform(1, 3));
  EXPECT_EQ(scenario.swarms.types[1].count.spread, list({1, 2, 3}));
}

TEST(Scenario, FaultsOfSettingsNameTheSetting) {
  EXPECT_THAT(faults_of_text("", {.settings = {"radio.carier_ghz=2"}}),
              Contains(AllOf(Field(&InputFault::file, HasSubstr("--set")),
                             fault("radio.carier_ghz", "radio.carrier_ghz"))));
  for (const std::string setting : {"no equals sign", "=3", "a b=3", "[x]=3"}) {
    EXPECT_THAT(faults_of_text("", {.settings = {setting}}), SizeIs(1)) << setting;
  }
}

class ScenarioFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) /
                 ("scenario_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    write_file(directory_ / name, text);
    return directory_ / name;
  }

  std::filesystem::path directory_;
};

TEST_F(ScenarioFiles, ABaseIsInheritedKeyByKey) {
  write("a/base.toml", "[run]\nseed = 5\nname = \"base\"\n[radio]\nbandwidth_mhz = { uniform = [1, 2] }");
  const auto file = write("b/child.toml",
                          "base = \"../a/base.toml\"\n[run]\nname = \"child\"\n"
                          "[radio]\nbandwidth_mhz = { normal = [3, 0.1] }");
  const Scenario scenario = load_scenario(file);
  EXPECT_EQ(scenario.run.seed, 5U);
  EXPECT_EQ(scenario.run.name, "child");
  EXPECT_EQ(scenario.radio.bandwidth.spread, normal(3, 0.1)) << "a distribution replaces, it is not merged";
}

TEST_F(ScenarioFiles, AFaultInABaseNamesTheBase) {
  write("base.toml", "[run]\nseed = -5");
  const auto file = write("child.toml", "base = \"base.toml\"");
  try {
    load_scenario(file);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.faults(), Contains(Field(&InputFault::file, HasSubstr("base.toml:2"))));
  }
}

TEST_F(ScenarioFiles, AFaultInTheFileItselfNamesItsLine) {
  write("base.toml", "[run]\nseed = 5");
  const auto file = write("child.toml", "base = \"base.toml\"\n[run]\nsequences = -1");
  try {
    load_scenario(file);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.faults(), Contains(Field(&InputFault::file, HasSubstr("child.toml:3"))));
  }
}

TEST_F(ScenarioFiles, ACircleOfBasesIsRefused) {
  write("a.toml", "base = \"b.toml\"");
  const auto file = write("b.toml", "base = \"a.toml\"");
  EXPECT_THROW(load_scenario(file), InputError);
  EXPECT_THROW(load_scenario(write("self.toml", "base = \"self.toml\"")), InputError);
}

TEST_F(ScenarioFiles, MissingFilesAreNamed) {
  EXPECT_THROW(load_scenario(directory_ / "none.toml"), InputError);
  EXPECT_THROW(load_scenario(write("c.toml", "base = \"none.toml\"")), InputError);
  EXPECT_THROW(load_scenario(directory_), InputError);
}

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("bandwidth", "bandwith"), 1U);
  EXPECT_EQ(edit_distance("sead", "seed"), 1U);
  EXPECT_EQ(edit_distance("sede", "seed"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace skein
