#include "skein/world/ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

TEST(Nanojoules, conversion_rounds_to_the_nearest_and_refuses_nonsense) {
  EXPECT_EQ(to_nanojoules(1_J).count, 1'000'000'000);
  EXPECT_EQ(to_nanojoules(Energy(2.4e-9)).count, 2);
  EXPECT_EQ(to_nanojoules(Energy(2.6e-9)).count, 3);
  EXPECT_EQ(to_nanojoules(0_J).count, 0);
  EXPECT_EQ(to_nanojoules(Energy(-0.0)).count, 0);
  EXPECT_THROW(to_nanojoules(Energy(std::numeric_limits<double>::quiet_NaN())), ProgrammingError);
  EXPECT_THROW(to_nanojoules(Energy(std::numeric_limits<double>::infinity())), ProgrammingError);
  EXPECT_THROW(to_nanojoules(Energy(-1e-9)), ProgrammingError);
  EXPECT_THROW(to_nanojoules(Energy(0x1p63 / 1e9)), ProgrammingError);
  EXPECT_EQ(to_nanojoules(Energy(9.2e9)).count, 9'200'000'000'000'000'000);
}

// 2 MJ in nanojoules is below 2^51, so there and back is exact.
TEST(Nanojoules, round_trip) {
  RandomStream stream(41, "round trip");
  for (int trial = 0; trial < 10000; ++trial) {
    const Nanojoules amount{stream.integer(0, 2'000'000'000'000'000)};
    ASSERT_EQ(to_nanojoules(to_energy(amount)), amount);
  }
}

TEST(Ledger, books_by_kind) {
  Ledger ledger;
  const Ledger::Id worker = ledger.add_battery({.capacity = 100_J, .level = 80_J});
  EXPECT_TRUE(ledger.book(worker, EnergyKind::hovering, 30_J).covered());
  EXPECT_TRUE(ledger.book(worker, EnergyKind::processing, 2.5_J).covered());
  EXPECT_TRUE(ledger.book(worker, EnergyKind::hovering, 1_J).covered());
  EXPECT_EQ(ledger.level(worker), 46.5_J);
  EXPECT_EQ(ledger.missing(worker), 53.5_J);
  EXPECT_EQ(to_energy(ledger.account(worker).spent_on(EnergyKind::hovering)), 31_J);
  EXPECT_EQ(to_energy(ledger.account(worker).total_spent()), 33.5_J);
}

TEST(Ledger, a_battery_gives_what_it_has_and_the_rest_is_a_shortfall) {
  Ledger ledger;
  const Ledger::Id uav = ledger.add_battery({.capacity = 10_J, .level = 10_J});
  const Booking booking = ledger.book(uav, EnergyKind::travel, 12_J);
  EXPECT_FALSE(booking.covered());
  EXPECT_EQ(to_energy(booking.paid), 10_J);
  EXPECT_EQ(to_energy(booking.shortfall), 2_J);
  EXPECT_EQ(ledger.level(uav), 0_J);
  EXPECT_EQ(to_energy(ledger.account(uav).shortfall_of(EnergyKind::travel)), 2_J);
  EXPECT_EQ(to_energy(ledger.book(uav, EnergyKind::hovering, 1_J).shortfall), 1_J);
  EXPECT_EQ(to_energy(ledger.account(uav).total_shortfall()), 3_J);
}

TEST(Ledger, recharging_stops_at_the_capacity) {
  Ledger ledger;
  const Ledger::Id uav = ledger.add_battery({.capacity = 10_J, .level = 4_J});
  EXPECT_EQ(to_energy(ledger.recharge(uav, 2_J)), 2_J);
  EXPECT_EQ(to_energy(ledger.recharge(uav, 9_J)), 4_J);
  EXPECT_EQ(ledger.level(uav), 10_J);
  ledger.book(uav, EnergyKind::relay, 0.125_J);
  EXPECT_EQ(to_energy(ledger.recharge_fully(uav)), 0.125_J);
  EXPECT_EQ(ledger.missing(uav), 0_J);
}

TEST(Ledger, mains_are_counted_and_not_limited) {
  Ledger ledger;
  const Ledger::Id device = ledger.add_mains();
  EXPECT_TRUE(ledger.book(device, EnergyKind::data_transmission, Energy(1e6)).covered());
  EXPECT_EQ(to_energy(ledger.account(device).total_spent()), Energy(1e6));
  EXPECT_THROW((void)ledger.level(device), ProgrammingError);
  EXPECT_THROW(ledger.recharge(device, 1_J), ProgrammingError);
}

TEST(Ledger, refuses_nonsense_and_stays_as_it_was) {
  Ledger ledger;
  const Ledger::Id device = ledger.add_mains();
  ledger.book(device, EnergyKind::data_transmission, Energy(9e9));
  const Ledger before = ledger;
  EXPECT_THROW(ledger.book(device, EnergyKind::data_transmission, Energy(9e9)), ProgrammingError);
  EXPECT_THROW(ledger.book(device, EnergyKind::relay, Energy(9e9)), ProgrammingError);
  EXPECT_THROW(ledger.book(device, EnergyKind::relay, Energy(-1)), ProgrammingError);
  EXPECT_THROW(ledger.book(7, EnergyKind::relay, 1_J), ProgrammingError);
  EXPECT_THROW(ledger.add_battery({.capacity = 1_J, .level = 2_J}), ProgrammingError);
  EXPECT_EQ(ledger, before);
}

// A thousand accounts of 9e9 J: more than 64 bits of nanojoules.
TEST(Ledger, totals_do_not_overflow) {
  Ledger ledger;
  for (int i = 0; i < 1000; ++i) {
    ledger.book(ledger.add_mains(), EnergyKind::hovering, Energy(9e9));
  }
  EXPECT_TRUE(ledger.total_spent() == NanojouleSum{9'000'000'000'000'000'000} * 1000);
  EXPECT_EQ(to_energy(ledger.spent_on(EnergyKind::hovering)), Energy(9e12));
}

TEST(Ledger, kinds_have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const EnergyKind kind : all_energy_kinds) {
    names.insert(to_string(kind));
  }
  EXPECT_EQ(names.size(), all_energy_kinds.size());
  for (std::size_t i = 0; i < all_energy_kinds.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all_energy_kinds[i]), i);
  }
}

TEST(Ledger, a_broken_account_is_not_restored) {
  Ledger ledger;
  ledger.add_battery({.capacity = 100_J, .level = 50_J});
  ledger.book(0, EnergyKind::hovering, 20_J);
  const Account good = ledger.accounts()[0];
  EXPECT_EQ(fault(good), "");
  Account overspent = good;
  overspent.spent[0] = to_nanojoules(31_J);
  EXPECT_NE(fault(overspent), "");
  EXPECT_THROW(Ledger({overspent}), ProgrammingError);
  Account negative = good;
  negative.shortfall[2] = {-1};
  EXPECT_NE(fault(negative), "");
  Account overfull = good;
  overfull.recharged = to_nanojoules(71_J);
  EXPECT_NE(fault(overfull), "");
  Account huge = good;
  huge.spent.fill({std::numeric_limits<std::int64_t>::max()});
  EXPECT_NE(fault(huge), "");
  Account mains_with_battery = good;
  mains_with_battery.on_mains = true;
  EXPECT_NE(fault(mains_with_battery), "");
}

// What the test itself adds up from the answers, apart from the ledger.
struct Tally {
  NanojouleSum asked = 0;
  NanojouleSum paid = 0;
  NanojouleSum shortfall = 0;
  NanojouleSum recharged = 0;
};

// Amounts from far below a nanojoule to more than a battery, in random order, over many batteries and mains:
// everything adds up as integers, by battery, by kind and in all.
TEST(Ledger, parts_add_up_exactly_to_the_drop_of_each_battery) {
  constexpr int num_bookings = 3000;
  std::size_t num_shortfalls = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream stream(seed, "bookings");
    Ledger ledger;
    std::vector<Nanojoules> start;
    const std::size_t num_accounts = 1 + stream.below(30);
    for (std::size_t i = 0; i < num_accounts; ++i) {
      if (stream.bernoulli(0.2)) {
        ledger.add_mains();
        start.emplace_back();
      } else {
        const Energy capacity(stream.uniform(1, 50000));
        ledger.add_battery({.capacity = capacity, .level = capacity * stream.uniform()});
        start.push_back(ledger.account(i).level());
      }
    }

    std::vector<Tally> by_account(num_accounts);
    std::vector<Tally> by_kind(all_energy_kinds.size());
    for (int n = 0; n < num_bookings; ++n) {
      const Ledger::Id id = stream.below(num_accounts);
      const Energy amount(std::exp(stream.uniform(-25.0, 9.0)));
      Tally& account = by_account[id];
      if (!ledger.account(id).on_mains && stream.bernoulli(0.05)) {
        account.recharged +=
            (stream.bernoulli(0.5) ? ledger.recharge_fully(id) : ledger.recharge(id, amount)).count;
        continue;
      }
      const EnergyKind kind = all_energy_kinds[stream.below(all_energy_kinds.size())];
      const Booking booking = ledger.book(id, kind, amount);
      num_shortfalls += booking.covered() ? 0 : 1;
      for (Tally* tally : {&account, &by_kind[static_cast<std::size_t>(kind)]}) {
        tally->asked += to_nanojoules(amount).count;
        tally->paid += booking.paid.count;
        tally->shortfall += booking.shortfall.count;
      }
    }

    NanojouleSum paid = 0;
    NanojouleSum shortfall = 0;
    NanojouleSum recharged = 0;
    for (std::size_t i = 0; i < num_accounts; ++i) {
      const Tally& tally = by_account[i];
      const Account& account = ledger.account(i);
      ASSERT_TRUE(tally.asked == tally.paid + tally.shortfall);
      ASSERT_TRUE(account.total_spent().count == tally.paid);
      ASSERT_TRUE(account.total_shortfall().count == tally.shortfall);
      ASSERT_TRUE(account.recharged.count == tally.recharged);
      if (!account.on_mains) {
        ASSERT_TRUE(start[i].count - account.level().count == tally.paid - tally.recharged);
        ASSERT_GE(account.level().count, 0);
        ASSERT_LE(account.level(), account.capacity);
      }
      ASSERT_EQ(fault(account), "");
      paid += tally.paid;
      shortfall += tally.shortfall;
      recharged += tally.recharged;
    }
    NanojouleSum paid_by_kind = 0;
    for (const EnergyKind kind : all_energy_kinds) {
      ASSERT_TRUE(ledger.spent_on(kind) == by_kind[static_cast<std::size_t>(kind)].paid);
      paid_by_kind += ledger.spent_on(kind);
    }
    ASSERT_TRUE(paid == paid_by_kind);
    ASSERT_TRUE(paid == ledger.total_spent());
    ASSERT_TRUE(shortfall == ledger.total_shortfall());
    ASSERT_TRUE(recharged == ledger.total_recharged());
    ASSERT_EQ(Ledger(ledger.accounts()), ledger);
  }
  EXPECT_GT(num_shortfalls, 1000U);
}

// The order of bookings that a battery covers does not matter.
TEST(Ledger, the_order_of_bookings_does_not_matter) {
  RandomStream stream(43, "order");
  std::vector<std::pair<EnergyKind, Energy>> bookings;
  for (int n = 0; n < 2000; ++n) {
    bookings.emplace_back(all_energy_kinds[stream.below(all_energy_kinds.size())],
                          Energy(stream.uniform(0, 3)));
  }
  const auto booked = [&] {
    Ledger ledger;
    ledger.add_battery({.capacity = 10000_J, .level = 10000_J});
    for (const auto& [kind, amount] : bookings) {
      ledger.book(0, kind, amount);
    }
    return ledger;
  };
  const Ledger first = booked();
  for (int trial = 0; trial < 20; ++trial) {
    stream.shuffle(bookings);
    ASSERT_EQ(booked(), first);
  }
}

}  // namespace
}  // namespace skein
