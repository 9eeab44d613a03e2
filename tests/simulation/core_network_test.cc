// Random missions with faults of every kind, from random scenarios: what must hold whatever happens.
#include "skein/simulation/core_network.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "skein/base/random.h"
#include "skein/data/data_source.h"
#include "skein/mission/prepare_mission.h"
#include "skein/planning/planners.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

// A mission of smoke.toml with settings, flown step by step.
class Flight {
 public:
  explicit Flight(std::vector<std::string> settings, std::size_t threads = 2)
      : scenario_(load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = std::move(settings)})),
        pool_(threads),
        prepared_(scenario_,
                  std::make_shared<const DataSplit>(load_data(scenario_.data.source, scenario_.run.seed)),
                  pool_, alone(), [](double) {}),
        planner_(
            planner_factory(scenario_.planning.planner, prepared_.environment(), scenario_.planning, {})()),
        core_(prepared_.start(*planner_, prepared_.field(), prepared_.fleet())),
        faults_(draw_faults(scenario_.faults, prepared_.world(), scenario_.run.sequences)) {}

  SequenceRecord step() {
    return core_.step([](double) {});
  }
  [[nodiscard]] bool done() const { return core_.done(); }
  [[nodiscard]] const World& world() const { return prepared_.world(); }
  [[nodiscard]] const State& state() const { return core_.state(); }
  [[nodiscard]] const std::vector<MissionFault>& faults() const { return faults_; }
  CoreNetwork& core() { return core_; }
  Field& field() { return prepared_.field(); }

 private:
  Scenario scenario_;
  ThreadPool pool_;
  PreparedMission prepared_;
  std::unique_ptr<Planner> planner_;
  CoreNetwork core_;
  std::vector<MissionFault> faults_;
};

// Any number of anything, and any planner that needs no training.
std::vector<std::string> random_settings(RandomStream& random, bool with_faults) {
  const std::vector<std::string> planners{"myopic",          "beam",         "sequential",
                                          "nearest",         "random",       "threshold_nearest",
                                          "sequential_best", "nearest_best", "threshold_nearest_best"};
  const std::vector<std::string> offloaders{"newton", "greedy", "maximum_processing"};
  const std::uint64_t swarms = 1 + random.below(3);
  std::vector<std::string> settings{fmt::format("run.seed={}", random.below(1'000'000)),
                                    "run.sequences=6",
                                    fmt::format("swarms.count={}", swarms),
                                    fmt::format("world.clusters.count={}", swarms + 1 + random.below(3)),
                                    fmt::format("world.stations.count={}", 1 + random.below(2)),
                                    fmt::format("world.access_points.count={}", 1 + random.below(2)),
                                    fmt::format("world.clusters.devices={}", 1 + random.below(5)),
                                    fmt::format("swarms.types.worker.count={}", 1 + random.below(3)),
                                    fmt::format("swarms.types.coordinator.count={}", random.below(3)),
                                    fmt::format("planning.planner='{}'", random.choice(planners)),
                                    fmt::format("offloading.method='{}'", random.choice(offloaders)),
                                    fmt::format("offloading.learning_weight={}", random.uniform(0.05, 0.95)),
                                    fmt::format("offloading.model_kbit={}", random.uniform(10.0, 20000.0)),
                                    "offloading.local_time_s={uniform=[4, 8]}",
                                    "learning.network.preset='mlp'",
                                    "planning.durations=[2, 4]",
                                    "planning.local_periods=[1, 2]",
                                    "planning.global_periods=[1]"};
  if (with_faults) {
    for (const FaultKindRow& kind : fault_kinds()) {
      settings.push_back(fmt::format("faults.{}={}", kind.rate_key, random.uniform(0.0, 0.25)));
    }
    settings.push_back(fmt::format("faults.for_good={}", random.uniform(0.0, 0.5)));
  }
  return settings;
}

std::int64_t spent(const Account& account) {
  return std::accumulate(account.spent.begin(), account.spent.end(), std::int64_t{0},
                         [](std::int64_t sum, Nanojoules amount) { return sum + amount.count; });
}

// What a swarm's UAVs have flown in a sequence, from the records alone.
double flown_j(const World& world, const SwarmRecord& swarm, const std::vector<std::size_t>& uavs) {
  double sum = 0.0;
  for (const std::size_t id : uavs) {
    sum += world.uavs[id].propulsion.energy_per_metre(world.uavs[id].cruise_speed).si() * swarm.distance_m;
  }
  return sum;
}

class RandomMission {
 public:
  // Planners do not know of `more` rules.
  RandomMission(std::uint64_t seed, bool with_faults, const std::vector<std::string>& more = {})
      : random_(seed, "random mission"),
        settings_(settings(random_, with_faults, more)),
        knows_rules_(more.empty()),
        flight_(settings_) {}

  void fly() {
    SCOPED_TRACE(fmt::format("{}", fmt::join(settings_, " ")));
    while (!flight_.done()) {
      const std::vector<Account> before = flight_.state().ledger.accounts();
      const double start = flight_.state().clock.now().si();
      const SequenceRecord record = flight_.step();
      EXPECT_EQ(record.start_s, start);
      EXPECT_GE(record.end_s, start);
      check_batteries(before, record);
      if (knows_rules_) {
        check_thresholds(record);
      }
      check_times(before, record);
      check_data(record);
      check_models(record);
    }
  }

  std::size_t num_takeoffs = 0;
  std::size_t num_below = 0;  // swarms that a fault has brought below their threshold
  std::size_t num_trained = 0;
  std::size_t num_rejected = 0;
  std::size_t num_unreachable = 0;
  std::size_t num_idle = 0;  // swarms above a cluster that could not train

  [[nodiscard]] const std::vector<MissionFault>& faults() const { return flight_.faults(); }

 private:
  [[nodiscard]] std::vector<std::size_t> crashed_by(std::size_t sequence, std::size_t swarm) const {
    std::vector<std::size_t> gone;
    for (const MissionFault& f : flight_.faults()) {
      const bool is_loss =
          f.kind == FaultKind::worker || f.kind == FaultKind::coordinator || f.kind == FaultKind::leader;
      if (is_loss && f.is_for_good() && f.sequence <= sequence &&
          flight_.world().uavs[f.index].swarm == swarm) {
        gone.push_back(f.index);
      }
    }
    return gone;
  }

  // Energies add up to each battery's drop, to the nanojoule; the drop that is recorded is the ledger's; what
  // was booked as travel is what the distances say.
  void check_batteries(const std::vector<Account>& before, const SequenceRecord& record) {
    const World& world = flight_.world();
    std::vector<double> recharged(world.swarms.size(), 0.0);
    for (std::size_t id = 0; id < world.uavs.size(); ++id) {
      const Account& account = flight_.state().ledger.account(State::account_of_uav(id));
      const std::int64_t drop = before[id].level().count - account.level().count;
      const std::int64_t in = account.recharged.count - before[id].recharged.count;
      EXPECT_EQ(drop, spent(account) - spent(before[id]) - in);
      EXPECT_NEAR(record.battery_j[id], static_cast<double>(account.level().count) * 1e-9, 1e-9);
      EXPECT_GE(account.level().count, 0);
      EXPECT_LE(account.level().count, account.capacity.count);
      recharged[world.uavs[id].swarm] += static_cast<double>(in) * 1e-9;
    }
    for (std::size_t s = 0; s < world.swarms.size(); ++s) {
      const SwarmRecord& swarm = record.swarms[s];
      EXPECT_NEAR(swarm.recharged_j, recharged[s], 1e-6);
      EXPECT_TRUE(recharged[s] == 0.0 || world.is_station(swarm.to));
      const std::vector<std::size_t> gone = crashed_by(record.sequence, s);
      std::vector<std::size_t> uavs;
      double travel = 0.0;
      for (std::size_t id = world.swarms[s].leader; id < world.swarms[s].coordinators.end(); ++id) {
        if (std::ranges::find(gone, id) == gone.end()) {
          uavs.push_back(id);
        } else {
          EXPECT_EQ(spent(flight_.state().ledger.account(id)), spent(before[id]))
              << "who has crashed is still";
        }
        travel += static_cast<double>(flight_.state().ledger.account(id).spent_on(EnergyKind::travel).count -
                                      before[id].spent_on(EnergyKind::travel).count) *
                  1e-9;
      }
      if (record.shortfall_j == 0.0) {
        EXPECT_NEAR(travel, flown_j(world, swarm, uavs), 1e-9 * static_cast<double>(uavs.size() + 1));
      }
    }
  }

  static std::vector<std::string> settings(RandomStream& random, bool with_faults,
                                           const std::vector<std::string>& more) {
    std::vector<std::string> all = random_settings(random, with_faults);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Every second of everyone who has not crashed is one of flying, hovering and being on the ground, and
  // costs what these cost; getting up costs as often as it happens.
  void check_times(const std::vector<Account>& before, const SequenceRecord& record) {
    const World& world = flight_.world();
    double hovering_j = 0.0;
    double hovering_by_why_j = 0.0;
    for (std::size_t id = 0; id < world.uavs.size(); ++id) {
      const Uav& uav = world.uavs[id];
      const UavTimes& times = record.uavs[id];
      const auto spent_on = [&](EnergyKind kind) {
        const std::int64_t now = flight_.state().ledger.account(id).spent_on(kind).count;
        return 1e-9 * static_cast<double>(now - before[id].spent_on(kind).count);
      };
      const double all_s = times.flying_s + times.hovering_s + times.landed_s;
      hovering_j += spent_on(EnergyKind::hovering);
      if (all_s == 0.0) {
        continue;  // crashed
      }
      EXPECT_NEAR(all_s, record.end_s - record.start_s, 1e-6) << "UAV " << id + 1;
      if (record.shortfall_j > 0.0) {
        continue;  // of some battery: not all was paid for
      }
      EXPECT_NEAR(spent_on(EnergyKind::hovering), uav.propulsion.hover_power().si() * times.hovering_s, 1e-6);
      EXPECT_NEAR(spent_on(EnergyKind::travel) + spent_on(EnergyKind::access_point_trips),
                  uav.propulsion.power(uav.cruise_speed).si() * times.flying_s, 1e-6);
      EXPECT_NEAR(spent_on(EnergyKind::landed), uav.landed_power.si() * times.landed_s, 1e-6);
      if (uav.takeoff > Energy(0.0)) {
        const double takeoffs = spent_on(EnergyKind::take_off) / uav.takeoff.si();
        EXPECT_NEAR(takeoffs, std::round(takeoffs), 1e-6);
        EXPECT_EQ(std::round(takeoffs) > 0.0, times.flying_s + times.hovering_s > 0.0);
        num_takeoffs += static_cast<std::size_t>(std::lround(takeoffs));
      }
    }
    for (const SwarmRecord& swarm : record.swarms) {
      hovering_by_why_j +=
          swarm.hovering.training_j + swarm.hovering.leader_away_j + swarm.hovering.waiting_j;
    }
    EXPECT_NEAR(hovering_j, hovering_by_why_j, 1e-5);
  }

  // Nobody is below its threshold away from a station unless a fault says why.
  void check_thresholds(const SequenceRecord& record) {
    for (std::size_t s = 0; s < record.swarms.size(); ++s) {
      if (record.swarms[s].least_margin_j >= 0.0 || flight_.world().is_station(record.swarms[s].to)) {
        below_.erase(s);
        continue;
      }
      ++num_below;
      EXPECT_TRUE(has_reason(s, record) || below_.contains(s))
          << "swarm " << s + 1 << ", sequence " << record.sequence << ": " << record.swarms[s].least_margin_j
          << " J";
      below_.insert(s);
    }
  }

  // A fault of this very sequence that costs this swarm more than was planned: a battery of its own that
  // leaks, or, where it waits for others in the air, whatever makes their rounds longer.
  [[nodiscard]] bool has_reason(std::size_t swarm, const SequenceRecord& record) const {
    const std::size_t last_round = std::max<std::size_t>(record.global_rounds, 1) - 1;
    return std::ranges::any_of(flight_.faults(), [&](const MissionFault& f) {
      if (!f.holds(record.sequence, last_round)) {
        return false;
      }
      switch (f.kind) {
        case FaultKind::battery:
          return flight_.world().uavs[f.index].swarm == swarm;
        case FaultKind::link:
          return record.swarms[f.index].active;
        case FaultKind::worker:
        case FaultKind::coordinator:
        case FaultKind::leader:
          return record.swarms[flight_.world().uavs[f.index].swarm].active;
        case FaultKind::access_point:
          return true;
        case FaultKind::device:
        case FaultKind::update:
          return false;
      }
      return false;
    });
  }

  // Nothing is trained that was not sent, nothing is sent that devices do not hold, and no radio carries what
  // was not sent.
  void check_data(const SequenceRecord& record) {
    for (const SwarmRecord& swarm : record.swarms) {
      EXPECT_LE(swarm.points_trained, swarm.points_sent);
      num_trained += swarm.points_trained > 0 ? 1 : 0;
      if (swarm.active && swarm.points_trained == 0) {
        ++num_idle;
        EXPECT_NE(swarm.culprit, "") << "nobody is idle without a reason";
      }
      EXPECT_TRUE(swarm.active || swarm.points_sent == 0);
      for (const RoundRecord& round : swarm.rounds) {
        const OffloadSummary& d = round.decision;
        const IndexRange& devices = flight_.world().clusters[swarm.to].devices;
        const std::size_t uavs = d.device_flow.size() / devices.count;
        for (std::size_t i = 0; i < devices.count; ++i) {
          double sent = 0.0;
          for (std::size_t u = 0; u < uavs; ++u) {
            sent += d.device_flow[i * uavs + u];
          }
          EXPECT_LE(sent, static_cast<double>(held_[devices.first + i]));
        }
        const std::size_t workers = d.clock.size();
        for (std::size_t h = 0; h < uavs - workers; ++h) {
          double in = 0.0;
          double out = 0.0;
          for (std::size_t i = 0; i < devices.count; ++i) {
            in += d.device_flow[i * uavs + workers + h];
          }
          for (std::size_t j = 0; j < workers; ++j) {
            out += d.relay_flow[h * workers + j];
          }
          EXPECT_LE(out, in) << "a coordinator relays what it has";
        }
      }
    }
    num_rejected += record.rejected_updates;
    num_unreachable += record.unreachable_updates;
    remember_data();
  }

  void remember_data() {
    held_.resize(flight_.world().devices.size());
    for (std::size_t device = 0; device < held_.size(); ++device) {
      held_[device] = flight_.field().num_points(device);
    }
  }

  void check_models(const SequenceRecord& record) {
    for (const float value : flight_.core().global_model()) {
      ASSERT_TRUE(std::isfinite(value)) << "no damaged model was merged";
    }
    for (const ClusterRecord& cluster : record.clusters) {
      EXPECT_TRUE(cluster.visited || cluster.accuracy_after == cluster.accuracy_before);
      EXPECT_TRUE(!cluster.visited || cluster.age == 0.0);
    }
  }

  RandomStream random_;
  std::vector<std::string> settings_;
  bool knows_rules_;
  Flight flight_;
  std::set<std::size_t> below_;  // swarms that were below their threshold after the last sequence
  std::vector<std::size_t> held_ = [this] {
    std::vector<std::size_t> held(flight_.world().devices.size());
    for (std::size_t device = 0; device < held.size(); ++device) {
      held[device] = flight_.field().num_points(device);
    }
    return held;
  }();
};

TEST(RandomMissions, WithFaultsEverythingAddsUp) {
  std::size_t below = 0, trained = 0, rejected = 0, unreachable = 0, idle = 0;
  std::array<std::size_t, num_fault_kinds> kinds{};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomMission mission(seed, true);
    mission.fly();
    below += mission.num_below;
    trained += mission.num_trained;
    rejected += mission.num_rejected;
    unreachable += mission.num_unreachable;
    idle += mission.num_idle;
    for (const MissionFault& fault : mission.faults()) {
      ++kinds[static_cast<std::size_t>(fault.kind)];
    }
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  fmt::print(
      "{} trained, {} idle, {} below threshold by a fault, {} models rejected, {} without access point\n",
      trained, idle, below, rejected, unreachable);
  EXPECT_THAT(kinds, ::testing::Each(::testing::Gt(20U))) << "every kind of fault has happened";
  EXPECT_GT(trained, 200U);
  EXPECT_GT(rejected, 10U);
  EXPECT_GT(unreachable, 10U);
}

TEST(RandomMissions, WithoutFaultsNobodyIsBelowItsThreshold) {
  std::size_t trained = 0;
  std::size_t idle = 0;
  for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
    SCOPED_TRACE(seed);
    RandomMission mission(seed, false);
    mission.fly();
    EXPECT_EQ(mission.num_below, 0U);  // who finds all stations taken waits, landed
    trained += mission.num_trained;
    idle += mission.num_idle;
  }
  fmt::print("{} trained, {} idle\n", trained, idle);
  EXPECT_GT(trained, 200U);
  EXPECT_LT(20 * idle, trained) << "plans can nearly always be flown as they were made";
}

// Who waits lands, leaders decide on their way, swarms begin as they arrive: alone, and all together.
TEST(RandomMissions, UnderOtherRulesEverythingAddsUp) {
  const std::vector<std::vector<std::string>> rules{
      {"planning.waiting='cheaper'"},
      {"planning.start='arrival'"},
      {"world.access_points.way='decide'"},
      {"planning.waiting='cheaper'", "planning.start='arrival'", "world.access_points.way='decide'"}};
  std::size_t takeoffs = 0;
  std::size_t trained = 0;
  for (std::uint64_t seed = 2000; seed < 2032; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<std::string> more = rules[seed % rules.size()];
    for (const char* type : {"leader", "worker", "coordinator"}) {
      more.push_back(fmt::format("swarms.types.{}.takeoff_kj={{uniform=[0.1, 0.5]}}", type));
      more.push_back(fmt::format("swarms.types.{}.landed_w={{uniform=[0, 5]}}", type));
    }
    RandomMission mission(seed, seed % 2 == 0, more);
    mission.fly();
    takeoffs += mission.num_takeoffs;
    trained += mission.num_trained;
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  EXPECT_GT(takeoffs, 1000U);
  EXPECT_GT(trained, 100U);
}

// The first sequence of a mission with these faults. Its plan is the same whatever they are.
struct First {
  explicit First(const std::string& list, const std::vector<std::string>& more = {})
      : flight(settings(list, more)), record(flight.step()) {}

  static std::vector<std::string> settings(const std::string& list, const std::vector<std::string>& more) {
    std::vector<std::string> all{"run.seed=3",
                                 "swarms.types.worker.count=3",
                                 "swarms.types.coordinator.count=2",
                                 "offloading.method='maximum_processing'",
                                 "planning.planner='myopic'",
                                 "planning.durations=[4]",
                                 "planning.local_periods=[1]",
                                 "planning.global_periods=[2]",
                                 "faults.list=[" + list + "]"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Swarm 1's.
  [[nodiscard]] const SwarmRecord& swarm() const { return record.swarms[0]; }
  [[nodiscard]] double spent_j(std::size_t uav, EnergyKind kind) const {
    return to_energy(flight.state().ledger.account(State::account_of_uav(uav)).spent_on(kind)).si();
  }

  Flight flight;
  SequenceRecord record;
};

TEST(MissionFaults, ALostWorkerRestsAndComesBack) {
  const First whole("");
  ASSERT_TRUE(whole.swarm().active);
  First lost("'0 worker 1.2 for 1'");
  const std::size_t worker = lost.flight.world().swarms[0].workers.first + 1;
  EXPECT_GT(whole.spent_j(worker, EnergyKind::processing), 0.0);
  EXPECT_EQ(lost.spent_j(worker, EnergyKind::processing), 0.0);
  EXPECT_EQ(lost.spent_j(worker, EnergyKind::model_upload), 0.0);
  EXPECT_GT(lost.spent_j(worker, EnergyKind::hovering), 0.0) << "it is still in the air";
  EXPECT_GT(lost.swarm().points_trained, 0U) << "the others go on";
  const SequenceRecord next = lost.flight.step();
  EXPECT_TRUE(!next.swarms[0].active || lost.spent_j(worker, EnergyKind::processing) > 0.0);
}

TEST(MissionFaults, ALostCoordinatorRelaysNothing) {
  const First whole("");
  const First lost("'0 coordinator 1.1', '0 coordinator 1.2'");
  const IndexRange& coordinators = whole.flight.world().swarms[0].coordinators;
  double relayed = 0.0;
  for (std::size_t id = coordinators.first; id < coordinators.end(); ++id) {
    relayed += whole.spent_j(id, EnergyKind::relay);
    EXPECT_EQ(lost.spent_j(id, EnergyKind::relay), 0.0);
    EXPECT_EQ(lost.spent_j(id, EnergyKind::hovering), 0.0) << "crashed";
  }
  EXPECT_GT(relayed, 0.0);
  EXPECT_GT(lost.swarm().points_trained, 0U);
}

TEST(MissionFaults, AnotherLeadsInTheLeadersPlace) {
  const First lost("'0 leader 1'");
  const Swarm& swarm = lost.flight.world().swarms[0];
  EXPECT_EQ(lost.spent_j(swarm.leader, EnergyKind::access_point_trips), 0.0);
  EXPECT_GT(lost.spent_j(swarm.workers.end() - 1, EnergyKind::access_point_trips), 0.0);
  EXPECT_GT(lost.spent_j(swarm.workers.end() - 1, EnergyKind::model_broadcast), 0.0);
  EXPECT_EQ(lost.spent_j(swarm.workers.end() - 1, EnergyKind::processing), 0.0);
  EXPECT_TRUE(lost.record.clusters[lost.swarm().to].visited);
}

TEST(MissionFaults, ASilentDeviceSendsNothing) {
  const First whole("");
  const std::size_t cluster = whole.swarm().to;
  const First silent("'0 device " + std::to_string(cluster + 1) + ".2'");
  ASSERT_EQ(silent.swarm().to, cluster);
  const World& world = silent.flight.world();
  const auto energy_of = [&](const First& mission, std::size_t device) {
    return mission.flight.state()
        .ledger.account(State::account_of_device(world, world.clusters[cluster].devices.first + device))
        .total_spent()
        .count;
  };
  EXPECT_GT(energy_of(whole, 1), 0);
  EXPECT_EQ(energy_of(silent, 1), 0);
  EXPECT_GT(energy_of(silent, 0), 0);
  EXPECT_LT(silent.swarm().points_sent, whole.swarm().points_sent);
}

TEST(MissionFaults, ADegradedLinkTakesLonger) {
  EXPECT_GT(First("'0 link 1 0.2'").swarm().finished_s, First("").swarm().finished_s);
}

TEST(MissionFaults, WithoutAnAccessPointNothingIsMerged) {
  First out("'0 access_point 1 for 1'");
  EXPECT_GT(out.record.unreachable_updates, 0U);
  EXPECT_TRUE(out.record.constants.empty()) << "the global model has not moved";
  const SequenceRecord next = out.flight.step();
  EXPECT_EQ(next.unreachable_updates, 0U);
}

TEST(MissionFaults, DamagedModelsAreRejected) {
  for (const char* how : {"nan", "flipped"}) {
    const First damaged(std::string("'0 update 1 ") + how + "', '0.1 update 1 " + how + "'");
    EXPECT_EQ(damaged.record.rejected_updates, 2U) << how;
  }
}

// The last of a swarm is lost: nothing moves any more, and another swarm serves the cluster below it.
TEST(MissionFaults, AnotherServesTheClusterOfALostSwarm) {
  Flight flight({"run.seed=3", "run.sequences=8", "swarms.types.worker.count=1",
                 "swarms.types.coordinator.count=0", "planning.planner='myopic'",
                 "learning.network.preset='mlp'", "faults.list=['0 leader 1', '0 worker 1.1']"});
  const std::size_t place = flight.state().swarm_sites[0];
  ASSERT_FALSE(flight.world().is_station(place));
  bool served = false;
  while (!flight.done()) {
    const SequenceRecord record = flight.step();
    EXPECT_FALSE(record.swarms[0].active);
    EXPECT_EQ(record.swarms[0].to, place);
    EXPECT_EQ(record.swarms[0].travel_j, 0.0);
    served = served || record.clusters[place].visited;
  }
  EXPECT_TRUE(served);
}

// A sequence of 4 iterations has 2 global rounds here.
TEST(MissionFaults, AFaultAfterTheLastRoundIsTold) {
  const First late("'0.7 leader 1', '0.1 link 1 0.5'");
  ASSERT_EQ(late.record.faults.size(), 2U);
  EXPECT_THAT(late.record.faults[0].what, ::testing::Not(HasSubstr("after the last")));
  EXPECT_THAT(late.record.faults[1].what, HasSubstr("after the last global round"));
}

// Whoever cannot train pays for it in the objective, as in the planner's tables.
TEST(MissionFaults, ASwarmThatCannotTrainHasTheWorstObjective) {
  const First whole("");
  const First lost("'0.1 worker 1.1 for 1', '0.1 worker 1.2 for 1', '0.1 worker 1.3 for 1'");
  ASSERT_GT(lost.swarm().points_trained, 0U) << "in the first of two rounds";
  EXPECT_GT(lost.swarm().objective, 1e5);
  EXPECT_LT(whole.swarm().objective, 1e5);
  EXPECT_LT(lost.record.reward, 0.1 * whole.record.reward);
  EXPECT_LT(lost.record.mean_objective, 1e5) << "of those that trained in every round";
}

// 4 local rounds and the personalisation: 5 uploads of M bits at power P over the link to the leader.
TEST(Mission, PersonalisationIsPaidFor) {
  const First whole("");
  const World& world = whole.flight.world();
  const SwarmLinks links = swarm_links(world, 0, whole.swarm().to, 0);
  const std::size_t worker = world.swarms[0].workers.first;
  const double seconds = 1e4 / links.worker_to_leader[0].si();
  EXPECT_NEAR(whole.spent_j(worker, EnergyKind::model_upload),
              5.0 * world.uavs[worker].transmit_power.si() * seconds, 5e-9);
  // Each of 4 iterations, and the one step more, processes the same points at the same clock.
  double planned = 0.0;
  for (const RoundRecord& round : whole.swarm().rounds) {
    const double clock = round.decision.clock[0];
    planned += 0.5 * world.uavs[worker].capacitance.si() * world.uavs[worker].cycles_per_point *
               round.decision.processed[0] * clock * clock;
  }
  EXPECT_GT(whole.spent_j(worker, EnergyKind::processing), 2.1 * planned);
}

// Whoever is done with the last round lands: energies of hovering follow each swarm's own end.
TEST(Mission, WhoeverIsDoneLands) {
  const First whole("");
  for (std::size_t s = 0; s < whole.record.swarms.size(); ++s) {
    const SwarmRecord& swarm = whole.record.swarms[s];
    if (!swarm.active) {
      continue;
    }
    double begin = 0.0;
    for (const SwarmRecord& other : whole.record.swarms) {
      begin = other.active ? std::max(begin, other.arrival_s) : begin;
    }
    const std::size_t worker = whole.flight.world().swarms[s].workers.first;
    const double watts = whole.spent_j(worker, EnergyKind::hovering) / (swarm.finished_s - begin);
    EXPECT_NEAR(watts, whole.flight.world().uavs[worker].propulsion.hover_power().si(), 1e-6);
    EXPECT_EQ(whole.record.clusters[swarm.to].handed_over_s, swarm.finished_s);
  }
}

// Of all UAVs.
double spent_j(const State& state, EnergyKind kind) { return to_energy(state.ledger.spent_on(kind)).si(); }

double hovered_j(const SequenceRecord& record) {
  double sum = 0.0;
  for (const SwarmRecord& swarm : record.swarms) {
    sum += swarm.hovering.training_j + swarm.hovering.leader_away_j + swarm.hovering.waiting_j;
  }
  return sum;
}

// By radio a small model is there in a moment: nobody flies to an access point, and nobody hovers meanwhile.
// Where it is large and the channel harsh, so that it would take minutes, leaders fly.
TEST(Mission, LeadersDecideHowFarTheyFly) {
  const First flown("");
  const First decided("", {"world.access_points.way='decide'"});
  const First harsh("", {"world.access_points.way='decide'", "radio.path_loss_exponent=2.6",
                         "offloading.model_kbit=20000"});
  for (const First* mission : {&flown, &decided, &harsh}) {
    EXPECT_NEAR(hovered_j(mission->record), spent_j(mission->flight.state(), EnergyKind::hovering), 1e-6);
  }
  EXPECT_GT(spent_j(flown.flight.state(), EnergyKind::access_point_trips), 0.0);
  EXPECT_EQ(spent_j(decided.flight.state(), EnergyKind::access_point_trips), 0.0);
  EXPECT_GT(spent_j(harsh.flight.state(), EnergyKind::access_point_trips), 0.0);
  EXPECT_LT(decided.record.end_s, flown.record.end_s);
  for (std::size_t s = 0; s < decided.record.swarms.size(); ++s) {
    if (!decided.record.swarms[s].active) {
      continue;
    }
    const SwarmRecord& near = decided.record.swarms[s];
    const SwarmRecord& far = flown.record.swarms[s];
    EXPECT_EQ(near.rounds.back().way_m, 0.0);
    EXPECT_EQ(near.rounds.back().trip_s, 0.0);
    EXPECT_GT(near.rounds.back().transmit_s, far.rounds.back().transmit_s) << "the rate is worse";
    EXPECT_LT(near.hovering.leader_away_j, 0.1 * far.hovering.leader_away_j);
    // Two models of 10 kbit from the leader to its access point: the energy of its radio.
    const Uav& leader = decided.flight.world().uavs[decided.flight.world().swarms[s].leader];
    EXPECT_NEAR(decided.spent_j(decided.flight.world().swarms[s].leader, EnergyKind::model_upload),
                leader.transmit_power.si() * near.rounds.back().transmit_s, 2e-9);
  }
}

// Every use costs 1.5 times as much: what leaks is half of the rest.
TEST(MissionFaults, AFaultyBatteryLeaks) {
  const First faulty("'0 battery 1.3 1.5'");
  const std::size_t uav = faulty.flight.world().swarms[0].leader + 2;
  double used = 0.0;
  for (const EnergyKind kind : all_energy_kinds) {
    used += kind == EnergyKind::leakage ? 0.0 : faulty.spent_j(uav, kind);
  }
  EXPECT_GT(used, 0.0);
  EXPECT_NEAR(faulty.spent_j(uav, EnergyKind::leakage), 0.5 * used, 1e-7);
  EXPECT_EQ(faulty.spent_j(uav - 1, EnergyKind::leakage), 0.0);
}

// Three clusters, one swarm: until all have a model, a sequence that brings one does not wait; and the
// mission ends with its second hour.
TEST(CoreNetwork, TheFirstTourDoesNotWaitForTheCycle) {
  Flight flight({"run.sequences=0", "run.hours=2", "planning.cycle_s=1200", "planning.planner=sequential",
                 "swarms.count=1", "drift.per=hour", "data.arrivals_per_hour=30"});
  std::set<std::size_t> visited;
  std::size_t at_once = 0;
  double end_s = 0.0;
  while (!flight.done()) {
    const SequenceRecord record = flight.step();
    EXPECT_EQ(record.start_s, end_s);
    end_s = record.end_s;
    const std::size_t before = visited.size();
    for (std::size_t c = 0; c < record.clusters.size(); ++c) {
      if (record.clusters[c].visited) {
        visited.insert(c);
      }
    }
    const double finished = record.swarms[0].finished_s;
    if (visited.size() > before && visited.size() < 3) {
      EXPECT_EQ(record.end_s, finished);
      ++at_once;
    } else {
      EXPECT_EQ(record.end_s, std::max(finished, std::min(record.start_s + 1200.0, 7200.0)));
    }
  }
  EXPECT_EQ(visited.size(), 3U);
  EXPECT_EQ(at_once, 2U);
  EXPECT_GE(end_s, 7200.0);
}

// Without its worker the swarm does nothing for two sequences, which wait; then the tour begins.
TEST(CoreNetwork, AFirstTourThatDoesNotGetOnWaits) {
  Flight flight({"run.sequences=6", "planning.cycle_s=1200", "planning.planner=sequential", "swarms.count=1",
                 "swarms.types.coordinator.count=0", "swarms.types.worker.count=1",
                 "faults.list=[\"0 worker 1.1 for 2\"]"});
  EXPECT_EQ(flight.step().end_s, 1200.0);
  EXPECT_EQ(flight.step().end_s, 2400.0);
  SequenceRecord record = flight.step();
  while (std::ranges::none_of(record.clusters, &ClusterRecord::first_visit)) {
    EXPECT_EQ(record.end_s, record.start_s + 1200.0);
    ASSERT_FALSE(flight.done());
    record = flight.step();
  }
  EXPECT_EQ(record.end_s, record.swarms[0].finished_s);
}

// Nobody can move, so no time would pass.
TEST(CoreNetwork, AMissionByTheClockEndsThoughNobodyIsLeft) {
  Flight flight({"run.sequences=0", "run.hours=0.05", "planning.planner=sequential", "swarms.count=1",
                 "swarms.types.coordinator.count=0", "swarms.types.worker.count=1",
                 "faults.list=[\"0 leader 1\", \"0 worker 1.1\"]"});
  std::size_t sequences = 0;
  while (!flight.done() && sequences < 1000) {
    flight.step();
    ++sequences;
  }
  EXPECT_EQ(flight.state().clock.now().si(), 180.0);
  EXPECT_LE(sequences, 18U);
}

}  // namespace
}  // namespace skein
