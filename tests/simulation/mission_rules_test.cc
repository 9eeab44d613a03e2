// Who waits, who begins when, and who has which model: missions flown by a given plan.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "skein/data/data_source.h"
#include "skein/mission/build.h"
#include "skein/mission/prepare_mission.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/simulation/core_network.h"

namespace skein {
namespace {

// Says what it was given: destinations for one sequence after another.
class Script final : public Planner {
 public:
  Script(std::deque<std::vector<Site>> destinations, std::size_t num_clusters, const Timing& timing)
      : destinations_(std::move(destinations)), num_clusters_(num_clusters), timing_(timing) {}

  void begin(std::uint64_t) override {}
  Plan choose(const Observation&) override {
    Plan plan{.destinations = destinations_.front(), .timing = timing_};
    for (const Site site : plan.destinations) {
      plan.active.push_back(site < num_clusters_);
    }
    destinations_.pop_front();
    return plan;
  }

 private:
  std::deque<std::vector<Site>> destinations_;
  std::size_t num_clusters_;
  Timing timing_;
};

using Values = std::vector<float>;
Values values_of(const Model& model) { return {model.begin(), model.end()}; }

// Remembers with which models leaders began, and what they came back with.
class Witness final : public Fleet {
 public:
  explicit Witness(Fleet& fleet) : fleet_(fleet) {}

  std::vector<LeaderUpdate> run(std::span<const LeaderTask> tasks) override {
    std::vector<LeaderUpdate> updates = fleet_.run(tasks);
    std::map<std::size_t, Values>& from = began.emplace_back();
    std::map<std::size_t, Values>& to = ended.emplace_back();
    std::map<std::size_t, double>& bounds = gradient_bounds.emplace_back();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].has_constants) {
        bounds[tasks[i].swarm] = tasks[i].constants.gradient_bound;
      }
      from[tasks[i].swarm] = values_of(*tasks[i].model);
      to[tasks[i].swarm] = values_of(updates[i].swarm.model);
      for (const OffloadSummary& round : updates[i].rounds) {
        decided[tasks[i].swarm] += round.objective;
      }
    }
    return updates;
  }
  std::vector<Model> personalise(std::span<const LeaderTask> tasks) override {
    std::map<std::size_t, Values>& from = personalised.emplace_back();
    for (const LeaderTask& task : tasks) {
      from[task.swarm] = values_of(*task.model);
    }
    return fleet_.personalise(tasks);
  }

  std::vector<std::map<std::size_t, Values>> began, ended, personalised;  // by swarm, of each global round
  std::map<std::size_t, double>
      decided;  // by swarm: what leaders' local rounds come to, by what they minimise
  std::vector<std::map<std::size_t, double>> gradient_bounds;  // B of who was told constants

 private:
  Fleet& fleet_;
};

// Two swarms, three clusters (0 to 2) and a station (3); two global rounds a sequence.
class ByPlan {
 public:
  ByPlan(std::deque<std::vector<Site>> destinations, const std::vector<std::string>& more)
      : scenario_(load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = settings(more)})),
        prepared_(scenario_,
                  std::make_shared<const DataSplit>(load_data(scenario_.data.source, scenario_.run.seed)),
                  pool_, alone(), [](double) {}),
        planner_(std::move(destinations), prepared_.world().clusters.size(),
                 {.duration = 2.0, .local_period = 1.0, .global_period = 1.0}),
        witness(prepared_.fleet()),
        core_(prepared_.start(planner_, prepared_.field(), witness)) {}

  SequenceRecord step() {
    return core_.step([](double) {});
  }
  [[nodiscard]] const World& world() const { return prepared_.world(); }
  // What no decision changes of a sequence's O(s).
  [[nodiscard]] double objective_constant() const {
    return SwarmProblems(problem_setting(scenario_), world()).objective_constant(1, 1, 2.0);
  }
  [[nodiscard]] double spent_j(std::size_t uav, EnergyKind kind) const {
    return to_energy(core_.state().ledger.account(uav).spent_on(kind)).si();
  }
  [[nodiscard]] double spent_j(EnergyKind kind) const {
    return to_energy(core_.state().ledger.spent_on(kind)).si();
  }
  [[nodiscard]] Values global_model() const { return values_of(core_.global_model()); }

 private:
  static std::vector<std::string> settings(const std::vector<std::string>& more) {
    std::vector<std::string> all{"run.seed=5",
                                 "run.sequences=6",
                                 "offloading.method='maximum_processing'",
                                 "planning.planner='myopic'",
                                 "learning.network.preset='mlp'",
                                 "planning.durations=[2]",
                                 "planning.local_periods=[1]",
                                 "planning.global_periods=[1]"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Scenario scenario_;
  ThreadPool pool_{2};
  PreparedMission prepared_;
  Script planner_;

 public:
  Witness witness;

 private:
  CoreNetwork core_;
};

// A model of 5 Mbit at 1 Mbit/s: who was away when others merged theirs leaves 5 s later, and has more sent.
TEST(MissionRules, WhoComesBackFromAStationIsSentTheModel) {
  ByPlan mission({{0, 1}, {3, 2}, {1, 0}, {0, 2}},
                 {"offloading.model_kbit=5000", "world.access_points.way='decide'"});
  mission.step();
  EXPECT_FALSE(mission.step().swarms[0].gets_model) << "at a station";
  const SequenceRecord back = mission.step();
  const SequenceRecord after = mission.step();
  EXPECT_TRUE(back.swarms[0].gets_model);
  EXPECT_FALSE(back.swarms[1].gets_model);
  EXPECT_FALSE(after.swarms[0].gets_model);
  EXPECT_NEAR(back.swarms[0].arrival_s - back.start_s, 5.0 + back.swarms[0].distance_m / 10.0, 1e-9);
  EXPECT_NEAR(back.swarms[1].arrival_s - back.start_s, back.swarms[1].distance_m / 10.0, 1e-9);
  EXPECT_NEAR(back.model_bits - after.model_bits, 5e6, 1.0);
  const auto without_data = [](const SequenceRecord& record) {
    return static_cast<double>(record.signalling.bits) - record.data_bits;
  };
  EXPECT_NEAR(without_data(back) - without_data(after), 2 * 5e6, 1e5)
      << "from core to access point, and on to the leader";
  // The time is in its arrival, and not in the round of the others again.
  const auto first_round_s = [](const SequenceRecord& record) {
    return record.swarms[1].rounds[1].start_s - record.swarms[1].rounds[0].start_s;
  };
  EXPECT_NEAR(first_round_s(back), first_round_s(after), 2.5);
}

TEST(MissionRules, WithoutAnAccessPointSwarmsGoOnFromTheirOwnModels) {
  ByPlan mission({{0, 1}, {1, 2}}, {"faults.list=['0 access_point 1 for 1']"});
  mission.step();
  const Witness& w = mission.witness;
  ASSERT_EQ(w.began.size(), 2U);
  for (std::size_t swarm = 0; swarm < 2; ++swarm) {
    EXPECT_EQ(w.began[1].at(swarm), w.ended[0].at(swarm)) << "the second round goes on from the first";
    EXPECT_EQ(w.personalised[0].at(swarm), w.ended[1].at(swarm));
  }
  const Values untouched = mission.global_model();
  EXPECT_NE(w.ended[1].at(0), untouched);
  mission.step();
  ASSERT_EQ(w.began.size(), 4U);
  for (std::size_t swarm = 0; swarm < 2; ++swarm) {
    EXPECT_EQ(w.began[2].at(swarm), w.ended[1].at(swarm));
    EXPECT_EQ(w.began[3].at(swarm), w.began[3].at(0)) << "merged again";
  }
  EXPECT_NE(mission.global_model(), untouched);
}

std::vector<std::string> costly(std::vector<std::string> more) {
  for (const char* type : {"leader", "worker", "coordinator"}) {
    more.push_back(fmt::format("swarms.types.{}.takeoff_kj=0.2", type));
    more.push_back(fmt::format("swarms.types.{}.landed_w=2", type));
  }
  return more;
}

TEST(MissionRules, WhoWaitsLandsWhereThatIsCheaper) {
  const std::deque<std::vector<Site>> plan{{0, 1}, {1, 2}};
  ByPlan hovers(plan, costly({}));
  ByPlan lands(plan, costly({"planning.waiting='cheaper'"}));
  for (int s = 0; s < 2; ++s) {
    const SequenceRecord a = hovers.step();
    const SequenceRecord b = lands.step();
    EXPECT_EQ(a.end_s, b.end_s);
    for (std::size_t swarm = 0; swarm < 2; ++swarm) {
      EXPECT_GT(a.swarms[swarm].hovering.leader_away_j, 0.0);
      EXPECT_NEAR(a.swarms[swarm].hovering.training_j, b.swarms[swarm].hovering.training_j, 1e-6);
      EXPECT_LT(b.swarms[swarm].hovering.leader_away_j, 0.01 * a.swarms[swarm].hovering.leader_away_j)
          << "only the leader's own models";
    }
  }
  const auto all = [](const ByPlan& mission) {
    return mission.spent_j(EnergyKind::hovering) + mission.spent_j(EnergyKind::take_off) +
           mission.spent_j(EnergyKind::landed);
  };
  EXPECT_LT(all(lands), 0.5 * all(hovers));
  // Each worker gets up once for each of two rounds, and once to hand over, in the second sequence too, where
  // it has flown there already and waits in the air or on the ground.
  const double once = 200.0;
  const double takeoffs = lands.spent_j(lands.world().swarms[0].workers.first, EnergyKind::take_off) / once;
  EXPECT_GE(takeoffs, 6.0 - 1e-9);
  EXPECT_LE(takeoffs, 7.0 + 1e-9);
  EXPECT_NEAR(hovers.spent_j(hovers.world().swarms[0].workers.first, EnergyKind::take_off) / once, 2.5, 0.51);
}

TEST(MissionRules, SwarmsBeginAsTheyArrive) {
  const std::deque<std::vector<Site>> plan{{0, 1}, {2, 0}};
  ByPlan together(plan, {});
  ByPlan arrival(plan, {"planning.start='arrival'", "world.access_points.way='decide'"});
  together.step();
  arrival.step();
  const SequenceRecord a = together.step();
  const SequenceRecord b = arrival.step();
  ASSERT_GT(std::abs(a.swarms[0].arrival_s - a.swarms[1].arrival_s), 5.0);
  const double last = std::max(a.swarms[0].arrival_s, a.swarms[1].arrival_s);
  for (std::size_t swarm = 0; swarm < 2; ++swarm) {
    EXPECT_EQ(a.swarms[swarm].rounds[0].start_s, last);
    EXPECT_EQ(b.swarms[swarm].rounds[0].start_s, b.swarms[swarm].arrival_s);
    EXPECT_GT(b.swarms[swarm].finished_s, std::max(b.swarms[0].arrival_s, b.swarms[1].arrival_s))
        << "the first merge needs all models";
    ASSERT_EQ(b.swarms[swarm].rounds.size(), 2U);
    EXPECT_GE(b.swarms[swarm].rounds[1].start_s,
              b.swarms[swarm].rounds[0].start_s + b.swarms[swarm].rounds[0].training_s - 1e-9);
  }
  // After the first merge both are back at once: leaders did not fly.
  EXPECT_NEAR(b.swarms[0].rounds[1].start_s, b.swarms[1].rounds[1].start_s, 0.1);
}

// What leaders minimise in their local rounds, two in a sequence, adds up to what the sequence is scored by:
// O(s), the mean of the learning part and the sum of energies.
TEST(MissionRules, LeadersMinimiseWhatTheyAreScoredBy) {
  const std::vector<std::vector<std::string>> settings{
      {"offloading.method='newton'"},
      {"offloading.method='newton'", "offloading.time='priced'"},
      {"offloading.method='worker_selection'", "offloading.time='priced'"},
      {"offloading.method='newton'", "offloading.time='priced'", "offloading.learning_term='accuracy'"}};
  for (std::vector<std::string> more : settings) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(more, " ")));
    more.emplace_back("offloading.constants='given'");  // those of the planner's tables
    more.emplace_back("offloading.learning_weight=0.3");
    ByPlan mission({{0, 1}, {1, 2}}, more);
    for (int s = 0; s < 2; ++s) {
      mission.witness.decided.clear();
      const SequenceRecord record = mission.step();
      for (std::size_t swarm = 0; swarm < 2; ++swarm) {
        ASSERT_EQ(record.swarms[swarm].rounds.size(), 2U) << record.swarms[swarm].culprit;
        const double decided = mission.witness.decided.at(swarm);
        EXPECT_NEAR(record.swarms[swarm].objective, decided + mission.objective_constant(), 1e-9 * decided);
      }
    }
  }
}

// Of two workers one has nothing to do: it stays on the ground, and hands over nothing.
TEST(MissionRules, WhoHasNothingToDoStaysOnTheGround) {
  const std::vector<std::string> lost{"faults.list=['0 worker 1.2 for 1']", "planning.waiting='cheaper'"};
  ByPlan mission({{0, 1}}, costly(lost));
  const std::vector<Site> sites{0, 1};
  const SequenceRecord record = mission.step();
  const std::size_t idle = mission.world().swarms[0].workers.first + 1;
  const std::size_t works = idle - 1;
  EXPECT_GT(record.uavs[works].hovering_s, 0.0);
  EXPECT_EQ(record.uavs[idle].hovering_s, 0.0);
  EXPECT_NEAR(record.uavs[idle].landed_s + record.uavs[idle].flying_s, record.end_s - record.start_s, 1e-9);
}

// Nor does anybody hover whom worker selection leaves out.
TEST(MissionRules, WhoIsIdleByDecisionStaysOnTheGround) {
  ByPlan mission({{0, 1}, {1, 2}}, {"offloading.method='worker_selection'", "offloading.time='priced'",
                                    "offloading.learning_term='accuracy'", "planning.waiting='cheaper'"});
  std::size_t idle = 0;
  std::size_t busy = 0;
  for (int s = 0; s < 2; ++s) {
    const SequenceRecord record = mission.step();
    for (std::size_t swarm = 0; swarm < 2; ++swarm) {
      const std::vector<RoundRecord>& rounds = record.swarms[swarm].rounds;
      ASSERT_EQ(rounds.size(), 2U) << record.swarms[swarm].culprit;
      const std::size_t first = mission.world().swarms[swarm].workers.first;
      for (std::size_t u = 0; u < rounds[0].decision.data.size(); ++u) {
        const bool works = rounds[0].decision.data[u] > 0.0 || rounds[1].decision.data[u] > 0.0;
        EXPECT_EQ(record.uavs[first + u].hovering_s > 0.0, works) << swarm << " " << u;
        (works ? busy : idle) += 1;
      }
    }
  }
  EXPECT_GE(idle, 4U);
  EXPECT_GE(busy, 4U);
}

// When leaders get to know the constants that the core network has measured, and whose.
TEST(MissionRules, ConstantsAreMeasuredForAllAtTheEndOfASequence) {
  ByPlan mission({{0, 1}, {0, 1}}, {});
  const SequenceRecord record = mission.step();
  mission.step();
  ASSERT_EQ(record.constants.size(), 1U);
  const double found = record.constants.front().constants.gradient_bound;
  const std::map<std::size_t, double> nobody;
  const std::map<std::size_t, double> both{{0, found}, {1, found}};
  EXPECT_EQ(mission.witness.gradient_bounds, (std::vector{nobody, nobody, both, both}));
}

TEST(MissionRules, ConstantsMayBeMeasuredAtEachAggregation) {
  ByPlan mission({{0, 1}, {0, 1}}, {"offloading.constants_moment=aggregation"});
  std::vector<std::map<std::size_t, double>> expected(1);
  for (int sequence = 0; sequence < 2; ++sequence) {
    const SequenceRecord record = mission.step();
    ASSERT_EQ(record.constants.size(), 2U);
    for (const ConstantsRecord& measured : record.constants) {
      ASSERT_TRUE(measured.time_s.has_value());
      EXPECT_LE(*measured.time_s, record.end_s);
      const double found = measured.constants.gradient_bound;
      expected.push_back({{0, found}, {1, found}});
    }
  }
  expected.pop_back();
  EXPECT_EQ(mission.witness.gradient_bounds, expected);
  EXPECT_NE(expected[1], expected[2]);
}

// Each of what is measured at its own cluster; who was not there does not get any.
TEST(MissionRules, ConstantsMayBeThoseOfEachSwarmsCluster) {
  ByPlan mission({{0, 3}, {0, 1}, {1, 0}}, {"offloading.constants=measured_per_swarm"});
  const SequenceRecord first = mission.step();
  const SequenceRecord second = mission.step();
  mission.step();
  ASSERT_EQ(first.constants.size(), 1U);
  ASSERT_EQ(second.constants.size(), 2U);
  const double first_bound = first.constants[0].constants.gradient_bound;
  const double a = second.constants[0].constants.gradient_bound;
  const double b = second.constants[1].constants.gradient_bound;
  EXPECT_EQ(second.constants[1].swarm, 1U);
  EXPECT_NE(a, b);
  const std::map<std::size_t, double> nobody;
  const std::map<std::size_t, double> one{{0, first_bound}};
  const std::map<std::size_t, double> both{{0, a}, {1, b}};
  EXPECT_EQ(mission.witness.gradient_bounds, (std::vector{nobody, nobody, one, one, both, both}));
}

// What devices report takes energy of theirs and of leaders, bits and time; nothing else changes but that.
TEST(MissionRules, ReportsOfEstimatesAreBooked) {
  const std::vector<std::string> held_out{"planning.estimates.held_out=0.2"};
  ByPlan free({{0, 1}, {0, 2}}, held_out);
  ByPlan paid({{0, 1}, {0, 2}}, {held_out.front(), "planning.estimates.costs=true"});
  const std::uint64_t bits = 3ULL * 32 * 10;
  for (const std::uint64_t reports : {2U, 3U}) {  // two hand-overs; then one arrival more
    const SequenceRecord without = free.step();
    const SequenceRecord with = paid.step();
    std::uint64_t messages = reports;  // of leaders
    for (std::size_t swarm = 0; swarm < 2; ++swarm) {
      messages +=
          paid.world().clusters[with.swarms[swarm].to].devices.count * (reports == 3U && swarm == 0 ? 2 : 1);
    }
    EXPECT_EQ(with.signalling.messages - without.signalling.messages, messages);
    EXPECT_EQ(with.signalling.bits - without.signalling.bits, messages * bits);
    EXPECT_GT(with.swarms[1].finished_s, without.swarms[1].finished_s);
    for (std::size_t c = 0; c < with.clusters.size(); ++c) {
      EXPECT_EQ(with.clusters[c].accuracy_after, without.clusters[c].accuracy_after);
    }
  }
  const std::size_t leader = paid.world().swarms[0].leader;
  EXPECT_NEAR(paid.spent_j(leader, EnergyKind::signalling) - free.spent_j(leader, EnergyKind::signalling),
              3 * paid.world().uavs[leader].transmit_power.si() * static_cast<double>(bits) / 1e6, 1e-8);
}

// Planners hear of a cluster without a model, then of one that was visited; and nothing where no points are
// held out.
TEST(MissionRules, EstimatesStandBesideWhatTheyEstimate) {
  ByPlan none({{0, 1}}, {});
  EXPECT_FALSE(none.step().clusters[0].predicted_accuracy.has_value());
  ByPlan mission({{0, 1}, {0, 2}}, {"planning.estimates.held_out=0.2"});
  const SequenceRecord first = mission.step();
  const SequenceRecord second = mission.step();
  EXPECT_EQ(first.clusters[0].predicted_accuracy, 0.1);
  EXPECT_FALSE(first.clusters[0].estimated_before.has_value());
  ASSERT_TRUE(first.clusters[0].estimated_after.has_value());
  EXPECT_NE(second.clusters[0].predicted_accuracy, 0.1);
  EXPECT_TRUE(second.clusters[0].estimated_before.has_value());
  EXPECT_FALSE(second.clusters[1].estimated_before.has_value()) << "nobody is there";
  EXPECT_FALSE(second.clusters[2].estimated_before.has_value()) << "the first visit";
  EXPECT_EQ(second.clusters[2].predicted_accuracy, 0.1);
}

}  // namespace
}  // namespace skein
