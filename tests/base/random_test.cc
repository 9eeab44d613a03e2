#include "skein/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "skein/base/expect.h"
#include "tests/base/statistics.h"

namespace skein {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> bits_of(RandomStream stream, int count = 4) {
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < count; ++i) {
    bits.push_back(stream.bits());
  }
  return bits;
}

// The bits of a named stream are part of every result ever published: they never change. Values from
// tests/reference/random_streams.py.
TEST(RandomGolden, Bits) {
  EXPECT_THAT(bits_of(RandomStream(0, "")),
              ElementsAre(0xfeb48c6e8d14c16b, 0x48d3522199450d65, 0x3d337a61887dab97, 0xf2162d59d8cd5d2d));
  EXPECT_THAT(bits_of(RandomStream(7, "devices", 3)),
              ElementsAre(0xa4d5a89dce9e5fe0, 0x1569f0df0ff39892, 0xff6d29047482b473, 0x2ca76c348be342b5));
  EXPECT_THAT(bits_of(RandomStream(7, "devices", 3, 5)),
              ElementsAre(0xf28ebc1a7a6aa1b8, 0xd349ea882361d5e6, 0x4090ba516e2fffe2, 0xe53b584d23b0fdd4));
  EXPECT_THAT(bits_of(RandomStream(std::numeric_limits<std::uint64_t>::max(), "channel", -1)),
              ElementsAre(0x8d40fa7023154fda, 0xcc7b819b81a74faa, 0x7f014a58d8ed8349, 0xa223800d786209ab));
}

TEST(RandomGolden, WholeNumbers) {
  RandomStream below(7, "below");
  std::vector<std::uint64_t> numbers(8);
  std::ranges::generate(numbers, [&] { return below.below(1000); });
  EXPECT_THAT(numbers, ElementsAre(73, 321, 694, 527, 371, 665, 716, 337));

  std::vector<int> values(10);
  std::iota(values.begin(), values.end(), 0);
  RandomStream(7, "shuffle").shuffle(values);
  EXPECT_THAT(values, ElementsAre(4, 5, 0, 8, 7, 2, 9, 6, 3, 1));
  EXPECT_THAT(RandomStream(7, "choose").choose(20, 6), ElementsAre(15, 7, 10, 17, 1, 14));
}

TEST(RandomGolden, RealNumbers) {
  RandomStream uniform(7, "uniform");
  EXPECT_EQ(uniform.uniform(), 0x1.0ab59a714f1cep-1);
  EXPECT_EQ(uniform.uniform(), 0x1.9de7cb9d0a3edp-1);
  EXPECT_EQ(uniform.uniform(), 0x1.3091e48314696p-2);
  EXPECT_EQ(uniform.uniform(), 0x1.3b19d108affc0p-7);
  // These follow from the above through normal_quantile, portable_log and portable_exp; recorded once.
  const auto draw = [](const char* purpose, double (*variate)(RandomStream&)) {
    RandomStream stream(7, purpose);
    std::vector<double> values;
    for (int i = 0; i < 6; ++i) {
      values.push_back(variate(stream));
    }
    return values;
  };
  EXPECT_THAT(draw("normal", [](RandomStream& s) { return s.normal(); }),
              ElementsAre(-0x1.21686caeb3d0dp+0, 0x1.498e94f0dc47p-2, -0x1.36efd90b7d46cp+0,
                          -0x1.409bfa1c8ddep-3, 0x1.4e304b4bd9f36p-2, -0x1.f0a8467b969fp-1));
  EXPECT_THAT(draw("exponential", [](RandomStream& s) { return s.exponential(); }),
              ElementsAre(0x1.201ea26b6bb85p+0, 0x1.030d054278218p-1, 0x1.521e2cf98ba7ap+0,
                          0x1.410b2a536aaaap+0, 0x1.79ec07235872ep+0, 0x1.5837d4b3383ddp+0));
  EXPECT_THAT(draw("gamma", [](RandomStream& s) { return s.gamma(2.5); }),
              ElementsAre(0x1.b67ea903b214p-1, 0x1.17772132ccfe9p+2, 0x1.884ca06d0836ep+2,
                          0x1.764b8aa0d80fap-1, 0x1.e8394fa8044a8p+1, 0x1.938dfc0e0195bp-1));
  EXPECT_THAT(draw("gamma", [](RandomStream& s) { return s.gamma(0.5); }),
              ElementsAre(0x1.ea0c9d8c8acd8p-7, 0x1.9ad835975ce21p-4, 0x1.26db6c16e7932p-5,
                          0x1.209b0dd5b3dd8p-5, 0x1.33d69a4e71dfdp+0, 0x1.586fcaa878855p+0));
}

TEST(RandomNames, OrderOfCreationAndUseDoesNotMatter) {
  std::vector<std::vector<std::uint64_t>> forward;
  for (int id = 0; id < 50; ++id) {
    forward.push_back(bits_of(RandomStream(3, "devices", id), 20));
  }
  // Backwards, all alive at once, drawn from in turn.
  std::vector<RandomStream> streams;
  for (int id = 49; id >= 0; --id) {
    streams.emplace_back(3, "devices", id);
  }
  std::vector<std::vector<std::uint64_t>> interleaved(50);
  for (int draw = 0; draw < 20; ++draw) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      interleaved[49 - i].push_back(streams[i].bits());
    }
  }
  EXPECT_EQ(interleaved, forward);
}

TEST(RandomNames, EveryPartOfTheNameMatters) {
  std::set<RandomStream::State> states;
  std::size_t made = 0;
  const auto add = [&](const RandomStream& stream) {
    states.insert(stream.state());
    ++made;
  };
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* purpose : {"", "a", "b", "ab", "ba", "aa"}) {
      add(RandomStream(seed, purpose));
      for (int i = -3; i < 20; ++i) {
        add(RandomStream(seed, purpose, i));
        for (int j = 0; j < 10; ++j) {
          add(RandomStream(seed, purpose, i, j));
        }
      }
    }
  }
  add(RandomStream(0, std::string_view("a\0", 2)));
  EXPECT_EQ(states.size(), made);
}

TEST(RandomNames, TheTypeOfAnIdDoesNotMatter) {
  const auto expected = bits_of(RandomStream(1, "x", 5));
  EXPECT_EQ(bits_of(RandomStream(1, "x", std::size_t{5})), expected);
  EXPECT_EQ(bits_of(RandomStream(1, "x", std::uint8_t{5})), expected);
  EXPECT_EQ(bits_of(RandomStream(1, std::string("x"), std::int64_t{5})), expected);
}

// The first number of neighbouring names is as random as the numbers of one stream.
TEST(RandomNames, NeighboursAreIndependent) {
  constexpr int num_streams = 200000;
  std::vector<std::size_t> by_id(100);
  std::vector<std::size_t> by_seed(100);
  std::vector<std::size_t> pairs(100);
  double previous = RandomStream(0, "pairs").uniform();
  for (int i = 0; i < num_streams; ++i) {
    const double first = RandomStream(9, "first", i).uniform();
    ++by_id[static_cast<std::size_t>(first * 100.0)];
    ++by_seed[static_cast<std::size_t>(RandomStream(static_cast<std::uint64_t>(i), "first").uniform() *
                                       100.0)];
    ++pairs[static_cast<std::size_t>(previous * 10.0) * 10 + static_cast<std::size_t>(first * 10.0)];
    previous = first;
  }
  EXPECT_LT(std::abs(chi_square_deviations(by_id)), once_in_a_million);
  EXPECT_LT(std::abs(chi_square_deviations(by_seed)), once_in_a_million);
  EXPECT_LT(std::abs(chi_square_deviations(pairs)), once_in_a_million);
}

TEST(RandomNames, StreamsDoNotCorrelate) {
  constexpr int length = 20000;
  for (int id = 0; id < 30; ++id) {
    RandomStream a(4, "walk", id);
    RandomStream b(4, "walk", id + 1);
    double sum = 0.0;
    for (int i = 0; i < length; ++i) {
      sum += a.normal() * b.normal();  // mean 0, variance 1
    }
    EXPECT_LT(std::abs(sum) / std::sqrt(length), once_in_a_million) << id;
  }
}

TEST(RandomState, ARestoredStreamGoesOn) {
  RandomStream stream(5, "resume");
  for (int i = 0; i < 17; ++i) {
    stream.normal();
  }
  RandomStream restored(stream.state());
  EXPECT_EQ(bits_of(restored, 50), bits_of(stream, 50));
  stream.bits();
  EXPECT_NE(restored.state(), stream.state());
}

// Four words from every bits(), the lowest first; what is left of the last is not used.
TEST(Random, FilledWordsAreTheBits) {
  for (std::size_t size = 0; size < 12; ++size) {
    RandomStream filling(3, "words", size);
    RandomStream counting = filling;
    std::vector<std::uint16_t> words(size);
    filling.fill(words);
    for (std::size_t i = 0; i < size; i += 4) {
      const std::uint64_t bits = counting.bits();
      for (std::size_t j = i; j < std::min(i + 4, size); ++j) {
        EXPECT_EQ(words[j], bits >> (16 * (j - i)) & 0xFFFF) << "word " << j << " of " << size;
      }
    }
    EXPECT_EQ(filling.state(), counting.state());
  }
}

class RandomOfSeed : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomOfSeed, testing::Values(0, 1, 2, 42, 1ULL << 63U));

TEST_P(RandomOfSeed, UniformFillsTheUnitInterval) {
  RandomStream stream(GetParam(), "uniform");
  std::vector<std::size_t> high_bits(256);
  std::vector<std::size_t> low_bits(256);
  std::vector<std::size_t> serial(256);
  std::size_t previous = 0;
  for (int i = 0; i < 200000; ++i) {
    const double value = stream.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    const double scaled = value * 0x1p53;
    ASSERT_EQ(scaled, std::floor(scaled));
    const auto whole = static_cast<std::uint64_t>(scaled);
    ++high_bits[whole >> 45U];
    ++low_bits[whole & 255U];
    const std::size_t four = whole >> 49U;
    ++serial[previous * 16 + four];
    previous = four;
  }
  EXPECT_LT(std::abs(chi_square_deviations(high_bits)), once_in_a_million);
  EXPECT_LT(std::abs(chi_square_deviations(low_bits)), once_in_a_million);
  EXPECT_LT(std::abs(chi_square_deviations(serial)), once_in_a_million);
}

TEST_P(RandomOfSeed, NormalIsNormal) {
  constexpr int count = 200000;
  RandomStream stream(GetParam(), "normal");
  std::vector<double> values(count);
  double moments[5] = {};
  for (double& value : values) {
    value = stream.normal();
    double power = 1.0;
    for (double& moment : moments) {
      moment += power / count;
      power *= value;
    }
  }
  // E x^2 = 1, E x^4 = 3, E x^6 = 15, E x^8 = 105 give the moments and how far they may be off.
  const double unit = once_in_a_million / std::sqrt(count);
  EXPECT_NEAR(moments[1], 0.0, unit);
  EXPECT_NEAR(moments[2], 1.0, unit * std::sqrt(3.0 - 1.0));
  EXPECT_NEAR(moments[3], 0.0, unit * std::sqrt(15.0));
  EXPECT_NEAR(moments[4], 3.0, unit * std::sqrt(105.0 - 9.0));
  const auto distribution = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  EXPECT_LT(kolmogorov(values, distribution), kolmogorov_once_in_a_million);
}

TEST_P(RandomOfSeed, GammaHasItsMoments) {
  constexpr int count = 100000;
  for (const double shape : {0.05, 0.3, 0.5, 1.0, 1.7, 4.0, 60.0}) {
    RandomStream stream(GetParam(), "gamma");
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < count; ++i) {
      const double value = stream.gamma(shape);
      ASSERT_GE(value, 0.0);
      ASSERT_TRUE(std::isfinite(value));
      sum += value;
      squares += (value - shape) * (value - shape);
    }
    // Mean and variance are both `shape`; the fourth central moment is 3 shape^2 + 6 shape.
    EXPECT_NEAR(sum / count, shape, once_in_a_million * std::sqrt(shape / count)) << shape;
    EXPECT_NEAR(squares / count, shape,
                once_in_a_million * std::sqrt((2.0 * shape * shape + 6.0 * shape) / count))
        << shape;
  }
}

TEST_P(RandomOfSeed, GammaHasItsDistribution) {
  RandomStream stream(GetParam(), "gamma");
  const auto statistic = [&](double shape, const std::function<double(double)>& distribution) {
    std::vector<double> values(50000);
    std::ranges::generate(values, [&] { return stream.gamma(shape); });
    return kolmogorov(values, distribution);
  };
  const auto half = [](double x) { return std::erf(std::sqrt(x)); };
  const auto one = [](double x) { return -std::expm1(-x); };
  const auto three = [](double x) { return 1.0 - std::exp(-x) * (1.0 + x + x * x / 2.0); };
  EXPECT_LT(statistic(0.5, half), kolmogorov_once_in_a_million);
  EXPECT_LT(statistic(1.0, one), kolmogorov_once_in_a_million);
  EXPECT_LT(statistic(3.0, three), kolmogorov_once_in_a_million);
  std::vector<double> values(50000);
  std::ranges::generate(values, [&] { return stream.exponential(); });
  EXPECT_LT(kolmogorov(values, one), kolmogorov_once_in_a_million);
}

TEST_P(RandomOfSeed, BelowIsUnbiased) {
  RandomStream stream(GetParam(), "below");
  for (const std::uint64_t bound : {2, 3, 6, 10, 100}) {
    std::vector<std::size_t> counts(bound);
    for (std::size_t i = 0; i < 2000 * bound; ++i) {
      ++counts.at(stream.below(bound));
    }
    EXPECT_LT(std::abs(chi_square_deviations(counts)), once_in_a_million) << bound;
  }
  // Three quarters of all words: without rejection some remainders would come twice as often.
  constexpr std::uint64_t bound = 3ULL << 62U;
  std::vector<std::size_t> remainders(3);
  std::vector<std::size_t> thirds(3);
  for (int i = 0; i < 30000; ++i) {
    const std::uint64_t value = stream.below(bound);
    ++remainders[value % 3];
    ++thirds.at(value >> 62U);
  }
  EXPECT_LT(std::abs(chi_square_deviations(remainders)), once_in_a_million);
  EXPECT_LT(std::abs(chi_square_deviations(thirds)), once_in_a_million);
}

TEST_P(RandomOfSeed, EveryPermutationComesEquallyOften) {
  RandomStream stream(GetParam(), "shuffle");
  std::map<std::vector<int>, std::size_t> seen;
  for (int i = 0; i < 48000; ++i) {
    std::vector<int> values = {0, 1, 2, 3};
    stream.shuffle(values);
    ++seen[values];
  }
  ASSERT_EQ(seen.size(), 24U);
  std::vector<std::size_t> counts;
  for (const auto& [permutation, count] : seen) {
    EXPECT_TRUE(std::ranges::is_permutation(permutation, std::vector{0, 1, 2, 3}));
    counts.push_back(count);
  }
  EXPECT_LT(std::abs(chi_square_deviations(counts)), once_in_a_million);
}

TEST_P(RandomOfSeed, EveryChoiceComesEquallyOften) {
  RandomStream stream(GetParam(), "choose");
  std::map<std::vector<std::size_t>, std::size_t> seen;
  std::vector<std::size_t> singles(5);
  const std::vector<std::size_t> values = {0, 1, 2, 3, 4};
  for (int i = 0; i < 40000; ++i) {
    ++seen[stream.choose(5, 2)];
    ++singles[stream.choice(values)];
  }
  ASSERT_EQ(seen.size(), 20U);
  std::vector<std::size_t> counts;
  for (const auto& [pair, count] : seen) {
    EXPECT_NE(pair[0], pair[1]);
    counts.push_back(count);
  }
  EXPECT_LT(std::abs(chi_square_deviations(counts)), once_in_a_million);
  EXPECT_LT(std::abs(chi_square_deviations(singles)), once_in_a_million);
}

TEST_P(RandomOfSeed, BernoulliHasItsProbability) {
  RandomStream stream(GetParam(), "bernoulli");
  for (const double probability : {0.0, 0.01, 0.3, 0.5, 0.99, 1.0}) {
    constexpr int count = 50000;
    int hits = 0;
    for (int i = 0; i < count; ++i) {
      hits += stream.bernoulli(probability) ? 1 : 0;
    }
    const double deviation = std::sqrt(count * probability * (1.0 - probability));
    EXPECT_NEAR(hits, count * probability, once_in_a_million * deviation) << probability;
  }
}

TEST(Random, UniformStaysInItsRange) {
  RandomStream stream(1, "range");
  for (int i = 0; i < 10000; ++i) {
    const double value = stream.uniform(-3.0, 5.0);
    ASSERT_GE(value, -3.0);
    ASSERT_LT(value, 5.0);
    // Between neighbours there is nothing to draw but the lower.
    ASSERT_EQ(stream.uniform(1.0, std::nextafter(1.0, 2.0)), 1.0);
    ASSERT_EQ(stream.uniform(2.0, 2.0), 2.0);
  }
}

TEST(Random, IntegerReachesBothEnds) {
  RandomStream stream(1, "integer");
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(stream.integer(-2, 2));
    ASSERT_EQ(stream.integer(7, 7), 7);
  }
  EXPECT_THAT(seen, ElementsAre(-2, -1, 0, 1, 2));
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  int negative = 0;
  for (int i = 0; i < 1000; ++i) {
    negative += stream.integer(lowest, highest) < 0 ? 1 : 0;
    ASSERT_GE(stream.integer(highest - 1, highest), highest - 1);
    ASSERT_LE(stream.integer(lowest, lowest + 1), lowest + 1);
  }
  EXPECT_NEAR(negative, 500, once_in_a_million * std::sqrt(250.0));
}

TEST(Random, ChooseTakesAllOrNone) {
  RandomStream stream(1, "choose");
  EXPECT_THAT(stream.choose(0, 0), testing::IsEmpty());
  EXPECT_THAT(stream.choose(9, 0), testing::IsEmpty());
  EXPECT_THAT(stream.choose(4, 4), testing::UnorderedElementsAre(0, 1, 2, 3));
  std::vector<int> none;
  stream.shuffle(none);
  EXPECT_THAT(none, testing::IsEmpty());
}

TEST(Random, ExtremeShapesEnd) {
  RandomStream stream(1, "extreme");
  EXPECT_EQ(stream.gamma(1e-300), 0.0);
  EXPECT_NEAR(stream.gamma(1e12) / 1e12, 1.0, 1e-5);
  EXPECT_TRUE(std::isfinite(stream.gamma(1e300)));
}

TEST(Random, RefusesWhatHasNoMeaning) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  RandomStream stream(1, "refuse");
  EXPECT_THROW(stream.uniform(1.0, 0.0), ProgrammingError);
  EXPECT_THROW(stream.uniform(0.0, infinity), ProgrammingError);
  EXPECT_THROW(stream.uniform(-1e308, 1e308), ProgrammingError);
  EXPECT_THROW(stream.uniform(0.0, not_a_number), ProgrammingError);
  for (const double shape : {0.0, -1.0, infinity, not_a_number}) {
    EXPECT_THROW(stream.gamma(shape), ProgrammingError) << shape;
  }
  EXPECT_THROW(stream.below(0), ProgrammingError);
  EXPECT_THROW(stream.integer(1, 0), ProgrammingError);
  EXPECT_THROW(stream.choose(3, 4), ProgrammingError);
  EXPECT_THROW(stream.choice(std::vector<int>{}), ProgrammingError);
}

}  // namespace
}  // namespace skein
