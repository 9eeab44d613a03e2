// Plans that say when a sequence ends: swarms under way go on, and nobody waits for them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "skein/base/bytes.h"
#include "skein/base/random.h"
#include "skein/data/data_source.h"
#include "skein/mission/prepare_mission.h"
#include "skein/simulation/core_network.h"
#include "skein/world/energy.h"

namespace skein {
namespace {

// Any legal plan: who is under way goes on, others rest, leave now or later, for a cluster or a station.
class AnyTime final : public Planner {
 public:
  explicit AnyTime(std::size_t num_clusters, std::size_t num_sites, const Timing& timing)
      : num_clusters_(num_clusters), num_sites_(num_sites), timing_(timing) {}

  void begin(std::uint64_t seed) override { seed_ = seed; }
  Plan choose(const Observation& o) override {
    RandomStream random(seed_, "any time", o.sequence);
    Plan plan{.destinations = o.positions, .timing = timing_, .until_s = random.uniform(5.0, 250.0)};
    std::set<Site> taken(o.positions.begin(), o.positions.end());
    for (std::size_t u = 0; u < o.positions.size(); ++u) {
      const bool busy = o.arrivals_s[u] > 0.0;
      const bool moves = !busy && o.batteries[u].si() > 0.0 && random.below(3) > 0;
      if (const auto site = static_cast<Site>(random.below(num_sites_)); moves && taken.insert(site).second) {
        plan.destinations[u] = site;
      }
      plan.active.push_back(plan.destinations[u] < num_clusters_ && (busy || moves));
      plan.departures_s.push_back(random.below(2) == 0 ? 0.0 : random.uniform(0.0, 200.0));
    }
    return plan;
  }

 private:
  std::size_t num_clusters_;
  std::size_t num_sites_;
  Timing timing_;
  std::uint64_t seed_ = 0;
};

class Ride {
 public:
  explicit Ride(const std::vector<std::string>& settings, std::size_t threads = 2)
      : scenario_(load_scenario(SKEIN_SOURCE_DIR "/scenarios/smoke.toml", {.settings = settings})),
        pool_(threads),
        prepared_(scenario_,
                  std::make_shared<const DataSplit>(load_data(scenario_.data.source, scenario_.run.seed)),
                  pool_, alone(), [](double) {}),
        planner_(world().clusters.size(), world().num_sites(),
                 {.duration = 1.0, .local_period = 1.0, .global_period = 1.0}),
        core_(prepared_.start(planner_, prepared_.field(), prepared_.fleet())) {}

  [[nodiscard]] const World& world() const { return prepared_.world(); }
  CoreNetwork& core() { return core_; }

 private:
  Scenario scenario_;
  ThreadPool pool_;
  PreparedMission prepared_;
  AnyTime planner_;
  CoreNetwork core_;
};

std::vector<std::string> settings_of(std::uint64_t seed) {
  RandomStream random(seed, "own clocks");
  std::vector<std::string> settings{fmt::format("run.seed={}", seed),
                                    "run.sequences=12",
                                    fmt::format("swarms.count={}", 1 + random.below(3)),
                                    "world.clusters.count=4",
                                    "world.stations.count=2",
                                    "world.clusters.devices=2",
                                    "swarms.types.worker.count=1",
                                    "swarms.types.coordinator.count=0",
                                    "learning.network.preset='mlp'",
                                    "learning.absent_swarms='as_global'",
                                    "planning.start='arrival'",
                                    "planning.durations=[1]",
                                    "planning.local_periods=[1]",
                                    "planning.global_periods=[1]",
                                    "world.access_points.way='decide'"};
  for (const char* type : {"leader", "worker"}) {
    settings.push_back(fmt::format("swarms.types.{}.takeoff_kj=0.5", type));
    settings.push_back(fmt::format("swarms.types.{}.landed_w=2", type));
    settings.push_back(fmt::format("swarms.types.{}.battery_kj=900", type));
  }
  if (random.below(2) == 0) {
    settings.push_back("planning.waiting='cheaper'");
  }
  return settings;
}

std::string saved(const CoreNetwork& core) {
  ByteWriter bytes;
  core.save(bytes);
  return bytes.take();
}

TEST(OwnClock, FlightsGoOnAndTimesAndEnergiesAddUp) {
  std::size_t num_under_way = 0;
  std::size_t num_trained = 0;
  std::size_t num_recharging = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Ride ride(settings_of(seed));
    const World& world = ride.world();
    std::vector<SwarmRecord> before(world.swarms.size());
    while (!ride.core().done()) {
      const std::vector<Account> accounts = ride.core().state().ledger.accounts();
      const SequenceRecord record = ride.core().step();
      double latest_s = record.start_s + record.plan.until_s;
      for (std::size_t s = 0; s < record.swarms.size(); ++s) {
        const SwarmRecord& swarm = record.swarms[s];
        if (before[s].under_way) {
          EXPECT_EQ(swarm.to, before[s].to) << "who is under way goes on";
          EXPECT_EQ(swarm.from, before[s].from);
          EXPECT_GE(swarm.arrival_s, before[s].arrival_s) << "and perhaps fetches a model when it is there";
        }
        if (swarm.under_way) {
          ++num_under_way;
          EXPECT_FALSE(swarm.active);
          EXPECT_GT(swarm.arrival_s, record.start_s + record.plan.until_s);
        }
        num_trained += swarm.points_trained > 0 ? 1 : 0;
        num_recharging += swarm.recharges && swarm.finished_s > record.end_s ? 1 : 0;
        latest_s = swarm.active ? std::max(latest_s, swarm.finished_s) : latest_s;
      }
      EXPECT_DOUBLE_EQ(record.end_s, latest_s) << "nobody waits for who flies or recharges";
      for (std::size_t id = 0; id < world.uavs.size(); ++id) {
        const Uav& uav = world.uavs[id];
        const UavTimes& times = record.uavs[id];
        EXPECT_NEAR(times.flying_s + times.hovering_s + times.landed_s, record.end_s - record.start_s, 1e-6);
        EXPECT_GE(std::min({times.flying_s, times.hovering_s, times.landed_s}), -1e-9);
        const Account& account = ride.core().state().ledger.account(State::account_of_uav(id));
        const auto spent_on = [&](EnergyKind kind) {
          return 1e-9 * static_cast<double>(account.spent_on(kind).count - accounts[id].spent_on(kind).count);
        };
        EXPECT_NEAR(spent_on(EnergyKind::landed), uav.landed_power.si() * times.landed_s, 1e-6);
        EXPECT_NEAR(spent_on(EnergyKind::hovering), uav.propulsion.hover_power().si() * times.hovering_s,
                    1e-6);
        const double flight_j =
            uav.propulsion.energy_per_metre(uav.cruise_speed).si() * record.swarms[uav.swarm].distance_m;
        EXPECT_NEAR(spent_on(EnergyKind::travel), flight_j, 1e-6) << "a flight is paid for as it begins";
      }
      before = record.swarms;
    }
  }
  EXPECT_GT(num_under_way, 20U);
  EXPECT_GT(num_trained, 20U);
  EXPECT_GT(num_recharging, 0U);
}

TEST(OwnClock, SecondsInTheAirAreThoseOfTheFlights) {
  for (std::uint64_t seed = 21; seed <= 26; ++seed) {
    SCOPED_TRACE(seed);
    Ride ride(settings_of(seed));
    const World& world = ride.world();
    std::vector<double> flown_s(world.uavs.size()), planned_s(world.uavs.size());
    SequenceRecord record;
    while (!ride.core().done()) {
      record = ride.core().step();
      for (std::size_t id = 0; id < world.uavs.size(); ++id) {
        const SwarmRecord& swarm = record.swarms[world.uavs[id].swarm];
        flown_s[id] += record.uavs[id].flying_s;
        planned_s[id] += swarm.distance_m / world.uavs[id].cruise_speed.si();
        for (const RoundRecord& round : swarm.rounds) {
          planned_s[id] += id == world.swarms[world.uavs[id].swarm].leader ? round.trip_s : 0.0;
        }
      }
    }
    for (std::size_t id = 0; id < world.uavs.size(); ++id) {
      const SwarmRecord& swarm = record.swarms[world.uavs[id].swarm];
      const double left_s = swarm.under_way ? swarm.arrival_s - record.end_s : 0.0;
      EXPECT_NEAR(flown_s[id] + left_s, planned_s[id], 1e-6);
    }
  }
}

TEST(OwnClock, GoesOnFromAnyMomentToTheSameBytes) {
  const std::vector<std::string> settings = settings_of(3);
  Ride whole(settings);
  std::vector<std::string> moments;
  while (!whole.core().done()) {
    moments.push_back(saved(whole.core()));
    whole.core().step();
  }
  for (const std::size_t moment : {std::size_t{1}, std::size_t{4}, std::size_t{7}}) {
    Ride other(settings, 1);
    ByteCursor bytes(moments[moment]);
    other.core().restore(bytes);
    while (!other.core().done()) {
      other.core().step();
    }
    EXPECT_EQ(saved(other.core()), saved(whole.core())) << "from sequence " << moment;
  }
}

TEST(OwnClock, AbsentSwarmsCountWithTheGlobalModelAsItWas) {
  ThreadPool pool(1);
  const auto model = [](float value) {
    Model all(3);
    std::ranges::fill(all, value);
    return all;
  };
  const auto update = [&](float value) { return SwarmUpdate{.swarm = 0, .model = model(value)}; };
  std::vector<SwarmUpdate> two;
  two.push_back(update(3.0F));
  two.push_back(update(5.0F));
  const WaitForAll left_out;
  EXPECT_EQ(left_out.merged(model(1.0F), two, pool)[0], 4.0F);
  // 8 swarms, two of which bring 3 and 5: (6 * 1 + 3 + 5) / 8.
  const WaitForAll counted(MergeWeights::equal, 8);
  EXPECT_EQ(counted.merged(model(1.0F), two, pool)[2], 1.75F);
}

}  // namespace
}  // namespace skein
