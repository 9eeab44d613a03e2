#include "skein/world/ledger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "skein/base/expect.h"

namespace skein {
namespace {

constexpr double per_joule = 1e9;

NanojouleSum sum_of(const Account::PerKind& amounts) {
  NanojouleSum sum = 0;
  for (const Nanojoules amount : amounts) {
    sum += amount.count;
  }
  return sum;
}

Nanojoules narrow(NanojouleSum amount) {
  expect(amount >= 0 && amount <= std::numeric_limits<std::int64_t>::max(),
         "an account holds at most 9.2e9 J");
  return {static_cast<std::int64_t>(amount)};
}

// Counters only grow.
void add(Nanojoules& counter, Nanojoules amount) {
  counter = narrow(NanojouleSum{counter.count} + amount.count);
}

bool any_negative(const Account& account) {
  const auto negative = [](Nanojoules amount) { return amount.count < 0; };
  return negative(account.capacity) || negative(account.initial) || negative(account.recharged) ||
         std::ranges::any_of(account.spent, negative) || std::ranges::any_of(account.shortfall, negative);
}

template <class Part>
NanojouleSum sum_over(const std::vector<Account>& accounts, const Part& part) {
  NanojouleSum sum = 0;
  for (const Account& account : accounts) {
    sum += part(account);
  }
  return sum;
}

}  // namespace

Nanojoules to_nanojoules(Energy energy) {
  const double count = energy.si() * per_joule;
  expect(std::isfinite(count) && count >= 0.0, "an energy to book must be finite and >= 0");
  expect(count < 0x1p63, "an energy to book must be below 9.2e9 J");
  return {std::llround(count)};
}

Energy to_energy(Nanojoules amount) { return Energy(static_cast<double>(amount.count) / per_joule); }

Energy to_energy(NanojouleSum amount) { return Energy(static_cast<double>(amount) / per_joule); }

Nanojoules Account::total_spent() const { return narrow(sum_of(spent)); }

Nanojoules Account::total_shortfall() const { return narrow(sum_of(shortfall)); }

Nanojoules Account::level() const {
  expect(!on_mains, "an account on mains has no level");
  return narrow(NanojouleSum{initial.count} + recharged.count - sum_of(spent));
}

Nanojoules Account::missing() const { return narrow(NanojouleSum{capacity.count} - level().count); }

std::string fault(const Account& account) {
  constexpr NanojouleSum most = std::numeric_limits<std::int64_t>::max();
  if (any_negative(account)) {
    return "has a negative amount";
  }
  if (sum_of(account.spent) > most || sum_of(account.shortfall) > most) {
    return "holds more than 9.2e9 J";
  }
  if (account.on_mains) {
    const bool plain = account.capacity.count == 0 && account.initial.count == 0 &&
                       account.recharged.count == 0 && sum_of(account.shortfall) == 0;
    return plain ? "" : "is on mains but has a battery's amounts";
  }
  const NanojouleSum level =
      NanojouleSum{account.initial.count} + account.recharged.count - sum_of(account.spent);
  if (account.initial > account.capacity || level < 0 || level > account.capacity.count) {
    return "has a battery outside of 0 and its capacity";
  }
  return "";
}

Ledger::Ledger(std::vector<Account> accounts) : accounts_(std::move(accounts)) {
  for (const Account& account : accounts_) {
    expect(fault(account).empty(), "an account to restore " + fault(account));
  }
}

Ledger::Id Ledger::add_battery(const Battery& battery) {
  const Account account{.capacity = to_nanojoules(battery.capacity), .initial = to_nanojoules(battery.level)};
  expect(account.initial <= account.capacity, "a battery's level is at most its capacity");
  accounts_.push_back(account);
  return accounts_.size() - 1;
}

Ledger::Id Ledger::add_mains() {
  accounts_.push_back({.on_mains = true});
  return accounts_.size() - 1;
}

Booking Ledger::book(Id id, EnergyKind kind, Energy amount) {
  expect(id < accounts_.size(), "no such account");
  Account& account = accounts_[id];
  const Nanojoules asked = to_nanojoules(amount);
  const Nanojoules paid = account.on_mains ? asked : std::min(asked, account.level());
  const Booking booking{.paid = paid, .shortfall = {asked.count - paid.count}};
  Account after = account;
  add(after.spent[static_cast<std::size_t>(kind)], booking.paid);
  add(after.shortfall[static_cast<std::size_t>(kind)], booking.shortfall);
  expect(fault(after).empty(), "an account holds at most 9.2e9 J");
  account = after;
  return booking;
}

Nanojoules Ledger::recharge(Id id, Energy amount) {
  Account& account = battery(id);
  const Nanojoules stored = std::min(to_nanojoules(amount), account.missing());
  add(account.recharged, stored);
  return stored;
}

Nanojoules Ledger::recharge_fully(Id id) {
  Account& account = battery(id);
  const Nanojoules stored = account.missing();
  add(account.recharged, stored);
  return stored;
}

const Account& Ledger::account(Id id) const {
  expect(id < accounts_.size(), "no such account");
  return accounts_[id];
}

Account& Ledger::battery(Id id) {
  expect(id < accounts_.size(), "no such account");
  expect(!accounts_[id].on_mains, "only a battery is recharged");
  return accounts_[id];
}

NanojouleSum Ledger::spent_on(EnergyKind kind) const {
  return sum_over(accounts_, [kind](const Account& a) { return a.spent_on(kind).count; });
}

NanojouleSum Ledger::total_spent() const {
  return sum_over(accounts_, [](const Account& a) { return sum_of(a.spent); });
}

NanojouleSum Ledger::total_shortfall() const {
  return sum_over(accounts_, [](const Account& a) { return sum_of(a.shortfall); });
}

NanojouleSum Ledger::total_recharged() const {
  return sum_over(accounts_, [](const Account& a) { return a.recharged.count; });
}

}  // namespace skein
