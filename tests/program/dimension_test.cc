// `skein dimension` as people call it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "program_fixture.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class Dimension : public ProgramFixture {
 protected:
  const std::string words_ =
      "dimension " + smoke_ +
      " --set run.sequences=3 --vary worker=1..3 --vary swarms=2..3 --repeat 1 --confirm 2"
      " --most-uavs 10 --price worker=2 --out here";
};

TEST_F(Dimension, FindsTheBestWithinItsBudget) {
  const Outcome outcome = skein(words_ + " --format json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["compositions"].size(), 6U) << "the scenario's own is one of them";
  std::size_t missions = 0;
  double best = 0.0;
  double least_cost = 1e300;  // of what was not run
  double most_cost = 0.0;     // of what was
  for (const json& c : result["compositions"]) {
    ASSERT_FALSE(c.contains("impossible")) << c;
    // A leader, a coordinator and so many workers in each swarm.
    const int workers = std::stoi(c["settings"]["swarms.types.worker.count"].get<std::string>());
    const int swarms = std::stoi(c["settings"]["swarms.count"].get<std::string>());
    EXPECT_EQ(c["uavs"], swarms * (2 + workers));
    EXPECT_EQ(c["cost"], swarms * (2 + 2 * workers));
    EXPECT_EQ(c["within_budget"], swarms * (2 + workers) <= 10);
    const double cost = c["surrogate"]["learning_cost"];
    const bool own = workers == 2 && swarms == 2;  // is run in any case
    if (c.contains("missions")) {
      ++missions;
      EXPECT_TRUE(c["within_budget"]) << "nothing else is run";
      best = std::max(best, c["missions"]["accuracy_percent"].get<double>());
      most_cost = own ? most_cost : std::max(most_cost, cost);
    } else if (c["within_budget"]) {
      least_cost = std::min(least_cost, cost);
    }
  }
  EXPECT_EQ(missions, 3U);
  EXPECT_LE(most_cost, least_cost) << "those that the model likes best are run";
  EXPECT_EQ(result["best"]["missions"]["accuracy_percent"], best);
  EXPECT_THAT(content("here/dimension.svg"), HasSubstr("as the scenario is"));
  EXPECT_THAT(content("here/dimension.csv"), HasSubstr("swarms.types.worker.count,swarms.count,uavs,cost"));
  // A mission of it is that of `skein run`.
  ASSERT_EQ(skein("run " + smoke_ + " --set run.sequences=3 --quiet --out alone").exit_code, 0);
  EXPECT_EQ(content("alone/summary.json"),
            content("here/points/swarms.types.worker.count=2,swarms.count=2,seed=1/summary.json"));
}

TEST_F(Dimension, KeepsWhatItHasAndSaysTheSameAgain) {
  ASSERT_EQ(skein(words_ + " --quiet --threads 1").exit_code, 0);
  const auto before = files("here");
  const fs::path kept = at("here/points/swarms.types.worker.count=2,swarms.count=2,seed=1/summary.json");
  const fs::path model = at("here/points/swarms.types.worker.count=3,swarms.count=3,seed=1/surrogate.json");
  const auto written = fs::last_write_time(kept);
  const auto flown = fs::last_write_time(model);
  ASSERT_EQ(skein(words_ + " --quiet --threads 2").exit_code, 0);
  EXPECT_EQ(before, files("here"));
  EXPECT_EQ(fs::last_write_time(kept), written);
  EXPECT_EQ(fs::last_write_time(model), flown);
}

TEST_F(Dimension, AnEnergyBudgetIsThatOfTheMission) {
  ASSERT_EQ(skein(words_ + " --quiet").exit_code, 0);
  // Just below what the best has spent.
  const double spent = json::parse(content("here/dimension.json"))["best"]["missions"]["energy_J"];
  const Outcome less = skein(words_ + " --format json --most-energy " + std::to_string(spent / 1e3 - 0.1));
  const json result = json::parse(less.out);
  if (less.exit_code == 0) {
    EXPECT_LT(result["best"]["missions"]["energy_J"].get<double>(), spent);
  } else {
    EXPECT_EQ(less.exit_code, 1);
    EXPECT_TRUE(result["best"].is_null());
  }
  EXPECT_EQ(skein(words_ + " --quiet --most-energy 0.001").exit_code, 1);
}

TEST_F(Dimension, RefusesAllThatIsWrongAtOnce) {
  const Outcome outcome = skein("dimension " + smoke_ +
                                " --vary leader=1..2 --vary worker=3..1 --vary worker=x --vary swarms=1..2"
                                " --vary swarms=1..3 --price nobody=1 --price worker=-1 --out here");
  EXPECT_EQ(outcome.exit_code, 2);
  for (const char* what :
       {"--vary = leader=1..2: must name one of worker, coordinator, swarms",
        "--vary = worker=3..1: must have the form", "--vary = worker=x: must have the form",
        "--vary = swarms=1..3: names what is varied already", "--price = nobody=1: must name",
        "--price = worker=-1: must have the form"}) {
    EXPECT_THAT(outcome.err, HasSubstr(what));
  }
  EXPECT_FALSE(fs::exists(at("here")));
}

}  // namespace
}  // namespace skein
