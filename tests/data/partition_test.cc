#include "skein/data/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "tests/data/labelled_data.h"

namespace skein {
namespace {

using Kind = PartitionOptions::Kind;
using testing::HasSubstr;

Distribution<double> points(Spread spread) {
  return {std::move(spread), unit::number, Range{.low = 1.0, .whole = true}};
}

// The message of the InputError that it throws; empty if it throws none.
std::string complaint(const PartitionOptions& options, const std::vector<std::size_t>& members,
                      const ClassPools& pools) {
  try {
    partition(options, members, pools, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::size_t> uses_of(const std::vector<std::vector<std::size_t>>& sets, std::size_t num_classes) {
  std::vector<std::size_t> uses(num_classes, 0);
  for (const auto& set : sets) {
    for (const std::size_t label : set) {
      ++uses[label];
    }
  }
  return uses;
}

TEST(LabelSets, AreEvenDistinctAndCoverAllClassesForAnyNumbers) {
  for (std::size_t num_classes = 1; num_classes <= 7; ++num_classes) {
    for (std::size_t k = 1; k <= num_classes; ++k) {
      std::size_t num_sets = 1;
      for (std::size_t i = 1; i <= k; ++i) {
        num_sets = num_sets * (num_classes - k + i) / i;
      }
      for (std::size_t groups = 1; groups <= 2 * num_sets + 3; ++groups) {
        RandomStream stream(groups, "label sets", num_classes, k);
        const auto sets = choose_label_sets(groups, k, num_classes, stream);
        ASSERT_EQ(sets.size(), groups);
        for (const auto& set : sets) {
          ASSERT_EQ(set.size(), k);
          ASSERT_TRUE(std::ranges::is_sorted(set, std::ranges::less_equal{}) || k == 1);
          ASSERT_LT(set.back(), num_classes);
        }
        const auto uses = uses_of(sets, num_classes);
        const auto [least, most] = std::ranges::minmax(uses);
        ASSERT_LE(most - least, 1U) << num_classes << " classes, " << k << " labels, " << groups << " groups";
        ASSERT_EQ(least, groups * k / num_classes);
        const std::size_t distinct = std::set(sets.begin(), sets.end()).size();
        ASSERT_EQ(distinct, std::min(groups, num_sets));
      }
    }
  }
}

TEST(LabelSets, ManySeedsOfThePapersCase) {
  std::set<std::vector<std::vector<std::size_t>>> results;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream stream(seed, "label sets");
    const auto sets = choose_label_sets(4, 3, 10, stream);
    const auto uses = uses_of(sets, 10);
    EXPECT_EQ(std::ranges::count(uses, 1U), 8);
    EXPECT_EQ(std::ranges::count(uses, 2U), 2);
    EXPECT_EQ(std::set(sets.begin(), sets.end()).size(), 4U);
    results.insert(sets);
  }
  EXPECT_EQ(results.size(), 500U);
}

TEST(LabelSets, ManyGroupsAndManyClasses) {
  RandomStream stream(1, "label sets");
  const auto sets = choose_label_sets(3000, 5, 250, stream);
  EXPECT_EQ(std::set(sets.begin(), sets.end()).size(), 3000U);
  EXPECT_EQ(uses_of(sets, 250), std::vector<std::size_t>(250, 60));
}

TEST(Dirichlet, IsAMixForAnyConcentrationWithTheRightMeanAndVariance) {
  for (const double concentration : {1e-300, 1e-6, 0.01, 0.5, 1.0, 30.0, 1e6}) {
    double sum = 0.0;
    double squares = 0.0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
      RandomStream stream(5, "dirichlet", trial);
      const LabelMix mix = draw_dirichlet(4, concentration, stream);
      ASSERT_EQ(fault_of(mix, 4), "");
      sum += mix[1];
      squares += mix[1] * mix[1];
    }
    // p_c ~ Beta(a, 3 a): mean 1/4, variance (1/4)(3/4)/(4 a + 1).
    const double variance = 0.1875 / (4.0 * concentration + 1.0);
    const double mean = sum / trials;
    EXPECT_NEAR(mean, 0.25, 5.0 * std::sqrt(variance / trials));
    // The sample variance of a bounded variable: relative error below 5 * 1.5 / sqrt(4000) for these shapes.
    EXPECT_NEAR(squares / trials - mean * mean, variance, 0.12 * variance);
  }
}

// What every partition must keep, whatever its kind.
void check_partition(const PartitionOptions& options, const std::vector<std::size_t>& members,
                     const ClassPools& pools, std::uint64_t seed) {
  const Partition result = partition(options, members, pools, seed);
  ASSERT_EQ(result.groups.size(), members.size());
  std::set<SampleIndex> given;
  std::size_t total = 0;
  for (std::size_t g = 0; g < members.size(); ++g) {
    const GroupShare& group = result.groups[g];
    ASSERT_EQ(fault_of(group.mix, pools.num_classes()), "");
    ASSERT_EQ(group.members.size(), members[g]);
    for (std::size_t m = 0; m < members[g]; ++m) {
      const auto& samples = group.members[m];
      RandomStream stream(seed, "quantity", g, m);
      const auto wanted = static_cast<std::size_t>(options.quantity.sample(stream, total));
      ASSERT_EQ(samples.size(), wanted);
      ASSERT_EQ(std::set<SampleIndex>(samples.begin(), samples.end()).size(), samples.size());
      std::vector<double> counts(pools.num_classes(), 0.0);
      for (const SampleIndex sample : samples) {
        ASSERT_LT(sample, pools.size());
        ++counts[pools.label(sample)];
        if (options.disjoint) {
          ASSERT_TRUE(given.insert(sample).second) << "sample " << sample << " is given twice";
        }
      }
      if (options.kind != Kind::iid) {
        for (std::size_t label = 0; label < counts.size(); ++label) {
          ASSERT_LT(std::abs(counts[label] - group.mix[label] * static_cast<double>(samples.size())), 1.0);
        }
      }
      ++total;
    }
  }
}

TEST(Partition, KeepsItsPromisesForEveryKindAndManySeeds) {
  const ClassPools pools(labelled_data({600, 700, 650, 600, 710, 600, 600, 620, 600, 605}));
  const std::vector<std::size_t> members{3, 3, 2, 2};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const bool disjoint : {false, true}) {
      for (const Kind kind : {Kind::labels, Kind::dirichlet, Kind::iid}) {
        for (const Spread& spread : {normal(150, 15), uniform(20, 150), constant(77), choice({1, 130}),
                                     list({1, 2, 3, 40, 50, 60, 70, 80, 90, 100})}) {
          check_partition({.kind = kind,
                           .dirichlet_concentration = 3.0,
                           .quantity = points(spread),
                           .disjoint = disjoint},
                          members, pools, seed);
        }
      }
    }
  }
}

TEST(Partition, LabelsAreThoseOfTheGroupAndGivenSetsAreKept) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(10, 6000)));
  const std::vector<std::size_t> members{3, 3, 2, 2};
  // The published study's labels and quantities for MNIST.
  const PartitionOptions options{
      .label_sets = {{1, 7, 8}, {0, 4, 9}, {2, 3, 6}, {5, 0, 9}},
      .quantity = points(list({2367, 2231, 2716, 1924, 2936, 2309, 2579, 2437, 2865, 1984}))};
  const Partition result = partition(options, members, pools, 1);
  for (std::size_t g = 0; g < 4; ++g) {
    const auto& labels = options.label_sets[g];
    for (std::size_t label = 0; label < 10; ++label) {
      const bool has = std::ranges::find(labels, label) != labels.end();
      EXPECT_EQ(result.groups[g].mix[label], has ? 1.0 / 3.0 : 0.0);
    }
    for (const auto& samples : result.groups[g].members) {
      for (const SampleIndex sample : samples) {
        ASSERT_NE(std::ranges::find(labels, pools.label(sample)), labels.end());
      }
    }
  }
  EXPECT_EQ(result.groups[0].members[0].size(), 2367U);
  EXPECT_EQ(result.groups[0].members[2].size(), 2716U);
  EXPECT_EQ(result.groups[3].members[1].size(), 1984U);
}

TEST(Partition, IidDealsOutTheWholeDataSetIfAsked) {
  const ClassPools pools(labelled_data({30, 0, 70}));
  const PartitionOptions options{.kind = Kind::iid, .quantity = points(constant(25)), .disjoint = true};
  const Partition result = partition(options, std::vector<std::size_t>{2, 2}, pools, 3);
  std::set<SampleIndex> given;
  for (const GroupShare& group : result.groups) {
    EXPECT_EQ(group.mix, (LabelMix{0.3, 0.0, 0.7}));
    for (const auto& samples : group.members) {
      given.insert(samples.begin(), samples.end());
    }
  }
  EXPECT_EQ(given.size(), 100U);
}

TEST(Partition, DisjointCanUseUpAClassExactly) {
  const ClassPools pools(labelled_data({40, 40, 40, 40}));
  PartitionOptions options{
      .label_sets = {{0, 1}, {2, 3}}, .quantity = points(constant(40)), .disjoint = true};
  const std::vector<std::size_t> members{2, 2};
  EXPECT_NO_THROW(partition(options, members, pools, 1));
  options.quantity = points(constant(42));
  EXPECT_THAT(complaint(options, members, pools),
              HasSubstr("42 data points of class 0 (class0) are needed by all members together, and the data "
                        "set has 40"));
}

TEST(Partition, AMemberDoesNotDependOnTheMembersOfOtherGroups) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(10, 500)));
  const PartitionOptions options{.quantity = points(normal(100, 20))};
  const Partition some = partition(options, std::vector<std::size_t>{2, 5}, pools, 4);
  const Partition more = partition(options, std::vector<std::size_t>{9, 5}, pools, 4);
  EXPECT_EQ(some.groups[1].members, more.groups[1].members);
  EXPECT_EQ(some.groups[0].members[1], more.groups[0].members[1]);
}

TEST(Partition, SaysWhyItCannotBeDone) {
  const ClassPools pools(labelled_data({50, 50, 50, 50}));
  const std::vector<std::size_t> members{2, 1};
  const PartitionOptions fine{.labels_per_group = 2, .quantity = points(constant(20))};
  EXPECT_EQ(complaint(fine, members, pools), "");

  PartitionOptions bad = fine;
  bad.labels_per_group = 5;
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("labels_per_group = 5: must be in [1, 4]"));
  bad.labels_per_group = 0;
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("labels_per_group = 0"));

  EXPECT_THAT(complaint(fine, {}, pools), HasSubstr("there are no groups"));
  EXPECT_THAT(complaint(fine, {1, 0, 2}, pools), HasSubstr("group 2 has no members"));

  bad = fine;
  bad.quantity = points(constant(102));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("51 data points of class"));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("are needed by one member, and the data set has 50"));
  bad.quantity = points(constant(1e15));
  EXPECT_THAT(complaint(bad, members, pools),
              HasSubstr("member 1 of group 1 wants more data points than the data set has"));
  bad.quantity = points(list({1, 2}));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("lists 2 values for 3 members"));
  bad.quantity = points(constant(0));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("must be a whole number >= 1"));
  bad.quantity = points(constant(2.5));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("must be a whole number >= 1"));
  bad.quantity = points(constant(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("must be finite"));
  bad.quantity = points(normal(-2500, 250));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("almost never"));

  bad = fine;
  bad.kind = Kind::dirichlet;
  for (const double concentration :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    bad.dirichlet_concentration = concentration;
    EXPECT_THAT(complaint(bad, members, pools), HasSubstr("dirichlet_concentration"));
  }

  bad = fine;
  bad.kind = Kind::iid;
  bad.disjoint = true;
  bad.quantity = points(constant(67));
  EXPECT_THAT(complaint(bad, members, pools), HasSubstr("want 201 data points and the data set has 200"));

  bad = fine;
  bad.label_sets = {{0, 1}, {2, 2}, {}, {9}};
  const std::string all = complaint(bad, members, pools);
  EXPECT_THAT(all, HasSubstr("has 4 sets for 2 groups"));
  EXPECT_THAT(all, HasSubstr("label_sets[1]: names a label twice"));
  EXPECT_THAT(all, HasSubstr("label_sets[2]: must not be empty"));
  EXPECT_THAT(all, HasSubstr("label_sets[3] = 9: must be below 4"));

  const ClassPools gap(labelled_data({50, 0, 50}));
  EXPECT_THAT(complaint(fine, members, gap), HasSubstr("class 1 (class1) has no samples"));
  bad = fine;
  bad.label_sets = {{0}, {2}};
  EXPECT_EQ(complaint(bad, members, gap), "");
  EXPECT_THAT(complaint(fine, members, ClassPools(labelled_data({0, 0}))),
              HasSubstr("the data set has no samples"));
}

TEST(Partition, EveryShortClassIsNamedAtOnce) {
  const ClassPools pools(labelled_data({10, 10, 10}));
  const PartitionOptions options{.labels_per_group = 3, .quantity = points(constant(12)), .disjoint = true};
  try {
    partition(options, std::vector<std::size_t>{1, 1, 1}, pools, 1);
    FAIL() << "36 data points were dealt from 30";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 3U);
  }
}

TEST(Partition, GoldenValues) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(10, 500)));
  const Partition result =
      partition({.quantity = points(normal(100, 10))}, std::vector<std::size_t>{2, 1, 1}, pools, 1);
  std::vector<std::size_t> quantities;
  std::vector<SampleIndex> first;
  for (const GroupShare& group : result.groups) {
    for (const auto& samples : group.members) {
      quantities.push_back(samples.size());
      first.push_back(samples.front());
    }
  }
  EXPECT_EQ(quantities, (std::vector<std::size_t>{108, 104, 99, 98}));
  EXPECT_EQ(first, (std::vector<SampleIndex>{4122, 282, 1010, 245}));
}

TEST(Partition, TenThousandDevicesTakeFarLessThanASecond) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(10, 6000)));
  const std::vector<std::size_t> members(1000, 10);
  const auto start = std::chrono::steady_clock::now();
  const Partition result = partition({.quantity = points(constant(50))}, members, pools, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.groups.size(), 1000U);
  RecordProperty("seconds", std::to_string(took.count()));
  // About 0.03 s. A scan of the data set per device would be 0.6e9 steps. Wide, for slow and busy machines.
  EXPECT_LT(took.count(), 2.0);
}

}  // namespace
}  // namespace skein
