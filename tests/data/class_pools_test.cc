#include "skein/data/class_pools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "skein/base/expect.h"
#include "tests/data/labelled_data.h"

namespace skein {
namespace {

TEST(ClassPools, HoldsEverySampleOnceUnderItsClass) {
  const Dataset data = labelled_data({5, 0, 300, 17});
  const ClassPools pools(data);
  ASSERT_EQ(pools.num_classes(), 4U);
  EXPECT_EQ(pools.size(), 322U);
  EXPECT_EQ(pools.of(0).size(), 5U);
  EXPECT_TRUE(pools.of(1).empty());
  EXPECT_EQ(pools.of(2).size(), 300U);
  EXPECT_EQ(pools.class_name(3), "class3");
  std::set<SampleIndex> seen;
  for (std::size_t label = 0; label < 4; ++label) {
    EXPECT_TRUE(std::ranges::is_sorted(pools.of(label)));
    for (const SampleIndex sample : pools.of(label)) {
      EXPECT_EQ(data.labels[sample], label);
      EXPECT_EQ(pools.label(sample), label);
      EXPECT_TRUE(seen.insert(sample).second);
    }
  }
  EXPECT_EQ(seen.size(), 322U);
  EXPECT_EQ(pools.frequencies(), (LabelMix{5.0 / 322.0, 0.0, 300.0 / 322.0, 17.0 / 322.0}));
}

TEST(ClassPools, RefusesALabelWithoutAClass) {
  Dataset data = labelled_data({2, 2});
  data.labels[1] = 2;
  EXPECT_THROW(ClassPools{data}, ProgrammingError);
}

TEST(LabelMixFault, NamesWhatIsWrong) {
  EXPECT_EQ(fault_of(LabelMix{0.25, 0.75}, 2), "");
  EXPECT_NE(fault_of(LabelMix{0.25, 0.75}, 3), "");
  EXPECT_NE(fault_of(LabelMix{-0.25, 1.25}, 2), "");
  EXPECT_NE(fault_of(LabelMix{0.25, 0.25}, 2), "");
  EXPECT_NE(fault_of(LabelMix{std::numeric_limits<double>::quiet_NaN(), 1.0}, 2), "");
}

TEST(SplitByMix, SplitsEquallyWithRemaindersOfOne) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 2500U, 2499U, 4500U, 1000000U}) {
      RandomStream stream(seed, "split");
      const double third = 1.0 / 3.0;
      const auto counts = split_by_mix(LabelMix{0.0, third, 0.0, third, third, 0.0}, count, stream);
      EXPECT_EQ(counts[0] + counts[2] + counts[5], 0U);
      EXPECT_EQ(counts[1] + counts[3] + counts[4], count);
      for (const std::size_t label : {1U, 3U, 4U}) {
        EXPECT_GE(counts[label], count / 3);
        EXPECT_LE(counts[label], (count + 2) / 3);
      }
    }
  }
}

TEST(SplitByMix, AnyMixIsWithinOneAndRightOnAverage) {
  const LabelMix mix{0.07, 0.0, 0.5, 0.013, 0.417};
  constexpr std::size_t count = 10;
  constexpr int trials = 20000;
  std::vector<double> mean(mix.size(), 0.0);
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream stream(7, "split", trial);
    const auto counts = split_by_mix(mix, count, stream);
    std::size_t sum = 0;
    for (std::size_t label = 0; label < mix.size(); ++label) {
      EXPECT_LT(std::abs(static_cast<double>(counts[label]) - mix[label] * count), 1.0);
      sum += counts[label];
      mean[label] += static_cast<double>(counts[label]) / trials;
    }
    ASSERT_EQ(sum, count);
  }
  for (std::size_t label = 0; label < mix.size(); ++label) {
    // A class takes two neighbouring whole numbers: deviation at most 1/2, of the mean 1/2/sqrt(20000) =
    // 0.0035.
    EXPECT_NEAR(mean[label], mix[label] * count, 5 * 0.0036);
  }
}

TEST(DrawDistinct, SmallAndLargeDrawsAreTheSameShuffle) {
  std::vector<SampleIndex> pool(1000);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    pool[i] = static_cast<SampleIndex>(7 * i + 3);
  }
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream whole_stream(seed, "draw");
    std::vector<SampleIndex> whole;
    draw_distinct(pool, pool.size(), whole_stream, whole);
    std::vector<SampleIndex> sorted = whole;
    std::ranges::sort(sorted);
    ASSERT_EQ(sorted, pool);
    for (const std::size_t count : {0U, 1U, 60U, 124U, 125U, 126U, 999U}) {
      RandomStream stream(seed, "draw");
      std::vector<SampleIndex> part;
      draw_distinct(pool, count, stream, part);
      ASSERT_EQ(part, std::vector<SampleIndex>(whole.begin(), whole.begin() + static_cast<int>(count)));
    }
  }
}

TEST(DrawDistinct, EverySampleIsEquallyLikelyInEveryPlace) {
  const std::vector<SampleIndex> pool{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  constexpr int trials = 40000;
  std::vector<std::vector<double>> seen(2, std::vector<double>(pool.size(), 0.0));
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream stream(3, "draw", trial);
    std::vector<SampleIndex> out;
    draw_distinct(pool, 2, stream, out);
    ASSERT_NE(out[0], out[1]);
    ++seen[0][out[0]];
    ++seen[1][out[1]];
  }
  for (const auto& place : seen) {
    double chi_square = 0.0;
    for (const double observed : place) {
      chi_square += (observed - trials / 20.0) * (observed - trials / 20.0) / (trials / 20.0);
    }
    EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, 1 in 1000
  }
}

TEST(Draw, HasTheMixAndIsDistinctWhileThePoolLasts) {
  const ClassPools pools(labelled_data({100, 40, 0, 60}));
  for (int iteration = 0; iteration < 100; ++iteration) {
    RandomStream stream(1, "draw", 4, iteration);
    const auto samples = draw(pools, LabelMix{0.5, 0.5, 0.0, 0.0}, 80, stream);
    ASSERT_EQ(samples.size(), 80U);
    EXPECT_EQ(std::ranges::count_if(samples, [&](SampleIndex s) { return pools.label(s) == 0; }), 40);
    EXPECT_EQ(std::set<SampleIndex>(samples.begin(), samples.end()).size(), 80U);
  }
}

TEST(Draw, GoesThroughASmallClassAgain) {
  const ClassPools pools(labelled_data({3, 5}));
  RandomStream stream(1, "draw");
  const auto samples = draw(pools, LabelMix{1.0, 0.0}, 10, stream);
  ASSERT_EQ(samples.size(), 10U);
  for (const SampleIndex sample : pools.of(0)) {
    const auto times = std::ranges::count(samples, sample);
    EXPECT_TRUE(times == 3 || times == 4) << times;
  }
  RandomStream again(1, "draw");
  EXPECT_THROW(draw(ClassPools(labelled_data({0, 5})), LabelMix{1.0, 0.0}, 1, again), ProgrammingError);
}

TEST(Draw, EveryIterationIsAFreshDrawAndEveryOneCanBeRepeated) {
  const ClassPools pools(labelled_data({600, 600, 600}));
  const LabelMix mix{1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
  std::set<std::vector<SampleIndex>> draws;
  for (int member = 0; member < 5; ++member) {
    for (int iteration = 0; iteration < 10; ++iteration) {
      RandomStream first(9, "draw", member, iteration);
      RandomStream second(9, "draw", member, iteration);
      const auto samples = draw(pools, mix, 90, first);
      EXPECT_EQ(samples, draw(pools, mix, 90, second));
      EXPECT_TRUE(draws.insert(samples).second);
    }
  }
}

}  // namespace
}  // namespace skein
