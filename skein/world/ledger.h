// Where the energy goes: one account per battery, one line per use, in whole nanojoules.
//
// Integers add up exactly: a battery's level is what it started with, plus what was recharged, minus what
// every use has taken, to the last nanojoule and in any order of booking. An amount is rounded once, when it
// is booked, by at most half a nanojoule. An account holds up to 9.2e9 J in all.
//
// A battery cannot go below 0. A booking that asks for more takes what is left; the rest is reported to the
// caller and kept in the account as shortfall.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/names.h"
#include "skein/base/quantity.h"

namespace skein {

struct Nanojoules {
  std::int64_t count = 0;

  friend auto operator<=>(Nanojoules, Nanojoules) = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// A sum over accounts, which may pass what one account can hold.
__extension__ using NanojouleSum = __int128;

// To the nearest. Refuses what is not a number, negative, or too large.
Nanojoules to_nanojoules(Energy energy);
Energy to_energy(Nanojoules amount);
Energy to_energy(NanojouleSum amount);

// What energy is used for.
enum class EnergyKind {
  processing,
  data_transmission,  // a device's data to UAVs
  relay,              // a coordinator's data to workers
  model_upload,
  model_broadcast,
  hovering,
  access_point_trips,
  travel,
  take_off,    // getting into the air
  landed,      // electronics while on the ground
  signalling,  // messages of the protocol, and personalised models to the devices
  leakage,     // of a faulty battery, beyond what its uses cost
};
constexpr auto names_of(EnergyKind) {
  return names_for<EnergyKind>("processing", "data_transmission", "relay", "model_upload", "model_broadcast",
                               "hovering", "access_point_trips", "travel", "take_off", "landed", "signalling",
                               "leakage");
}
inline constexpr auto all_energy_kinds = all_values<EnergyKind>();
constexpr std::string_view to_string(EnergyKind kind) { return name_of(kind); }

// A plain value: its integers are all there is to save.
struct Account {
  using PerKind = std::array<Nanojoules, all_energy_kinds.size()>;

  bool on_mains = false;  // a device, say: its energy is counted but not limited
  Nanojoules capacity;    // the rest up to `recharged` is 0 on mains
  Nanojoules initial;
  Nanojoules recharged;
  PerKind spent{};
  PerKind shortfall{};  // asked for when the battery had no more

  [[nodiscard]] Nanojoules spent_on(EnergyKind kind) const { return spent[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Nanojoules shortfall_of(EnergyKind kind) const {
    return shortfall[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] Nanojoules total_spent() const;
  [[nodiscard]] Nanojoules total_shortfall() const;
  // Of a battery: initial + recharged - total_spent.
  [[nodiscard]] Nanojoules level() const;
  // Of a battery: capacity - level.
  [[nodiscard]] Nanojoules missing() const;

  friend bool operator==(const Account&, const Account&) = default;
};

// What is wrong with an account that was read from outside; empty if nothing.
std::string fault(const Account& account);

struct Booking {
  Nanojoules paid;
  Nanojoules shortfall;  // paid + shortfall is what was asked for

  [[nodiscard]] bool covered() const { return shortfall.count == 0; }
};

class Ledger {
 public:
  using Id = std::size_t;

  struct Battery {
    Energy capacity;
    Energy level;  // at most the capacity
  };

  Ledger() = default;
  // As it was when `accounts()` was saved. Accounts from outside are first checked with fault().
  explicit Ledger(std::vector<Account> accounts);

  Id add_battery(const Battery& battery);
  Id add_mains();

  Booking book(Id id, EnergyKind kind, Energy amount);
  // Into a battery, at most what it lacks; says how much went in.
  Nanojoules recharge(Id id, Energy amount);
  Nanojoules recharge_fully(Id id);

  [[nodiscard]] const Account& account(Id id) const;
  [[nodiscard]] const std::vector<Account>& accounts() const { return accounts_; }
  [[nodiscard]] Energy level(Id id) const { return to_energy(account(id).level()); }
  [[nodiscard]] Energy missing(Id id) const { return to_energy(account(id).missing()); }

  // Over all accounts.
  [[nodiscard]] NanojouleSum spent_on(EnergyKind kind) const;
  [[nodiscard]] NanojouleSum total_spent() const;
  [[nodiscard]] NanojouleSum total_shortfall() const;
  [[nodiscard]] NanojouleSum total_recharged() const;

  friend bool operator==(const Ledger&, const Ledger&) = default;

 private:
  Account& battery(Id id);

  std::vector<Account> accounts_;
};

}  // namespace skein
