#include "skein/world/way_to_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "skein/base/random.h"
#include "skein/world/channel.h"

namespace skein {
namespace {

// From 28 m to an antenna 10 m high with 20 dBm and 2 MHz: at 1 m the loss of free space, then d^n.
RateAt rate_with_exponent(double n) {
  return [n, radio = sample_radio({}, 1)](Length left) {
    const Position leader{left, Length(0.0), Length(28.0)};
    const Position access_point{Length(0.0), Length(0.0), Length(10.0)};
    const double farther = std::pow(distance(leader, access_point).si(), n - radio.path_loss_exponent);
    return data_rate(radio, Power(0.1), air_to_ground_loss(radio, leader, access_point) * farther);
  };
}

// Time alone counts: 605 kB, at 10 m/s.
WayProblem in_a_hurry(double distance_m) {
  return {.distance = Length(distance_m),
          .speed = Speed(10.0),
          .model = DataSize(4.84e6),
          .time_price = Power(1.0)};
}

TEST(WayToCore, InFreeSpaceNobodyNeedsToFly) {
  for (const double metres : {500.0, 1000.0, 2000.0, 3000.0}) {
    const Way way = best_way(in_a_hurry(metres), rate_with_exponent(2.0));
    EXPECT_EQ(way.flown, Length(0.0)) << metres;
  }
  // Rates of 10.5, 6.7, 3.4 and 2.0 Mbit/s: 0.9, 1.4, 2.8 and 4.8 s there and back.
  EXPECT_NEAR(best_way(in_a_hurry(500.0), rate_with_exponent(2.0)).duration.si(), 0.92, 0.01);
  EXPECT_NEAR(best_way(in_a_hurry(3000.0), rate_with_exponent(2.0)).duration.si(), 4.8, 0.05);
  EXPECT_EQ(best_way(in_a_hurry(1000.0), rate_with_exponent(2.5)).flown, Length(0.0));
  EXPECT_EQ(best_way(in_a_hurry(2000.0), rate_with_exponent(2.5)).flown, Length(0.0));
}

// In a harsher channel a part of the way is best, as found by hand over metres.
TEST(WayToCore, WhereTheChannelIsHarshPartOfTheWayIsBest) {
  const Way near = best_way(in_a_hurry(1000.0), rate_with_exponent(3.0));
  EXPECT_NEAR(near.flown.si(), 575.0, 3.0);
  EXPECT_NEAR(near.duration.si(), 145.0, 0.5);
  EXPECT_NEAR(best_way(in_a_hurry(2000.0), rate_with_exponent(3.0)).flown.si(), 1575.0, 3.0);
}

WayProblem random_problem(RandomStream& random) {
  WayProblem p{.distance = Length(random.uniform(0.0, 4000.0)),
               .speed = Speed(random.uniform(3.0, 20.0)),
               .cruise = Power(random.uniform(10.0, 300.0)),
               .hover = Power(random.uniform(10.0, 600.0)),
               .transmit = Power(random.uniform(0.01, 1.0)),
               .model = DataSize(std::pow(10.0, random.uniform(4.0, 9.0))),
               .time_price = Power(random.uniform(0.0, 100.0))};
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    p.others.push_back({.hover = Power(random.uniform(10.0, 600.0)),
                        .landed = Power(random.uniform(0.0, 9.0)),
                        .takeoff = Energy(random.uniform(0.0, 20e3)),
                        .may_land = random.uniform(0.0, 1.0) < 0.5});
  }
  return p;
}

// Against a walk over the whole way in steps of a thousandth.
TEST(WayToCore, NothingIsBetterAnywhereOnTheWay) {
  std::size_t stays = 0;
  std::size_t flies = 0;
  std::size_t part = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomStream random(seed, "way to core");
    const RateAt rate = rate_with_exponent(random.uniform(2.0, 4.0));
    WayProblem p = random_problem(random);
    const double most = way_of(p, rate, p.distance).leader.si() * random.uniform(0.2, 3.0);
    p.most = random.uniform(0.0, 1.0) < 0.3 ? Energy(most) : p.most;
    const Way best = best_way(p, rate);
    ASSERT_GE(best.flown, Length(0.0));
    ASSERT_LE(best.flown, p.distance);
    EXPECT_EQ(best.cost, way_of(p, rate, best.flown).cost) << "it is what it says";
    for (int i = 0; i <= 1000; ++i) {
      const Way other = way_of(p, rate, std::min(p.distance, (i / 1000.0) * p.distance));
      if (best.leader <= p.most) {
        ASSERT_TRUE(other.leader > p.most || best.cost <= other.cost * (1.0 + 1e-9)) << seed << ", " << i;
      } else {
        ASSERT_GE(other.leader.si() * (1.0 + 1e-9), best.leader.si()) << seed << ", " << i;
      }
    }
    stays += best.flown == Length(0.0) ? 1 : 0;
    flies += best.flown > 0.95 * p.distance ? 1 : 0;  // the last metres bring next to nothing
    part += best.flown > Length(0.0) && best.flown < 0.8 * p.distance ? 1 : 0;
  }
  EXPECT_GT(stays, 100U);
  EXPECT_GT(flies, 100U);
  EXPECT_GT(part, 100U);
}

// 100 W in the air, 10 W and 900 J to get up again on the ground: even after 10 s.
TEST(WayToCore, LandingPaysFromSomeTimeOn) {
  const Waiter who{.hover = Power(100.0), .landed = Power(10.0), .takeoff = Energy(900.0), .may_land = true};
  EXPECT_FALSE(landing_pays(who, Time(9.9)));
  EXPECT_TRUE(landing_pays(who, Time(10.1)));
  EXPECT_EQ(waiting_energy(who, Time(5.0)), Energy(500.0));
  EXPECT_EQ(waiting_energy(who, Time(20.0)), Energy(1100.0));
  Waiter stays = who;
  stays.may_land = false;
  EXPECT_EQ(waiting_energy(stays, Time(20.0)), Energy(2000.0));
}

}  // namespace
}  // namespace skein
