#include "skein/base/distribution.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "skein/base/expect.h"
#include "tests/base/statistics.h"

namespace skein {
namespace {

using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr Range one_to_six{.low = 1.0, .high = 6.0, .whole = true};

TEST(Range, Contains) {
  EXPECT_TRUE(ratio.contains(0.0) && ratio.contains(1.0) && ratio.contains(0.5));
  EXPECT_FALSE(ratio.contains(-1e-300) || ratio.contains(std::nextafter(1.0, 2.0)));
  EXPECT_FALSE(positive.contains(0.0));
  EXPECT_TRUE(positive.contains(std::numeric_limits<double>::denorm_min()));
  EXPECT_TRUE(non_negative.contains(0.0));
  EXPECT_FALSE(positive_ratio.contains(0.0));
  EXPECT_TRUE(positive_ratio.contains(1.0));
  EXPECT_TRUE(one_to_six.contains(1.0) && one_to_six.contains(6.0));
  EXPECT_FALSE(one_to_six.contains(2.5) || one_to_six.contains(0.0) || one_to_six.contains(7.0));
  constexpr Range below_one{.high = 1.0, .high_open = true};
  EXPECT_TRUE(below_one.contains(-1e300));
  EXPECT_FALSE(below_one.contains(1.0));
  for (const double value : {infinity, -infinity, not_a_number}) {
    EXPECT_FALSE(any_number.contains(value)) << value;
  }
}

TEST(Range, ReadsAsAPhrase) {
  EXPECT_EQ(to_string(any_number), "a number");
  EXPECT_EQ(to_string(positive), "a number > 0");
  EXPECT_EQ(to_string(non_negative), "a number >= 0");
  EXPECT_EQ(to_string(positive_ratio), "a number in (0, 1]");
  EXPECT_EQ(to_string(one_to_six), "a whole number in [1, 6]");
  EXPECT_EQ(to_string(Range{.high = 2.5, .high_open = true}), "a number < 2.5");
  EXPECT_EQ(to_string(Range{.high = 2.0}), "a number <= 2");
  EXPECT_EQ(to_string(Range{.low = 1.0, .whole = true}), "a whole number >= 1");
}

TEST(Spread, ConstantTakesNoRandomness) {
  RandomStream stream(1, "constant");
  const RandomStream::State before = stream.state();
  EXPECT_EQ(constant(12.5).sample(stream, 0, any_number), 12.5);
  EXPECT_EQ(constant(12.5).sample(stream, 99, any_number), 12.5);
  EXPECT_EQ(list({3, 1, 2}).sample(stream, 1, any_number), 1.0);
  EXPECT_EQ(stream.state(), before);
}

TEST(Spread, AListHasOneValuePerEntity) {
  RandomStream stream(1, "list");
  const Spread spread = list({3, 1, 2});
  EXPECT_EQ(spread.sample(stream, 0, any_number), 3.0);
  EXPECT_EQ(spread.sample(stream, 2, any_number), 2.0);
  EXPECT_THROW(spread.sample(stream, 3, any_number), ProgrammingError);
}

TEST(Spread, ChoiceComesEquallyOften) {
  RandomStream stream(1, "choice");
  const Spread spread = choice({5, 7, 9});
  std::map<double, std::size_t> seen;
  for (int i = 0; i < 30000; ++i) {
    ++seen[spread.sample(stream, 0, any_number)];
  }
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_LT(std::abs(chi_square_deviations({seen[5], seen[7], seen[9]})), once_in_a_million);
}

TEST(Spread, UniformFillsItsRange) {
  RandomStream stream(1, "uniform");
  std::vector<double> values(50000);
  for (double& value : values) {
    value = uniform(8, 10).sample(stream, 0, any_number);
    ASSERT_TRUE(value >= 8.0 && value < 10.0);
  }
  EXPECT_LT(kolmogorov(values, [](double x) { return (x - 8.0) / 2.0; }), kolmogorov_once_in_a_million);
}

TEST(Spread, UniformWholeNumbersIncludeBothEnds) {
  RandomStream stream(1, "dice");
  std::vector<std::size_t> counts(6);
  for (int i = 0; i < 60000; ++i) {
    const double value = uniform(1, 6).sample(stream, 0, one_to_six);
    ASSERT_TRUE(one_to_six.contains(value));
    ++counts[static_cast<std::size_t>(value) - 1];
  }
  EXPECT_LT(std::abs(chi_square_deviations(counts)), once_in_a_million);
}

TEST(Spread, NormalHasMeanAndDeviation) {
  RandomStream stream(1, "normal");
  constexpr int count = 50000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double value = normal(2500, 250).sample(stream, 0, any_number);
    sum += value;
    squares += (value - 2500) * (value - 2500);
  }
  EXPECT_NEAR(sum / count, 2500.0, once_in_a_million * 250.0 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 250.0, once_in_a_million * 250.0 / std::sqrt(2.0 * count));
}

// Truncated to above zero, a standard normal is |x|.
TEST(Spread, NormalIsDrawnAgainUntilAllowed) {
  RandomStream stream(1, "truncated");
  std::vector<double> values(50000);
  for (double& value : values) {
    value = normal(0, 1).sample(stream, 0, positive);
    ASSERT_GT(value, 0.0);
  }
  EXPECT_LT(kolmogorov(values, [](double x) { return std::erf(x / std::sqrt(2.0)); }),
            kolmogorov_once_in_a_million);
}

TEST(Spread, NormalWholeNumbers) {
  RandomStream stream(1, "whole");
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(one_to_six.contains(normal(3, 2).sample(stream, 0, one_to_six)));
  }
  EXPECT_EQ(normal(4, 0).sample(stream, 0, one_to_six), 4.0);
}

TEST(Spread, FindsNoFaultInWhatIsRight) {
  EXPECT_EQ(constant(0.5).fault(ratio), "");
  EXPECT_EQ(list({0, 1}).fault(ratio), "");
  EXPECT_EQ(choice({1, 6}).fault(one_to_six), "");
  EXPECT_EQ(uniform(1, 6).fault(one_to_six), "");
  EXPECT_EQ(uniform(2, 2).fault(positive), "");
  EXPECT_EQ(normal(2500, 250).fault(positive), "");
  EXPECT_EQ(normal(3, 0).fault(one_to_six), "");
  EXPECT_EQ(normal(2, 0.1).fault(Range{.low = 2, .high = 2, .whole = true}), "");
}

TEST(Spread, SaysWhatIsWrong) {
  EXPECT_EQ(constant(-1).fault(positive), "must be a number > 0");
  EXPECT_EQ(constant(2.5).fault(one_to_six), "must be a whole number in [1, 6]");
  EXPECT_EQ(list({1, 7}).fault(one_to_six), "must be a whole number in [1, 6]");
  EXPECT_EQ(list({}).fault(any_number), "must not be empty");
  EXPECT_EQ(choice({}).fault(any_number), "must not be empty");
  EXPECT_EQ(uniform(0.5, 3).fault(one_to_six), "must be a whole number in [1, 6]");
  EXPECT_EQ(uniform(3, 2).fault(any_number), "uniform takes [low, high] with low <= high");
  EXPECT_EQ(Spread({Spread::Shape::uniform, {1}}).fault(any_number),
            "uniform takes [low, high] with low <= high");
  EXPECT_EQ(normal(3, -1).fault(any_number), "normal takes [mean, deviation] with deviation >= 0");
  EXPECT_EQ(Spread({Spread::Shape::normal, {1, 2, 3}}).fault(any_number),
            "normal takes [mean, deviation] with deviation >= 0");
  EXPECT_EQ(normal(-100, 10).fault(positive), "almost never gives what is allowed: a number > 0");
  EXPECT_EQ(normal(0.5, 0).fault(one_to_six), "almost never gives what is allowed: a whole number in [1, 6]");
  EXPECT_EQ(
      normal(2.5, 1).fault(Range{.low = 2, .high = 3, .low_open = true, .high_open = true, .whole = true}),
      "almost never gives what is allowed: a whole number in (2, 3)");
  for (const double bad : {infinity, -infinity, not_a_number}) {
    EXPECT_THAT(constant(bad).fault(any_number), HasSubstr("finite"));
    EXPECT_THAT(list({1, bad}).fault(any_number), HasSubstr("finite"));
    EXPECT_THAT(uniform(0, bad).fault(any_number), HasSubstr("finite"));
    EXPECT_THAT(normal(0, bad).fault(any_number), HasSubstr("finite"));
  }
}

// Whatever passes fault() can be sampled, and gives what is allowed.
TEST(Spread, NoFaultMeansItSamples) {
  RandomStream stream(1, "many");
  int sampled = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double a = std::nearbyint(stream.uniform(-8.0, 8.0));
    const double b =
        stream.bernoulli(0.5) ? std::nearbyint(stream.uniform(-8.0, 8.0)) : stream.uniform(-8.0, 8.0);
    const Range allowed{.low = std::min(a, b) - stream.uniform(),
                        .high = std::max(a, b),
                        .low_open = stream.bernoulli(0.5),
                        .high_open = stream.bernoulli(0.3),
                        .whole = stream.bernoulli(0.3)};
    const Spread spreads[] = {constant(a), uniform(a, b), normal(a, std::abs(b)), choice({a, b}),
                              list({a, b})};
    for (const Spread& spread : spreads) {
      if (spread.fault(allowed).empty()) {
        ASSERT_TRUE(allowed.contains(spread.sample(stream, 0, allowed)))
            << spread.to_toml() << " in " << to_string(allowed);
        ++sampled;
      }
    }
  }
  EXPECT_GT(sampled, 20000);
}

double read_back(const std::string& text) {
  const toml::table table = toml::parse("x = " + text);
  return table["x"].value<double>().value();
}

TEST(ToToml, ReadsBackToTheSameNumber) {
  RandomStream stream(1, "toml");
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(stream.bits());
    if (std::isfinite(value)) {
      ASSERT_EQ(read_back(to_toml(value)), value) << to_toml(value);
    }
  }
  for (const double value :
       {0.0, 1.0, -1.0, 0.1, 1e-3, 1e15, 1e16, 123456789012345678.0, 1e300, 5e-324, -174.0}) {
    EXPECT_EQ(read_back(to_toml(value)), value) << to_toml(value);
  }
}

TEST(ToToml, ReadsAsAPersonWouldWriteIt) {
  EXPECT_EQ(to_toml(12.0), "12");
  EXPECT_EQ(to_toml(-174.0), "-174");
  EXPECT_EQ(to_toml(0.1), "0.1");
  EXPECT_EQ(constant(12).to_toml(), "12");
  EXPECT_EQ(list({12, 13.5}).to_toml(), "[12, 13.5]");
  EXPECT_EQ(uniform(8, 10).to_toml(), "{ uniform = [8, 10] }");
  EXPECT_EQ(normal(2500, 250).to_toml(), "{ normal = [2500, 250] }");
  EXPECT_EQ(choice({1, 2}).to_toml(), "{ choice = [1, 2] }");
}

TEST(ToToml, EveryShapeIsToml) {
  for (const Spread& spread : {constant(1.5), list({1, 2}), uniform(1, 2), normal(1, 2), choice({1, 2})}) {
    EXPECT_TRUE(toml::parse("x = " + spread.to_toml()).contains("x")) << spread.to_toml();
  }
}

TEST(Distribution, SamplesInItsUnitAndGivesSi) {
  RandomStream stream(1, "power");
  const Distribution<Power> power{.spread = constant(20), .unit = unit::dbm, .allowed = any_number};
  EXPECT_DOUBLE_EQ(power.sample(stream).si(), 0.1);
  EXPECT_EQ(power.sample_number(stream, 0), 20.0);
  EXPECT_FALSE(power.list_size().has_value());

  const Distribution<Energy> battery{
      .spread = list({40, 50}), .unit = unit::kilojoule, .allowed = non_negative};
  EXPECT_EQ(battery.list_size(), 2U);
  EXPECT_EQ(battery.sample(stream, 1), 50000_J);

  // Uniform in decibels, so half of it lies below the middle decibel.
  const Distribution<Power> spread{.spread = uniform(0, 20), .unit = unit::dbm, .allowed = any_number};
  int below = 0;
  for (int i = 0; i < 10000; ++i) {
    below += spread.sample(stream) < unit::dbm.to_si(10) ? 1 : 0;
  }
  EXPECT_NEAR(below, 5000, once_in_a_million * 50.0);
}

}  // namespace
}  // namespace skein
