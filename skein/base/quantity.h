// Typed SI quantities: a wrong dimension does not compile.
//
// A Quantity is one double in SI base units (metre, kilogram, second, bit). Decibels, kilojoules and
// kilometres exist only at the edge, through the units of unit.h.
#pragma once

#include <cmath>
#include <compare>

namespace skein {

// Exponents of metre, kilogram, second and bit.
template <int L, int M, int T, int B>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : si_(si) {}

  // The value in SI base units.
  [[nodiscard]] constexpr double si() const { return si_; }

  constexpr Quantity& operator+=(Quantity other) {
    si_ += other.si_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    si_ -= other.si_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    si_ *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) {
    si_ /= divisor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.si_ + b.si_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.si_ - b.si_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.si_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.si_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(factor * a.si_); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.si_ / divisor); }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison's 0 for a pointer.
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double si_ = 0.0;
};

// Products and quotients add and subtract exponents; a dimensionless result is a plain double.
namespace detail {
template <int L, int M, int T, int B>
constexpr auto make_quantity(double si) {
  if constexpr (L == 0 && M == 0 && T == 0 && B == 0) {
    return si;
  } else {
    return Quantity<L, M, T, B>(si);
  }
}
}  // namespace detail

template <int L1, int M1, int T1, int B1, int L2, int M2, int T2, int B2>
constexpr auto operator*(Quantity<L1, M1, T1, B1> a, Quantity<L2, M2, T2, B2> b) {
  return detail::make_quantity<L1 + L2, M1 + M2, T1 + T2, B1 + B2>(a.si() * b.si());
}

template <int L1, int M1, int T1, int B1, int L2, int M2, int T2, int B2>
constexpr auto operator/(Quantity<L1, M1, T1, B1> a, Quantity<L2, M2, T2, B2> b) {
  return detail::make_quantity<L1 - L2, M1 - M2, T1 - T2, B1 - B2>(a.si() / b.si());
}

template <int L, int M, int T, int B>
constexpr auto operator/(double a, Quantity<L, M, T, B> b) {
  return Quantity<-L, -M, -T, -B>(a / b.si());
}

template <int L, int M, int T, int B>
requires(L % 2 == 0 && M % 2 == 0 && T % 2 == 0 && B % 2 == 0) auto sqrt(Quantity<L, M, T, B> a) {
  return Quantity<L / 2, M / 2, T / 2, B / 2>(std::sqrt(a.si()));
}

template <int L, int M, int T, int B>
bool isfinite(Quantity<L, M, T, B> a) {
  return std::isfinite(a.si());
}

using Length = Quantity<1, 0, 0, 0>;
using Area = Quantity<2, 0, 0, 0>;
using Mass = Quantity<0, 1, 0, 0>;
using Density = Quantity<-3, 1, 0, 0>;
using Time = Quantity<0, 0, 1, 0>;
using Frequency = Quantity<0, 0, -1, 0>;
using Speed = Quantity<1, 0, -1, 0>;
using Acceleration = Quantity<1, 0, -2, 0>;
using Force = Quantity<1, 1, -2, 0>;
using Energy = Quantity<2, 1, -2, 0>;
using Power = Quantity<2, 1, -3, 0>;
using PowerDensity = Quantity<2, 1, -2, 0>;  // W/Hz = J
using EnergyPerLength = Quantity<1, 1, -2, 0>;
using DataSize = Quantity<0, 0, 0, 1>;
using DataRate = Quantity<0, 0, -1, 1>;
// The effective capacitance of a chip, a_j in a_j c_j g^2 / 2: joules per cycle per Hz^2.
using Capacitance = Quantity<2, 1, 0, 0>;

inline namespace literals {
// NOLINTBEGIN(google-runtime-int): literal operators take these types by the language's rule.
constexpr Length operator""_m(long double v) { return Length(static_cast<double>(v)); }
constexpr Length operator""_m(unsigned long long v) { return Length(static_cast<double>(v)); }
constexpr Mass operator""_kg(long double v) { return Mass(static_cast<double>(v)); }
constexpr Mass operator""_kg(unsigned long long v) { return Mass(static_cast<double>(v)); }
constexpr Time operator""_s(long double v) { return Time(static_cast<double>(v)); }
constexpr Time operator""_s(unsigned long long v) { return Time(static_cast<double>(v)); }
constexpr Frequency operator""_Hz(long double v) { return Frequency(static_cast<double>(v)); }
constexpr Frequency operator""_Hz(unsigned long long v) { return Frequency(static_cast<double>(v)); }
constexpr Speed operator""_mps(long double v) { return Speed(static_cast<double>(v)); }
constexpr Speed operator""_mps(unsigned long long v) { return Speed(static_cast<double>(v)); }
constexpr Energy operator""_J(long double v) { return Energy(static_cast<double>(v)); }
constexpr Energy operator""_J(unsigned long long v) { return Energy(static_cast<double>(v)); }
constexpr Power operator""_W(long double v) { return Power(static_cast<double>(v)); }
constexpr Power operator""_W(unsigned long long v) { return Power(static_cast<double>(v)); }
constexpr DataSize operator""_bit(long double v) { return DataSize(static_cast<double>(v)); }
constexpr DataSize operator""_bit(unsigned long long v) { return DataSize(static_cast<double>(v)); }
// NOLINTEND(google-runtime-int)
}  // namespace literals

}  // namespace skein
