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

// What a planner by the clock is for ranks the missions.
class DimensionByTheClock : public ProgramFixture {
 protected:
  [[nodiscard]] std::string words(const std::string& objective) const {
    return "dimension " + smoke_ +
           " --set run.sequences=0 --set run.hours=0.3 --set planning.planner=horizon"
           " --set planning.horizon_h=0.2 --set planning.cycle_s=0 --set planning.estimates.held_out=0.2" +
           objective +
           " --vary worker=1..2 --vary swarms=1..2 --repeat 1 --confirm 2 --most-uavs 7 --out here";
  }
};

TEST_F(DimensionByTheClock, APriceRanksAccuracyLessEnergy) {
  const std::string price = words(" --set planning.objective=price --set planning.energy_price=0.01");
  const Outcome outcome = skein(price + " --format json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["compositions"].size(), 4U);
  double best = -1e300;
  double least_run = 1e300;
  double most_left = -1e300;
  for (const json& c : result["compositions"]) {
    const auto worth = [](const json& numbers) {
      return numbers["accuracy_percent"].get<double>() -
             0.01 * numbers["energy_J"].get<double>() / 1e3 / (3.0 * 0.3);
    };
    EXPECT_NEAR(c["surrogate"]["worth_percent"], worth(c["surrogate"]), 1e-9);
    EXPECT_EQ(c["within_budget"], c["uavs"] <= 7);
    if (!c["within_budget"]) {
      continue;
    }
    if (c.contains("missions")) {
      EXPECT_NEAR(c["missions"]["worth_percent"], worth(c["missions"]), 0.01);
      best = std::max(best, c["missions"]["worth_percent"].get<double>());
      least_run = std::min(least_run, c["surrogate"]["worth_percent"].get<double>());
    } else {
      most_left = std::max(most_left, c["surrogate"]["worth_percent"].get<double>());
    }
  }
  EXPECT_GE(least_run, most_left) << "those that the model likes best are run";
  EXPECT_EQ(result["best"]["missions"]["worth_percent"], best);
  EXPECT_THAT(content("here/dimension.csv"),
              HasSubstr("predicted_accuracy_percent,predicted_worth_percent,"));
  const auto before = files("here");
  const Outcome again = skein(price);
  EXPECT_THAT(again.out, HasSubstr("accuracy, pred. (%)"));
  EXPECT_THAT(again.out, HasSubstr("in the order of what the scenario wants"));
  EXPECT_EQ(before, files("here"));
}

TEST_F(DimensionByTheClock, WhatNobodyReachesIsNoAnswer) {
  const Outcome wanted =
      skein(words(" --set planning.objective=wanted_accuracy --set planning.wanted_accuracy_percent=99"));
  EXPECT_EQ(wanted.exit_code, 1) << wanted.err;
  EXPECT_THAT(wanted.out, HasSubstr("or all are below 99 %"));
  const Outcome budget =
      skein(words(" --set planning.objective=energy_budget --set planning.energy_budget_kj=5000"));
  EXPECT_EQ(budget.exit_code, 0) << budget.err;
  EXPECT_THAT(budget.out, HasSubstr("Best within the budget: --set"));
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
