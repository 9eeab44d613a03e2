#include "skein/simulation/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skein/base/input_fault.h"

namespace skein {
namespace {

// Two swarms of a leader, two workers and a coordinator; two clusters of three devices; one access point.
World small_world() {
  World world;
  world.seed = 7;
  world.access_points.resize(1);
  for (std::size_t c = 0; c < 2; ++c) {
    world.clusters.push_back({.devices = {3 * c, 3}});
    for (int i = 0; i < 3; ++i) {
      world.devices.push_back({.cluster = c});
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    world.swarms.push_back({.leader = 4 * s, .workers = {4 * s + 1, 2}, .coordinators = {4 * s + 3, 1}});
    for (const Role role : {Role::leader, Role::worker, Role::worker, Role::coordinator}) {
      world.uavs.push_back({.swarm = s, .role = role});
    }
  }
  return world;
}

std::vector<MissionFault> read(const std::vector<std::string>& list) {
  return draw_faults({.list = list}, small_world(), 10);
}

TEST(Faults, AreReadFromAList) {
  const std::vector<MissionFault> faults =
      read({"3 worker 1.2 for 2", "5.1 leader 2", "0 device 2.3", "4 link 1 0.25 for 1", "2 access_point 1",
            "6 update 2 nan", "1 battery 2.4 1.5"});
  ASSERT_EQ(faults.size(), 7U);
  EXPECT_EQ(faults[0], (MissionFault{.kind = FaultKind::device, .index = 5}));
  EXPECT_EQ(faults[1], (MissionFault{.kind = FaultKind::battery, .sequence = 1, .index = 7, .factor = 1.5}));
  EXPECT_EQ(faults[3], (MissionFault{.kind = FaultKind::worker, .sequence = 3, .sequences = 2, .index = 2}));
  EXPECT_EQ(faults[5], (MissionFault{.kind = FaultKind::leader, .sequence = 5, .round = 1, .index = 4}));
  EXPECT_EQ(to_string(faults[3], small_world()), "worker 2 of swarm 1 is lost for 2 sequences");
  EXPECT_EQ(to_string(faults[5], small_world()), "the leader of swarm 2 has crashed");
}

TEST(Faults, AllThatMakeNoSenseAreNamedAtOnce) {
  const std::vector<std::string> wrong{"",
                                       "3",
                                       "3 worker",
                                       "3 worker 3.1",
                                       "3 worker 1.3",
                                       "-1 leader 1",
                                       "3 leader 1 for 0",
                                       "3 leader 1 for 2 more",
                                       "3 link 1",
                                       "3 link 1 2.0",
                                       "3 battery 1.1 0.5",
                                       "3 update 1 maybe",
                                       "3 device 1.4",
                                       "3 access_point 2"};
  try {
    static_cast<void>(read(wrong));
    FAIL() << "none is refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), wrong.size());
  }
}

TEST(Faults, HoldAsLongAsTheySay) {
  const MissionFault while_lost{.kind = FaultKind::worker, .sequence = 3, .round = 1, .sequences = 2};
  EXPECT_FALSE(while_lost.holds(2, 5));
  EXPECT_FALSE(while_lost.holds(3, 0));
  EXPECT_TRUE(while_lost.holds(3, 1));
  EXPECT_TRUE(while_lost.holds(4, 0));
  EXPECT_FALSE(while_lost.holds(5, 0));
  const MissionFault for_good{.kind = FaultKind::worker, .sequence = 3};
  EXPECT_TRUE(for_good.holds(100, 0));
  const MissionFault once{.kind = FaultKind::update, .sequence = 3, .round = 1};
  EXPECT_TRUE(once.holds(3, 1));
  EXPECT_FALSE(once.holds(3, 2));
  EXPECT_FALSE(once.holds(4, 1));
}

TEST(Faults, AnotherTakesTheLeadersRole) {
  const World world = small_world();
  const auto members = [&](const std::vector<std::string>& list) {
    return FaultSchedule(read(list)).members(world, 0, {.sequence = 1});
  };
  EXPECT_EQ(members({}),
            (SwarmMembers{.leader = 0, .has_leader = true, .workers = {0, 1}, .coordinators = {0}}));
  EXPECT_EQ(members({"1 leader 1"}),
            (SwarmMembers{.leader = 2, .has_leader = true, .workers = {0}, .coordinators = {0}}));
  EXPECT_EQ(members({"1 leader 1", "1 worker 1.1"}),
            (SwarmMembers{.leader = 3, .has_leader = true, .workers = {1}, .coordinators = {}}));
  EXPECT_FALSE(members({"1 leader 1", "1 worker 1.1", "1 coordinator 1.1"}).can_train());
  EXPECT_FALSE(members({"1 worker 1.1", "1 worker 1.2"}).can_train());
  EXPECT_TRUE(members({"2 leader 1"}).can_train());
}

TEST(Faults, AtARateComeAboutAsOftenAsItSays) {
  World world = small_world();
  FaultOptions options;
  options.rates[static_cast<std::size_t>(FaultKind::update)] = 0.25;
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    world.seed = seed;
    count += draw_faults(options, world, 100).size();
  }
  EXPECT_NEAR(static_cast<double>(count) / (50 * 100 * 2), 0.25, 0.02);
  // The same seed, the same faults; and none of one thing twice at a time.
  options.rates.fill(0.3);
  const std::vector<MissionFault> faults = draw_faults(options, world, 30);
  EXPECT_EQ(faults, draw_faults(options, world, 30));
  for (const MissionFault& a : faults) {
    for (const MissionFault& b : faults) {
      if (a.kind == b.kind && a.index == b.index && a.sequence < b.sequence) {
        EXPECT_FALSE(a.holds(b.sequence, 0));
      }
    }
  }
}

}  // namespace
}  // namespace skein
