#include "skein/data/data_drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/data/labelled_data.h"

namespace skein {
namespace {

using Target = DriftOptions::Target;

Distribution<double> number(Spread spread) { return {std::move(spread), unit::number, any_number}; }

TEST(DriftRates, ThePapersAffineDriftsGoFromStartToEnd) {
  const std::vector<double> start{2, 4, 6, 8, 10, 12, 14, 16};
  const std::vector<double> end{15, 15, 21, 11, 12, 17, 19, 17};
  std::vector<double> growth(8);
  for (std::size_t c = 0; c < 8; ++c) {
    growth[c] = (end[c] - start[c]) / 1000.0;
  }
  DriftOptions options;
  options.rotation = {.start = number(list(start)), .growth = number(list(growth))};
  const auto rates = sample_drift_rates(options, 8, 1);
  ASSERT_EQ(rates.size(), 8U);
  for (std::size_t c = 0; c < 8; ++c) {
    EXPECT_EQ(rates[c].rotation.at(0), start[c]);
    EXPECT_NEAR(rates[c].rotation.at(1000), end[c], 1e-12);
    EXPECT_EQ(rates[c].brightness.at(500), 1.0);
  }
}

TEST(DriftRates, AreSampledPerClusterAndDoNotDependOnTheirNumber) {
  DriftOptions options;
  options.rotation.start = number(uniform(1, 9));
  options.noise.start = number(uniform(0, 1));
  const auto few = sample_drift_rates(options, 3, 5);
  const auto many = sample_drift_rates(options, 30, 5);
  std::set<double> distinct;
  for (std::size_t c = 0; c < 30; ++c) {
    distinct.insert(many[c].rotation.start);
    if (c < 3) {
      EXPECT_EQ(few[c].rotation.start, many[c].rotation.start);
      EXPECT_EQ(few[c].noise.start, many[c].noise.start);
    }
  }
  EXPECT_EQ(distinct.size(), 30U);
}

TEST(DriftRates, FaultsAreFoundAllAtOnce) {
  DriftOptions options;
  EXPECT_TRUE(faults_of(options, 8).empty());
  options.dirichlet_concentration = 0.0;
  options.label_mix.start.spread = constant(1.5);
  options.rotation.growth.spread = list({1, 2, 3});
  options.noise.start.spread = constant(-0.1);
  options.brightness.start.spread = constant(std::numeric_limits<double>::quiet_NaN());
  options.brightness.later.spread = constant(0.0);
  options.label_mix.later.spread = list({0.1, 0.2});
  options.rotation.later_from = -1.0;
  const auto faults = faults_of(options, 8);
  std::set<std::string> keys;
  for (const InputFault& fault : faults) {
    keys.insert(fault.key);
  }
  EXPECT_EQ(keys, (std::set<std::string>{"dirichlet_concentration", "label_mix.start", "label_mix.later",
                                         "rotation_deg.growth", "rotation_deg.later_from", "noise.start",
                                         "brightness.start", "brightness.later"}));
  EXPECT_THROW(sample_drift_rates(options, 8, 1), InputError);
}

TEST(DriftRates, AreOthersFromAMomentOn) {
  DriftOptions options;
  options.label_mix = {.start = number(uniform(0.1, 0.2)), .growth = number(constant(0.01))};
  options.label_mix.later = number(list({0.5, 0.0, 0.7}));
  const auto never = sample_drift_rates(options, 3, 4);
  options.label_mix.later_from = 2.5;
  const auto rates = sample_drift_rates(options, 3, 4);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(rates[c].label_mix.at(0.0), never[c].label_mix.at(0.0));
    EXPECT_EQ(rates[c].label_mix.at(2.4), never[c].label_mix.start + 0.01 * 2.4);
    EXPECT_EQ(rates[c].label_mix.at(2.5), (std::vector{0.5, 0.0, 0.7}[c]));
    EXPECT_EQ(rates[c].label_mix.at(1000.0), (std::vector{0.5, 0.0, 0.7}[c]));
    EXPECT_EQ(never[c].label_mix.at(1000.0), never[c].label_mix.start + 10.0);
    EXPECT_EQ(rates[c].noise, DriftRate{});
  }
}

TEST(DriftRates, LaterIsNoDriftUnlessSaid) {
  const DriftOptions options;
  RandomStream stream(1, "later");
  EXPECT_EQ(options.label_mix.later.sample(stream), 0.0);
  EXPECT_EQ(options.brightness.later.sample(stream), 1.0);
}

TEST(FeatureDrift, ChangesAtOnceBySequencesAndByHours) {
  ClusterDriftRates rates;
  rates.rotation = {.start = 10.0, .growth = 2.0, .later = -5.0, .later_from = 2.0};  // 10, 12, -5, -5
  rates.brightness = {.start = 1.0, .later = 0.5, .later_from = 1.0};                 // 1, 0.5, 0.5, 0.5
  rates.noise = {.start = 0.25, .later = 0.5, .later_from = 3.0};                     // 0.25, 0.25, 0.25, 0.5
  EXPECT_EQ(feature_transform(rates, 2),
            (FeatureTransform{.rotation_degrees = 22.0, .brightness = 0.5, .noise_deviation = 0.5}));
  EXPECT_EQ(feature_transform(rates, 4),
            (FeatureTransform{.rotation_degrees = 12.0, .brightness = 0.125, .noise_deviation = 1.25}));
  // Sequences of half an hour: that at hour 1.5 has the old rate of the turn, that at hour 2 the new one.
  EXPECT_EQ(advance({}, rates, {.at = 1.5, .length = 0.5}).rotation_degrees, 6.5);
  EXPECT_EQ(advance({}, rates, {.at = 2.0, .length = 0.5}).rotation_degrees, -2.5);
}

TEST(FeatureDrift, AddsUpWorkedByHand) {
  ClusterDriftRates rates;
  rates.rotation = {.start = 10.0, .growth = 2.0};    // 10, 12, 14
  rates.brightness = {.start = 0.5, .growth = 0.25};  // 0.5, 0.75, 1
  rates.noise = {.start = 0.25, .growth = -0.125};    // 0.25, 0.125, 0, then none
  EXPECT_TRUE(feature_transform(rates, 0).is_identity());
  EXPECT_EQ(feature_transform(rates, 1),
            (FeatureTransform{.rotation_degrees = 10.0, .brightness = 0.5, .noise_deviation = 0.25}));
  EXPECT_EQ(feature_transform(rates, 3),
            (FeatureTransform{.rotation_degrees = 36.0, .brightness = 0.375, .noise_deviation = 0.375}));
  EXPECT_EQ(feature_transform(rates, 9).noise_deviation, 0.375);
  EXPECT_TRUE(feature_transform(ClusterDriftRates{}, 1000).is_identity());
}

TEST(FeatureDrift, StaysWithinItsLimits) {
  ClusterDriftRates rates;
  rates.rotation = {.start = 359.0, .growth = 100.0};
  rates.brightness = {.start = 1.0, .growth = -0.5};
  for (const std::size_t sequence : {1U, 10U, 1000U}) {
    const FeatureTransform transform = feature_transform(rates, sequence);
    EXPECT_LE(std::abs(transform.rotation_degrees), 180.0);
    EXPECT_GE(transform.brightness, 1.0 / 16.0);
  }
  rates.brightness = {.start = 3.0};
  EXPECT_EQ(feature_transform(rates, 100).brightness, 16.0);
}

// A steady rate by the hour does as much in one long sequence as in many short ones.
TEST(FeatureDrift, ByTheHourItDoesNotMatterHowLongSequencesAre) {
  ClusterDriftRates rates;
  rates.rotation = {.start = 10.0};
  rates.brightness = {.start = 0.5};
  rates.noise = {.start = 0.25};
  const FeatureTransform hours = advance({}, rates, {.at = 0.0, .length = 2.0});
  EXPECT_EQ(hours, (FeatureTransform{.rotation_degrees = 20.0, .brightness = 0.25, .noise_deviation = 0.5}));
  FeatureTransform steps;
  for (int quarter = 0; quarter < 8; ++quarter) {
    steps = advance(steps, rates, {.at = 0.25 * quarter, .length = 0.25});
  }
  EXPECT_NEAR(steps.rotation_degrees, 20.0, 1e-12);
  EXPECT_NEAR(steps.brightness, 0.25, 1e-12);
  EXPECT_NEAR(steps.noise_deviation, 0.5, 1e-12);
}

// Growth is counted in hours: in the third hour the rate is 10 + 2 * 2.
TEST(FeatureDrift, RatesGrowByTheHour) {
  ClusterDriftRates rates;
  rates.rotation = {.start = 10.0, .growth = 2.0};
  EXPECT_EQ(advance({}, rates, {.at = 2.0, .length = 0.5}).rotation_degrees, 7.0);
}

// On to further targets: 3 an hour is more than the way to any of them.
TEST(LabelDrift, ByTheHourItDoesNotMatterHowLongSequencesAre) {
  const ClassPools pools(labelled_data({5, 5, 5, 5, 5}));
  DriftOptions options{.per = DriftOptions::Per::hour};
  const DriftContext context{.options = options, .pools = pools, .seed = 7};
  const ClusterDriftRates rates{.label_mix = {.start = 3.0}};
  ClusterDrift whole{.mix = {0.5, 0.3, 0.2, 0.0, 0.0}};
  ClusterDrift parts = whole;
  advance(whole, rates, 0, context, {.at = 0.0, .length = 1.0});
  for (int part = 0; part < 16; ++part) {
    advance(parts, rates, 0, context, {.at = part / 16.0, .length = 1.0 / 16.0});
  }
  EXPECT_GT(whole.num_targets, 2U);
  EXPECT_EQ(whole.num_targets, parts.num_targets);
  for (std::size_t label = 0; label < 5; ++label) {
    EXPECT_NEAR(whole.mix[label], parts.mix[label], 1e-12);
  }
}

// A mix that has nowhere to go, all classes being alike, does not hold up the clock.
TEST(LabelDrift, ByTheHourAnEvenMixStays) {
  const ClassPools pools(labelled_data({5, 5}));
  DriftOptions options{.per = DriftOptions::Per::hour};
  const DriftContext context{.options = options, .pools = pools, .seed = 7};
  ClusterDrift drift{.mix = {0.5, 0.5}};
  advance(drift, {.label_mix = {.start = 1.0}}, 0, context, {.at = 0.0, .length = 1.0});
  EXPECT_EQ(drift.mix, (LabelMix{0.5, 0.5}));
}

TEST(LabelDrift, StaysADistributionAndMovesByTheRate) {
  const ClassPools pools(labelled_data({50, 60, 0, 70, 80, 90, 40, 30, 20, 10}));
  for (const Target target : {Target::permuted, Target::rotated, Target::dirichlet}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      DriftOptions options{.target = target};
      const DriftContext context{.options = options, .pools = pools, .seed = seed};
      RandomStream stream(seed, "drift test");
      ClusterDriftRates rates;
      rates.label_mix = {.start = stream.uniform(0.01, 0.5), .growth = stream.uniform(-0.005, 0.005)};
      ClusterDrift drift{.mix = {0.5, 0.25, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
      for (std::size_t s = 0; s < 200; ++s) {
        const LabelMix before = drift.mix;
        const bool aimed = !drift.target.empty();
        const double left = aimed ? total_variation(drift.mix, drift.target) : 2.0;
        advance(drift, rates, 3, context);
        ASSERT_EQ(fault_of(drift.mix, 10), "");
        ASSERT_EQ(drift.mix[2], 0.0) << "a class without samples";
        ASSERT_EQ(drift.sequence, s + 1);
        const double rate = std::clamp(rates.label_mix.at(static_cast<double>(s)), 0.0, 1.0);
        const double moved = total_variation(before, drift.mix);
        ASSERT_LE(moved, rate + 1e-12);
        if (aimed) {
          ASSERT_NEAR(moved, std::min(rate, left), 1e-12);
        }
      }
    }
  }
}

TEST(LabelDrift, RotatesLabelsWorkedByHand) {
  const ClassPools pools(labelled_data({5, 5, 5, 5}));
  const DriftOptions options{.target = Target::rotated};
  const DriftContext context{.options = options, .pools = pools, .seed = 1};
  ClusterDriftRates rates;
  rates.label_mix = {.start = 0.25};
  ClusterDrift drift{.mix = {0.5, 0.5, 0.0, 0.0}};
  advance(drift, rates, 0, context);  // half way to {0, 1/2, 1/2, 0}, which is 1/2 away
  EXPECT_EQ(drift.mix, (LabelMix{0.25, 0.5, 0.25, 0.0}));
  advance(drift, rates, 0, context);
  EXPECT_EQ(drift.mix, (LabelMix{0.0, 0.5, 0.5, 0.0}));
  EXPECT_EQ(drift.num_targets, 1U);
  advance(drift, rates, 0, context);
  EXPECT_EQ(drift.mix, (LabelMix{0.0, 0.25, 0.5, 0.25}));
  EXPECT_EQ(drift.num_targets, 2U);
}

// Still for two sequences, then a quarter of the labels in each.
TEST(LabelDrift, BeginsAtOnceWorkedByHand) {
  const ClassPools pools(labelled_data({5, 5, 5, 5}));
  const DriftOptions options{.target = Target::rotated};
  const DriftContext context{.options = options, .pools = pools, .seed = 1};
  const ClusterDriftRates rates{.label_mix = {.later = 0.25, .later_from = 2.0}};
  EXPECT_FALSE(rates.change_features());
  ClusterDrift drift{.mix = {0.5, 0.5, 0.0, 0.0}};
  advance(drift, rates, 0, context);
  advance(drift, rates, 0, context);
  EXPECT_EQ(drift.mix, (LabelMix{0.5, 0.5, 0.0, 0.0}));
  advance(drift, rates, 0, context);
  EXPECT_EQ(drift.mix, (LabelMix{0.25, 0.5, 0.25, 0.0}));
}

TEST(LabelDrift, PermutedKeepsTheNumberOfLabelsAtEveryTarget) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(10, 5)));
  const DriftOptions options;
  const DriftContext context{.options = options, .pools = pools, .seed = 2};
  ClusterDriftRates rates;
  rates.label_mix = {.start = 1.0};  // every sequence reaches its target
  const double third = 1.0 / 3.0;
  ClusterDrift drift{.mix = {third, third, third, 0, 0, 0, 0, 0, 0, 0}};
  std::set<LabelMix> seen;
  for (int s = 0; s < 500; ++s) {
    const LabelMix before = drift.mix;
    advance(drift, rates, 0, context);
    EXPECT_NE(drift.mix, before);
    EXPECT_EQ(std::ranges::count(drift.mix, third), 3);
    EXPECT_EQ(std::ranges::count(drift.mix, 0.0), 7);
    seen.insert(drift.mix);
  }
  EXPECT_GT(seen.size(), 100U);  // of 120 sets
}

TEST(LabelDrift, WithoutARateNothingMovesAndClustersDifferWithOne) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(6, 5)));
  const DriftOptions options{.target = Target::dirichlet};
  const DriftContext context{.options = options, .pools = pools, .seed = 2};
  const LabelMix start{1, 0, 0, 0, 0, 0};
  ClusterDrift still{.mix = start};
  ClusterDrift one{.mix = start};
  ClusterDrift two{.mix = start};
  ClusterDriftRates moving;
  moving.label_mix = {.start = 0.2};
  for (int s = 0; s < 5; ++s) {
    advance(still, {}, 0, context);
    advance(one, moving, 1, context);
    advance(two, moving, 2, context);
  }
  EXPECT_EQ(still.mix, start);
  EXPECT_NE(one.mix, two.mix);
  ClusterDrift again{.mix = start};
  for (int s = 0; s < 5; ++s) {
    advance(again, moving, 1, context);
  }
  EXPECT_EQ(again, one);
}

TEST(LabelDrift, GoldenValues) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(5, 5)));
  const DriftOptions options;
  const DriftContext context{.options = options, .pools = pools, .seed = 1};
  ClusterDriftRates rates;
  rates.label_mix = {.start = 0.125, .growth = 0.0625};
  ClusterDrift drift{.mix = {0.5, 0.5, 0, 0, 0}};
  for (int s = 0; s < 3; ++s) {
    advance(drift, rates, 4, context);
  }
  EXPECT_EQ(drift.mix, (LabelMix{0.5, 0, 0, 0, 0.5}));
}

}  // namespace
}  // namespace skein
