#include "skein/learning/local_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/expect.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t seed = 9;

class LocalTrainingTest : public ::testing::Test {
 protected:
  LocalTraining training(LearningOptions options, bool meta) const {
    options.algorithm = algorithm(meta ? "hn_pfl" : "h_fl");
    return LocalTraining({.options = std::move(options),
                          .data = &problem_.data.train,
                          .pools = &problem_.pools,
                          .seed = seed});
  }
  WorkerTask worker(const LearningOptions& options, std::size_t num_points) const {
    RandomStream stream(3, "worker");
    WorkerTask task{.worker = 5, .samples = draw(problem_.pools, mix_, num_points, stream)};
    task.batch_sizes = batch_sizes(options, num_points);
    task.redraw = options.redraw ? mix_ : LabelMix{};
    return task;
  }
  Model run(const LearningOptions& options, bool meta, const WorkerTask& task,
            const LocalTraining::Round& round) {
    Model model = *problem_.initial();
    training(options, meta).run(task, round, workspace_, model);
    return model;
  }
  nn::Batch<float> read(std::size_t place, const std::vector<SampleIndex>& samples) {
    return expected_.batches[place].read(problem_.data.train, samples);
  }

  LabelMix mix_{0.5, 0.25, 0.25, 0.0};
  SmallProblem problem_;
  Workspace workspace_{problem_.network};
  Workspace expected_{problem_.network};
};

// Training on drifted features is training on a data set that has them: all forms of steps, whether points
// are transformed each time that they are read (one iteration, of 15 of the 30 points) or once for all of
// them.
TEST_F(LocalTrainingTest, SeesFeaturesAsTheyHaveDrifted) {
  const Dataset& stored = problem_.data.train;
  const auto drift = std::make_shared<const FeatureDrift>(
      FeatureDrift{.transforms = {{}, {.rotation_degrees = 40.0, .brightness = 0.5, .noise_deviation = 0.1}},
                   .seed = 4,
                   .cluster = 2});
  for (const LocalStep form : {LocalStep::mini_batch, LocalStep::epoch}) {
    for (const auto& [meta, num_iterations] : {std::pair{false, 1U}, {true, 1U}, {false, 3U}, {true, 3U}}) {
      LearningOptions options{.local_step = form, .step = 0.1, .inner_step = 0.1, .meta_step = 0.1};
      options.meta_gradient = MetaGradient::exact;
      options.batch_sizes = {4, 5, 6};
      const WorkerTask plain = worker(options, 30);
      WorkerTask task = plain;
      task.drift = drift;
      const LocalTraining::Round round{.num_iterations = num_iterations};

      task.collected.assign(30, 0);
      EXPECT_TRUE(same_bits(run(options, meta, task, round), run(options, meta, plain, round)));

      // Every other point was collected after the drift; the data set has them one after another.
      Dataset changed{.shape = stored.shape,
                      .class_names = stored.class_names,
                      .features = std::vector<float>(30 * stored.shape.size()),
                      .mean = {0.0F},
                      .deviation = {1.0F}};
      WorkerTask same = plain;
      auto& values = std::get<std::vector<float>>(changed.features);
      for (std::uint32_t i = 0; i < 30; ++i) {
        task.collected[i] = i % 2;
        same.samples[i] = i;
        changed.labels.push_back(stored.labels[plain.samples[i]]);
        read_transformed(stored, plain.samples[i], drift->transforms[i % 2], {4, 2, i % 2},
                         std::span(values).subspan(i * stored.shape.size(), stored.shape.size()));
      }
      Model expected = *problem_.initial();
      options.algorithm = algorithm(meta ? "hn_pfl" : "h_fl");
      LocalTraining({.options = options, .data = &changed, .seed = seed})
          .run(same, round, workspace_, expected);
      const Model drifted = run(options, meta, task, round);
      EXPECT_TRUE(same_bits(drifted, expected));
      EXPECT_FALSE(same_bits(drifted, run(options, meta, plain, round)));
    }
  }
}

// Every point that is read is turned on top of what drift has done, by an angle of its own.
TEST_F(LocalTrainingTest, TurnsPointsByRandomAngles) {
  const SmallProblem plain_network(false);
  Workspace workspace(plain_network.network);
  const Dataset& stored = problem_.data.train;
  const FeatureDrift drift{.transforms = {{.rotation_degrees = 40.0, .noise_deviation = 0.1}}, .seed = 4};
  for (const bool is_drifted : {false, true}) {
    LearningOptions options{.step = 0.3, .batch_sizes = {2, 2, 3}, .augment_rotation_degrees = 25.0};
    WorkerTask task = worker(options, 20);
    if (is_drifted) {
      task.drift = std::make_shared<const FeatureDrift>(drift);
      task.collected.assign(20, 0);
    }
    Model model = *plain_network.initial();
    training(options, false).run(task, {.first_iteration = 6, .num_iterations = 4}, workspace, model);

    RandomStream turns(seed, "turns", task.worker, 6);
    Model expected = *plain_network.initial();
    std::vector<SampleIndex> places(20);
    std::iota(places.begin(), places.end(), SampleIndex{0});
    for (std::size_t iteration = 6; iteration < 10; ++iteration) {
      RandomStream batches(seed, "batches", task.worker, iteration);
      std::vector<SampleIndex> batch;
      draw_distinct(places, 7, batches, batch);
      std::vector<float> features(7 * stored.shape.size());
      std::vector<std::uint8_t> labels;
      for (std::size_t i = 0; i < 7; ++i) {
        const SampleIndex sample = task.samples[batch[i]];
        FeatureTransform transform = is_drifted ? drift.transforms[0] : FeatureTransform{};
        transform.rotation_degrees += turns.uniform(-25.0, 25.0);
        read_transformed(stored, sample, transform, {4, 0, 0},
                         std::span(features).subspan(i * stored.shape.size(), stored.shape.size()));
        labels.push_back(stored.labels[sample]);
      }
      workspace.engine.step(expected, {features.data(), labels.data(), 7}, 0.3, nullptr);
    }
    EXPECT_TRUE(same_bits(model, expected));
  }
}

TEST_F(LocalTrainingTest, BatchSizesByRatioOrGiven) {
  LearningOptions options{.batch_ratios = {0.1, 0.25, 1e-6}};
  EXPECT_EQ(batch_sizes(options, 250), (std::array<std::size_t, 3>{25, 63, 1}));
  options.batch_sizes = {4, 8, 400};
  EXPECT_EQ(batch_sizes(options, 250), (std::array<std::size_t, 3>{4, 8, 250}));
}

TEST_F(LocalTrainingTest, StepsFollowTheSchedule) {
  LearningOptions options{.step = 0.5};
  EXPECT_EQ(scheduled(options, options.step, 7), 0.5);
  options.step_schedule = {{0, 1e-2}, {10, 5e-3}, {20, 1e-3}};
  EXPECT_EQ(scheduled(options, options.step, 0), 1e-2);
  EXPECT_EQ(scheduled(options, options.step, 9), 1e-2);
  EXPECT_EQ(scheduled(options, options.step, 10), 5e-3);
  EXPECT_EQ(scheduled(options, options.step, 1000), 1e-3);
}

TEST_F(LocalTrainingTest, PointsOfAnIteration) {
  LearningOptions options{.batch_sizes = {4, 5, 6}};
  EXPECT_EQ(training(options, true).points_per_iteration(worker(options, 30)), 15.0);
  EXPECT_EQ(training(options, false).points_per_iteration(worker(options, 30)), 15.0);
  EXPECT_EQ(training(options, false).points_per_iteration(worker(options, 10)), 10.0);
  options.local_step = LocalStep::epoch;
  EXPECT_EQ(training(options, true).points_per_iteration(worker(options, 31)), 31.0);
  EXPECT_EQ(training(options, false).points_per_iteration(worker(options, 31)), 31.0);
}

// With every batch the whole data, an iteration is a step on all of it.
TEST_F(LocalTrainingTest, AMiniBatchIterationIsOneUpdate) {
  const SmallProblem plain_network(false);
  Workspace workspace(plain_network.network);
  LearningOptions options{.step = 0.3, .inner_step = 0.2, .meta_step = 0.4, .batch_sizes = {30, 30, 30}};
  const WorkerTask task = worker(options, 30);
  const nn::Batch<float> all = read(0, task.samples);
  for (const MetaGradient kind :
       {MetaGradient::first_order, MetaGradient::hessian_free, MetaGradient::exact}) {
    options.meta_gradient = kind;
    Model model = *plain_network.initial();
    const double loss = training(options, true).run(task, {.first_iteration = 2}, workspace, model);
    Model expected = *plain_network.initial();
    const double expected_loss = workspace.engine.meta_step(expected, {all, all, all},
                                                            {.kind = kind, .inner_step = 0.2}, 0.4, nullptr);
    EXPECT_LT(largest_difference(model, expected), 2e-4);
    EXPECT_GT(largest_difference(model, *plain_network.initial()), 1e-2);
    EXPECT_NEAR(loss, expected_loss, 1e-5);
  }
  Model model = *plain_network.initial();
  const double loss = training(options, false).run(task, {.first_iteration = 2}, workspace, model);
  Model expected = *plain_network.initial();
  EXPECT_NEAR(loss, workspace.engine.step(expected, all, 0.3, nullptr), 1e-5);
  EXPECT_LT(largest_difference(model, expected), 1e-6);
}

// 25 points in batches of 4 + 4 + 4: 12, 12 and 1.
TEST_F(LocalTrainingTest, APlainEpochIsOneShuffledPass) {
  const LearningOptions options{.local_step = LocalStep::epoch, .step = 0.1, .batch_sizes = {4, 4, 4}};
  const WorkerTask task = worker(options, 25);
  Model expected = *problem_.initial();
  for (std::size_t iteration = 6; iteration < 8; ++iteration) {
    RandomStream order(seed, "batches", task.worker, iteration);
    RandomStream dropout(seed, "dropout", task.worker, iteration);
    std::vector<SampleIndex> samples = task.samples;
    order.shuffle(samples);
    const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      return read(0, {samples.begin() + begin, samples.begin() + end});
    };
    expected_.engine.step(expected, part(0, 12), 0.1, &dropout);
    expected_.engine.step(expected, part(12, 24), 0.1, &dropout);
    expected_.engine.step(expected, part(24, 25), 0.1, &dropout);
  }
  EXPECT_TRUE(same_bits(run(options, false, task, {.first_iteration = 6, .num_iterations = 2}), expected));
}

// 26 points: subsets of 8, gone through in batches of 3, 3 and 2. The subsets last for both epochs.
TEST_F(LocalTrainingTest, AMetaEpochGoesThroughTheSecondSubset) {
  for (const MetaGradient kind : {MetaGradient::first_order, MetaGradient::exact}) {
    const LearningOptions options{.meta_gradient = kind,
                                  .local_step = LocalStep::epoch,
                                  .inner_step = 0.1,
                                  .meta_step = 0.2,
                                  .batch_sizes = {2, 3, 4}};
    const WorkerTask task = worker(options, 26);
    RandomStream subset_stream(seed, "subsets", task.worker, 6);
    std::array<std::vector<SampleIndex>, 3> subsets;
    for (auto& subset : subsets) {
      draw_distinct(task.samples, 8, subset_stream, subset);
    }
    Model expected = *problem_.initial();
    for (std::size_t iteration = 6; iteration < 8; ++iteration) {
      RandomStream stream(seed, "batches", task.worker, iteration);
      RandomStream dropout(seed, "dropout", task.worker, iteration);
      std::vector<SampleIndex> second = subsets[1];
      stream.shuffle(second);
      for (std::size_t begin = 0; begin < 8; begin += 3) {
        std::vector<SampleIndex> first;
        draw_distinct(subsets[0], 2, stream, first);
        const auto end = std::min<std::size_t>(begin + 3, 8);
        std::array<nn::Batch<float>, 3> batches{read(0, first),
                                                read(1, {second.begin() + static_cast<std::ptrdiff_t>(begin),
                                                         second.begin() + static_cast<std::ptrdiff_t>(end)}),
                                                {}};
        if (kind == MetaGradient::exact) {
          std::vector<SampleIndex> third;
          draw_distinct(subsets[2], 4, stream, third);
          batches[2] = read(2, third);
        }
        expected_.engine.meta_step(expected, batches, {.kind = kind, .inner_step = 0.1}, 0.2, &dropout);
      }
    }
    EXPECT_TRUE(same_bits(run(options, true, task, {.first_iteration = 6, .num_iterations = 2}), expected));
  }
}

// Data drawn anew is that of draw(), once for all iterations between two local aggregations.
TEST_F(LocalTrainingTest, RedrawsOncePerLocalRound) {
  for (const LocalStep form : {LocalStep::mini_batch, LocalStep::epoch}) {
    LearningOptions options{.local_step = form, .batch_sizes = {4, 4, 4}, .redraw = true};
    const WorkerTask redrawing = worker(options, 40);
    const LocalTraining::Round round{.first_iteration = 3, .num_iterations = 2};
    options.redraw = false;
    WorkerTask fixed = worker(options, 40);
    EXPECT_FALSE(same_bits(run(options, true, redrawing, round), run(options, true, fixed, round)));
    RandomStream stream(seed, "draw", fixed.worker, 3);
    fixed.samples = draw(problem_.pools, mix_, 40, stream);
    EXPECT_TRUE(same_bits(run(options, true, redrawing, round), run(options, true, fixed, round)));
  }
}

// The norm that is reported is of what training does at that iteration: its step, and its data.
TEST_F(LocalTrainingTest, TheExactMetaGradientHasTheStepAndDataOfItsIteration) {
  const LearningOptions changing{
      .inner_step = 0.3, .step_schedule = {{5, 0.1}}, .batch_sizes = {4, 4, 4}, .redraw = true};
  const LearningOptions fixed{.inner_step = 0.1, .batch_sizes = {4, 4, 4}};
  const auto gradient = [&](const LearningOptions& options, const WorkerTask& task, std::size_t iteration) {
    Model result(problem_.network.num_parameters());
    training(options, true).meta_gradient(task, iteration, 20, workspace_, *problem_.initial(), result);
    return result;
  };
  const WorkerTask redrawing = worker(changing, 40);
  WorkerTask drawn = worker(fixed, 40);
  RandomStream stream(seed, "draw", drawn.worker, 7);
  drawn.samples = draw(problem_.pools, mix_, 40, stream);
  EXPECT_TRUE(same_bits(gradient(changing, redrawing, 7), gradient(fixed, drawn, 0)));
  EXPECT_FALSE(same_bits(gradient(changing, redrawing, 8), gradient(fixed, drawn, 0))) << "other data";
  EXPECT_FALSE(same_bits(gradient(changing, drawn, 4), gradient(fixed, drawn, 0))) << "another step";
}

// As the inner step goes to 0, a meta-gradient becomes the gradient on the second batch.
TEST_F(LocalTrainingTest, AMetaStepWithoutInnerStepIsAPlainStep) {
  const SmallProblem plain_network(false);
  Workspace workspace(plain_network.network);
  for (const MetaGradient kind :
       {MetaGradient::first_order, MetaGradient::hessian_free, MetaGradient::exact}) {
    const LearningOptions options{.meta_gradient = kind,
                                  .step = 0.25,
                                  .inner_step = 1e-9,
                                  .meta_step = 0.25,
                                  .batch_sizes = {30, 30, 30}};
    const WorkerTask task = worker(options, 30);
    Model meta = *plain_network.initial();
    Model plain = meta;
    training(options, true).run(task, {}, workspace, meta);
    training(options, false).run(task, {}, workspace, plain);
    EXPECT_LT(largest_difference(meta, plain), 1e-6);
  }
}

TEST_F(LocalTrainingTest, PersonalisesByOneStepOrOneIteration) {
  const SmallProblem plain_network(false);
  Workspace workspace(plain_network.network);
  LearningOptions options{.step = 0.3, .inner_step = 0.2, .meta_step = 0.4, .batch_sizes = {30, 30, 30}};
  const WorkerTask task = worker(options, 30);
  const nn::Batch<float> all = read(0, task.samples);
  for (const bool meta : {true, false}) {
    Model model = *plain_network.initial();
    training(options, meta).personalise(task, {.first_iteration = 4}, workspace, model);
    Model expected = *plain_network.initial();
    workspace.engine.step(expected, all, meta ? 0.2 : 0.3, nullptr);
    EXPECT_LT(largest_difference(model, expected), 1e-6);
  }
  options.personalisation = Personalisation::epoch;
  for (const LocalStep form : {LocalStep::mini_batch, LocalStep::epoch}) {
    options.local_step = form;
    Model model = *problem_.initial();
    training(options, true).personalise(task, {.first_iteration = 4}, workspace_, model);
    EXPECT_TRUE(same_bits(model, run(options, true, task, {.first_iteration = 4, .num_iterations = 1})));
  }
}

// Three steps, each on all of the 30 points or on some.
TEST_F(LocalTrainingTest, PersonalisesByAsManyStepsAsAreAskedFor) {
  const SmallProblem plain_network(false);
  Workspace workspace(plain_network.network);
  LearningOptions options{
      .step = 0.3, .batch_sizes = {1, 1, 1}, .personal_steps = 3, .personal_step_size = 0.2};
  options.personal_batch = 100;
  const WorkerTask task = worker(options, 30);
  const auto personal = [&] {
    Model model = *plain_network.initial();
    training(options, true).personalise(task, {.first_iteration = 4}, workspace, model);
    return model;
  };
  Model expected = *plain_network.initial();
  for (int k = 0; k < 3; ++k) {
    workspace.engine.step(expected, read(0, task.samples), 0.2, nullptr);
  }
  EXPECT_LT(largest_difference(personal(), expected), 1e-6);

  options.personal_batch = 7;
  RandomStream batches(seed, "personal batches", task.worker, 4);
  expected = *plain_network.initial();
  for (int k = 0; k < 3; ++k) {
    std::vector<SampleIndex> some;
    draw_distinct(task.samples, 7, batches, some);
    workspace.engine.step(expected, read(0, some), 0.2, nullptr);
  }
  EXPECT_TRUE(same_bits(personal(), expected));

  options.personalisation = Personalisation::epoch;
  EXPECT_TRUE(same_bits(
      [&] {
        Model model = *problem_.initial();
        training(options, true).personalise(task, {.first_iteration = 4}, workspace_, model);
        return model;
      }(),
      run(options, true, task, {.first_iteration = 4, .num_iterations = 3})));
}

TEST_F(LocalTrainingTest, DivergenceSaysWhereAndWhy) {
  const LearningOptions options{.step = 1e20, .meta_step = 1e20, .batch_sizes = {4, 4, 4}};
  for (const bool meta : {true, false}) {
    try {
      run(options, meta, worker(options, 40), {.swarm = 2, .first_iteration = 10, .num_iterations = 50});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Divergence& divergence) {
      EXPECT_GT(divergence.place().iteration, 9U);
      EXPECT_LT(divergence.place().iteration, 20U);
      EXPECT_EQ(divergence.place().swarm, 2U);
      EXPECT_EQ(divergence.place().worker, 5U);
      EXPECT_FALSE(divergence.place().loss < 1000.0);
      EXPECT_THAT(divergence.what(), HasSubstr("worker 6, of swarm 3"));
      EXPECT_THAT(divergence.what(),
                  HasSubstr(meta ? "learning.meta_step = 1e+20" : "learning.step = 1e+20"));
    }
  }
}

// A softmax before the loss keeps the loss small; parameters that are no numbers are found all the same.
TEST_F(LocalTrainingTest, ABoundedLossDoesNotHideDivergence) {
  nn::Architecture architecture = SmallProblem::architecture(false);
  architecture.layers.emplace_back(nn::Softmax{});
  const nn::Network<float> network(architecture);
  Workspace workspace(network);
  RandomStream stream(1, "initial model");
  Model model = network.initial_parameters(stream);
  const LearningOptions options{.step = 1e38, .batch_sizes = {4, 4, 4}};
  EXPECT_THROW(training(options, false).run(worker(options, 40), {.num_iterations = 20}, workspace, model),
               Divergence);
}

}  // namespace
}  // namespace skein
