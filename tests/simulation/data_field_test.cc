#include "skein/simulation/data_field.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/base/interval.h"
#include "skein/learning/evaluation.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

// Two clusters of two devices each; the features of the first one drift if they are told to.
ModelScore score(DataField& field, std::size_t cluster, const Model& model) {
  return field.scores(std::vector<ClusterModel>{{cluster, &model}}).front();
}

double squared_gradient(DataField& field, std::size_t cluster, const Model& model) {
  return field.squared_meta_gradients(std::vector<ClusterModel>{{cluster, &model}}).front();
}

class DataFieldTest : public ::testing::Test {
 protected:
  DataFieldTest() { deal(1); }
  void deal(std::uint64_t seed) {
    partition_.groups.clear();
    for (std::size_t cluster = 0; cluster < 2; ++cluster) {
      GroupShare& group = partition_.groups.emplace_back();
      group.mix = LabelMix(4, 0.25);
      for (std::size_t device = 0; device < 2; ++device) {
        RandomStream stream(seed, "device", cluster, device);
        group.members.push_back(draw(problem_.pools, group.mix, 30, stream));
      }
    }
  }
  [[nodiscard]] DataFieldSetup setup(const ClusterDriftRates& first) const {
    return {.data = &problem_.data,
            .pools = &problem_.pools,
            .test_pools = &test_pools_,
            .partition = &partition_,
            .buffers = std::vector<std::size_t>(4, 40),
            .arrivals = std::vector<std::size_t>(4, 5),
            .rates = {first, {}},
            .test_points = 60,
            .gradient_points = 50,
            .seed = 3};
  }

  SmallProblem problem_{false};
  ClassPools test_pools_{problem_.data.test};
  Partition partition_;
  ThreadPool pool_{2};
  Workspaces workspaces_{problem_.network};
  const ClusterDriftRates turning_{.rotation = {.start = 30.0}, .noise = {.start = 0.1}};
};

TEST_F(DataFieldTest, FeaturesAreStoredOnesUntilTheyDrift) {
  DataField still(setup({}), workspaces_, pool_);
  DataField turning(setup(turning_), workspaces_, pool_);
  const Model model = *problem_.initial();
  EXPECT_EQ(still.feature_drift(0), nullptr);
  EXPECT_EQ(turning.feature_drift(1), nullptr);
  for (std::size_t cluster = 0; cluster < 2; ++cluster) {
    EXPECT_EQ(score(still, cluster, model).loss, score(turning, cluster, model).loss);
    EXPECT_EQ(squared_gradient(still, cluster, model), squared_gradient(turning, cluster, model));
  }
  still.advance({});
  turning.advance({});
  EXPECT_NE(score(still, 0, model).loss, score(turning, 0, model).loss);
  EXPECT_NE(squared_gradient(still, 0, model), squared_gradient(turning, 0, model));
  EXPECT_EQ(score(still, 1, model).loss, score(turning, 1, model).loss);
  EXPECT_EQ(squared_gradient(still, 1, model), squared_gradient(turning, 1, model));
}

// The test set turned by hand gives the same score.
TEST_F(DataFieldTest, ScoresOnPresentFeatures) {
  DataField field(setup(turning_), workspaces_, pool_);
  field.advance({});
  field.advance({});
  Dataset turned = problem_.data.test;
  std::vector<float> values(turned.size() * turned.shape.size());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    read_transformed(problem_.data.test, i, {.rotation_degrees = 60.0, .noise_deviation = 0.2},
                     {.seed = 3, .cluster = 0, .sequence = 2},
                     std::span(values).subspan(i * turned.shape.size(), turned.shape.size()));
  }
  turned.features = values;
  turned.scale = 1.0F;
  turned.mean = {0.0F};
  turned.deviation = {1.0F};
  RandomStream stream(3, "cluster test", 0, 2);
  const std::vector<SampleIndex> samples = draw(test_pools_, partition_.groups[0].mix, 60, stream);
  const Model model = *problem_.initial();
  const Evaluation expected = evaluate(model, turned, samples, workspaces_, pool_);
  EXPECT_EQ(score(field, 0, model).loss, expected.loss);
  EXPECT_EQ(score(field, 0, model).accuracy, expected.accuracy);
}

TEST_F(DataFieldTest, PointsKnowWhenTheyWereCollected) {
  DataField field(setup(turning_), workspaces_, pool_);
  field.advance({});
  field.advance({});
  const std::vector<double> all{1.0};
  const std::vector<DataPoint> points = field.offload(0, all, 0).front();
  std::vector<std::size_t> counts(3, 0);
  for (const DataPoint& point : points) {
    ++counts.at(point.sequence);
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{30, 5, 5}));
  const std::shared_ptr<const FeatureDrift> drift = field.feature_drift(0);
  ASSERT_EQ(drift->transforms.size(), 3U);
  EXPECT_TRUE(drift->transforms[0].is_identity());
  EXPECT_EQ(drift->transforms[2].rotation_degrees, 60.0);
}

TEST_F(DataFieldTest, ComesBackAsItWasSaved) {
  DataField field(setup(turning_), workspaces_, pool_);
  field.advance({});
  field.advance({});
  const std::string bytes = field.save();
  DataField other(setup(turning_), workspaces_, pool_);
  other.restore(bytes);
  const Model model = *problem_.initial();
  for (int sequence = 0; sequence < 2; ++sequence) {
    EXPECT_EQ(field.save(), other.save());
    EXPECT_EQ(score(field, 0, model).loss, score(other, 0, model).loss);
    EXPECT_EQ(squared_gradient(field, 0, model), squared_gradient(other, 0, model));
    field.advance({});
    other.advance({});
  }
}

// 25 an hour: after 90, 150 and 3600 s there have been 0, 1 and 25, so that nothing is lost in between; and
// each point knows how far features had turned when it came.
TEST_F(DataFieldTest, ByTheClockFractionsOfArrivalsAreKept) {
  DataFieldSetup by_clock = setup(turning_);
  by_clock.drift.per = DriftOptions::Per::hour;
  by_clock.buffers.assign(4, 100);
  by_clock.arrivals.assign(4, 0);
  by_clock.hourly_arrivals.assign(4, 25.0);
  DataField field(by_clock, workspaces_, pool_);
  field.advance(Time(90));
  EXPECT_EQ(field.num_points(0), 30U);
  field.advance(Time(150));
  EXPECT_EQ(field.num_points(0), 31U);

  DataField resumed(by_clock, workspaces_, pool_);
  resumed.restore(field.save());
  DataField elsewhere(by_clock, workspaces_, pool_);
  elsewhere.restore(0, field.save(0));
  for (DataField* one : {&field, &resumed}) {
    one->advance(Time(3600));
    EXPECT_EQ(one->num_points(0), 55U);
    const std::shared_ptr<const FeatureDrift> drift = one->feature_drift(0);
    ASSERT_EQ(drift->transforms.size(), 4U);
    EXPECT_NEAR(drift->transforms[1].rotation_degrees, 30.0 * 90 / 3600, 1e-12);
    EXPECT_NEAR(drift->transforms[2].rotation_degrees, 30.0 * 150 / 3600, 1e-12);
    EXPECT_NEAR(drift->transforms[3].rotation_degrees, 30.0, 1e-12);
  }
  EXPECT_EQ(field.save(), resumed.save());
  EXPECT_EQ(elsewhere.feature_drift(0)->transforms.size(), 3U);
  EXPECT_EQ(elsewhere.feature_drift(0)->transforms[2], field.feature_drift(0)->transforms[2]);
}

// What is handed over stays until something else is, is scored like any model, and its gradient is kept
// beside it: nothing moves until the data does.
TEST_F(DataFieldTest, ClustersKeepTheModelThatTheyWereHanded) {
  DataField field(setup(turning_), workspaces_, pool_);
  const Model model = *problem_.initial();
  Model other = model;
  other[0] += 1.0F;
  const std::vector<std::size_t> both{0, 1};
  const std::vector<double> left = field.hand_over(both, {model, other});
  EXPECT_EQ(field.scores(std::vector<ClusterModel>{{1}}).front().loss, score(field, 1, other).loss);
  EXPECT_EQ(field.squared_gradient_changes(both), (std::vector{0.0, 0.0}));

  const HandedModel handed = field.handed(1);
  EXPECT_TRUE(std::ranges::equal(handed.model, other));
  const auto gradients = field.handed_gradients(1, handed.points);
  double square = 0.0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    square += 0.25 * std::pow(gradients[0][i] + gradients[1][i], 2);
  }
  EXPECT_NEAR(square, left[1], 1e-6 * left[1]);
  field.advance({});
  const std::vector<double> moved = field.squared_gradient_changes(both);
  EXPECT_NE(moved[0], 0.0);
  EXPECT_NE(moved[1], 0.0);

  DataField resumed(setup(turning_), workspaces_, pool_);
  resumed.restore(field.save());
  resumed.restore(0, field.handed(0));
  resumed.restore(1, field.handed(1));
  EXPECT_EQ(resumed.squared_gradient_changes(both), moved);
}

// New data comes, but drifts nowhere: what is measured is 0 on average. The square of the difference of two
// gradients of all these points is not.
TEST_F(DataFieldTest, NothingHasChangedWhereNothingDrifts) {
  const Model model = *problem_.initial();
  const std::vector<std::size_t> both{0, 1};
  for (const std::size_t arrivals : {25, 5}) {
    std::vector<double> changes;
    std::vector<double> squares;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      deal(seed);
      DataFieldSetup own = setup({});
      own.seed = seed;
      own.arrivals = std::vector<std::size_t>(4, arrivals);
      DataField field(own, workspaces_, pool_);
      field.hand_over(both, {model, model});
      field.advance({});
      for (const double change : field.squared_gradient_changes(both)) {
        changes.push_back(change);
      }
      const auto then = field.handed_gradients(0, field.handed(0).points);
      field.hand_over(both, {model, model});
      const auto now = field.handed_gradients(0, field.handed(0).points);
      double& square = squares.emplace_back(0.0);
      for (std::size_t i = 0; i < model.size(); ++i) {
        square += 0.25 * std::pow(now[0][i] + now[1][i] - then[0][i] - then[1][i], 2);
      }
    }
    const MeanInterval mean = mean_interval(changes);
    const double standard_error = mean.deviation / std::sqrt(static_cast<double>(changes.size()));
    EXPECT_LT(std::abs(mean.mean), 3.0 * standard_error) << mean.mean;
    EXPECT_GT(mean_interval(squares).mean, 10.0 * standard_error);
  }
}

// Where labels drift it is the true change on average: that of the mean gradients of all samples of each
// class, weighted by the mixes.
TEST_F(DataFieldTest, AChangeOfLabelsIsMeasuredWithoutBias) {
  const Model model = *problem_.initial();
  std::vector<Model> of_class;
  workspaces_.with([&](Workspace& workspace) {
    for (std::size_t label = 0; label < 4; ++label) {
      const nn::Batch<float> batch = workspace.batches[0].read(problem_.data.train, problem_.pools.of(label));
      workspace.engine.gradient(model, batch, nullptr, of_class.emplace_back(model.size()));
    }
  });
  const ClusterDriftRates rates{.label_mix = {.start = 0.3}};
  const std::vector<std::size_t> first{0};
  std::vector<double> errors;
  std::vector<double> truths;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    deal(seed);
    partition_.groups[0].mix = {0.5, 0.3, 0.2, 0.0};
    DataFieldSetup own = setup(rates);
    own.seed = seed;
    own.arrivals = std::vector<std::size_t>(4, 25);
    own.inner_step = 1e-6;  // halves are as good as the whole
    DataField field(own, workspaces_, pool_);
    ClusterDrift drift{.mix = partition_.groups[0].mix};
    const DriftContext context{.options = own.drift, .pools = problem_.pools, .seed = seed};
    const auto advance_both = [&] {
      field.advance({});
      advance(drift, rates, 0, context);
    };
    advance_both();
    const LabelMix then = drift.mix;
    field.hand_over(first, {model});
    advance_both();
    double truth = 0.0;
    for (std::size_t i = 0; i < model.size(); ++i) {
      double change = 0.0;
      for (std::size_t label = 0; label < 4; ++label) {
        change += (drift.mix[label] - then[label]) * of_class[label][i];
      }
      truth += change * change;
    }
    truths.push_back(truth);
    errors.push_back(field.squared_gradient_changes(first).front() - truth);
  }
  const MeanInterval error = mean_interval(errors);
  EXPECT_LT(std::abs(error.mean), 3.0 * error.deviation / std::sqrt(200.0)) << error.mean;
  EXPECT_LT(error.deviation / std::sqrt(200.0), 0.05 * mean_interval(truths).mean);
}

// The same samples, wherever they are collected, are sent by nobody; all others are.
TEST_F(DataFieldTest, SomeSamplesAreHeldOut) {
  DataFieldSetup own = setup(turning_);
  own.buffers.assign(4, 200);  // that nothing is displaced
  DataField whole(own, workspaces_, pool_);
  own.held_out = 0.3;
  DataField field(own, workspaces_, pool_);
  const std::vector<double> all{1.0};
  std::vector<int> is_sent(problem_.data.train.size(), -1);
  for (std::size_t sequence = 0; sequence < 4; ++sequence) {
    for (std::size_t device = 0; device < 4; ++device) {
      std::vector<bool> sent(problem_.data.train.size(), false);
      const std::vector<DataPoint> points = field.offload(device, all, sequence).front();
      EXPECT_EQ(points.size(), field.num_points(device));
      for (const DataPoint& point : points) {
        sent[point.sample] = true;
      }
      const std::vector<DataPoint> collected = whole.offload(device, all, sequence).front();
      for (const DataPoint& point : collected) {
        const int now = sent[point.sample] ? 1 : 0;
        EXPECT_TRUE(is_sent[point.sample] == -1 || is_sent[point.sample] == now);
        is_sent[point.sample] = now;
      }
    }
    field.advance({});
    whole.advance({});
  }
  const auto held_out = static_cast<double>(std::ranges::count(is_sent, 0));
  const auto seen = static_cast<double>(std::ranges::count_if(is_sent, [](int is) { return is >= 0; }));
  EXPECT_NEAR(held_out / seen, 0.3, 0.15);
}

// By hand from what devices hold: labels of the newest 100 points, and of samples that nobody sends, with the
// features of when they came. What is saved tells the same.
TEST_F(DataFieldTest, ClassesAreCountedOnTheNewestPoints) {
  DataFieldSetup own = setup(turning_);
  own.arrivals.assign(4, 50);  // of two devices in a sequence
  own.buffers.assign(4, 200);
  DataField whole(own, workspaces_, pool_);
  own.held_out = 0.3;
  DataField field(own, workspaces_, pool_);
  for (DataField* one : {&field, &whole}) {
    one->advance({});
    one->advance({});
  }
  const Model model = *problem_.initial();
  const std::vector<ClusterModel> first{{0, &model}};
  const ClassReport report = field.class_reports(first).front();
  ClassReport expected{.labels = std::vector<double>(4, 0.0),
                       .points = std::vector<double>(4, 0.0),
                       .hits = std::vector<double>(4, 0.0)};
  const std::shared_ptr<const FeatureDrift> drift = whole.feature_drift(0);
  const std::vector<double> all{1.0};
  for (std::size_t device = 0; device < 2; ++device) {
    const std::vector<DataPoint> sent = field.offload(device, all, 0).front();
    const std::vector<DataPoint> collected = whole.offload(device, all, 0).front();
    for (const DataPoint& point : collected) {
      const std::size_t label = problem_.pools.label(point.sample);
      expected.labels[label] += point.sequence == 2 ? 1.0 : 0.0;
      if (std::ranges::find(sent, point.sample, &DataPoint::sample) != sent.end()) {
        continue;
      }
      expected.points[label] += 1.0;
      workspaces_.with([&](Workspace& workspace) {
        const SampleIndex place = 0;
        expected.hits[label] += static_cast<double>(
            workspace.engine
                .score(model, workspace.batches[0].read(problem_.data.train, {&place, 1},
                                                        {.samples = {&point.sample, 1},
                                                         .collected = {&point.sequence, 1},
                                                         .drift = drift.get()}))
                .correct);
      });
    }
  }
  EXPECT_EQ(std::accumulate(report.labels.begin(), report.labels.end(), 0.0), 100.0);
  EXPECT_GT(std::accumulate(report.hits.begin(), report.hits.end(), 0.0), 0.0);
  DataField resumed(own, workspaces_, pool_);
  resumed.restore(field.save());
  DataField elsewhere(own, workspaces_, pool_);
  elsewhere.forget();
  elsewhere.restore(0, field.save(0));
  for (const ClassReport& one :
       {report, resumed.class_reports(first).front(), elsewhere.class_reports(first).front()}) {
    EXPECT_EQ(one.labels, expected.labels);
    EXPECT_EQ(one.points, expected.points);
    EXPECT_EQ(one.hits, expected.hits);
  }
}

// Constants are of the features that clusters have now: darker images have smaller gradients. Those of a
// cluster that does not drift stay.
TEST_F(DataFieldTest, ConstantsAreOfDriftedFeatures) {
  const ClusterDriftRates darker{.brightness = {.start = 0.1}};
  DataFieldSetup own = setup(darker);
  own.arrivals.assign(4, 40);  // a buffer full
  DataField drifting(own, workspaces_, pool_);
  own.rates[0] = {};
  DataField still(own, workspaces_, pool_);
  const Model before = *problem_.initial();
  Model after = before;
  for (float& value : after) {
    value *= 1.01F;
  }
  const auto bounds_at = [&](DataField& field, std::size_t cluster) {
    return field.measure_constants(std::vector<std::size_t>{cluster}, before, after).gradient_bound;
  };
  EXPECT_EQ(bounds_at(drifting, 0), bounds_at(still, 0)) << "as stored";
  drifting.advance({});
  still.advance({});
  EXPECT_LT(bounds_at(drifting, 0), 0.8 * bounds_at(still, 0));
  EXPECT_EQ(bounds_at(drifting, 1), bounds_at(still, 1));
}

}  // namespace
}  // namespace skein
