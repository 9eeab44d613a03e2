#include "skein/base/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// How many doubles lie between a and b, both of one sign.
double ulps_between(double a, double b) {
  return std::abs(static_cast<double>(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b)));
}

TEST(PortableLog, AgreesWithTheLibraryOverAllMagnitudes) {
  RandomStream stream(1, "log");
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(stream.uniform(1.0, 2.0), static_cast<int>(stream.integer(-1022, 1023)));
    EXPECT_LE(ulps_between(portable_log(x), std::log(x)), 2.0) << x;
  }
}

TEST(PortableLog, AgreesNearOne) {
  RandomStream stream(2, "log");
  for (int i = 0; i < 200000; ++i) {
    const double distance = std::ldexp(stream.uniform(1.0, 2.0), static_cast<int>(stream.integer(-52, -2)));
    const double x = stream.bernoulli(0.5) ? 1.0 + distance : 1.0 - distance;
    EXPECT_LE(ulps_between(portable_log(x), std::log(x)), 3.0) << x;
  }
}

TEST(PortableLog, HandWorkedValues) {
  EXPECT_EQ(portable_log(1.0), 0.0);
  EXPECT_DOUBLE_EQ(portable_log(2.0), 0.69314718055994530942);
  EXPECT_DOUBLE_EQ(portable_log(10.0), 2.30258509299404568402);
  EXPECT_DOUBLE_EQ(portable_log(0x1p-1074), -1074 * 0.69314718055994530942);
  EXPECT_DOUBLE_EQ(portable_log(std::numeric_limits<double>::max()), 709.78271289338397);
}

TEST(PortableLog, RefusesWhatHasNoLogarithm) {
  for (const double x : {0.0, -0.0, -1.0, infinity, -infinity, not_a_number}) {
    EXPECT_THROW(portable_log(x), ProgrammingError) << x;
  }
}

TEST(PortableExp, AgreesWithTheLibrary) {
  RandomStream stream(3, "exp");
  for (int i = 0; i < 200000; ++i) {
    const double x = stream.uniform(-708.0, 709.7);
    EXPECT_LE(ulps_between(portable_exp(x), std::exp(x)), 2.0) << x;
  }
  for (int i = 0; i < 200000; ++i) {
    const double x = stream.uniform(-1.0, 1.0);
    EXPECT_LE(ulps_between(portable_exp(x), std::exp(x)), 2.0) << x;
  }
}

TEST(PortableExp, EndsOfTheRange) {
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_DOUBLE_EQ(portable_exp(1.0), 2.71828182845904523536);
  EXPECT_EQ(portable_exp(710.0), infinity);
  EXPECT_EQ(portable_exp(infinity), infinity);
  EXPECT_EQ(portable_exp(-746.0), 0.0);
  EXPECT_EQ(portable_exp(-infinity), 0.0);
  EXPECT_LE(ulps_between(portable_exp(709.782712893383), std::exp(709.782712893383)), 2.0);
  // Below the normal numbers one ulp is 2^-1074.
  for (double x = -745.1; x < -708.3; x += 0.01) {
    EXPECT_LE(ulps_between(portable_exp(x), std::exp(x)), 2.0) << x;
  }
  EXPECT_THROW(portable_exp(not_a_number), ProgrammingError);
}

// From the inverse error function in 400 digits, at exactly these doubles p.
TEST(NormalQuantile, KnownValues) {
  struct Known {
    double p;
    double quantile;
  };
  constexpr Known known[] = {
      {1e-300, -37.047096299361199237},       {1e-100, -21.273453560965324294},
      {1e-20, -9.2623400897984075796},        {0x1p-53, -8.2095361516013868556},
      {1e-10, -6.3613409024040561991},        {1e-05, -4.2648907939228246102},
      {0.001, -3.0902323061678135354},        {0.01, -2.3263478740408410931},
      {0.025, -1.9599639845400542118},        {0.05, -1.644853626951472688},
      {0.0749, -1.4402382675279636631},       {0.075, -1.4395314709384559349},
      {0.0751, -1.4388253927525399824},       {0.1, -1.2815515655446004353},
      {0.25, -0.6744897501960817432},         {0.4, -0.25334710313579974132},
      {0.49999, -0.000025066282748960008527}, {0.5, 0.0},
      {0.50001, 0.000025066282748820862706},  {0.6, 0.25334710313579974132},
      {0.75, 0.6744897501960817432},          {0.9, 1.2815515655446005935},
      {0.925, 1.4395314709384562291},         {0.975, 1.9599639845400538556},
      {0.99, 2.3263478740408407676},          {0.999, 3.0902323061678132778},
      {0.99999, 4.2648907939238407699},       {0.9999999999, 6.3613408896974218642},
      {1.0 - 0x1p-53, 8.2095361516013868556},
  };
  for (const Known& value : known) {
    EXPECT_NEAR(normal_quantile(value.p), value.quantile, 1e-15 * std::abs(value.quantile)) << value.p;
  }
}

// p = Phi(quantile(p)); an error e of the quantile shows as e * density / p, at most (1 + x^2) / x * e.
TEST(NormalQuantile, InvertsTheDistribution) {
  RandomStream stream(4, "quantile");
  for (int i = 0; i < 100000; ++i) {
    const double p = portable_exp(-stream.uniform(0.7, 600.0));
    const double x = normal_quantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)) / p, 1.0, 1e-15 * (2.0 + x * x)) << p;
  }
}

TEST(NormalQuantile, IsOddAndRising) {
  RandomStream stream(5, "quantile");
  double previous = -infinity;
  for (int i = 1; i < 4096; ++i) {
    const double p = i / 4096.0;
    EXPECT_EQ(normal_quantile(p), -normal_quantile(1.0 - p)) << p;
    EXPECT_GT(normal_quantile(p), previous) << p;
    previous = normal_quantile(p);
  }
}

TEST(NormalQuantile, RefusesTheEnds) {
  for (const double p : {0.0, 1.0, -0.1, 1.1, not_a_number}) {
    EXPECT_THROW(normal_quantile(p), ProgrammingError) << p;
  }
}

}  // namespace
}  // namespace skein
