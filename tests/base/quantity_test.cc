#include "skein/base/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

namespace skein {
namespace {

template <class A, class B>
concept CanAdd = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept CanSubtract = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept CanAccumulate = requires(A a, B b) {
  a += b;
};
template <class A, class B>
concept CanCompare = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept CanEqual = requires(A a, B b) {
  a == b;
};
template <class A>
concept CanRoot = requires(A a) {
  sqrt(a);
};
template <class A, class B>
concept CanScale = requires(A a, B b) {
  a *= b;
};

// What the type is for: a wrong dimension does not compile.
static_assert(CanAdd<Length, Length> && CanSubtract<Energy, Energy> && CanCompare<Time, Time>);
static_assert(!CanAdd<Length, Time> && !CanAdd<Power, Energy> && !CanAdd<DataSize, DataRate>);
static_assert(!CanAdd<Length, double> && !CanAdd<double, Length>);
static_assert(!CanSubtract<Frequency, Time> && !CanSubtract<Speed, Acceleration>);
static_assert(!CanAccumulate<Energy, Power> && !CanAccumulate<Energy, double>);
static_assert(!CanCompare<Length, Area> && !CanCompare<Power, double> && !CanEqual<Energy, Power>);
static_assert(CanScale<Length, double> && !CanScale<Length, Length>);
static_assert(CanRoot<Area> && !CanRoot<Length> && !CanRoot<Power>);
// A number becomes a quantity, and a quantity a number, only where it is said.
static_assert(!std::is_convertible_v<double, Length> && std::is_constructible_v<Length, double>);
static_assert(!std::is_convertible_v<Length, double> && !std::is_constructible_v<double, Length>);
static_assert(!std::is_constructible_v<Length, Time> && !std::is_assignable_v<Length&, Time>);
static_assert(!std::is_assignable_v<Power&, double>);

// Products and quotients have the dimension that physics gives them.
template <class A, class B>
using Product = decltype(A{} * B{});
template <class A, class B>
using Quotient = decltype(A{} / B{});
static_assert(std::is_same_v<Product<Power, Time>, Energy>);
static_assert(std::is_same_v<Quotient<Energy, Time>, Power>);
static_assert(std::is_same_v<Quotient<DataSize, DataRate>, Time>);
static_assert(std::is_same_v<Quotient<Length, Speed>, Time>);
static_assert(std::is_same_v<Quotient<Length, Length>, double>);
static_assert(std::is_same_v<Product<Frequency, Time>, double>);
static_assert(std::is_same_v<Quotient<double, Time>, Frequency>);
static_assert(std::is_same_v<Product<Mass, Acceleration>, Force>);
static_assert(std::is_same_v<Product<Force, Length>, Energy>);
static_assert(std::is_same_v<Product<PowerDensity, Frequency>, Power>);
static_assert(std::is_same_v<Product<EnergyPerLength, Length>, Energy>);
static_assert(std::is_same_v<Product<Product<Capacitance, Frequency>, Frequency>, Energy>);
// Drag: density, area and speed cubed make a power.
static_assert(std::is_same_v<Product<Product<Density, Area>, Product<Speed, Product<Speed, Speed>>>, Power>);
static_assert(std::is_same_v<decltype(sqrt(Area{})), Length>);

static_assert(sizeof(Energy) == sizeof(double) && std::is_trivially_copyable_v<Energy>);

TEST(Quantity, LiteralsAreSi) {
  static_assert((3_m).si() == 3.0 && (2.5_m).si() == 2.5);
  static_assert((2_kg).si() == 2.0 && (0.5_kg).si() == 0.5);
  static_assert((7_s).si() == 7.0 && (0.25_s).si() == 0.25);
  static_assert((2e9_Hz).si() == 2e9 && (50_Hz).si() == 50.0);
  static_assert((12_mps).si() == 12.0 && (1.5_mps).si() == 1.5);
  static_assert((40_J).si() == 40.0 && (0.1_J).si() == 0.1);
  static_assert((100_W).si() == 100.0 && (0.1_W).si() == 0.1);
  static_assert((8_bit).si() == 8.0 && (1e4_bit).si() == 1e4);
  static_assert(std::is_same_v<decltype(3_m), Length> && std::is_same_v<decltype(3_bit), DataSize>);
}

TEST(Quantity, ArithmeticIsThatOfTheNumbers) {
  constexpr Energy energy = 10_W * 3_s + 5_J - 1_J;
  static_assert(energy == 34_J);
  EXPECT_EQ((-energy).si(), -34.0);
  EXPECT_EQ(2.0 * energy / 4.0, 17_J);
  EXPECT_EQ(energy * 2.0, 68_J);
  EXPECT_EQ(energy / 17_J, 2.0);
  EXPECT_EQ((1.0 / 4_s).si(), 0.25);
  EXPECT_EQ(sqrt(3_m * 3_m + 4_m * 4_m), 5_m);

  Energy sum;
  EXPECT_EQ(sum.si(), 0.0);
  sum += 3_J;
  sum -= 1_J;
  sum *= 8.0;
  sum /= 4.0;
  EXPECT_EQ(sum, 4_J);
}

TEST(Quantity, Compares) {
  EXPECT_LT(1_s, 2_s);
  EXPECT_GE(2_s, 2_s);
  EXPECT_NE(1_s, 2_s);
  const Time unknown(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(unknown == unknown);
  EXPECT_FALSE(unknown < 1_s);
  EXPECT_FALSE(isfinite(unknown));
  EXPECT_FALSE(isfinite(1.0_s / 0.0));
  EXPECT_TRUE(isfinite(1_s));
}

}  // namespace
}  // namespace skein
