// `skein sweep` as people call it.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "program_fixture.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class SweepCommand : public ProgramFixture {
 protected:
  const std::string grid_ = smoke_ +
                            " --set swarms.count=1,2 --set planning.planner=beam,sequential --set "
                            "run.sequences=1 --repeat 2 --out here";
};

TEST_F(SweepCommand, RunsTheGridAndMakesATable) {
  const Outcome outcome = skein("sweep " + grid_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("8 points"));
  EXPECT_THAT(outcome.out, HasSubstr(" ± "));
  const json table = json::parse(content("here/sweep.json"));
  EXPECT_EQ(table["finished"], 8);
  ASSERT_EQ(table["cells"].size(), 4U);
  EXPECT_EQ(table["cells"][1]["settings"], (json{{"swarms.count", "1"}, {"planning.planner", "sequential"}}));
  // The mean is that of the points' own summaries.
  const std::string place = "here/points/swarms.count=2,planning.planner=beam,seed=";
  const json one = json::parse(content(place + "1/summary.json"));
  const json two = json::parse(content(place + "2/summary.json"));
  const auto mean = [](const json& a, const json& b) { return (a.get<double>() + b.get<double>()) / 2.0; };
  const json& cell = table["cells"][2];
  EXPECT_DOUBLE_EQ(cell["mean"]["energy_J"], mean(one["energy_J"], two["energy_J"]));
  EXPECT_DOUBLE_EQ(cell["mean"]["energy_by_kind.travel_J"],
                   mean(one["energy_by_kind"]["travel_J"], two["energy_by_kind"]["travel_J"]));
  EXPECT_NEAR(cell["deviation"]["energy_J"].get<double>(),
              std::abs(one["energy_J"].get<double>() - two["energy_J"].get<double>()) / std::sqrt(2.0), 1e-6);
  EXPECT_THAT(content("here/sweep.csv"), HasSubstr("swarms.count,planning.planner,seeds_finished"));
  // A point is the mission that `skein run` runs.
  ASSERT_EQ(skein("run " + smoke_ +
                  " --set planning.planner=beam --set run.sequences=1 --seed 2 --quiet --out alone")
                .exit_code,
            0);
  EXPECT_EQ(files(place + "2"), files("alone"));
}

TEST_F(SweepCommand, DoesNotDependOnThreadsAndRunsNothingTwice) {
  ASSERT_EQ(skein("sweep " + grid_ + " --quiet --threads 1").exit_code, 0);
  const auto before = files("here");
  ASSERT_EQ(skein("sweep " + smoke_ +
                  " --set swarms.count=1,2 --set planning.planner=beam,sequential --set run.sequences=1 "
                  "--repeat 2 --out there "
                  "--quiet --threads 3")
                .exit_code,
            0);
  EXPECT_EQ(before, files("there"));
  const fs::path kept = at("here/points/swarms.count=1,planning.planner=beam,seed=1/summary.json");
  const auto written = fs::last_write_time(kept);
  ASSERT_EQ(skein("sweep " + grid_ + " --quiet").exit_code, 0);
  EXPECT_EQ(fs::last_write_time(kept), written);
  // A larger grid keeps what there is; another base scenario does not.
  ASSERT_EQ(skein("sweep " + smoke_ +
                  " --set swarms.count=1,2,3 --set planning.planner=beam,sequential --set run.sequences=1 "
                  "--repeat 3 --out here "
                  "--quiet")
                .exit_code,
            0);
  EXPECT_EQ(fs::last_write_time(kept), written);
  ASSERT_EQ(skein("sweep " + grid_ + " --quiet --set run.sequences=2").exit_code, 0);
  EXPECT_NE(fs::last_write_time(kept), written);
}

TEST_F(SweepCommand, GoesOnAfterAKill) {
  const std::string words = smoke_ + " --set run.sequences=4 --set swarms.count=1,2 --repeat 2 --quiet";
  ASSERT_EQ(skein("sweep " + words + " --out whole").exit_code, 0);
  shell("timeout -s KILL 0.25 '" SKEIN_PROGRAM "' sweep " + words + " --out cut");
  ASSERT_EQ(skein("sweep " + words + " --out cut").exit_code, 0);
  auto cut = files("cut");
  std::erase_if(cut, [](const auto& file) { return file.first.ends_with(".tmp"); });  // of a write cut short
  EXPECT_EQ(cut, files("whole"));
  // Certainly half-finished: a point with its checkpoint and without its end.
  const std::string point = "cut/points/swarms.count=2,seed=2/";
  for (const std::string name : {"summary.json", "manifest.json", "models"}) {
    fs::remove_all(at(point + name));
  }
  ASSERT_EQ(skein("sweep " + words + " --out cut").exit_code, 0);
  EXPECT_EQ(content(point + "summary.json"), content("whole/points/swarms.count=2,seed=2/summary.json"));
}

TEST_F(SweepCommand, AFailedPointStopsNobody) {
  const Outcome outcome = skein(
      "sweep " + smoke_ + " --set learning.meta_step=5e-3,0.9 --set learning.inner_step=1e-3,-1 --out here");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("impossible: "));
  EXPECT_THAT(outcome.out, HasSubstr("learning.inner_step"));
  const json table = json::parse(content("here/sweep.json"));
  EXPECT_EQ(table["finished"], 1);
  EXPECT_EQ(table["impossible"], 3);
  EXPECT_EQ(table["cells"][0]["seeds_finished"], 1);
  EXPECT_EQ(table["cells"][3]["seeds_failed"], 1);
}

// The same sweep with a name; all of it is told before the answer.
TEST_F(SweepCommand, ReproduceMissionSaysNoWhereMissionsFail) {
  const Outcome outcome =
      skein("reproduce mission " + smoke_ + " --quick --set learning.meta_step=0.9 --format json --out here");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["reports"][0]["report"], "here/quick/report.md");
  EXPECT_THAT(content("here/quick/report.md"), HasSubstr("impossible: "));
  const Outcome no_data = skein("reproduce mission " + smoke_ +
                                " --quick --set data.source=mnist --set data.path=nowhere --out there");
  EXPECT_EQ(no_data.exit_code, 2) << no_data.err;
  EXPECT_THAT(no_data.err, HasSubstr("nowhere"));
  EXPECT_FALSE(fs::exists(at("there")));
}

TEST_F(SweepCommand, ADivergedPointIsNotRunAgain) {
  const std::string words =
      "sweep " + smoke_ +
      " --set learning.bound.meta_lipschitz=1e-6 --set learning.bound.gradient_lipschitz=1e-6"
      " --set learning.inner_step=10 --set learning.meta_step=5e-3,10 --quiet --out here";
  ASSERT_EQ(skein(words).exit_code, 1);
  EXPECT_EQ(json::parse(content("here/sweep.json"))["diverged"], 1);
  const fs::path failed = at("here/points/learning.meta_step=10,seed=1/failed.json");
  const auto written = fs::last_write_time(failed);
  ASSERT_EQ(skein(words).exit_code, 1);
  EXPECT_EQ(fs::last_write_time(failed), written);
  EXPECT_EQ(skein(words + " --point 2").exit_code, 3);
}

TEST_F(SweepCommand, PointsOneByOneAreTheSweep) {
  ASSERT_EQ(skein("sweep " + grid_ + " --quiet").exit_code, 0);
  const auto whole = files("here");
  fs::remove_all(at("here"));
  // As the array job does it.
  ASSERT_EQ(skein("sweep " + grid_ + " --slurm job.sh").exit_code, 0);
  EXPECT_THAT(content("job.sh"), HasSubstr("#SBATCH --array=1-8\n"));
  EXPECT_EQ(skein("sweep --collect here --quiet").exit_code, 1) << "nothing is there yet";
  ASSERT_EQ(
      shell("for i in 8 1 2 3 4 5 6 7 8; do SLURM_ARRAY_TASK_ID=$i sh job.sh || exit 9; done").exit_code, 0);
  const Outcome collected = skein("sweep --collect here --format json");
  ASSERT_EQ(collected.exit_code, 0) << collected.err;
  EXPECT_EQ(json::parse(collected.out)["finished"], 8);
  EXPECT_EQ(whole, files("here"));
  EXPECT_EQ(skein("sweep " + grid_ + " --point 9").exit_code, 2);
}

TEST_F(SweepCommand, ListsTablesAndTextsAreValues) {
  const Outcome outcome =
      skein("sweep " + smoke_ +
            " --set 'planning.durations=[8, 16],[8]' --set 'world.clusters.devices={ uniform = [3, 4] },4'"
            " --set 'run.name=\"a,b\"' --format json --out here");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json table = json::parse(outcome.out);
  ASSERT_EQ(table["cells"].size(), 4U);
  EXPECT_EQ(table["cells"][0]["settings"]["world.clusters.devices"], "{ uniform = [3, 4] }");
  EXPECT_EQ(table["cells"][3]["settings"]["planning.durations"], "[8]");
  EXPECT_THAT(content("here/sweep.csv"), HasSubstr("\"[8, 16]\",\"{ uniform = [3, 4] }\",1,0,"));
}

TEST_F(SweepCommand, RefusesAllThatIsWrongAtOnce) {
  const Outcome outcome =
      skein("sweep " + smoke_ +
            " --set 'a.b=[1,2' --set a.c=1,,2 --set a.d=1,1 --set run.seed=1,2 --set a.e=]1"
            " --set run.sequences=1,2 --set run.sequences=3,4 --out here");
  EXPECT_EQ(outcome.exit_code, 2);
  for (const char* what :
       {"lacks a closing ]", "empty value", "value twice", "--repeat", "closes nothing", "swept already"}) {
    EXPECT_THAT(outcome.err, HasSubstr(what));
  }
  const Outcome typo = skein("sweep " + smoke_ + " --set swarms.cuont=1,2 --out here");
  EXPECT_EQ(typo.exit_code, 2) << "no point is a scenario";
  EXPECT_THAT(typo.err, HasSubstr("swarms.cuont"));
  EXPECT_FALSE(fs::exists(at("here")));
}

TEST_F(SweepCommand, RefusesDirectoriesThatAreNoSweep) {
  EXPECT_EQ(skein("sweep --collect nowhere").exit_code, 2);
  write_file(at("here/grid.json"), "{\"keys\": [1]}");
  EXPECT_THAT(skein("sweep --collect here").err, HasSubstr("is not the grid of a sweep"));
  ASSERT_EQ(skein("sweep " + smoke_ + " --repeat 2 --out here --quiet").exit_code, 0);
  write_file(at("here/points/seed=1/summary.json"), "{");
  write_file(at("here/points/seed=2/manifest.json"), "nonsense");
  const Outcome damaged = skein("sweep --collect here");
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("seed=1/summary.json: is not a JSON object"));
  EXPECT_THAT(damaged.err, HasSubstr("seed=2/manifest.json: is not a JSON object"));
}

}  // namespace
}  // namespace skein
