#include "skein/data/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "skein/base/input_fault.h"

namespace skein {
namespace {

// The share of test samples whose nearest class mean of the training samples is that of their own class.
double nearest_mean_accuracy(const DataSplit& split) {
  const std::size_t places = split.train.shape.size();
  std::vector<std::vector<double>> means(split.train.num_classes(), std::vector<double>(places));
  std::vector<float> sample(places);
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    split.train.read(i, sample);
    for (std::size_t j = 0; j < places; ++j) {
      means[split.train.labels[i]][j] += sample[j];
    }
  }
  const auto per_class =
      static_cast<double>(split.train.size()) / static_cast<double>(split.train.num_classes());
  std::size_t correct = 0;
  for (std::size_t i = 0; i < split.test.size(); ++i) {
    split.test.read(i, sample);
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < means.size(); ++c) {
      double distance = 0.0;
      for (std::size_t j = 0; j < places; ++j) {
        const double difference = sample[j] - means[c][j] / per_class;
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    correct += nearest == split.test.labels[i] ? 1 : 0;
  }
  return static_cast<double>(correct) / static_cast<double>(split.test.size());
}

TEST(Synthetic, ClassesCanBeToldApartForManySeedsAndShapes) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_GT(nearest_mean_accuracy(make_synthetic({}, seed)), 0.99) << seed;
    EXPECT_GT(nearest_mean_accuracy(make_synthetic({.shape = {.height = 7, .width = 5, .channels = 3},
                                                    .classes = 30,
                                                    .train_per_class = 20,
                                                    .test_per_class = 5},
                                                   seed)),
              0.99)
        << seed;
    EXPECT_GT(
        nearest_mean_accuracy(make_synthetic(
            {.shape = {.height = 2, .width = 64, .channels = 1}, .classes = 4, .train_per_class = 20}, seed)),
        0.99)
        << seed;
  }
}

TEST(Synthetic, NoiseMakesItHarder) {
  const double easy = nearest_mean_accuracy(make_synthetic({.noise_deviation = 0.05}, 1));
  const double hard = nearest_mean_accuracy(
      make_synthetic({.shape = {.height = 4, .width = 4, .channels = 1}, .noise_deviation = 1.0}, 1));
  EXPECT_EQ(easy, 1.0);
  EXPECT_LT(hard, 0.8);
}

TEST(Synthetic, HasTheAskedSizesWithEveryClassAsOften) {
  const DataSplit split = make_synthetic({.shape = {.height = 3, .width = 9, .channels = 2},
                                          .classes = 7,
                                          .train_per_class = 11,
                                          .test_per_class = 2},
                                         5);
  EXPECT_EQ(split.train.size(), 77U);
  EXPECT_EQ(split.test.size(), 14U);
  EXPECT_EQ(split.train.num_classes(), 7U);
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(split.train.features).size(), 77U * 54U);
  std::vector<int> counts(7);
  for (const std::uint8_t label : split.train.labels) {
    ++counts[label];
  }
  EXPECT_THAT(counts, testing::Each(11));
}

TEST(Synthetic, IsDecidedBySeed) {
  EXPECT_EQ(make_synthetic({}, 3).train.features, make_synthetic({}, 3).train.features);
  EXPECT_NE(make_synthetic({}, 3).train.features, make_synthetic({}, 4).train.features);
  // Samples do not depend on how many there are.
  const auto few =
      std::get<std::vector<std::uint8_t>>(make_synthetic({.train_per_class = 2}, 3).train.features);
  const auto many = std::get<std::vector<std::uint8_t>>(make_synthetic({}, 3).train.features);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(Synthetic, NamesEverySenselessOption) {
  try {
    make_synthetic({.shape = {.height = 0, .width = 4, .channels = 17},
                    .classes = 257,
                    .train_per_class = 0,
                    .noise_deviation = std::numeric_limits<double>::quiet_NaN(),
                    .brightness_deviation = -0.1},
                   1);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 6U);
    EXPECT_THAT(error.what(), testing::HasSubstr("synthetic classes = 257: allowed is 1 to 256"));
    EXPECT_THAT(error.what(), testing::HasSubstr("synthetic noise_deviation = nan: allowed is 0 to 1"));
  }
  EXPECT_THROW(make_synthetic({.shape = {.height = 1024, .width = 1024, .channels = 16},
                               .classes = 256,
                               .train_per_class = 1'000'000},
                              1),
               InputError);
}

}  // namespace
}  // namespace skein
