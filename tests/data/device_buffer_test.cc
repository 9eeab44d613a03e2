#include "skein/data/device_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "skein/base/expect.h"
#include "tests/data/labelled_data.h"

namespace skein {
namespace {

TEST(DeviceBuffer, NewDataDisplacesTheOldest) {
  DeviceBuffer buffer(3);
  buffer.push(std::vector<SampleIndex>{10, 11}, 0);
  EXPECT_EQ(buffer.size(), 2U);
  EXPECT_EQ(buffer.num_displaced(), 0U);
  buffer.push(std::vector<SampleIndex>{12, 13, 14}, 1);
  EXPECT_EQ(buffer.size(), 3U);
  EXPECT_EQ(buffer.num_displaced(), 2U);
  EXPECT_EQ(buffer.contents(), (std::vector<DataPoint>{{12, 1}, {13, 1}, {14, 1}}));
  EXPECT_EQ(buffer[0], (DataPoint{12, 1}));
  EXPECT_EQ(buffer[2], (DataPoint{14, 1}));
  EXPECT_THROW(static_cast<void>(buffer[3]), ProgrammingError);
}

TEST(DeviceBuffer, DoesWhatADequeDoes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "buffer test");
    const auto capacity = static_cast<std::size_t>(stream.integer(1, 40));
    DeviceBuffer buffer(capacity);
    std::deque<DataPoint> model;
    std::uint64_t displaced = 0;
    for (std::uint32_t sequence = 0; sequence < 30; ++sequence) {
      std::vector<SampleIndex> arrivals(static_cast<std::size_t>(stream.integer(0, 60)));
      for (SampleIndex& sample : arrivals) {
        sample = static_cast<SampleIndex>(stream.below(1000));
        model.push_back({sample, sequence});
        if (model.size() > capacity) {
          model.pop_front();
          ++displaced;
        }
      }
      buffer.push(arrivals, sequence);
      ASSERT_EQ(buffer.contents(), std::vector<DataPoint>(model.begin(), model.end()));
      ASSERT_EQ(buffer.num_displaced(), displaced);
      for (std::size_t place = 0; place < model.size(); ++place) {
        ASSERT_EQ(buffer[place], model[place]);
      }
      const DeviceBuffer restored(buffer.capacity(), buffer.contents(), buffer.num_displaced());
      ASSERT_EQ(restored, buffer);
      if (sequence == 15) {
        buffer = restored;  // goes on as if nothing had happened
      }
    }
  }
}

TEST(DeviceBuffer, RefusesNonsense) {
  EXPECT_THROW(DeviceBuffer{0}, ProgrammingError);
  EXPECT_THROW((DeviceBuffer{1, {{1, 0}, {2, 0}}, 0}), ProgrammingError);
  RandomStream stream(1, "sample");
  DeviceBuffer buffer(4);
  EXPECT_THROW(static_cast<void>(buffer.sample(1, stream)), ProgrammingError);
  EXPECT_THROW(static_cast<void>(buffer.sample_for(std::vector<double>{0.6, 0.6}, stream)), ProgrammingError);
  EXPECT_THROW(static_cast<void>(buffer.sample_for(std::vector<double>{-0.1}, stream)), ProgrammingError);
}

TEST(DeviceBuffer, SamplesUniformlyWithoutRepeating) {
  DeviceBuffer buffer(20);
  for (SampleIndex sample = 0; sample < 33; ++sample) {
    buffer.push({sample, 0});
  }
  constexpr int trials = 20000;
  std::vector<double> seen(33, 0.0);
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream stream(8, "sample", trial);
    std::set<SampleIndex> samples;
    for (const DataPoint& point : buffer.sample(5, stream)) {
      ++seen[point.sample];
      ASSERT_TRUE(samples.insert(point.sample).second);
    }
  }
  double chi_square = 0.0;
  for (std::size_t sample = 0; sample < 33; ++sample) {
    if (sample < 13) {
      EXPECT_EQ(seen[sample], 0.0) << "was displaced";
    } else {
      // Each is in a draw of 5 from 20 with probability 1/4, so has variance trials * 3/16.
      chi_square += std::pow(seen[sample] - trials / 4.0, 2) / (trials * 3.0 / 16.0) * 19.0 / 20.0;
    }
  }
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, 1 in 1000
}

TEST(DeviceBuffer, SendsFractionsToReceiversWithoutSendingTwice) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "send");
    const auto size = static_cast<std::size_t>(stream.integer(0, 200));
    DeviceBuffer buffer(200);
    for (std::size_t i = 0; i < size; ++i) {
      buffer.push({static_cast<SampleIndex>(i), 0});
    }
    std::vector<double> ratios(static_cast<std::size_t>(stream.integer(0, 6)));
    double sum = 0.0;
    for (double& ratio : ratios) {
      ratio = stream.uniform();
      sum += ratio;
    }
    const double total = stream.bernoulli(0.5) ? 1.0 : stream.uniform();
    for (double& ratio : ratios) {
      ratio *= total / sum;
    }
    const auto parts = buffer.sample_for(ratios, stream);
    ASSERT_EQ(parts.size(), ratios.size());
    std::set<SampleIndex> sent;
    std::size_t count = 0;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      EXPECT_LE(std::abs(static_cast<double>(parts[j].size()) - ratios[j] * static_cast<double>(size)),
                1.0 + 1e-9);
      for (const DataPoint& point : parts[j]) {
        EXPECT_TRUE(sent.insert(point.sample).second);
      }
      count += parts[j].size();
    }
    const double expected = ratios.empty() ? 0.0 : std::round(total * static_cast<double>(size));
    EXPECT_NEAR(static_cast<double>(count), expected, 0.5 + 1e-9);
  }
}

TEST(DeviceBuffer, SendsTheSameToTheSameReceiversFromAnEqualBuffer) {
  DeviceBuffer buffer(7);
  for (SampleIndex sample = 0; sample < 10; ++sample) {
    buffer.push({sample, 2});
  }
  const DeviceBuffer restored(7, buffer.contents(), buffer.num_displaced());
  RandomStream first(1, "send");
  RandomStream second(1, "send");
  const std::vector<double> ratios{0.5, 0.25};
  EXPECT_EQ(buffer.sample_for(ratios, first), restored.sample_for(ratios, second));
}

TEST(DeviceBuffer, CollectsTheClustersLabelsOfTheDay) {
  const ClassPools pools(labelled_data({100, 100, 100}));
  DeviceBuffer buffer(50);
  RandomStream first(1, "arrivals", 0, 0);
  buffer.push(draw(pools, LabelMix{1.0, 0.0, 0.0}, 40, first), 0);
  RandomStream second(1, "arrivals", 0, 1);
  buffer.push(draw(pools, LabelMix{0.0, 0.5, 0.5}, 30, second), 1);
  const auto points = buffer.contents();
  ASSERT_EQ(points.size(), 50U);
  EXPECT_EQ(buffer.num_displaced(), 20U);
  std::vector<int> of_label(3, 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    ++of_label[pools.label(points[i].sample)];
    EXPECT_EQ(points[i].sequence, i < 20 ? 0U : 1U);
  }
  EXPECT_EQ(of_label, (std::vector<int>{20, 15, 15}));
}

}  // namespace
}  // namespace skein
